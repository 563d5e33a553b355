#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "model/check/seen_set.hpp"

using namespace oncecheck;

namespace {

std::uint64_t nth(std::uint64_t i) {
  std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  return (x ^ (x >> 27)) | 1;
}

void add(SeenSet& set, std::uint64_t f, std::uint64_t parent, int depth) {
  set.reserve(1);
  REQUIRE(set.insert(f, parent, depth) == SeenSet::Insert::New);
  set.added(1);
}

}  // namespace

TEST_CASE("what was inserted is known, with its parent, however often the table has grown") {
  SeenSet set;
  constexpr std::uint64_t kStates = 300'000;
  for (std::uint64_t i = 0; i < kStates; ++i) add(set, nth(i), nth(i / 2), 1);
  CHECK(set.size() == kStates);
  CHECK(set.bytes() < 17 * kStates);
  for (std::uint64_t i = 0; i < kStates; ++i) {
    if (set.insert(nth(i), nth(i), 2) != SeenSet::Insert::Known) FAIL("a state was lost");
    const std::vector<std::uint64_t> parents = set.parents(nth(i));
    if (i > 0 && std::ranges::find(parents, nth(i / 2)) == parents.end()) FAIL("a parent was lost");
  }
}

TEST_CASE("fingerprints of one home, and at the end of the range, overflow and are found again") {
  SeenSet set;
  for (std::uint64_t i = 0; i < 2'000; ++i) add(set, ~std::uint64_t{0} - i, 1, 1);
  for (std::uint64_t i = 1; i <= 2'000; ++i) add(set, i, 1, 1);
  for (std::uint64_t i = 0; i < 100'000; ++i) add(set, nth(i), 1, 1);
  for (std::uint64_t i = 0; i < 2'000; ++i) CHECK(set.insert(~std::uint64_t{0} - i, 1, 1) == SeenSet::Insert::Known);
  for (std::uint64_t i = 1; i <= 2'000; ++i) CHECK(set.insert(i, 1, 1) == SeenSet::Insert::Known);
}

TEST_CASE("of several parents in one level the smallest is kept, and none of a later level") {
  const std::uint64_t low = std::uint64_t{5} << 40, high = std::uint64_t{9} << 40, lowest = std::uint64_t{2} << 40;
  SeenSet set;
  for (const std::uint64_t p : {low, high, lowest}) add(set, p, 1, 0);
  add(set, 77, high, 4);
  set.insert(77, low, 4);
  set.insert(77, high, 4);
  CHECK(set.parents(77) == std::vector{low});
  set.insert(77, lowest, 5);  // the next level
  CHECK(set.parents(77) == std::vector{low});
  set.settle(77);
  set.insert(77, lowest, 6);  // has the parity of its own
  CHECK(set.parents(77) == std::vector{low});
}

TEST_CASE("a parent whose high bits others share is among those that may be meant") {
  const std::uint64_t one = (std::uint64_t{7} << 40) + 1, other = one + 5;
  SeenSet set;
  add(set, one, 1, 0);
  add(set, other, 1, 0);
  add(set, 99, other, 1);
  CHECK(set.parents(99) == std::vector{one, other});
}

TEST_CASE("of threads that insert the same, one is told that it is new") {
  constexpr std::uint64_t kStates = 50'000;
  SeenSet set;
  set.reserve(kStates);
  std::vector<std::size_t> is_new(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < is_new.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kStates; ++i) is_new[t] += set.insert(nth(i), nth(i + t), 1) == SeenSet::Insert::New ? 1 : 0;
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(std::reduce(is_new.begin(), is_new.end()) == kStates);
  set.added(kStates);
  SeenSet alone;
  alone.reserve(kStates);
  for (std::size_t t = 0; t < is_new.size(); ++t) {
    for (std::uint64_t i = 0; i < kStates; ++i) alone.insert(nth(i), nth(i + t), 1);
  }
  alone.added(kStates);
  std::size_t differ = 0;
  for (std::uint64_t i = 0; i < kStates; ++i) differ += set.parents(nth(i)) == alone.parents(nth(i)) ? 0 : 1;
  CHECK(differ == 0);
}
