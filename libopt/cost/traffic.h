// Predicts the messages of a plan on a given bundle, to the byte (docs/cost.md). The executor's Traffic will report the
// same numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "libcore/analysis/shared_batch.h"
#include "libcore/data/run_result.h"
#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// The type of the values that a gather or scatter exchanges: of the side that has ghosts.
[[nodiscard]] const Type& held_type(const Module& module, const Op& op);
// Who has ghosts of whose elements; null: nobody has any. In sizes, a set of no matrix stands for those of all.
[[nodiscard]] const SlavePairs* pairs_of(const Module& module, const Type& held, const Sizes& sizes);
// Returns the bytes of one index of the array, or of the whole shared, that an operator exchanges.
[[nodiscard]] std::int64_t moved_bytes(const Module& module, const Op& op, const Polynomial::Bindings& here);
// Returns the bytes of the shareds that a batch exchanges together.
[[nodiscard]] std::int64_t batch_bytes(const Module& module, std::span<const Op> batch,
                                       const Polynomial::Bindings& here);
// True if a batch of shareds travels in slices.
[[nodiscard]] bool travel_in_slices(const Module& module, const SharedBatches& batches, std::span<const Op> batch,
                                    const Sizes& sizes);
// Returns the bytes of packing area that the batch which begins with `op` takes on a worker.
[[nodiscard]] std::int64_t batch_packing_bytes(const Module& module, const SharedBatches& batches, const Op& op,
                                               const Sizes& sizes, int worker);

// Calls visit(from, to, bytes) for each message of a gather, scatter or relayout in a plan that names layouts, but for
// shareds that all workers exchange.
using BoxMessage = std::function<void(int from, int to, std::int64_t bytes)>;
void for_each_box_message(const Module& module, const Op& op, const Sizes& sizes, const BoxMessage& visit);

// Likewise for each message of a scan whose lines are cut, and its round.
using Carry = std::function<void(std::int64_t round, int from, int to, std::int64_t bytes)>;
void for_each_carry(const Module& module, const Op& scan, const Sizes& sizes, const Carry& visit);

// True for a sort across workers. If there is more than one, calls use(the module with the sizes of its data).
using AcrossUse = std::function<void(const Module& sized)>;
bool when_across(const Module& module, const Op& op, const Sizes& sizes, const AcrossUse& use);
// Likewise for a relayout that picks.
bool when_picks(const Module& module, const Op& op, const Sizes& sizes, const AcrossUse& use);

// Predicts the traffic of one execution of a gather, scatter, relayout or scan of cut lines if `ranks` ranks hold the
// workers in runs (DESIGN section 6). It is zero for other operators, but for a sort across workers: that of its
// agreement, without the elements. What a pick moves is left out, too. The messages of a batch of shareds count for its
// first operator.
[[nodiscard]] Traffic predict_traffic(const Module& module, const SharedBatches& batches, const Op& op,
                                      const Sizes& sizes, int ranks);

}  // namespace kasen
