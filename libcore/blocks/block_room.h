// Places of blocks in one area of memory: first fit, round by round. Internal to libcore/blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kasen {

class BlockRoom {
 public:
  // A block of so many bytes, from the beginning of the first round to the end of the last.
  struct Stay {
    int first = 0, last = 0;
    std::int64_t bytes = 0;
  };
  BlockRoom(std::span<const Stay> stays, int rounds);

  [[nodiscard]] std::int64_t at(std::size_t stay) const { return at_[stay]; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  // To a multiple of a cache line.
  [[nodiscard]] static std::int64_t rounded(std::int64_t bytes);

 private:
  struct Gap {
    std::int64_t at = 0, bytes = 0;
  };
  std::int64_t take(std::int64_t bytes);
  void give(Gap gap);

  std::vector<std::int64_t> at_;
  std::vector<Gap> gaps_;  // ascending
  std::int64_t bytes_ = 0;
};

}  // namespace kasen
