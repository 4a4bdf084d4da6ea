// SPDX-License-Identifier: Apache-2.0
// Readers of ours under damaged input: each either returns or throws InputError, soon and in bounded memory. Seeds are
// the files in corpus/ and the examples' cases; bytes are changed, left out, repeated, exchanged for awkward numbers.
// Meshes that Gmsh reads: it crashes on some, in a process of its own, which is an InputError too. Short by default;
// `./dev fuzz SECONDS` goes on that long for each reader, with sanitizers, from another seed each time;
// TEMPI_FUZZ_EXECUTIONS does so many of each, the same each time.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "support/runs.hpp"
#include "tempi/case/case_file.hpp"
#include "tempi/core/error.hpp"
#include "tempi/core/section_file.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/integrator/checkpoint.hpp"
#include "tempi/io/abaqus_mesh.hpp"
#include "tempi/io/particle_file.hpp"
#include "tempi/io/read_mesh.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : dice_(seed) {}
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(dice_); }

  std::string operator()(const std::vector<std::string>& seeds) {
    std::string text = seeds[below(seeds.size())];
    for (std::size_t n = std::size_t{1} << below(5); n > 0; --n) change(text, seeds);
    return text;
  }

 private:
  void change(std::string& text, const std::vector<std::string>& seeds) {
    constexpr std::array awkward = {"-1",    "0",        "99999999999", "1e999", "-1e-320", "nan",    "inf",  "1.7e308",
                                    "[[[[[", "]",        "\"",          "=",     "\n",      "\r",     "\t",   ",,,,",
                                    "#",     "\xff\xfe", "*",           "{",     "'''",     "0x7fff", "true", "é"};
    if (text.empty()) text = "x";
    const std::size_t at = below(text.size()), length = std::min(text.size() - at, 1 + below(40));
    switch (below(7)) {
      case 0: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(below(text.size()), length)); break;
      case 3: text.replace(at, std::min(length, below(6)), awkward[below(awkward.size())]); break;
      case 4: text[at] = static_cast<char>(below(256)); break;
      case 5: {
        const std::string& other = seeds[below(seeds.size())];
        const std::size_t from = below(other.size());
        text.insert(at, other.substr(from, 1 + below(80)));
        break;
      }
      default: text.resize(at);
    }
  }
  std::mt19937 dice_;
};

double asked(const char* variable, double otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtod(text, nullptr);
}

// Of this process, or of its children [s].
double processor_time(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

long resident_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class Readers : public testing::Test {
 protected:
  Readers() { fs::create_directories(folder_); }
  ~Readers() override { fs::remove_all(folder_); }

  static std::vector<std::string> seeds(const std::string& kind) {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(fs::path(TEMPI_TEST_SOURCE_DIR) / "fuzz/corpus" / kind))
      all.push_back(bytes_of(entry.path()));
    return all;
  }

  // `read` is given a file; `extension` with its dot. It may take `most` seconds of processor time, its children's
  // included.
  void fuzz(const std::vector<std::string>& seeds, const std::string& extension,
            const std::function<void(const fs::path&)>& read, double executions = 2000, double most = 2.0) {
    ASSERT_FALSE(seeds.empty());
    executions = asked("TEMPI_FUZZ_EXECUTIONS", executions);
    const double seconds = asked("TEMPI_FUZZ_SECONDS", 0.0);
    const unsigned seed = seconds > 0.0 ? std::random_device{}() : 20261123U;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Mutator mutated(seed);
    const fs::path file = folder_ / ("fuzzed" + extension);
    const auto start = Clock::now();
    const auto elapsed = [](Clock::time_point from) {
      return std::chrono::duration<double>(Clock::now() - from).count();
    };
    const long before = resident_kilobytes();
    const auto taken = [] { return processor_time(RUSAGE_SELF) + processor_time(RUSAGE_CHILDREN); };
    long count = 0, accepted = 0;
    double slowest = 0.0;
    for (; seconds > 0.0 ? elapsed(start) < seconds : static_cast<double>(count) < executions; ++count) {
      const std::string text = mutated(seeds);
      std::ofstream(file, std::ios::binary) << text;
      const double from = taken();
      try {
        read(file);
        ++accepted;
      } catch (const InputError& e) {
        ASSERT_LT(std::string(e.what()).size(), text.size() + 4000);
      } catch (const std::exception& e) {
        keep(text, extension);
        FAIL() << "after " << count << " executions: " << e.what();
      }
      slowest = std::max(slowest, taken() - from);
      if (slowest > most) {
        keep(text, extension);
        FAIL() << "it took " << slowest << " s";
      }
    }
    EXPECT_LT(resident_kilobytes() - before, 1'000'000);
    RecordProperty("executions", std::to_string(count));
    std::printf("%ld executions, %ld accepted, %.0f a second, slowest %.2f s\n", count, accepted,
                static_cast<double>(count) / elapsed(start), slowest);
    for (const std::string& good : seeds) {  // the controls
      std::ofstream(file, std::ios::binary) << good;
      EXPECT_NO_THROW(read(file)) << good.substr(0, 200);
    }
  }

  static void keep(const std::string& text, const std::string& extension) {
    const fs::path kept = fs::temp_directory_path() / ("fuzz-failure" + extension);
    std::ofstream(kept, std::ios::binary) << text;
    std::printf("kept as %s\n", kept.c_str());
  }

  fs::path folder_ = fs::temp_directory_path() / ("fuzz_" + std::to_string(::getpid()));
};

