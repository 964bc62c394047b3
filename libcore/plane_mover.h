// Puts stored values in another order.
#pragma once

#include <cstring>
#include <vector>

#include "libcore/data.h"

namespace kasen {

// Moves single elements between two arrays of one element type, plane by plane. Both must outlive it.
class PlaneMover {
 public:
  PlaneMover(const Array& from, Array& to) {
    for (std::int64_t p = 0; to.count > 0 && p < to.element.planes(); ++p) {
      const auto size = static_cast<size_t>(scalar_bytes(to.element.plane_scalar(p)));
      if (size > 0) planes_.push_back({from.plane(p), to.plane(p), size});
    }
  }

  void move(std::int64_t from, std::int64_t to) const {
    for (const Plane& p : planes_) {
      std::memcpy(p.to + static_cast<size_t>(to) * p.size, p.from + static_cast<size_t>(from) * p.size, p.size);
    }
  }

 private:
  struct Plane {
    const std::byte* from;
    std::byte* to;
    size_t size;
  };
  std::vector<Plane> planes_;
};

}  // namespace kasen
