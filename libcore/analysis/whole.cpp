#include "libcore/analysis/whole.h"

#include <algorithm>

#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

class WholeValues {
 public:
  explicit WholeValues(const Module& module) : m_(module) {}

  void block(const Block& b, bool inside) {
    for (const Op& op : b.ops) {
      for (size_t i = 0; i < op.operands.size(); ++i) {
        if (reads_whole(m_, op, i)) add(op.operands[i]);
      }
      const bool region = op.code == OpCode::region;
      for (const Block& inner : op.blocks) block(inner, region);
      if (region) handed_on(op);
      if (!inside && makes_whole(m_, op)) add(op.results[0]);
    }
  }

  std::vector<ValueId> found;

 private:
  void handed_on(const Op& region) {
    const std::vector<Op>& ops = region.blocks[0].ops;
    for (size_t r = 0; r < region.results.size(); ++r) {
      const ValueId inner = ops.back().operands[r];
      const bool whole = std::any_of(ops.begin(), ops.end(),
                                     [&](const Op& op) { return makes_whole(m_, op) && op.results[0] == inner; });
      if (whole) add(region.results[r]);
    }
  }

  void add(ValueId v) {
    if (std::find(found.begin(), found.end(), v) == found.end()) found.push_back(v);
  }

  const Module& m_;
};

class FormBuilder {
 public:
  explicit FormBuilder(const Module& plan) : plan_(plan), twins_(plan.dims.size(), no_dim) {
    form_.module = plan;
    form_.stands_for.assign(plan.values.size(), no_value);
    stand_ins_.assign(plan.values.size(), no_value);
  }

  KernelForm build() {
    for (Value& value : form_.module.values) {
      if (!value.type.sparse) value.type.dims = cut_once(value.type.dims);
    }
    for (BufferDecl& buffer : form_.module.buffers) buffer.dims = cut_once(buffer.dims);
    rewrite(form_.module.body, false);
    return std::move(form_);
  }

 private:
  DimId twin(DimId dim) {
    if (plan_.dim(dim).local) return dim;
    DimId& made = twins_[dim];
    if (made == no_dim) {
      made = form_.module.dims.push_back({plan_.dim(dim).name + "'", true, plan_.dim(dim).size});
    }
    return made;
  }

  std::vector<DimId> cut_once(std::vector<DimId> dims) {
    const std::ptrdiff_t cut = Layout(plan_, dims).cut_axis();
    for (size_t i = 0; i < dims.size(); ++i) {
      if (std::cmp_not_equal(i, cut)) dims[i] = twin(dims[i]);
    }
    return dims;
  }

  ValueId stand_in(ValueId value) {
    ValueId& made = stand_ins_[value];
    if (made != no_value) return made;
    Value whole{plan_.value(value).name + "'", plan_.type(value), no_buffer};
    for (DimId& dim : whole.type.dims) dim = twin(dim);
    whole.type.state.slaves.clear();
    made = form_.module.values.push_back(std::move(whole));
    form_.stands_for.push_back(value);
    return made;
  }

  void rewrite(Block& block, bool inside) {
    for (Op& op : block.ops) {
      const bool region = op.code == OpCode::region;
      for (Block& inner : op.blocks) rewrite(inner, region);
      if (region) {
        list_operands(op);
        hand_on(op);
      } else {
        rewrite(op, inside);
      }
    }
  }

  // On entry, `op` still names the plan's values. Inside a region no value has memory of its own: there the value
  // itself becomes whole, and the region's result gets the stand-in.
  void rewrite(Op& op, bool inside) {
    const bool whole_result = makes_whole(plan_, op);
    std::vector<bool> whole;
    for (size_t i = 0; i < op.operands.size(); ++i) whole.push_back(reads_whole(plan_, op, i));
    if (op.code == OpCode::reduce) name_reduced(op);
    for (size_t i = 0; i < whole.size(); ++i) {
      if (whole[i]) op.operands[i] = stand_in(op.operands[i]);
    }
    if (!whole_result) return;
    if (!inside) {
      op.results[0] = stand_in(op.results[0]);
      return;
    }
    Type& type = form_.module.value(op.results[0]).type;
    type.dims = plan_.type(op.results[0]).dims;
    for (DimId& dim : type.dims) dim = twin(dim);
    type.state.slaves.clear();
    whole_inside_.push_back(op.results[0]);
  }

