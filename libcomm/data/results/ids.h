// The user's ids of a relabelled dimension, spread over the ranks; private to results.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcomm/data/results/spread.h"

namespace kasen {

class UserIds {
 public:
  // Collective. Each rank keeps the ids of its run of indices, or all of them if the dimension is local.
  UserIds(const ResultTable& ids, const std::vector<Part>& parts, std::int64_t window_bytes, ResultRanks& ranks);
  // Collective. Replaces indices by the user's ids; numbers that are no index of the dimension stay.
  void name(std::span<std::int64_t> indices) const;

 private:
  void name_by_asking(std::span<std::int64_t> indices) const;

  ResultRanks& ranks_;
  WindowPlan plan_;
  bool whole_;  // every index is here
  std::int64_t size_, first_ = 0;
  std::vector<std::int64_t> ids_;  // from index first_ on
};

}  // namespace kasen
