// Why: each reduction over the workers is a tree of messages of a few bytes. An iteration with five dot products would
// wait for five trees, one after another. Adjacent gathers of shareds, and adjacent scatters, are one exchange
// (libcore/analysis/shared_batch.h). So operators on shareds alone wait until something else needs one, and then all of
// them are done. Functions of known values come first, then all gathers that are ready, all scatters of those,
// functions of these, and so on. The naive way fails at a function of the first reduction's result in between, such as
// K-means' new centre: nothing needs it until the last reduction is there too. Nothing that touches an array moves:
// regions, transitions and buffers of arrays stay. A scatter of an array stays directly before the product that
// computes while it travels. Keeps the level and the states.
#include <algorithm>
#include <utility>

#include "libcore/analysis/shared_batch.h"
#include "libcore/ir/layout.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

class SharedQueue {
 public:
  SharedQueue(const Module& module, Block& block) : m_(module), block_(block), waits_(module.values.size(), false) {}

  bool run() {
    for (size_t i = 0; i < block_.ops.size(); ++i) {
      if (may_wait(block_.ops[i])) {
        for (const ValueId v : block_.ops[i].results) waits_[static_cast<size_t>(v)] = true;
        queue_.push_back(i);
      } else {
        if (row(block_.ops[i].code).group == OpGroup::end || needs_queue(block_.ops[i])) empty_queue(block_.ops[i]);
        order_.push_back(i);
      }
    }
    while (!queue_.empty()) flush(order_.size());
    if (std::is_sorted(order_.begin(), order_.end())) return false;
    std::vector<Op> ops;
    for (const size_t i : order_) ops.push_back(std::move(block_.ops[i]));
    block_.ops = std::move(ops);
    return true;
  }

 private:
  // Operands and results are shareds: the operator neither touches an array nor runs other operators.
  [[nodiscard]] bool may_wait(const Op& op) const {
    const OpGroup group = row(op.code).group;
    const bool kind =
        group == OpGroup::transition || group == OpGroup::shared || group == OpGroup::vector || group == OpGroup::list;
    const auto shared = [&](ValueId v) { return Layout(m_, v).is_shared(); };
    const bool sizes = op.code == OpCode::observe;  // others may be over its dimension
    return kind && !sizes && !op.operands.empty() && op.blocks.empty() &&
           std::all_of(op.operands.begin(), op.operands.end(), shared) &&
           std::all_of(op.results.begin(), op.results.end(), shared);
  }

  [[nodiscard]] bool needs_queue(const Op& op) const {
    bool needs = false;
    for_each_operand(op, [&](ValueId v) { needs = needs || waits_[static_cast<size_t>(v)]; });
    return needs;
  }

  // Moves all waiting operators in front of `reader`, and of the scatters of arrays directly before it.
  void empty_queue(const Op& reader) {
    size_t at = order_.size();
    const auto sends = [&](size_t i) {
      const Op& op = block_.ops[i];
      return op.code == OpCode::scatter &&
             std::find(reader.operands.begin(), reader.operands.end(), op.results[0]) != reader.operands.end();
    };
    while (at > 0 && sends(order_[at - 1])) --at;
    while (!queue_.empty()) at = flush(at);
  }

  // Emits operators that need nothing waiting, until there are no more; then all ready gathers; then all scatters.
  size_t flush(size_t at) {
    const auto function = [&](const Op& op) { return row(op.code).group != OpGroup::transition; };
    for (bool more = true; more;) {
      const size_t before = at;
      at = emit(at, function);
      more = at > before;
    }
    at = emit(at, [](const Op& op) { return op.code == OpCode::gather; });
    return emit(at, [](const Op& op) { return op.code == OpCode::scatter; });
  }

  // Emits the wanted operators of the queue that are ready, in their order. A transition does not follow another's
  // result.
  template <class Wanted>
  size_t emit(size_t at, const Wanted& wanted) {
    std::vector<size_t> rest, taken;
    for (const size_t i : queue_) (wanted(block_.ops[i]) && !needs_queue(block_.ops[i]) ? taken : rest).push_back(i);
    for (const size_t i : taken) {
      for (const ValueId v : block_.ops[i].results) waits_[static_cast<size_t>(v)] = false;
    }
    order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at), taken.begin(), taken.end());
    queue_ = std::move(rest);
    return at + taken.size();
  }

  const Module& m_;
  Block& block_;
  std::vector<bool> waits_;    // by value: an operator of the queue makes it
  std::vector<size_t> queue_;  // positions in the block
  std::vector<size_t> order_;  // the operators that have their new position
};

}  // namespace

bool pass_batch_shareds(Module& module, PassContext& /*context*/) {
  bool changed = false;
  for_each_block(module, [&](Block& block) { changed |= SharedQueue(module, block).run(); });
  return changed;
}

}  // namespace kasen