  void hand_on(Op& region) {
    const std::vector<ValueId>& yielded = region.blocks.at(0).ops.back().operands;
    for (size_t r = 0; r < region.results.size(); ++r) {
      const bool whole = std::find(whole_inside_.begin(), whole_inside_.end(), yielded[r]) != whole_inside_.end();
      if (whole) region.results[r] = stand_in(region.results[r]);
    }
  }

  void name_reduced(Op& op) {
    const std::vector<DimId>& dims = plan_.type(op.operands[0]).dims;
    const std::ptrdiff_t cut = Layout(plan_, dims).cut_axis();
    for (DimId& dim : op.over) {
      if (std::find(dims.begin(), dims.end(), dim) - dims.begin() != cut) dim = twin(dim);
    }
  }

  // Lists the values that the operators of a region now read from outside, in order of first use.
  static void list_operands(Op& region) {
    std::vector<ValueId> made, outside;
    const auto among = [](const std::vector<ValueId>& list, ValueId v) {
      return std::find(list.begin(), list.end(), v) != list.end();
    };
    for (const Op& op : region.blocks.at(0).ops) {
      for (const ValueId v : op.operands) {
        if (!among(made, v) && !among(outside, v)) outside.push_back(v);
      }
      made.insert(made.end(), op.results.begin(), op.results.end());
    }
    region.operands = std::move(outside);
  }

  const Module& plan_;
  KernelForm form_;
  IdMap<DimId, DimId> twins_;          // by dimension of the plan
  IdMap<ValueId, ValueId> stand_ins_;  // by value of the plan
  std::vector<ValueId> whole_inside_;  // made whole inside a region
};

}  // namespace

std::vector<std::ptrdiff_t> met_axes(const std::vector<DimId>& outer, const std::vector<DimId>& inner) {
  std::vector<std::ptrdiff_t> axes(inner.size(), no_axis);
  auto at = static_cast<std::ptrdiff_t>(outer.size()) - 1;
  for (size_t i = inner.size(); i-- > 0; --at) {
    while (at >= 0 && outer[static_cast<size_t>(at)] != inner[i]) --at;
    if (at < 0) break;
    axes[i] = at;
  }
  return axes;
}

bool reads_whole(const Module& module, const Op& op, size_t operand) {
  const Type& type = module.type(op.operands.at(operand));
  if (type.sparse || Layout(module, type).is_shared()) return false;
  if (op.code == OpCode::meet) return operand > 0;  // any worker's places may meet those of a factor
  if (op.code == OpCode::map) {
    const Type& result = module.type(op.results.at(0));
    const Layout along(module, result), own(module, type);
    const std::vector<std::ptrdiff_t> met = met_axes(result.dims, type.dims);
    for (size_t axis = 0; axis < met.size(); ++axis) {
      if (met[axis] == no_axis) continue;
      if (axes_cut_alike(own.cut_of(axis), along.cut_of(static_cast<size_t>(met[axis]))) != 0) return false;
    }
    return true;
  }
  return op.code == OpCode::mxvt && operand == 0 && is_dense_product(module, op);
}

bool makes_whole(const Module& module, const Op& op) {
  if (op.code != OpCode::reduce && op.code != OpCode::mxv) return false;
  if (Layout(module, op.results.at(0)).is_shared()) return false;
  if (op.code == OpCode::mxv) return is_dense_product(module, op);
  return contains(op.over, Layout(module, op.operands.at(0)).cut());
}

bool is_whole(const Module& module, DimId dim) {
  if (module.dim(dim).local) return false;
  return std::any_of(module.values.begin(), module.values.end(), [&](const Value& value) {
    if (value.type.sparse) return false;
    const std::vector<DimId> whole = Layout(module, value.type).whole_dims();
    return contains(whole, dim);
  });
}

std::vector<ValueId> whole_values(const Module& module) {
  WholeValues values(module);
  values.block(module.body, false);
  return std::move(values.found);
}

KernelForm kernel_form(const Module& module) { return FormBuilder(module).build(); }

}  // namespace kasen
