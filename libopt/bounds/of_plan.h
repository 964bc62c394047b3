// What the exchanges around each dense product and reduction of a plan bring to a worker, beside the least that they
// must (least.h) and NumS's estimate of their time (estimates.h; docs/cost.md, Bounds).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/bounds/estimates.h"
#include "libopt/cost/sizes.h"

namespace kasen {

enum class BoundedWork : std::uint8_t { product, chain, reduction };

struct CommunicationBound {
  int number = -1;      // of the operator, in preorder
  double received = 0;  // elements: the most that a worker receives in the exchanges right before and behind it
  double least = 0;     // elements, for the operator as it is
  BoundedWork work = BoundedWork::product;
  std::vector<int> steps = {};    // of a chain: its operators, of which `number` is the last
  double message = 0;             // elements of a message in the paper's row; 0: the paper has no such row
  MessageEstimate estimate = {};  // of that row
  MessageEstimate summa = {};     // of a product of matrices that no operand is narrow in
  double element_bytes = 0;
};

// Of each contraction of distributed arrays, of each two of which the second alone reads the first (see least.h), and
// of each reduction of one to an array. Exchanges are those that make an operand of others, and the gather of the
// result. `sizes` are known by worker. NumS's nodes are the workers.
[[nodiscard]] std::vector<CommunicationBound> communication_bounds(const Module& module, const Sizes& sizes);

// All element-wise operators of distributed arrays together: the bound of each is 0.
struct ElementwiseWork {
  int operators = 0, receiving = 0;  // of these some receive elements
  double received = 0;               // the most that one worker receives for one of them
  MessageEstimate estimate = {};     // of one of them
};
[[nodiscard]] ElementwiseWork elementwise_work(const Module& module, const Sizes& sizes);

// The sizes by worker of a plan that names layouts, where its dimensions and workers are known. As they are if they are
// known by worker already; nothing if they cannot be.
[[nodiscard]] std::optional<Sizes> sizes_by_worker(const Module& module, const Sizes& sizes);

}  // namespace kasen
