// The parts of a row_chain region's kernels. Its vector work is cut in two: work that the products with one result a
// column need runs chunk by chunk. All else runs behind a whole block of a reduction, whose order is fixed.
#include <algorithm>
#include <set>

#include "libcore/ir/array_views.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libkernels/run/lift_columns.h"
#include "libkernels/run/plan_kernels.h"

namespace kasen {
namespace {

class ChainPlanner {
 public:
  ChainPlanner(ColumnLift& lift, const Op& region)
      : lift_(lift), m_(lift.module()), region_(region), parts_(row_chain(region)) {
    const DimId rows = m_.type(product_matrix(region)).dims.at(0);
    work_ = lift.lift(parts_.work, rows, region.operands);
    for (const Op* op : parts_.inner) lift.lift(op->results[0], rows);
    for (const Op* op : parts_.outer) lift.lift(op->operands[0], rows);
  }

  ChainKernels plan(KernelMaker& maker, const std::string& name) {
    find_waited_for();
    for (const Op* op : parts_.inner) add_inner(*op);
    load_columns();
    make_before(maker, name + "_before");
    for (const Op* op : parts_.outer) {
      made_.outer.push_back({rows_at(op->operands[0]), places(op->results[0]), product_columns(lift_.plan(), *op)});
    }
    make_behind(maker, name + "_behind");
    count();
    made_.chunked = has_columns_ || !made_.loads.empty() || !made_.whole_inputs.empty() || !made_.whole_outputs.empty();
    return std::move(made_);
  }

  // The reducers of the vector work, as it is lifted.
  [[nodiscard]] std::set<FnId> reducers() const {
    std::set<FnId> found;
    for (const Op& op : work_) {
      if (op.code == OpCode::reduce) found.insert(op.fns[0]);
    }
    return found;
  }

 private:
  void add_inner(const Op& op) {
    const ValueId vector = op.operands[0];
    const int at = place(region_.operands, vector);
    made_.inner.push_back({at, add_room(op.results[0]), product_columns(lift_.plan(), op)});
    const auto same = [&](const ChainKernels::TurnedWhole& turned) { return turned.place == at; };
    const std::vector<ChainKernels::TurnedWhole>& known = made_.whole_inputs;
    if (lift_.plan().type(vector).dims.size() == 1 || std::any_of(known.begin(), known.end(), same)) return;
    made_.whole_inputs.push_back({at, m_.type(vector).element.scalar(), product_columns(lift_.plan(), op), true});
  }

  [[nodiscard]] bool is_row(ValueId id) const { return !m_.type(id).dims.empty(); }

  [[nodiscard]] bool is_outside(const Op& slice) const { return place(region_.operands, viewed(slice)) >= 0; }

  // Whether a loop reads the operand with a row in each lane. Another region may have lifted a matrix that the products
  // of this one read as it lies.
  [[nodiscard]] bool is_read_in_lanes(ValueId id) const {
    return std::any_of(parts_.work.begin(), parts_.work.end(), [&](const Op* op) { return reads_along(*op, id); }) ||
           std::any_of(parts_.outer.begin(), parts_.outer.end(), [&](const Op* op) { return op->operands[0] == id; });
  }

  // Loads operands with columns: rows, and slices of them, into rooms; shareds when the region begins.
  void load_columns() {
    for (const Op* op : parts_.work) {
      if (!is_slice(*op) || !is_outside(*op)) continue;
      const std::int64_t stride = lift_.plan().dim(op->over.at(0)).size;
      made_.loads.push_back({place(region_.operands, viewed(*op)), add_room(op->results[0]), stride,
                             place(region_.operands, range_begin(*op)), m_.type(viewed(*op)).compressed});
    }
    for (const ValueId id : region_.operands) {
      const std::int64_t columns = lift_.columns(id);
      if (columns == 0 || !is_read_in_lanes(id)) continue;
      const int at = place(region_.operands, id);
      if (is_row(id)) {
        made_.loads.push_back({at, add_room(id), columns, -1, lift_.plan().type(id).compressed});
      } else {
        made_.whole_inputs.push_back({at, m_.type(id).element.scalar(), columns, false});
      }
    }
  }

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
    has_columns_ = has_columns_ || lift_.columns(id) > 0;
    made_.rooms.push_back(m_.type(id).element);
    return static_cast<int>(rooms_.size()) - 1;
  }

  // A vector of rows: a room, or an operand.
  [[nodiscard]] int rows_at(ValueId id) const {
    const int room = place(rooms_, id);
    return room >= 0 ? -1 - room : place(region_.operands, id);
  }

  // Finds the maps from which a product's vector is made.
  void find_waited_for() {
    std::set<ValueId> wanted;
    for (const Op* op : parts_.outer) wanted.insert(op->operands[0]);
    for (size_t i = work_.size(); i-- > 0;) {
      const Op& op = work_[i];
      if (op.code != OpCode::map || wanted.count(op.results[0]) == 0) continue;
      waited_for_.insert(&op);
      wanted.insert(op.operands.begin(), op.operands.end());
    }
  }

  // Lists the values that the loop reads from outside of it.
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

