// SPDX-License-Identifier: Apache-2.0
// What is kept of every term: of the model's own terms by their number, of those that come and go within a sum by their
// key (potential/many_body_sum.hpp). Checkpoints write keys.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tempi/core/archive.hpp"
#include "tempi/potential/many_body_sum.hpp"

namespace tempi {

template <class T>
class PerTerm {
 public:
  explicit PerTerm(Index terms, T value = {}) : of_term_(static_cast<std::size_t>(terms), value) {}
  explicit PerTerm(std::vector<T> values) : of_term_(std::move(values)) {}

  T& operator[](TermId term) { return of_term_[ordinal(term)]; }
  const T& operator[](TermId term) const { return of_term_[ordinal(term)]; }
  const std::vector<T>& values() const { return of_term_; }  // of the model's terms
  Index size() const { return std::ssize(of_term_); }

  // The terms of a sum.
  struct Entry {
    TermId sum;
    TermKey key;
    T value;
  };
  std::span<const Entry> changing() const { return changing_; }
  const T* find(TermId sum, const TermKey& key) const {
    const auto at = place(sum, key);
    return at != changing_.end() && at->sum == sum && at->key == key ? &at->value : nullptr;
  }

  template <class Visit>
  void each_of(TermId sum, Visit&& visit) {
    for (auto& entry : changing_)
      if (entry.sum == sum) visit(entry.value);
  }

  // From now on a sum has the terms `keys`, ascending: who stays keeps its value, who comes gets T{}, who goes is
  // forgotten. Then visits the values in the order of the keys. Returns how many came and went. No allocation while
  // there are not more of them than ever before.
  struct Exchange {
    Index came = 0, went = 0;
  };
  template <class Visit>
  Exchange exchange(TermId sum, std::span<const TermKey> keys, Visit&& visit) {
    const TermKey least = term_key(NodeId{-1});
    const auto first = place(sum, least), last = place(make_id<TermId>(index(sum) + 1), least);
    Exchange result;
    next_.assign(changing_.cbegin(), first);
    auto old = first;
    for (const TermKey& key : keys) {
      for (; old != last && old->key < key; ++old) ++result.went;
      const bool stays = old != last && old->key == key;
      next_.push_back(stays ? *old++ : Entry{sum, key, T{}});
      result.came += stays ? 0 : 1;
      visit(next_.back().value);
    }
    result.went += last - old;
    next_.insert(next_.end(), last, changing_.cend());
    std::swap(next_, changing_);
    return result;
  }

  void save(ArchiveWriter& archive, std::string_view name) const {
    archive.put(name, of_term_);
    std::vector<Key> keys;
    std::vector<T> values;
    for (const Entry& entry : changing_) {
      keys.push_back({entry.sum, entry.key});
      values.push_back(entry.value);
    }
    archive.put("keys", keys);
    archive.put(std::string(name) + ", by key", values);
  }
  // Into one of the same model; leaves it alone when it throws.
  void load(ArchiveReader& archive, std::string_view name) {
    std::vector<T> of_term(of_term_.size());
    archive.get(name, of_term);
    std::vector<Key> keys;
    archive.get_all("keys", keys);
    std::vector<T> values(keys.size());
    archive.get(std::string(name) + ", by key", values);
    of_term_ = std::move(of_term);
    changing_.clear();
    for (std::size_t i = 0; i < keys.size(); ++i) changing_.push_back({keys[i].sum, keys[i].key, values[i]});
  }

 private:
  struct Key {
    TermId sum;
    TermKey key;
  };
  auto place(TermId sum, const TermKey& key) const {
    return std::ranges::lower_bound(changing_, std::pair(sum, key), {},
                                    [](const Entry& e) { return std::pair(e.sum, e.key); });
  }

  std::vector<T> of_term_;
  std::vector<Entry> changing_, next_;  // ascending by sum and key
};

}  // namespace tempi
