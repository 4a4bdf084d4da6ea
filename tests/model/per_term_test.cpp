// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/per_term.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace tempi {
namespace {

TermKey key(int a, int b) { return term_key(NodeId{a}, NodeId{b}); }

// Every term of the sum gets one more.
PerTerm<Index>::Exchange count(PerTerm<Index>& of, TermId sum, const std::vector<TermKey>& keys) {
  return of.exchange(sum, keys, [](Index& value) { ++value; });
}

TEST(PerTerm, keeps_who_stays_and_forgets_who_goes) {
  PerTerm<Index> of(3);
  EXPECT_EQ(count(of, TermId{1}, {key(0, 1), key(0, 4), key(2, 3)}).came, 3);
  const auto [came, went] = count(of, TermId{1}, {key(0, 2), key(0, 4), key(2, 3), key(3, 5)});
  EXPECT_EQ(came, 2);
  EXPECT_EQ(went, 1);
  EXPECT_EQ(of.find(TermId{1}, key(0, 1)), nullptr);
  EXPECT_EQ(*of.find(TermId{1}, key(0, 4)), 2);
  EXPECT_EQ(*of.find(TermId{1}, key(3, 5)), 1);
  // who comes back begins anew
  count(of, TermId{1}, {key(0, 1)});
  EXPECT_EQ(*of.find(TermId{1}, key(0, 1)), 1);
  EXPECT_EQ(of.changing().size(), 1u);
}

TEST(PerTerm, keeps_sums_apart_and_from_the_terms_of_the_model) {
  PerTerm<Index> of(3, 7);
  count(of, TermId{2}, {key(0, 1)});
  count(of, TermId{0}, {key(0, 1), key(1, 2)});
  count(of, TermId{2}, {key(0, 1)});
  EXPECT_EQ(*of.find(TermId{0}, key(0, 1)), 1);
  EXPECT_EQ(*of.find(TermId{2}, key(0, 1)), 2);
  EXPECT_EQ(of.find(TermId{1}, key(0, 1)), nullptr);
  EXPECT_EQ(of[TermId{0}], 7);
  Index sum = 0;
  of.each_of(TermId{0}, [&](Index& value) { sum += value; });
  EXPECT_EQ(sum, 2);
  EXPECT_EQ(count(of, TermId{0}, {}).went, 2);
  EXPECT_EQ(of.changing().size(), 1u);
}

TEST(PerTerm, goes_through_a_file_by_key) {
  PerTerm<Index> of(2, 5), other(2);
  count(of, TermId{1}, {key(0, 1), key(7, 9)});
  count(of, TermId{1}, {key(7, 9)});
  count(other, TermId{1}, {key(3, 4)});
  std::stringstream file;
  ArchiveWriter writer(file);
  of.save(writer, "updates");
  ArchiveReader reader(file);
  other.load(reader, "updates");
  EXPECT_EQ(other.values(), of.values());
  EXPECT_EQ(*other.find(TermId{1}, key(7, 9)), 2);
  EXPECT_EQ(other.changing().size(), 1u);
}

}  // namespace
}  // namespace tempi
