// SPDX-License-Identifier: Apache-2.0
// Cases in a folder of their own, and what refusals say.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "tempi/case/simulation.hpp"
#include "tempi/core/error.hpp"

namespace tempi::test {

// A square of two triangles, groups "body", "left" (nodes) and "first" (one cell); gone when the test ends.
class CaseFolder {
 public:
  CaseFolder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) / (std::string(test->test_suite_name()) + "." + test->name());
    std::filesystem::create_directories(path_);
    write("square.inp",
          "*NODE\n1, 0, 0\n2, 1, 0\n3, 1, 1\n4, 0, 1\n*ELEMENT, TYPE=CPE3, ELSET=body\n1, 1, 2, 3\n2, 1, 3, 4\n"
          "*ELSET, ELSET=first\n1\n*NSET, NSET=left\n1, 4\n");
  }
  ~CaseFolder() { std::filesystem::remove_all(path_); }
  CaseFolder(const CaseFolder&) = delete;
  CaseFolder& operator=(const CaseFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }

  CaseFile read(const std::string& text) const {
    write("case.toml", text);
    return read_case(path_ / "case.toml", {});
  }
  Simulation build(const std::string& text) const { return tempi::build(read(text)); }

  // The square, with `sections` added.
  static std::string square(const std::string& integrator = "", const std::string& sections = "") {
    return "[mesh]\nfile = \"square.inp\"\n[[material]]\nlambda = 1.0\nmu = 1.0\ndensity = 1.0\n[integrator]\n" +
           integrator + "\n[run]\nend_time = 1.0\n" + sections;
  }
  // Three particles on two springs of 4 N/m and 1 N/m.
  static std::string chain(const std::string& integrator = "", const std::string& sections = "") {
    return "[particles]\nmass = 1.0\nposition = [[0, 0], [1, 0], [2, 0]]\nvelocity = [[0, 0], [0, 0], [1, 0]]\n"
           "[[potential]]\ntype = \"spring\"\npairs = [[0, 1]]\nstiffness = 4.0\nlength = 1.0\n"
           "[[potential]]\ntype = \"spring\"\npairs = [[1, 2]]\nstiffness = 1.0\nlength = 1.0\n[integrator]\n" +
           integrator + "\n[run]\nend_time = 1.0\n" + sections;
  }

 private:
  std::filesystem::path path_;
};

// What `act` throws as an InputError; empty where it does not.
template <class Act>
std::string refusal(Act&& act) {
  try {
    std::forward<Act>(act)();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

inline void expect_words(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " is not in: " << text;
}

}  // namespace tempi::test
