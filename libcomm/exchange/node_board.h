// Communication among the ranks of one node alone. A board is memory that they share: each has a buffer that all of
// them can read at any time, also while its owner is stopped or busy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libcomm/exchange/mpi_session.h"

namespace kasen {

struct NodeBoard {
  std::vector<int> ranks;          // of this node, ascending
  std::vector<std::byte*> places;  // theirs; zeros at first
  std::size_t own = 0;             // this rank's among them
  std::shared_ptr<void> memory;    // the last copy is freed before the session is, on all of these ranks
};

// Collective. A node without shared memory gives each rank a board of its own.
[[nodiscard]] NodeBoard make_node_board(const MpiSession& session, std::int64_t bytes);

// Collective, with equal counts: the numbers of each rank of this node, one after the other, including this one's.
[[nodiscard]] std::vector<std::int64_t> gather_on_node(const MpiSession& session, std::span<const std::int64_t> mine);

}  // namespace kasen
