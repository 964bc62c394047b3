/// \file
/// The elements of an array in another order of its axes: transposed, along a diagonal, or repeated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kasen {

class Arrangement {
 public:
  /// By axis of the new order, the last one running fastest: where each of its indices lies in the array, in elements.
  /// The place of an element is the sum over the axes. Without axes: the array's first element.
  explicit Arrangement(std::vector<std::vector<std::int64_t>> offsets);

  [[nodiscard]] std::int64_t size() const { return size_; }

  /// Copies one plane, whose scalars have so many bytes: to the new order, or back. Repeated elements are not copied
  /// back. `arranged` has its elements without gaps.
  void arrange(const std::byte* array, std::byte* arranged, std::int64_t scalar_bytes) const;
  void restore(const std::byte* arranged, std::byte* array, std::int64_t scalar_bytes) const;

 private:
  template <class Move>
  void for_each_plane_of_two(const Move& move) const;
  template <class T>
  void copy_to(const std::byte* array, std::byte* arranged) const;
  template <class T>
  void copy_back(const std::byte* arranged, std::byte* array) const;

  std::vector<std::vector<std::int64_t>> outer_;  // of all axes but the last two
  std::vector<std::int64_t> rows_, along_;        // of the last two
  std::int64_t size_ = 0;
};

}  // namespace kasen
