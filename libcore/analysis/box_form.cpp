#include "libcore/analysis/box_form.h"

#include <algorithm>
#include <map>

#include "libcore/analysis/op_boxes.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

[[noreturn]] void refuse(const std::string& what, const Location& where) {
  fail(ExitStatus::bad_input, what + " in a plan that names layouts", "it runs in the default layout alone",
       "leave out the mesh and the cuts", where);
}

class BoxFormBuilder {
 public:
  BoxFormBuilder(const Module& plan, int worker) : plan_(plan), worker_(worker) {
    made_.form.module = plan;
    made_.form.stands_for.assign(plan.values.size(), no_value);
  }

  BoxForm build() {
    for (const ValueId v : plan_.values.ids()) {
      const Type& type = plan_.type(v);
      if (type.sparse || type.compressed) refuse(type.sparse ? "a sparse matrix" : "a compressed matrix", {});
      set_box(module().value(v).type, stored_box(plan_, type));
    }
    for (const BufferId b : plan_.buffers.ids()) place_buffer(b);
    rewrite(module().body);
    return std::move(made_);
  }

 private:
  Module& module() { return made_.form.module; }

  DimId twin(const AxisPart& part) {
    if (part.cuts == 0 && plan_.dim(part.dim).local) return part.dim;
    const auto [it, fresh] = twins_.emplace(part, no_dim);
    if (fresh) {
      const std::int64_t size = count_of(runs_of(plan_, part, worker_));
      it->second = module().dims.push_back({plan_.dim(part.dim).name + "'", true, size});
    }
    return it->second;
  }

  // The state stays: it says who combines, and what a law hands on.
  void set_box(Type& type, const Box& box) {
    for (std::size_t axis = 0; axis < box.size(); ++axis) type.dims[axis] = twin(box[axis]);
    type.cuts.clear();
  }

  void place_buffer(BufferId b) {
    BufferDecl& buffer = module().buffers[b];
    Type type;
    type.dims = buffer.dims;
    type.cuts = buffer.cuts;
    const Box owned = owned_box(plan_, type);
    std::int64_t most = elements_of(plan_, owned, worker_).count();
    for (const SlaveSet& set : buffer.holds) {
      type.state = State::cons(set);
      most = std::max(most, elements_of(plan_, stored_box(plan_, type), worker_).count());
    }
    made_.elements.push_back(most);
    for (std::size_t axis = 0; axis < owned.size(); ++axis) buffer.dims[axis] = twin(owned[axis]);
    buffer.cuts.clear();
  }

  ValueId add_stand_in(BoxStandIn stand_in) {
    Value value{plan_.value(stand_in.of).name + "'", plan_.type(stand_in.of), no_buffer};
    set_box(value.type, stand_in.box);
    made_.stand_ins.push_back(std::move(stand_in));
    made_.form.stands_for.push_back(made_.stand_ins.back().of);
    return module().values.push_back(std::move(value));
  }

  ValueId read_part(ValueId value, const Box& box) {
    if (box == stored_box(plan_, plan_.type(value))) return value;
    const auto [it, fresh] = parts_.emplace(std::pair(value, box), no_value);
    if (fresh) it->second = add_stand_in({value, box});
    return it->second;
  }

  void rewrite(Block& block) {
    for (Op& op : block.ops) {
      if (op.code == OpCode::region) refuse("a fused region", op.where);
      for (Block& inner : op.blocks) rewrite(inner);
      const OpGroup group = row(op.code).group;
      if (group == OpGroup::vector || group == OpGroup::product || group == OpGroup::entries) rewrite(op);
    }
  }

  // On entry, `op` still names the plan's values.
  void rewrite(Op& op) {
    const OpBoxes boxes = op_boxes(plan_, op);
    const ValueId result = op.results.at(0);
    if (op.code == OpCode::reduce) {
      const std::vector<DimId>& dims = plan_.type(op.operands[0]).dims;
      for (DimId& dim : op.over) {
        const auto axis = std::find(dims.begin(), dims.end(), dim) - dims.begin();
        dim = twin(boxes.operands[0].at(static_cast<std::size_t>(axis)));
      }
    }
    const ValueId kept = boxes.handed_on < 0 ? no_value : op.operands[static_cast<std::size_t>(boxes.handed_on)];
    for (std::size_t i = 0; i < op.operands.size(); ++i) op.operands[i] = read_part(op.operands[i], boxes.operands[i]);
    if (boxes.first_only == 0 && boxes.result == stored_box(plan_, plan_.type(result))) return;
    const FnId reducer = op.code == OpCode::reduce ? op.fns.at(0) : no_fn;
    op.results[0] = add_stand_in({result, boxes.result, true, boxes.first_only, kept, reducer});
  }

  const Module& plan_;
  const int worker_;
  BoxForm made_;
  std::map<AxisPart, DimId> twins_;
  std::map<std::pair<ValueId, Box>, ValueId> parts_;  // of operands
};

}  // namespace

BoxForm box_form(const Module& module, int worker) { return BoxFormBuilder(module, worker).build(); }

}  // namespace kasen
