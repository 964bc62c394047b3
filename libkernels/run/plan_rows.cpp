// The steps of a region of rows. Maps, slices and reductions to one number over the same dimensions are one loop, in
// the first step that has all that they read.
#include <algorithm>

#include "libcore/base/checked.h"
#include "libcore/data/data.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/rows/row_region.h"
#include "libkernels/run/plan_kernels.h"

namespace kasen {
namespace {

// Whole lines of the cache.
std::int64_t whole_lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

class RowsPlanner {
 public:
  RowsPlanner(const Module& module, const Op& region, const std::function<EntryFoldKernel(const Op&)>& entries,
              std::set<FnId>& combined, std::map<FnId, ReductionFunction>& reductions)
      : m_(module),
        entries_(entries),
        region_(region),
        ops_(region.blocks.at(0).ops),
        rows_(worked_rows(module, ops_.at(0))),
        combined_(combined),
        reductions_(reductions) {}

  RowsKernels plan(const std::function<ElementwiseKernel(const LoopBody&)>& loop) {
    made_.sizes = row_sizes(m_, region_);
    made_.traffic = row_traffic(m_, region_);
    made_.block_rows = row_blocks(made_.sizes, 0).rows;
    for (const ValueId v : region_.operands) add_value(v, nullptr);
    for (const Op& op : ops_) {
      if (op.code != OpCode::yield) add_value(op.results[0], &op);
    }
    find_copies();
    for (const Op& op : ops_) {
      if (op.code != OpCode::yield) add_to_group(op);
    }
    for (const Group& group : groups_) add_step(group, loop);
    return std::move(made_);
  }

 private:
  // Operators of one step: a loop over `dims`, or one operator of another kind.
  struct Group {
    std::vector<DimId> dims;
    std::vector<const Op*> ops;
  };

  [[nodiscard]] const std::vector<ValueId>& yielded() const { return ops_.back().operands; }
  [[nodiscard]] bool is_total_of(const Op* maker) const { return maker != nullptr && is_total(*maker, rows_); }

  void add_value(ValueId id, const Op* maker) {
    RowsKernels::Value value;
    value.element = m_.type(id).element;
    value.inner = Layout(m_, id).elements_per_index();
    const bool total = is_total_of(maker);
    value.of_rows = !total && !m_.type(id).dims.empty() && Layout(m_, id).cut() == rows_;
    if (maker == nullptr) {
      value.operand = static_cast<int>(made_.values.size());
      value.viewed = is_viewed_alone(region_, id);
    } else {
      const auto at = std::find(yielded().begin(), yielded().end(), id);
      if (at != yielded().end()) value.result = static_cast<int>(at - yielded().begin());
    }
    if (total) {
      value.reducer = total_reducer(*maker);
      value.identity = require_identity(m_, value.reducer, maker->where);
      combined_.insert(value.reducer);
      value.offset = made_.total_bytes;
      made_.total_bytes = checked_add(made_.total_bytes, whole_lines(storage_bytes(value.element, value.inner)));
      made_.totals.push_back(static_cast<int>(made_.values.size()));
    } else if (m_.type(id).compressed || (value.operand < 0 && value.result < 0)) {
      const std::int64_t count = checked_mul(made_.block_rows, value.inner, "a block of rows");
      value.offset = made_.room_bytes;
      made_.room_bytes = checked_add(made_.room_bytes, whole_lines(storage_bytes(value.element, count)));
    }
    numbers_[id] = static_cast<int>(made_.values.size());
    made_.values.push_back(std::move(value));
  }

  void find_copies() {
    for (size_t r = 0; r < yielded().size(); ++r) {
      const int first = made_.values[static_cast<size_t>(numbers_.at(yielded()[r]))].result;
      if (first != static_cast<int>(r)) made_.copies.emplace_back(first, static_cast<int>(r));
    }
  }

