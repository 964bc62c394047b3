// slice, concat and reshape on one worker: copies between two arrays whose elements are apart by fixed numbers of
// elements along each axis. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/axis/axis.h"

namespace kasen {

class Rearrangement {
 public:
  explicit Rearrangement(const AxisCall& call);

  // Of the result.
  [[nodiscard]] std::int64_t elements() const { return copies_.empty() ? 0 : copies_.back().end; }
  // Elements begin .. end - 1, in the order of the copies.
  void copy(std::int64_t begin, std::int64_t end) const;

 private:
  struct Axis {
    std::int64_t size = 1, from = 0, to = 0;  // elements from one index to the next
  };
  // All elements of one operand that the result has.
  struct Copy {
    std::size_t operand = 0;
    std::int64_t begin = 0, end = 0;  // of all copies' elements
    std::int64_t from = 0, to = 0;    // the first element
    std::vector<Axis> axes;           // at least one; the last one innermost
  };

  void add(std::size_t operand, std::int64_t& placed);
  void add_worked(std::size_t operand, std::int64_t& placed, Copy& copy) const;
  void copy_part(const Copy& copy, std::int64_t begin, std::int64_t end) const;
  void copy_row(const Copy& copy, std::int64_t from, std::int64_t to, std::int64_t count) const;

  const AxisCall& call_;
  std::vector<Copy> copies_;
};

}  // namespace kasen
