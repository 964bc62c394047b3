/// \file
/// A sort or argsort along a dimension that the mesh cuts (sorts_across, libcore/analysis/mesh_rules.h): who takes
/// part, and what travels. The executor and the cost model both read it.
///
/// Each worker sorts its own elements of each line. All elements of a line have one order: by value, equal ones by
/// their places, as in a stable sort. The worker that owns the places from r on finds out in rounds how many of each
/// worker's elements are among the first r (selection.h). Then every element goes straight to the owner of its place,
/// where the sorted pieces are merged. All lines share rounds. No worker ever has more than its own elements, and as
/// many on their way.
///
/// How many elements move depends on their values. All else that travels follows from the sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

/// A worker shows at most so many elements of a line to each other one in a round.
inline constexpr std::int64_t most_samples = 32;

struct SortMember {
  int worker = 0;
  std::int64_t first = 0, count = 0;  ///< its run of each line
  [[nodiscard]] std::int64_t samples() const { return count < most_samples ? count : most_samples; }
};

struct SortPlan {
  std::vector<SortMember> group;      ///< by their runs; empty where the worker has nothing to sort
  std::size_t own = 0;                ///< the worker's place in it
  std::int64_t length = 0;            ///< of a line
  std::int64_t lines = 0, inner = 1;  ///< element k of line l: l / inner * count * inner + k * inner + l % inner
  std::int64_t key_bytes = 0, place_bytes = 0;  ///< of an element; an argsort's places go along
  int rounds = 0;                               ///< the same for all groups

  [[nodiscard]] std::int64_t count() const { return group.at(own).count; }
  [[nodiscard]] std::int64_t elements() const { return lines * count(); }  // fits: the worker has an array of so many
  /// Bytes that member `from` sends to another one, a splitter's owner or back, in one exchange.
  [[nodiscard]] std::int64_t sample_bytes(std::size_t from) const;
  [[nodiscard]] std::int64_t bounds_bytes(std::size_t to) const;
  [[nodiscard]] std::int64_t count_bytes(std::size_t from) const;
};

/// `module` has sizes and a mesh, and `op` is of it.
[[nodiscard]] SortPlan sort_plan(const Module& module, const Op& op, int worker);

/// Rounds after which every splitter in a line is exact, whatever its elements are. `largest`: of all runs.
[[nodiscard]] int selection_rounds(std::int64_t length, std::int64_t largest);

/// Where things stand in the worker's packing area, in bytes. Samples and bounds are not needed any more when elements
/// move, which take their place.
struct SortAreas {
  std::int64_t keys = 0, places = 0;               ///< its elements, sorted line by line
  std::int64_t bounds = 0;                         ///< of each splitter, of each line
  std::int64_t counts_sent = 0, counts_taken = 0;  ///< of each member, of each line
  std::int64_t samples_sent = 0, samples_taken = 0, all_bounds = 0;
  std::int64_t keys_sent = 0, places_sent = 0;  ///< of several lines; the pieces of one are sent from where they are
  std::int64_t keys_taken = 0, places_taken = 0;
  std::int64_t total = 0;
};
[[nodiscard]] SortAreas sort_areas(const SortPlan& plan);

/// What the workers of all groups send in one execution, but for the elements, by exchange.
struct SortMessage {
  int exchange = 0, from = 0, to = 0;
  std::int64_t bytes = 0;
};
void for_each_agreement(const Module& module, const Op& op, const std::function<void(const SortMessage&)>& visit);

/// The bytes with which an element travels.
[[nodiscard]] std::int64_t sorted_bytes(const Module& module, const Op& op);

/// Elements that stay where they are over all workers: at least, and in the mean of all orders of the elements.
struct SortStay {
  std::int64_t least = 0;
  double mean = 0;
};
[[nodiscard]] SortStay sort_stay(const Module& module, const Op& op);

}  // namespace kasen
