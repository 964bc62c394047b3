// What a row_chain region's kernels are made of. Its vector work is cut in two: what the products with one result a
// column wait for runs chunk by chunk, all else behind a whole block of a reduction, whose order is fixed.
#include <algorithm>
#include <set>

#include "libcore/products.h"
#include "libcore/regions.h"
#include "libkernels/plan_kernels.h"

namespace kasen {
namespace {

class ChainPlanner {
 public:
  ChainPlanner(const Module& module, const Op& region) : m_(module), region_(region), parts_(row_chain(region)) {}

  ChainKernels plan(Jit& jit, const std::string& name, std::int64_t& scratch_bytes) {
    find_waited_for();
    for (const Op* op : parts_.inner) {
      made_.inner.push_back({place(region_.operands, op->operands[0]), add_room(op->results[0])});
    }
    make_before(jit, name + "_before", scratch_bytes);
    for (const Op* op : parts_.outer) {
      made_.outer.push_back({rows_at(op->operands[0]), places(op->results[0])});
    }
    make_behind(jit, name + "_behind", scratch_bytes);
    count();
    return std::move(made_);
  }

 private:
  [[nodiscard]] const std::vector<ValueId>& yielded() const { return region_.blocks[0].ops.back().operands; }

  static int place(const std::vector<ValueId>& values, ValueId id) {
    const auto it = std::find(values.begin(), values.end(), id);
    return it == values.end() ? -1 : static_cast<int>(it - values.begin());
  }

  [[nodiscard]] std::vector<int> places(ValueId id) const {
    std::vector<int> found;
    for (size_t r = 0; r < yielded().size(); ++r) {
      if (yielded()[r] == id) found.push_back(static_cast<int>(r));
    }
    return found;
  }

  int add_room(ValueId id) {
    rooms_.push_back(id);
    made_.rooms.push_back(m_.type(id).element);
    return static_cast<int>(rooms_.size()) - 1;
  }

  // A vector of rows: an operand, or a room.
  [[nodiscard]] int rows_at(ValueId id) const {
    const int outside = place(region_.operands, id);
    return outside >= 0 ? outside : -1 - place(rooms_, id);
  }

  // The maps from which a product's vector is made.
  void find_waited_for() {
    std::set<ValueId> wanted;
    for (const Op* op : parts_.outer) wanted.insert(op->operands[0]);
    for (size_t i = parts_.work.size(); i-- > 0;) {
      const Op& op = *parts_.work[i];
      if (op.code != OpCode::map || wanted.count(op.results[0]) == 0) continue;
      waited_for_.insert(&op);
      wanted.insert(op.operands.begin(), op.operands.end());
    }
  }

  // What the loop reads from outside of it.
  void list_inputs(LoopBody& body, std::vector<int>& inputs) const {
    std::set<ValueId> known;
    const auto take = [&](ValueId id) {
      if (id == no_value || !known.insert(id).second) return;
      body.inputs.push_back(id);
      inputs.push_back(rows_at(id));
    };
    for (const Op* op : body.ops) {
      for (const ValueId id : op->operands) take(id);
      known.insert(op->results[0]);
    }
    for (const ValueId id : body.outputs) take(id);
  }

  void make_before(Jit& jit, const std::string& name, std::int64_t& scratch_bytes) {
    if (waited_for_.empty()) return;
    std::set<ValueId> used(yielded().begin(), yielded().end());
    for (const Op* op : parts_.outer) used.insert(op->operands[0]);
    for (const Op* op : parts_.work) {
      if (waited_for_.count(op) == 0) used.insert(op->operands.begin(), op->operands.end());
    }
    LoopBody body{{}, {}, {}, region_.where};
    ChainKernels::Loop loop;
    for (const Op* op : parts_.work) {
      if (waited_for_.count(op) == 0) continue;
      body.ops.push_back(op);
      if (used.count(op->results[0]) != 0) body.outputs.push_back(op->results[0]);
    }
    list_inputs(body, loop.inputs);
    for (const ValueId id : body.outputs) loop.rooms.push_back(add_room(id));
    loop.kernel = emit_elementwise(jit, m_, body, name, scratch_bytes);
    made_.before = std::move(loop);
  }

  void make_behind(Jit& jit, const std::string& name, std::int64_t& scratch_bytes) {
    LoopBody body{{}, {}, yielded(), region_.where};
    for (ValueId& id : body.outputs) {
      const bool by_product =
          std::any_of(parts_.outer.begin(), parts_.outer.end(), [&](const Op* op) { return op->results[0] == id; });
      if (by_product) id = no_value;
    }
    if (std::count(body.outputs.begin(), body.outputs.end(), no_value) == std::ssize(body.outputs)) return;
    for (const Op* op : parts_.work) {
      if (waited_for_.count(op) == 0) body.ops.push_back(op);
    }
    ChainKernels::Loop loop;
    list_inputs(body, loop.inputs);
    loop.kernel = emit_elementwise(jit, m_, body, name, scratch_bytes);
    made_.behind = std::move(loop);
  }

  [[nodiscard]] std::int64_t counted(ValueId id) const {
    return is_shared(m_, m_.type(id)) ? 0 : m_.type(id).element.bytes();
  }

  void count() {
    const ValueId matrix = product_matrix(region_);
    made_.matrix = m_.type(matrix).element;
    made_.matrix_bytes = counted(matrix);
    const auto reads = [](const std::vector<const Op*>& products, ValueId id) {
      return std::any_of(products.begin(), products.end(), [&](const Op* op) { return op->operands[0] == id; });
    };
    for (const ValueId id : region_.operands) {
      if (id == matrix) continue;
      (reads(parts_.inner, id) ? made_.column_reads : made_.row_reads) += counted(id);
    }
    for (const ValueId id : yielded()) {
      const bool by_product =
          std::any_of(parts_.outer.begin(), parts_.outer.end(), [&](const Op* op) { return op->results[0] == id; });
      (by_product ? made_.column_writes : made_.row_writes) += counted(id);
    }
  }

  const Module& m_;
  const Op& region_;
  const RowChain parts_;
  ChainKernels made_;
  std::vector<ValueId> rooms_;
  std::set<const Op*> waited_for_;
};

}  // namespace

ChainKernels make_chain_kernels(Jit& jit, const Module& module, const Op& region, const std::string& name,
                                std::int64_t& scratch_bytes) {
  return ChainPlanner(module, region).plan(jit, name, scratch_bytes);
}

}  // namespace kasen
