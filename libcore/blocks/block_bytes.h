/// \file
/// The bytes that one execution of a region of blocks reads, writes and sends, by the rules of the actual cost
/// (docs/cost.md): each task its operands and its result, where kernels need another order of axes the copies, and what
/// a worker moves between its own boxes and blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "libcore/blocks/block_moves.h"

namespace kasen {

struct BlockBytes {
  std::int64_t read = 0, written = 0, sent = 0;  ///< over all workers
  std::int64_t sent_elements = 0;
  std::vector<std::int64_t> areas;  ///< bytes of the region's area, by worker
  std::int64_t arranged = 0;        ///< bytes that each worker's tasks take besides (arranged_bytes)
};

/// `module` has sizes and a mesh; `region` is of it, and placed.
[[nodiscard]] BlockBytes block_bytes(const Module& module, const Op& region);

/// Calls visit(round, from, to, bytes) for each message of one execution. The rounds are exchanges of their own.
using BlockMessageVisit = std::function<void(std::size_t round, int from, int to, std::int64_t bytes)>;
void for_each_block_message(const Module& module, const Op& region, const BlockMessageVisit& visit);

/// Memory for operands and results of tasks in the order of axes that kernels need. One of each serves all tasks of a
/// variant on a worker.
[[nodiscard]] std::int64_t arranged_bytes(const Module& tasks);

}  // namespace kasen
