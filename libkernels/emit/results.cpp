#include "libkernels/emit/results.h"

#include <algorithm>

namespace kasen {
namespace {

// The sources of a function's component, from its expression.
class Reading {
 public:
  Reading(const Sources& arguments, const ElementType& result, int component)
      : arguments_(arguments), result_(result), component_(component) {}

  // Component `c` of `e`, an array, at the coordinate that is computed.
  [[nodiscard]] ReadsFrom array(const Expr& e, int c) const {
    switch (e.op) {
      case ScalarOp::param: {
        const ReadsFrom from = argument(e, c);
        return from == ReadsFrom::own_place && c != component_ ? ReadsFrom::elsewhere : from;
      }
      case ScalarOp::component:
        return array(e.args[0], e.index);
      case ScalarOp::make_tuple:
        return array(e.args[static_cast<size_t>(c)], 0);
      case ScalarOp::select:
        return std::max({scalar(e.args[0], -1), array(e.args[1], c), array(e.args[2], c)});
      case ScalarOp::build:
        return scalar(e.args[0], e.index);
      default:
        return scalar(e, -1);
    }
  }

 private:
  [[nodiscard]] ReadsFrom argument(const Expr& param, int c) const {
    return arguments_[static_cast<size_t>(param.index)]->reads_from(result_, c);
  }

  // Used anywhere else: any of its coordinates.
  [[nodiscard]] ReadsFrom any_of(const Expr& param, int c) const {
    const ReadsFrom from = argument(param, c);
    return from == ReadsFrom::own_place ? ReadsFrom::elsewhere : from;
  }

  // `own` is the number of the loop variable that is the coordinate; -1: there is none.
  [[nodiscard]] ReadsFrom scalar(const Expr& e, int own) const {
    ReadsFrom from = ReadsFrom::registers;
    if (e.op == ScalarOp::param) {
      for (int c = 0; c < components_of(e.type); ++c) from = std::max(from, any_of(e, c));
      return from;
    }
    if (e.op == ScalarOp::component && e.args[0].op == ScalarOp::param) return any_of(e.args[0], e.index);
    const bool at_own = e.op == ScalarOp::element && e.args[1].op == ScalarOp::loop_var && e.args[1].index == own;
    if (at_own) return array(e.args[0], 0);
    if (e.count > 0 && e.index == own) own = -1;  // an inner loop with the same number
    for (const Expr& arg : e.args) from = std::max(from, scalar(arg, own));
    return from;
  }

  const Sources& arguments_;
  const ElementType& result_;
  int component_;
};

ReadsFrom reads_from(const Result& result) {
  const ElementType& element = result.place->element();
  ReadsFrom from = ReadsFrom::registers;
  for (int c = 0; c < components_of(element); ++c) from = std::max(from, result.value->reads_from(element, c));
  return from;
}

}  // namespace

ReadsFrom Deferred::reads_from(const ElementType& result, int component) const {
  if (count_of(body_.type, component) == 0 && scalars_ != nullptr) return ReadsFrom::registers;
  return Reading(arguments_, result, component).array(body_, component);
}

void store_results(Emitter& emitter, std::vector<Result> results) {
  std::vector<std::unique_ptr<OperatorValue>> made;
  std::vector<const Result*> in_step, behind;
  for (Result& result : results) {
    const ElementType& element = result.place->element();
    const bool alike = in_step.empty() || in_step.front()->place->element() == element;
    const ReadsFrom from = reads_from(result);
    if (alike && (from == ReadsFrom::own_place || from == ReadsFrom::other_types)) {
      in_step.push_back(&result);
      continue;
    }
    if (from != ReadsFrom::registers) {
      made.push_back(std::make_unique<OperatorValue>(element));
      made.back()->copy(emitter, *result.value);
      result.value = made.back().get();
    }
    behind.push_back(&result);
  }
  if (!in_step.empty()) {
    for_each_plane(emitter, in_step.front()->place->element(), [&](int c, const Plane* j) {
      std::vector<Plane> values;
      for (const Result* result : in_step) values.push_back(result->value->load(emitter, c, j));
      for (size_t k = 0; k < in_step.size(); ++k) in_step[k]->place->store(emitter, c, j, values[k]);
    });
  }
  for (const Result* result : behind) {
    for_each_plane(emitter, result->place->element(), [&](int c, const Plane* j) {
      result->place->store(emitter, c, j, result->value->load(emitter, c, j));
    });
  }
}

}  // namespace kasen
