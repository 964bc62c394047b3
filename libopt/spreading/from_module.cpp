#include "libopt/spreading/from_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/contraction.h"
#include "libopt/spreading/dimension_blocks.h"

namespace kasen {
namespace {

using spread::ArrayId;
using spread::Labelled;

// An array as a value shows it: axis i of the value is axis axes[i] of the array.
struct Shown {
  ArrayId array;
  std::vector<std::size_t> axes;
};

class Lowering {
 public:
  Lowering(const Module& sized, const SpreadingOptions& options)
      : m_(sized), grid_(sized, options), arrays_(options.layout), shown_(sized.values.size()) {}

  spread::Arrays run() {
    take(m_.body);
    return std::move(arrays_);
  }

 private:
  [[noreturn]] void refuse(const Op& op, const std::string& why) const {
    Location where = op.where;
    if (where.file.empty()) where.file = m_.source_name;
    fail(ExitStatus::bad_input, fmt::format("'{}' has no block operators", row(op.code).name), why,
         "place programs of dense arrays: element-wise functions, reductions, products and transposes", where);
  }

  void take(const Block& block) {
    for (const Op& op : block.ops) {
      for (const ValueId result : op.results)
        if (m_.type(result).sparse || m_.type(result).list > 0) refuse(op, "it makes a sparse matrix or a list");
      take(op);
    }
  }

  void take(const Op& op) {
    switch (op.code) {
      case OpCode::input:
      case OpCode::fill:
      case OpCode::index:
        return make(op);
      case OpCode::param:
      case OpCode::literal:
      case OpCode::size:
      case OpCode::observe:
      case OpCode::within:
      case OpCode::yield:
        return;
      case OpCode::map:
      case OpCode::apply:
        return map(op);
      case OpCode::reduce:
        return reduce(op);
      case OpCode::transpose:
        return transpose(op);
      case OpCode::output:
        return end_at_owner(op.operands[0]);
      case OpCode::while_loop:
        return loop(op, 0);
      case OpCode::for_loop:
        return loop(op, 2);
      case OpCode::if_else:
        return branch(op);
      default:
        break;
    }
    if (is_contraction(m_, op)) return contract(op);
    if (takes_one_index(op)) return reduce(op);  // within blocks: the axis that it drops is local, and not cut
    if (is_slice(op) || op.code == OpCode::slice) return narrow(op);
    if (op.code == OpCode::scan || op.code == OpCode::sort || op.code == OpCode::argsort) return work_along(op);
    if (row(op.code).group == OpGroup::linear) return linear(op);
    refuse(op, "it works along a dimension, on a sparse matrix, or on a list");
  }

  [[nodiscard]] const std::string& name(ValueId value) const { return m_.value(value).name; }

  [[nodiscard]] std::int64_t planes(ValueId value) const { return m_.type(value).element.planes(); }

  void show(ValueId value, ArrayId array) {
    Shown shown{array, {}};
    for (std::size_t axis = 0; axis < m_.type(value).dims.size(); ++axis) shown.axes.push_back(axis);
    shown_[value] = std::move(shown);
  }

  void make(const Op& op) {
    const ValueId value = op.results[0];
    const Type& type = m_.type(value);
    if (!type.dims.empty()) show(value, arrays_.input(name(value), grid_.shape(type), grid_.of(type), planes(value)));
  }

  // A label for each axis: dimensions are told apart by name, those that an array has twice by their order.
  [[nodiscard]] std::string labels(ValueId value) const {
    std::string result;
    std::map<DimId, int> seen;
    for (const DimId dim : m_.type(value).dims)
      result += static_cast<char>(1 + seen[dim]++ * static_cast<int>(m_.dims.size()) + dim);
    return result;
  }

  [[nodiscard]] Labelled labelled(ValueId value, const std::string& own) const {
    const Shown& shown = *shown_[value];
    std::string all(own.size(), ' ');
    for (std::size_t axis = 0; axis < own.size(); ++axis) all[shown.axes[axis]] = own[axis];
    return {shown.array, all};
  }

  [[nodiscard]] std::vector<Labelled> array_operands(const Op& op) const {
    std::vector<Labelled> all;
    for (const ValueId operand : op.operands)
      if (shown_[operand]) all.push_back(labelled(operand, labels(operand)));
    return all;
  }

  void map(const Op& op) {
    const ValueId value = op.results[0];
    const std::vector<Labelled> operands = array_operands(op);
    const std::string result = labels(value);
    const bool has_all = std::all_of(result.begin(), result.end(), [&](char label) {
      return std::any_of(operands.begin(), operands.end(),
                         [&](const Labelled& one) { return has_label(one.labels, label); });
    });
    if (!has_all) return make(op);  // of constants alone
    if (!operands.empty()) show(value, arrays_.elementwise(name(value), result, operands, planes(value)));
  }

