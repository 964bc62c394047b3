#include "libcomm/exchange/segments.h"

#include <xxhash.h>

#include <memory>

namespace kasen {

std::int64_t bytes_of(const std::vector<Segment>& segments) {
  std::int64_t bytes = 0;
  for (const Segment& segment : segments) bytes += segment.bytes;
  return bytes;
}

std::uint64_t digest_of_segments(const std::vector<Segment>& segments) {
  if (segments.size() == 1) return XXH3_64bits(segments[0].data, static_cast<std::size_t>(segments[0].bytes));
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state{XXH3_createState(), XXH3_freeState};
  XXH3_64bits_reset(state.get());
  for (const Segment& segment : segments)
    XXH3_64bits_update(state.get(), segment.data, static_cast<std::size_t>(segment.bytes));
  return XXH3_64bits_digest(state.get());
}

}  // namespace kasen