  void make_before(KernelMaker& maker, const std::string& name) {
    if (waited_for_.empty()) return;
    std::set<ValueId> used(yielded().begin(), yielded().end());
    for (const Op* op : parts_.outer) used.insert(op->operands[0]);
    for (const Op& op : work_) {
      if (waited_for_.count(&op) == 0) used.insert(op.operands.begin(), op.operands.end());
    }
    LoopBody body{{}, {}, {}, region_.where};
    ChainKernels::Loop loop;
    for (const Op& op : work_) {
      if (waited_for_.count(&op) == 0) continue;
      body.ops.push_back(&op);
      if (used.count(op.results[0]) != 0) body.outputs.push_back(op.results[0]);
    }
    list_inputs(body, loop.inputs);
    for (const ValueId id : body.outputs) loop.rooms.push_back(add_room(id));
    loop.kernel = maker.elementwise(m_, body, name);
    made_.before = std::move(loop);
  }

  // Finds the source of result `r` of the region, which is no product's. Results with columns are transposed on their
  // way out of their room, and all others are stored as they are made.
  void hand_on(ValueId& id, int r, std::vector<int>& rooms) {
    const std::int64_t columns = lift_.columns(id);
    if (columns == 0) return;
    if (!is_row(id)) {
      made_.whole_outputs.push_back({r, m_.type(id).element.scalar(), columns, false});
      return;
    }
    const int known = place(rooms_, id);
    const int room = known >= 0 ? known : add_room(id);
    made_.stores.push_back({r, room});
    if (known >= 0) {
      id = no_value;
    } else {
      rooms[static_cast<size_t>(r)] = room;
    }
  }

  void make_behind(KernelMaker& maker, const std::string& name) {
    LoopBody body{{}, {}, yielded(), region_.where};
    ChainKernels::Loop loop;
    loop.rooms.assign(body.outputs.size(), -1);
    for (size_t r = 0; r < body.outputs.size(); ++r) {
      ValueId& id = body.outputs[r];
      const bool by_product =
          std::any_of(parts_.outer.begin(), parts_.outer.end(), [&](const Op* op) { return op->results[0] == id; });
      if (by_product) {
        id = no_value;
      } else {
        hand_on(id, static_cast<int>(r), loop.rooms);
      }
    }
    if (std::count(body.outputs.begin(), body.outputs.end(), no_value) == std::ssize(body.outputs)) return;
    for (const Op& op : work_) {
      if (waited_for_.count(&op) == 0) body.ops.push_back(&op);
    }
    list_inputs(body, loop.inputs);
    loop.kernel = maker.elementwise(m_, body, name);
    made_.behind = std::move(loop);
  }

  [[nodiscard]] std::int64_t counted(ValueId id) const {
    return Layout(m_, id).is_shared() || m_.type(id).compressed ? 0 : m_.type(id).element.bytes();
  }

  void count() {
    const ValueId matrix = product_matrix(region_);
    // If a product multiplies the matrix by itself, it is lifted, too.
    made_.matrix = lift_.plan().type(matrix).element;
    const bool free = Layout(m_, matrix).is_shared() || m_.type(matrix).compressed;
    made_.matrix_bytes = free ? 0 : made_.matrix.bytes();
    const auto find = [](const std::vector<const Op*>& products, const auto& is) {
      const auto it = std::find_if(products.begin(), products.end(), is);
      return it == products.end() ? nullptr : *it;
    };
    for (const Op* op : parts_.work) {
      const bool reads = is_slice(*op) && is_outside(*op) && !m_.type(viewed(*op)).compressed;
      if (reads) made_.row_reads += counted(op->results[0]);
    }
    for (const ValueId id : region_.operands) {
      if (id == matrix || !reads_along(region_, id)) continue;
      const Op* reader = find(parts_.inner, [&](const Op* op) { return op->operands[0] == id; });
      if (reader == nullptr) {
        made_.row_reads += counted(id);
      } else {
        made_.column_reads += counted(id) * product_columns(lift_.plan(), *reader);
      }
    }
    for (const ValueId id : yielded()) {
      const Op* maker = find(parts_.outer, [&](const Op* op) { return op->results[0] == id; });
      if (maker == nullptr) {
        made_.row_writes += counted(id);
      } else {
        made_.column_writes += counted(id) * product_columns(lift_.plan(), *maker);
      }
    }
  }

  ColumnLift& lift_;
  const Module& m_;
  const Op& region_;
  const RowChain parts_;
  std::vector<Op> work_;  // with its values lifted
  bool has_columns_ = false;
  ChainKernels made_;
  std::vector<ValueId> rooms_;
  std::set<const Op*> waited_for_;
};

}  // namespace

Op chain_of(const Op& product) {
  Op yield{.code = OpCode::yield, .operands = product.results, .where = product.where};
  Op region{.code = OpCode::region, .operands = product.operands, .results = product.results, .where = product.where};
  region.blocks.push_back({.args = {}, .ops = {product, std::move(yield)}});
  return region;
}

ChainKernels make_chain_kernels(KernelMaker& maker, ColumnLift& lift, const Op& region, const std::string& name,
                                std::set<FnId>& folded) {
  ChainPlanner planner(lift, region);
  folded.merge(planner.reducers());
  return planner.plan(maker, name);
}

}  // namespace kasen