TEST_F(Readers, of_case_files) {
  std::vector<std::string> all = seeds("case");
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TEMPI_SOURCE_DIR) / "examples"))
    if (entry.path().extension() == ".toml") all.push_back(bytes_of(entry.path()));
  ASSERT_GT(all.size(), 10U);
  fuzz(all, ".toml", [](const fs::path& file) { read_case(file, {}); });
}

TEST_F(Readers, of_abaqus_decks) {
  fuzz(seeds("inp"), ".inp", [](const fs::path& file) { const Mesh mesh(read_abaqus(file)); });
}

TEST_F(Readers, of_particles_as_csv) {
  fuzz(seeds("csv"), ".csv", [](const fs::path& file) { read_particles(file); });
}

TEST_F(Readers, of_particles_as_xyz) {
  fuzz(seeds("xyz"), ".xyz", [](const fs::path& file) { read_particles(file); });
}

TEST_F(Readers, of_particles_as_lammps_data) {
  fuzz(seeds("lammps"), ".data", [](const fs::path& file) { read_particles(file); });
}

#ifdef TEMPI_WITH_GMSH
class MeshReaders : public Readers, public testing::WithParamInterface<std::string> {};

// Gmsh's process ends after 2 s of processor time, to the second, and with 1 GB.
TEST_P(MeshReaders, BearWhatGmshMakesOfDamagedFiles) {
  const std::string kind = GetParam(), extension = kind.starts_with("msh") ? ".msh" : "." + kind;
  fuzz(
      seeds(kind), extension, [](const fs::path& file) { const Mesh mesh(read_mesh(file, {})); }, 30, 3.0);
}
INSTANTIATE_TEST_SUITE_P(Of, MeshReaders, testing::Values("msh2", "msh4", "vtk", "unv", "bdf", "mesh"),
                         [](const auto& kind) { return kind.param; });
#endif

State start_of(const test::Body& body) { return test::moving_state(body, 0.1, 0.02, 5); }

std::unique_ptr<Integrator> make_avi(const test::Body& body) {
  return std::make_unique<AviExplicit>(*body.model, test::own_steps(*body.model, 0.4));
}

TEST_F(Readers, of_checkpoints) {
  const auto body = test::loaded_body();
  const auto integrator = make_avi(body);
  State state = start_of(body);
  integrator->advance_to(state, 10.0 * integrator->step(TermId{0}));
  const fs::path file = folder_ / "seed.bin";
  write_checkpoint(file, state, *integrator);
  fuzz({bytes_of(file)}, ".bin", [&](const fs::path& damaged) {
    const auto other = make_avi(body);
    State loaded = start_of(body);
    read_checkpoint(damaged, loaded, *other);
  });
}

// What a checksum cannot see: sections with good checksums and bad contents.
TEST_F(Readers, of_what_is_in_checkpoints) {
  const auto body = test::loaded_body();
  const auto integrator = make_avi(body);
  State state = start_of(body);
  integrator->advance_to(state, 10.0 * integrator->step(TermId{0}));
  Sections good;
  put_checkpoint(good, state, *integrator);
  fuzz({good["state"] + '\x01' + good["integrator"]}, ".raw", [&](const fs::path& damaged) {
    const std::string bytes = bytes_of(damaged);
    const std::size_t middle = bytes.find('\x01', std::min(bytes.size(), good["state"].size()));
    Sections sections;
    sections.add("state", bytes.substr(0, std::min(bytes.size(), good["state"].size())));
    sections.add("integrator", middle == std::string::npos ? "" : bytes.substr(middle + 1));
    const auto other = make_avi(body);
    State loaded = start_of(body);
    take_checkpoint(sections, loaded, *other);
  });
}

}  // namespace
}  // namespace tempi