  // The dimensions of the loop in which the operator may stand; none for others.
  [[nodiscard]] std::vector<DimId> loop_dims(const Op& op) const {
    if (op.code == OpCode::map || is_slice(op)) return m_.type(op.results[0]).dims;
    const bool to_one = op.code == OpCode::reduce && m_.type(op.results[0]).dims.empty();
    return to_one ? m_.type(op.operands[0]).dims : std::vector<DimId>{};
  }

  void add_to_group(const Op& op) {
    const std::vector<DimId> dims = loop_dims(op);
    size_t first = 0;
    for (const ValueId v : op.operands) {
      const auto made = group_of_.find(v);
      if (made == group_of_.end()) continue;
      const bool together = !is_slice(op) && !dims.empty() && groups_[made->second].dims == dims;
      first = std::max(first, made->second + (together ? 0 : 1));
    }
    // A result may lie where an array was that operators before this one read (may_write_over).
    if (made_.values[static_cast<size_t>(numbers_.at(op.results[0]))].result >= 0) first = std::max(first, behind_);
    size_t at = first;
    while (at < groups_.size() && (dims.empty() || groups_[at].dims != dims)) ++at;
    if (at == groups_.size()) groups_.push_back({dims, {}});
    groups_[at].ops.push_back(&op);
    group_of_[op.results[0]] = at;
    const bool reads_outside = std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId v) {
      return made_.values[static_cast<size_t>(numbers_.at(v))].operand >= 0;
    });
    if (reads_outside) behind_ = std::max(behind_, at + (is_slice(op) ? 1 : 0));
  }

  void add_step(const Group& group, const std::function<ElementwiseKernel(const LoopBody&)>& loop) {
    const Op& op = *group.ops[0];
    if (!group.dims.empty()) return add_loop(group, loop);
    if (visits_entries(m_, op)) return add_entries(op);
    if (is_product(op)) {
      made_.steps.push_back(RowsKernels::Product{op.code == OpCode::mxvt, numbers_.at(product_matrix(op)),
                                                 numbers_.at(op.operands[0]), numbers_.at(op.results[0]),
                                                 product_columns(m_, op)});
      return;
    }
    combined_.insert(op.fns[0]);
    PartialReduction reduction = make_partial_reduction(m_, op);
    if (reduction.regular) reductions_.emplace(op.fns[0], nullptr);
    made_.steps.push_back(
        RowsKernels::Reduction{std::move(reduction), numbers_.at(op.operands[0]), numbers_.at(op.results[0])});
  }

  void add_entries(const Op& op) {
    const int result = numbers_.at(op.results[0]);
    if (op.code == OpCode::mxv) {
      const Scalar scalar = m_.type(op.results[0]).element.scalar();
      made_.steps.push_back(
          RowsKernels::SparseTotal{numbers_.at(op.operands[0]), result, product_columns(m_, op), scalar});
      return;
    }
    if (op.code == OpCode::mxvt && multiplies_and_adds(m_, op) && !has_columns(m_, op)) {
      const Scalar scalar = m_.type(op.results[0]).element.scalar();
      made_.steps.push_back(RowsKernels::SparseProduct{numbers_.at(op.operands[0]), result, scalar});
      return;
    }
    if (adds_values(m_, op) && result_side(op) == EntrySide::rows) {
      made_.steps.push_back(RowsKernels::SparseProduct{-1, result, m_.type(op.results[0]).element.scalar()});
      return;
    }
    const bool total = op.code == OpCode::fold_cols;
    EntryFoldKernel kernel = entries_(total ? entries_of_fold(op) : op);
    std::vector<int> inputs;
    for (const EntryFoldKernel::Operand& operand : kernel.operands)
      inputs.push_back(numbers_.at(op.operands.at(static_cast<size_t>(operand.input))));
    if (!total) {
      made_.steps.push_back(RowsKernels::Entries{std::move(kernel), std::move(inputs), result});
      return;
    }
    const ElementType& element = m_.type(op.results[0]).element;
    made_.entry_bytes = std::max(made_.entry_bytes, std::int64_t{sizeof(std::int32_t)} + element.bytes());
    made_.steps.push_back(RowsKernels::EntryTotal{std::move(kernel), std::move(inputs), result, element});
  }

