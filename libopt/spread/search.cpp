#include "libopt/spread/search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>

#include "libcore/base/error.h"
#include "libopt/spread/bound.h"
#include "libopt/spread/exact.h"

namespace kasen::spread {
namespace {

// K of "ahead=K"; 0: it is no such name.
int ahead_of(std::string_view name) {
  constexpr std::string_view start = "ahead=";
  if (name.substr(0, start.size()) != start) return 0;
  int ahead = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + start.size(), end, ahead);
  return read.ec == std::errc() && read.ptr == end && ahead <= most_ahead ? ahead : 0;
}

std::optional<Plan> quick_plan(std::string_view name, const Graph& graph, const Cluster& cluster,
                               SearchOptions options) {
  if (name == "owner") return place_at_owners(graph, cluster);
  if (name == "round-robin") return place_round_robin(graph, cluster);
  if (name == "lshs") return lshs(graph, cluster, options);
  if (name == "lshs-all") {
    options.options = Options::all;
    return lshs(graph, cluster, options);
  }
  if (name == "heft") return heft(graph, cluster, options);
  options.ahead = ahead_of(name);
  if (options.ahead > 0) return look_ahead(graph, cluster, options);
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& search_names() {
  static const std::vector<std::string> names{"owner", "round-robin", "lshs", "lshs-all", "ahead=2", "heft", "exact"};
  return names;
}

void require_search(std::string_view name) {
  for (const std::string& known : search_names())
    if (name == known) return;
  if (ahead_of(name) > 0) return;
  fail(ExitStatus::usage, fmt::format("unknown search '{}'", name), "placements are found by name",
       fmt::format("give one of {}; ahead goes up to {}", fmt::join(search_names(), ", "), most_ahead));
}

Proven find_placement(std::string_view name, const Graph& graph, const Cluster& cluster, const SearchOptions& options) {
  require_search(name);
  require_cluster(cluster);
  if (name == "exact") return exact(graph, cluster, options);
  Proven proven;
  proven.plan = *quick_plan(name, graph, cluster, options);
  proven.objective = loads_of(graph, cluster, proven.plan).objective();
  proven.bound = lower_bound(graph, cluster).objective();
  return proven;
}

}  // namespace kasen::spread
