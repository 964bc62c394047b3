// Searches for a placement, by name: NumS's own one, what it is compared with, and better ones. All are seeded, end by
// counts, and give equal results on any machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libopt/spread/placement.h"

namespace kasen::spread {

inline constexpr int most_ahead = 8;

struct SearchOptions {
  Options options = Options::operands;
  Pairing pairing = Pairing::local;
  std::uint64_t seed = 1;
  int ahead = 1;                       // frontier vertices that a look-ahead places before it chooses
  std::int64_t exact_nodes = 200'000;  // of the exact search's tree, at most
};

// Each task at the owner of its output, each addition too, the terms in order.
[[nodiscard]] Plan place_at_owners(const Graph& graph, const Cluster& cluster);

// Each operator at the worker behind the last one's, as they come; terms in order. Only what is pinned stays there.
[[nodiscard]] Plan place_round_robin(const Graph& graph, const Cluster& cluster);

// Load simulated hierarchical scheduling (NumS, Algorithm 1): a vertex of the frontier is drawn, and its next operator
// runs where the objective is least, at the first of equal ones.
[[nodiscard]] Plan lshs(const Graph& graph, const Cluster& cluster, const SearchOptions& options);

// So many vertices of the frontier are drawn. Each of them is tried as the next one, at its best workers, with the
// others behind it. Of equal objectives the one counts that moves less.
[[nodiscard]] Plan look_ahead(const Graph& graph, const Cluster& cluster, const SearchOptions& options);

// List scheduling by upward rank (HEFT: Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002): time is elements that are read
// and made, and elements that move. It looks at the end of each operator, not at the objective.
[[nodiscard]] Plan heft(const Graph& graph, const Cluster& cluster, const SearchOptions& options);

// A plan with a proof: no placement has an objective below `bound`.
struct Proven {
  Plan plan;
  Load objective = 0, bound = 0;
  std::int64_t nodes = 0;  // of the search's tree
  [[nodiscard]] bool is_certified() const { return bound >= objective; }
};

// A name of the list: owner, round-robin, lshs, lshs-all (with Options::all), ahead=K, heft, exact. Throws
// UserError(usage) for another one, and for a K out of range.
void require_search(std::string_view name);
[[nodiscard]] const std::vector<std::string>& search_names();
[[nodiscard]] Proven find_placement(std::string_view name, const Graph& graph, const Cluster& cluster,
                                    const SearchOptions& options);

}  // namespace kasen::spread
