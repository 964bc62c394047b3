#include "libcore/analysis/box_form.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "libcore/analysis/op_boxes.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/contraction_form.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"

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
    made_.stand_ins_from = plan.values.end_id();
    for_each_op(plan, [&](const Op& op, int, int) {
      if (stands_in_input(plan, op)) needless_.insert(plan.value(op.results[0]).buffer);
    });
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

  // Of a dimension that is whole here, as its sources then are.
  Derivation twin_derivation(Derivation derived) {
    for (DimId& source : derived.sources) source = twin({source, 0});
    return derived;
  }

  [[nodiscard]] bool is_own_twin(DimId dim) const {
    const std::vector<DimId>& sources = plan_.dim(dim).derived.sources;
    return plan_.dim(dim).local &&
           std::all_of(sources.begin(), sources.end(), [&](DimId source) { return is_own_twin(source); });
  }

  DimId twin(const AxisPart& part) {
    if (part.cuts == 0 && is_own_twin(part.dim)) return part.dim;
    const auto [it, fresh] = twins_.emplace(part, no_dim);
    if (fresh) {
      const std::int64_t size = count_of(runs_of(plan_, part, worker_));
      Dimension dim{plan_.dim(part.dim).name + "'", true, size};
      if (part.cuts == 0) dim.derived = twin_derivation(plan_.dim(part.dim).derived);
      it->second = module().dims.push_back(std::move(dim));
    }
    return it->second;
  }

  // The state stays: it says who combines, and what a law hands on.
  void set_box(Type& type, const Box& box) {
    type.dims.clear();
    for (const AxisPart& part : box) type.dims.push_back(twin(part));
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
    made_.elements.push_back(needless_.contains(b) ? 0 : most);
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
    if (fresh) it->second = add_stand_in({value, box, false, {}, no_value});
    return it->second;
  }

  // One dimension for several axes of the worker's: their sizes multiplied.
  DimId joined(const Box& parts) {
    const auto [it, fresh] = joined_.emplace(parts, no_dim);
    if (fresh) {
      Dimension dim{"", true, 1};
      for (const AxisPart& part : parts) {
        dim.name += plan_.dim(part.dim).name + "'";
        dim.size = checked_mul(dim.size, count_of(runs_of(plan_, part, worker_)), "an array's local size");
      }
      it->second = module().dims.push_back(std::move(dim));
    }
    return it->second;
  }

  // The memory of a value of the form under other dimensions.
  ValueId as_matrix(ValueId value, const std::vector<DimId>& dims) {
    const BoxStandIn* known = made_.stand_in(value);
    const ValueId of = known == nullptr ? value : known->of;
    Value matrix = module().value(value);
    matrix.name += "'";
    matrix.type.dims = dims;
    matrix.buffer = no_buffer;
    const Box box = known == nullptr ? stored_box(plan_, plan_.type(of)) : known->box;
    made_.stand_ins.push_back({of, box, false, {}, value});
    made_.form.stands_for.push_back(of);
    return module().values.push_back(std::move(matrix));
  }

  // One loop runs over the memory of all values: nothing is copied for one of them, and all have one form.
  void check_region(const Op& region) const {
    if (region.kind != RegionKind::iter_on_vec) refuse("a region of products", region.where);
    std::optional<Box> loop;
    for (const Op& op : region.blocks.at(0).ops) {
      if (op.code == OpCode::yield) continue;
      const std::optional<Box> box = loop_box(plan_, op);
      if (!box || (loop && *loop != *box)) refuse("a region over several boxes", op.where);
      loop = box;
    }
  }

  void rewrite(Block& block) {
    for (Op& op : block.ops) {
      const int number = next_++;
      if (is_blocks(op)) {  // it works on blocks of its own
        next_ += static_cast<int>(op.blocks.at(0).ops.size());
        continue;
      }
      if (op.code == OpCode::region) check_region(op);
      for (Block& inner : op.blocks) rewrite(inner);
      const OpGroup group = row(op.code).group;
      if (group == OpGroup::contraction) rewrite_contraction(op, number);
      const bool others = group == OpGroup::product || group == OpGroup::entries || group == OpGroup::axis;
      if (group == OpGroup::vector || others) rewrite(op);
      if (is_linear_on_workers(plan_, op)) read_parts(op, op_boxes(plan_, op));
    }
  }

  // The dimensions of a slice, concatenation or reshape, as its operands and its result have them.
  void name_twins(Op& op, const OpBoxes& boxes) {
    std::map<DimId, DimId> twins;
    const auto add = [&](const std::vector<DimId>& dims, const AxisRange& axes, const Box& box) {
      for (std::size_t i = 0; i < axes.count; ++i) twins[dims.at(i)] = twin(box.at(axes.first + i));
    };
    add(made_dims(plan_, op), made_axes(plan_, op), boxes.result);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      add(worked_dims(plan_, op, i), worked_axes(plan_, op, i), boxes.operands.at(i));
    }
    op.dim = twins.at(op.dim);
    for (DimId& dim : op.over) dim = twins.at(dim);
  }

  void read_parts(Op& op, const OpBoxes& boxes) {
    for (std::size_t i = 0; i < op.operands.size(); ++i) op.operands[i] = read_part(op.operands[i], boxes.operands[i]);
  }

  // On entry, `op` still names the plan's values.
  void rewrite(Op& op) {
    const OpBoxes boxes = op_boxes(plan_, op);
    const ValueId result = op.results.at(0);
    if (is_rearrangement(op)) {
      name_twins(op, boxes);
    } else if (op.code == OpCode::reduce || is_axis_op(op)) {
      const std::size_t walked = is_grouping(op) ? walked_operand(plan_, op) : 0;
      const std::vector<DimId>& dims = plan_.type(op.operands[walked]).dims;
      for (DimId& dim : op.over) {
        const auto axis = std::find(dims.begin(), dims.end(), dim) - dims.begin();
        dim = twin(boxes.operands[walked].at(static_cast<std::size_t>(axis)));
      }
    }
    const ValueId kept = boxes.handed_on < 0 ? no_value : op.operands[static_cast<std::size_t>(boxes.handed_on)];
    read_parts(op, boxes);
    if (boxes.first_only == 0 && boxes.result == stored_box(plan_, plan_.type(result))) return;
    const FnId reducer = op.code == OpCode::reduce || is_grouping(op) ? op.fns.at(0) : no_fn;
    op.results[0] = add_stand_in({result, boxes.result, false, {}, no_value, true, boxes.first_only, kept, reducer});
  }

  // ---- contractions

  // The part of each label, over the operator's boxes.
  struct LabelParts {
    std::map<char, AxisPart> of;

    void add(const std::string& labels, const Box& box) {
      for (std::size_t axis = 0; axis < box.size(); ++axis) of.emplace(labels[axis], box[axis]);
    }
    [[nodiscard]] Box box(const std::string& labels) const {
      Box parts;
      for (const char label : labels) parts.push_back(of.at(label));
      return parts;
    }
  };

  static LabelParts label_parts(const Labels& labels, const OpBoxes& boxes) {
    LabelParts parts;
    for (std::size_t i = 0; i < 2; ++i) parts.add(labels.operands[i], boxes.operands[i]);
    parts.add(labels.result, boxes.result);
    return parts;
  }

  // The value with its axes in the order of `wanted`, which has all of its labels.
  ValueId arranged(ValueId value, const std::string& own, const std::string& wanted, const LabelParts& parts,
                   bool made) {
    const Box box = parts.box(wanted);
    if (own == wanted && box == stored_box(plan_, plan_.type(value))) return value;
    BoxStandIn stand_in{value, box, true, {}, no_value, made};
    for (const char label : own) stand_in.meets.push_back(wanted.find(label));
    return add_stand_in(std::move(stand_in));
  }

  void rewrite_contraction(Op& op, int number) {
    const OpBoxes boxes = op_boxes(plan_, op);
    const Labels labels = labels_of(plan_, op);
    const LabelParts parts = label_parts(labels, boxes);
    std::array<bool, 2> as_it_is{};
    for (std::size_t i = 0; i < 2; ++i) {
      as_it_is.at(i) = boxes.operands[i] == stored_box(plan_, plan_.type(op.operands[i]));
    }
    const ContractionForm form = contraction_form(labels, as_it_is);
    op.name.clear();
    if (form.terms.empty()) return by_elements(op, labels, parts);
    made_.batches[number] = elements_of(plan_, parts.box(form.batch), worker_).count();
    const DimId rows = joined(parts.box(form.rows)), terms = joined(parts.box(form.terms));
    std::vector<DimId> columns;
    if (!form.columns.empty()) columns = {joined(parts.box(form.columns))};
    const auto with_columns = [&](DimId dim) {
      std::vector<DimId> dims{dim};
      dims.insert(dims.end(), columns.begin(), columns.end());
      return dims;
    };
    const auto operand = [&](std::size_t i, const std::vector<DimId>& dims) {
      return as_matrix(arranged(op.operands[i], labels.operands[i], form.operands.at(i), parts, false), dims);
    };
    const ValueId matrix = operand(form.matrix, form.transposed ? std::vector{terms, rows} : std::vector{rows, terms});
    const ValueId vector = operand(1 - form.matrix, with_columns(terms));
    std::vector<ValueId> operands{vector, matrix};
    if (is_onto(op)) {
      LabelParts own;  // its owners', where the result is contributions
      own.add(labels.result, boxes.operands[2]);
      const ValueId array = arranged(op.operands[2], labels.result, form.result, own, false);
      operands.push_back(as_matrix(array, with_columns(rows)));
      made_.first_only[number] = boxes.first_only;
    }
    op.operands = std::move(operands);
    op.results = {as_matrix(arranged(op.results[0], labels.result, form.result, parts, true), with_columns(rows))};
    op.code = form.transposed ? OpCode::mxv : OpCode::mxvt;
    if (form.matrix == 0) op.fns[0] = module().add_function(with_exchanged_parameters(plan_.fn(op.fns[0])));
  }

  // Nothing is summed: a map. Axes meet by their order alone, so operands have all of the result's.
  void by_elements(Op& op, const Labels& labels, const LabelParts& parts) {
    op.code = labels.result.empty() ? OpCode::apply : OpCode::map;
    for (std::size_t i = 0; i < 2; ++i) {
      if (labels.operands[i].empty()) continue;  // a single value
      op.operands[i] = arranged(op.operands[i], labels.operands[i], labels.result, parts, false);
    }
  }

  const Module& plan_;
  const int worker_;
  int next_ = 0;  // preorder number of the next operator
  BoxForm made_;
  std::set<BufferId> needless_;  // of values that are inputs' own memory
  std::map<Box, DimId> joined_;
  std::map<AxisPart, DimId> twins_;
  std::map<std::pair<ValueId, Box>, ValueId> parts_;  // of operands
};

}  // namespace

BoxForm box_form(const Module& module, int worker) { return BoxFormBuilder(module, worker).build(); }

}  // namespace kasen
