// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/section_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

namespace fs = std::filesystem;

class SectionFile : public testing::Test {
 protected:
  SectionFile() { fs::create_directories(folder_); }
  ~SectionFile() override { fs::remove_all(folder_); }

  static Sections sample(int seed) {
    std::mt19937 dice(static_cast<unsigned>(seed));
    Sections sections;
    sections.add("case", "end_time = 1\n");
    std::string bytes(700, '\0');
    for (char& c : bytes) c = static_cast<char>(dice());
    sections.add("state", bytes);
    sections.add("empty", "");
    return sections;
  }
  static std::string bytes_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  static void write(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

  fs::path folder_ = fs::temp_directory_path() / ("section_file_test_" + std::to_string(::getpid()));
  fs::path file_ = folder_ / "checkpoint.bin";
};

TEST_F(SectionFile, what_was_written_is_read_back) {
  write_sections(file_, sample(1));
  const Sections read = read_sections(file_);
  const Sections wrote = sample(1);
  ASSERT_EQ(wrote.all().size(), read.all().size());
  for (const auto& section : wrote.all()) EXPECT_EQ(section.bytes, read[section.name]);
  EXPECT_FALSE(read.has("nothing"));
  EXPECT_THROW(read["nothing"], InputError);
  EXPECT_FALSE(fs::exists(folder_ / "checkpoint.bin.part"));
}

TEST_F(SectionFile, the_generation_before_is_kept_and_taken_where_the_newer_one_is_damaged_or_gone) {
  write_sections(file_, sample(1));
  write_sections(file_, sample(2));
  std::string damage;
  EXPECT_EQ(sample(2)["state"], read_sections(file_, damage)["state"]);
  EXPECT_EQ("", damage);
  EXPECT_EQ(folder_ / "checkpoint.previous.bin", generation_before(file_));
  std::string bytes = bytes_of(file_);
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  write(file_, bytes);
  EXPECT_EQ(sample(1)["state"], read_sections(file_, damage)["state"]);
  EXPECT_NE(std::string::npos, damage.find("damaged"));
  fs::remove(file_);  // a crash between the two renames
  EXPECT_EQ(sample(1)["state"], read_sections(file_, damage)["state"]);
  write(generation_before(file_), "nothing of the kind");
  EXPECT_THROW(read_sections(file_, damage), InputError);
}

TEST_F(SectionFile, every_single_changed_byte_and_every_shorter_file_is_refused) {
  write_sections(file_, sample(3));
  const std::string good = bytes_of(file_);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    write(file_, bad);
    EXPECT_THROW(read_sections(file_), InputError) << "byte " << i;
    write(file_, good.substr(0, i));
    EXPECT_THROW(read_sections(file_), InputError) << "cut to " << i;
  }
  write(file_, good + '\0');
  EXPECT_THROW(read_sections(file_), InputError);
  write(file_, good);
  EXPECT_NO_THROW(read_sections(file_)) << "the control";
}

TEST_F(SectionFile, none_of_10000_damaged_files_is_accepted) {
  write_sections(file_, sample(4));
  const std::string good = bytes_of(file_);
  std::mt19937 dice(20261122);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(dice); };
  int tried = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string bad = good;
    for (std::size_t times = 1 + below(4); times > 0; --times) {
      const std::size_t at = below(bad.size()), length = std::min(bad.size() - at, 1 + below(64));
      switch (below(5)) {
        case 0: bad[at] = static_cast<char>(dice()); break;
        case 1: bad.erase(at, length); break;
        case 2: bad.insert(at, bad.substr(below(bad.size()), length)); break;
        case 3: std::fill_n(bad.begin() + static_cast<std::ptrdiff_t>(at), length, '\0'); break;
        default: std::swap(bad[at], bad[below(bad.size())]);
      }
      if (bad.empty()) bad = "x";
    }
    if (bad == good) continue;
    ++tried;
    write(file_, bad);
    EXPECT_THROW(read_sections(file_), InputError) << "case " << i;
  }
  EXPECT_GT(tried, 9900);
}

}  // namespace
}  // namespace tempi
