// Exact search for a packing within a capacity. A packing is canonical where each item lies on the floor or on top of
// another one that it meets; if there is a packing, there is a canonical one. The search places an item at its lowest
// offset, or else says that something without a place must lie below it. It gives up where the items of a section do
// not fit any more. Canonical packings, their sections and a floor that only rises are from M. D. Moffitt, MiniMalloc:
// A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning, ASPLOS 2023. Releases, the second branch,
// and the memory of failures are those of disjunctive scheduling.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libopt/packing/orders.h"
#include "libopt/packing/state.h"

namespace kasen::packing {

enum class Verdict { found, none, unknown };

class Search {
 public:
  explicit Search(const Problem& problem);

  // Forgets what it knows of another capacity. Takes the nodes off `steps`, at most all. Goes on with what failed
  // before.
  [[nodiscard]] Verdict run(std::int64_t capacity, std::int64_t& steps);
  [[nodiscard]] const Offsets& offsets() const { return offsets_; }  // of the last that was found

 private:
  using Component = std::vector<int>;  // items without a place, by first section; no others meet them
  struct Key {
    std::uint64_t first = 0, second = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  enum class Focus { rivals, lowest, failures };
  enum class Outcome { solved, failed, exhausted };

  [[nodiscard]] bool solve(const Component& component);
  [[nodiscard]] Outcome branch(const Component& component, Key& key);
  [[nodiscard]] bool solve_all(std::vector<Component>& parts);
  [[nodiscard]] bool follow(const Component& component);
  [[nodiscard]] int choose(const Component& component) const;
  [[nodiscard]] bool is_before(int one, int other) const;
  [[nodiscard]] std::vector<Component> parts_of(const Component& component) const;
  [[nodiscard]] Key key_of(const Component& component) const;
  [[nodiscard]] bool has_failed(const Key& key) const;
  void note_failure(const Key& key);
  [[nodiscard]] std::int64_t least_slack(const Component& component) const;

  const Problem& problem_;
  State state_;
  const std::vector<Ranks> orders_;
  std::vector<Key> failures_;
  std::size_t noted_ = 0;
  Offsets offsets_;
  std::int64_t capacity_ = -1, left_ = 0;
  int restarts_ = 0;
  const Ranks* order_ = nullptr;
  Focus focus_ = Focus::lowest;
  bool stopped_ = false;
};

}  // namespace kasen::packing
