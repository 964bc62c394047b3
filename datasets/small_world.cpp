#include "datasets/small_world.h"

#include <fmt/format.h>

#include "datasets/draws.h"
#include "libcore/base/error.h"

namespace kasen {

EdgeRuns small_world_edges(const SmallWorldOptions& options) {
  check_size(options.scale, options.edges);
  if (!(options.rewired >= 0 && options.rewired <= 1))
    fail(ExitStatus::usage, "the part of the rewired links is no part of 1", "it is 0 to 1");
  const std::int64_t vertices = std::int64_t{1} << options.scale, links = options.edges / 2 / vertices;
  if (links < 1 || links > (vertices - 1) / 2) {
    fail(ExitStatus::usage, fmt::format("a small world of {} vertices and {} edges", vertices, options.edges),
         fmt::format("it has {} to {} edges", 2 * vertices, (vertices - 1) / 2 * 2 * vertices));
  }
  const std::uint64_t key = mix(options.seed), mask = static_cast<std::uint64_t>(vertices) - 1;
  const auto rewired = static_cast<std::uint64_t>(options.rewired * 0x1p53);
  return drawn_edges(options.scale, 2 * links * vertices, [=](std::int64_t k) {
    const std::int64_t link = k / 2;
    const auto from = static_cast<std::uint64_t>(link / links);
    std::uint64_t to = (from + static_cast<std::uint64_t>(link % links) + 1) & mask;
    const std::uint64_t chance = mix(key ^ static_cast<std::uint64_t>(link));
    if (chance >> 11U < rewired) {
      const std::uint64_t any = mix(chance) & mask;
      to = any == from ? to : any;  // no vertex links to itself
    }
    return k % 2 == 0 ? edge_of(from, to) : edge_of(to, from);
  });
}

}  // namespace kasen
