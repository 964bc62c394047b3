// Pieces of memory that go as one message between two ranks. Internal to libcomm/exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kasen {

struct Segment {
  std::byte* data;
  std::int64_t bytes;
};

[[nodiscard]] std::int64_t bytes_of(const std::vector<Segment>& segments);
// XXH3-64 of the bytes, one segment after another.
[[nodiscard]] std::uint64_t digest_of_segments(const std::vector<Segment>& segments);

}  // namespace kasen