  void reduce(const Op& op) {
    const ValueId operand = op.operands[0], value = op.results[0];
    if (!shown_[operand]) return;
    const std::string own = labels(operand);
    std::string result;
    if (is_slice(op)) {
      const std::vector<DimId>& dims = m_.type(value).dims;
      for (std::size_t axis = 0; axis < own.size(); ++axis)
        if (std::count(dims.begin(), dims.end(), m_.type(operand).dims[axis]) > 0) result += own[axis];
    } else if (!op.over.empty()) {
      for (std::size_t axis = 0; axis < own.size(); ++axis)
        if (std::count(op.over.begin(), op.over.end(), m_.type(operand).dims[axis]) == 0) result += own[axis];
    }
    if (result.size() != m_.type(value).dims.size()) refuse(op, "its array has a dimension twice");
    show(value, arrays_.reduce(name(value), result, labelled(operand, own), planes(value)));
  }

  // The axis of the array, among those that it has, and how it is cut.
  [[nodiscard]] std::size_t axis_of(const Op& op, DimId dim) const {
    const ValueId operand = op.operands[0];
    const std::vector<DimId>& dims = m_.type(operand).dims;
    const auto place = static_cast<std::size_t>(std::find(dims.begin(), dims.end(), dim) - dims.begin());
    const Shown& shown = *shown_[operand];
    const std::size_t axis = shown.axes.at(place);
    if (arrays_.array(shown.array).grid[axis] > 1)
      refuse(op, fmt::format("it works along {}, which is cut in blocks", m_.dim(dim).name));
    return axis;
  }

  // Some indices of a dimension that is not cut; another dimension stands for it.
  void narrow(const Op& op) {
    const ValueId operand = op.operands[0], value = op.results[0];
    if (!shown_[operand]) refuse(op, "its array is a constant");
    const std::size_t axis = axis_of(op, op.over.at(0));
    Shown shown = *shown_[operand];
    shown.array = arrays_.narrowed(name(value), shown.array, axis, m_.dim(op.dim).size);
    shown_[value] = std::move(shown);
  }

  // Each line lies in one block.
  void work_along(const Op& op) {
    const ValueId operand = op.operands[0], value = op.results[0];
    if (!shown_[operand]) refuse(op, "its array is a constant");
    static_cast<void>(axis_of(op, op.over.at(0)));
    show(value, arrays_.elementwise(name(value), labels(value), {labelled(operand, labels(operand))}, planes(value)));
  }

  void transpose(const Op& op) {
    Shown shown = *shown_[op.operands[0]];
    std::reverse(shown.axes.begin(), shown.axes.end());
    shown_[op.results[0]] = std::move(shown);
  }

  void contract(const Op& op) {
    const ValueId value = op.results[0];
    const Labels all = labels_of(m_, op);
    std::vector<Labelled> operands;
    for (std::size_t i = 0; i < all.operands.size(); ++i)
      if (shown_[op.operands[i]]) operands.push_back(labelled(op.operands[i], all.operands[i]));
    if (operands.empty()) return;
    const ArrayId product = arrays_.contract(name(value), all.result, operands, planes(value));
    if (op.operands.size() == all.operands.size() || !shown_[op.operands.back()]) return show(value, product);
    const Labelled onto = labelled(op.operands.back(), all.result);
    show(value, arrays_.elementwise(name(value), all.result, {{product, all.result}, onto}, planes(value)));
  }

  void linear(const Op& op) {
    std::vector<ArrayId> operands;
    for (const ValueId operand : op.operands)
      if (shown_[operand]) operands.push_back(shown_[operand]->array);
    for (const ValueId value : op.results)
      show(value, arrays_.whole(name(value), grid_.shape(m_.type(value)), operands));
  }

  void end_at_owner(ValueId value) {
    if (shown_[value]) arrays_.output(shown_[value]->array);
  }

  // What it carries lies at its owners at the end of each iteration, as it does at the beginning of the next.
  void loop(const Op& op, std::size_t bounds) {
    const Block& body = op.blocks[0];
    const std::size_t args = body.args.size() - (bounds == 0 ? 0 : 1);
    for (std::size_t i = 0; i < args; ++i)
      shown_[body.args[body.args.size() - args + i]] = shown_[op.operands[bounds + i]];
    take(body);
    for (const ValueId value : body.ops.back().operands) end_at_owner(value);
    hand_on(op, body);
  }

  void branch(const Op& op) {
    take(op.blocks[0]);
    hand_on(op, op.blocks[0]);
  }

  void hand_on(const Op& op, const Block& body) {
    for (std::size_t i = 0; i < op.results.size(); ++i) shown_[op.results[i]] = shown_[body.ops.back().operands[i]];
  }

  const Module& m_;
  DimensionBlocks grid_;
  spread::Arrays arrays_;
  IdMap<ValueId, std::optional<Shown>> shown_;  // none: a constant of every operator
};

}  // namespace

spread::Arrays block_operators(const Module& sized, const SpreadingOptions& options) {
  return Lowering(sized, options).run();
}

}  // namespace kasen
