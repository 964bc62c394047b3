// Moves stored values to another order.
#pragma once

#include <cstring>
#include <vector>

#include "libcore/data/data.h"

namespace kasen {

// Moves single elements between two arrays of one element type, plane by plane. Both arrays must outlive it.
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
      switch (p.size) {  // with a known size, a copy takes one or two instructions and no call
        case 8:
          std::memcpy(p.place(to), p.element(from), 8);
          break;
        case 4:
          std::memcpy(p.place(to), p.element(from), 4);
          break;
        default:
          std::memcpy(p.place(to), p.element(from), p.size);
      }
    }
  }

  // Moves `count` consecutive elements.
  void move_run(std::int64_t from, std::int64_t to, std::int64_t count) const {
    for (const Plane& p : planes_) std::memcpy(p.place(to), p.element(from), static_cast<size_t>(count) * p.size);
  }

 private:
  struct Plane {
    const std::byte* from;
    std::byte* to;
    size_t size;

    [[nodiscard]] const std::byte* element(std::int64_t i) const { return from + static_cast<size_t>(i) * size; }
    [[nodiscard]] std::byte* place(std::int64_t i) const { return to + static_cast<size_t>(i) * size; }
  };
  std::vector<Plane> planes_;
};

}  // namespace kasen
