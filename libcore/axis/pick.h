// pick on one worker: the elements of each line at which a mask is true. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/axis/axis.h"

namespace kasen {

class Picker {
 public:
  // UserError (bad_input) if the mask is true at another number of indices than the result's dimension has.
  explicit Picker(const AxisCall& call);

  // Of the result.
  [[nodiscard]] std::int64_t elements() const { return outer_ * count() * inner_; }
  // Elements begin .. end - 1, in the order of the result's memory.
  void copy(std::int64_t begin, std::int64_t end) const;

 private:
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(places_.size()); }

  const AxisCall& call_;
  std::vector<std::int64_t> places_;  // where the mask is true
  std::int64_t outer_ = 1, length_ = 0, inner_ = 1;
};

}  // namespace kasen
