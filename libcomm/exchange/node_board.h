// Memory that the ranks of one node share: each has a place that all of them can read at any time, also while its owner
// is stopped or busy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "libcomm/exchange/mpi_session.h"

namespace kasen {

struct NodeBoard {
  std::vector<int> ranks;          // of this node, ascending
  std::vector<std::byte*> places;  // theirs; zeros at first
  std::size_t own = 0;             // this rank's among them
  std::shared_ptr<void> memory;    // the last copy goes before the session does, on all of these ranks
};

// Collective. A node without shared memory gives each rank a board of its own.
[[nodiscard]] NodeBoard make_node_board(const MpiSession& session, std::int64_t bytes);

}  // namespace kasen