  // True if an operator outside of the group reads the value.
  [[nodiscard]] bool is_read_outside(ValueId value, const Group& group) const {
    return std::any_of(ops_.begin(), ops_.end() - 1,
                       [&](const Op& op) { return contains(op.operands, value) && !contains(group.ops, &op); });
  }

  // Arrays that an earlier step has read, and none behind this one reads. Its loop finds them in the caches, so memory
  // has the time to bring the next block's rows.
  void ask_ahead(LoopBody& body, const Group& group) const {
    const auto here = [&](const Group& g) { return &g == &group; };
    const auto at = std::find_if(groups_.begin(), groups_.end(), here);
    const auto reads = [](const Group& g, ValueId v) {
      return std::any_of(g.ops.begin(), g.ops.end(), [&](const Op* op) { return contains(op->operands, v); });
    };
    Type along;
    along.dims = group.dims;
    body.ahead = checked_mul(made_.block_rows, Layout(m_, along).elements_per_index(), "a block of rows");
    for (const ValueId v : body.inputs) {
      const RowsKernels::Value& value = made_.values[static_cast<size_t>(numbers_.at(v))];
      const bool before = std::any_of(groups_.begin(), at, [&](const Group& g) { return reads(g, v); });
      const bool behind = std::any_of(at + 1, groups_.end(), [&](const Group& g) { return reads(g, v); });
      if (value.operand >= 0 && value.of_rows && before && !behind) body.asked.push_back(v);
    }
  }

  void add_loop(const Group& group, const std::function<ElementwiseKernel(const LoopBody&)>& loop) {
    LoopBody body{group.ops, {}, {}, region_.where, {}};
    std::set<ValueId> known;
    RowsKernels::Loop made;
    made.last = true;
    for (const Op* op : group.ops) {
      for (const ValueId v : op->operands) {
        if (known.insert(v).second) body.inputs.push_back(v);
      }
      known.insert(op->results[0]);
    }
    for (const Op* op : group.ops) {
      const ValueId v = op->results[0];
      const bool read = is_read_outside(v, group);
      if (!read && !contains(yielded(), v)) continue;
      made.last = made.last && !read;
      body.outputs.push_back(v);
    }
    ask_ahead(body, group);
    for (const ValueId v : body.inputs) made.inputs.push_back(numbers_.at(v));
    for (const ValueId v : body.outputs) made.outputs.push_back(numbers_.at(v));
    made.kernel = loop(body);
    Type along;
    along.dims = group.dims;
    made.inner = Layout(m_, along).elements_per_index();
    for (const DimId d : made.kernel.local_dims) made.sizes.push_back(std::max<std::int64_t>(m_.dim(d).size, 0));
    made_.steps.push_back(std::move(made));
  }

  const Module& m_;
  const std::function<EntryFoldKernel(const Op&)>& entries_;
  const Op& region_;
  const std::vector<Op>& ops_;
  const DimId rows_;
  std::set<FnId>& combined_;
  std::map<FnId, ReductionFunction>& reductions_;
  RowsKernels made_;
  std::map<ValueId, int> numbers_;
  std::vector<Group> groups_;
  std::map<ValueId, size_t> group_of_;
  size_t behind_ = 0;  // the first group in which no operator so far reads arrays from outside at other places
};

}  // namespace

RowsKernels make_rows_kernels(const Module& module, const Op& region,
                              const std::function<ElementwiseKernel(const LoopBody&)>& loop,
                              const std::function<EntryFoldKernel(const Op&)>& entries, std::set<FnId>& combined,
                              std::map<FnId, ReductionFunction>& reductions) {
  return RowsPlanner(module, region, entries, combined, reductions).plan(loop);
}

}  // namespace kasen
