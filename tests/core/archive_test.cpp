// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/archive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

std::string message_of(std::istream& in, const char* name, std::vector<double> expected) {
  ArchiveReader reader(in);
  try {
    reader.get(name, expected);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Archive, returns_the_bits_it_was_given) {
  std::stringstream stream;
  const std::vector<double> values = {0.1, -0.0, std::numeric_limits<double>::denorm_min(),
                                      std::numeric_limits<double>::infinity(), std::nan("")};
  const Index count = -7;
  ArchiveWriter writer(stream);
  writer.put("count", count);
  writer.put("values", values);
  writer.put("nothing", std::vector<double>{});
  writer.put("flag", true);

  ArchiveReader reader(stream);
  Index read_count = 0;
  std::vector<double> read(values.size()), nothing;
  bool flag = false;
  reader.get("count", read_count);
  reader.get("values", read);
  reader.get("nothing", nothing);
  reader.get("flag", flag);
  EXPECT_EQ(read_count, count);
  EXPECT_EQ(std::memcmp(read.data(), values.data(), values.size() * sizeof(double)), 0);
  EXPECT_TRUE(flag);
}

TEST(Archive, another_name_is_told_with_both_names) {
  std::stringstream stream;
  ArchiveWriter(stream).put("steps", std::vector<double>(3));
  const std::string message = message_of(stream, "velocity", std::vector<double>(3));
  EXPECT_NE(message.find("'steps'"), std::string::npos) << message;
  EXPECT_NE(message.find("'velocity'"), std::string::npos) << message;
}

TEST(Archive, another_size_is_told_with_both_sizes) {
  std::stringstream stream;
  ArchiveWriter(stream).put("velocity", std::vector<double>(3));
  const std::string message = message_of(stream, "velocity", std::vector<double>(4));
  EXPECT_NE(message.find("24 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("32 bytes"), std::string::npos) << message;
}

TEST(Archive, every_truncation_is_told) {
  std::stringstream stream;
  ArchiveWriter(stream).put("velocity", std::vector<double>(3));
  const std::string whole = stream.str();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::istringstream part(whole.substr(0, size));
    EXPECT_NE(message_of(part, "velocity", std::vector<double>(3)), "") << size;
  }
  std::istringstream complete(whole);
  EXPECT_EQ(message_of(complete, "velocity", std::vector<double>(3)), "");
}

TEST(Archive, what_is_no_archive_is_refused) {
  std::istringstream text("this is a text and no checkpoint of any kind, whatever its name says");
  EXPECT_NE(message_of(text, "velocity", std::vector<double>(3)), "");
}

TEST(Archive, a_write_that_fails_is_an_output_error) {
  std::ostringstream full;
  full.setstate(std::ios::badbit);
  ArchiveWriter writer(full);
  EXPECT_THROW(writer.put("x", 1.0), OutputError);
}

TEST(Archive, refuses_a_truth_value_that_is_none) {
  std::ostringstream out;
  ArchiveWriter writer(out);
  writer.put("no", false);
  writer.put("yes", true);
  writer.put("odd", static_cast<char>(9));
  std::istringstream in(out.str());
  ArchiveReader reader(in);
  bool no = true, yes = false;
  reader.get("no", no);
  reader.get("yes", yes);
  EXPECT_FALSE(no);
  EXPECT_TRUE(yes);
  EXPECT_THROW(reader.get("odd", yes), InputError);
}

}  // namespace
}  // namespace tempi
