// What a plan is made of, for the table of coverage: of each operator its element type, its state, the kind of region
// around it and whether a loop or a branch is; of each scalar operator in its functions the same with that one's type.
#pragma once

#include <set>
#include <string>

#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libcore/ir/regions.h"

namespace kasen::random_programs {

inline std::string element_word(const ElementType& element) {
  if (element.tuple) return "tuple";
  if (element.is_array()) return "array";
  return std::string(scalar_name(element.scalar()));
}

inline std::string state_word(const Module& module, const Type& type) {
  if (Layout(module, type).is_shared())
    return type.state.is_pre() ? "shared-pre" : type.state.is_part() ? "shared-part" : "shared";
  if (type.sparse) return "sparse";
  if (type.compressed) return "compressed";
  return type.state.is_pre() ? "pre" : type.state.is_cons() ? "cons" : type.state.is_part() ? "part" : "unplaced";
}

class PlanFeatures {
 public:
  explicit PlanFeatures(const Module& module) : module_(module) { visit(module.body, "none", "straight"); }
  // OPERATOR ELEMENT STATE REGION CONTROL
  [[nodiscard]] const std::set<std::string>& lines() const { return lines_; }

 private:
  void note(const std::string& op, const ElementType& element, const std::string& place) {
    lines_.insert(op + ' ' + element_word(element) + ' ' + place);
  }

  void visit_function(const Expr& e, const std::string& place) {
    if (e.op != ScalarOp::param && e.op != ScalarOp::loop_var) {
      const bool compares = row(e.op).result == ResultRule::compare;
      note("." + std::string(row(e.op).name), compares ? e.args[0].type : e.type, place);
    }
    for (const Expr& arg : e.args) visit_function(arg, place);
  }

  void visit(const Block& block, const std::string& region, const std::string& control) {
    for (const Op& op : block.ops) {
      const ValueId shown = !op.results.empty() ? op.results[0] : !op.operands.empty() ? op.operands[0] : no_value;
      if (shown != no_value) {
        const Type& type = module_.type(shown);
        const std::string place = state_word(module_, type) + ' ' + region + ' ' + control;
        note(std::string(row(op.code).name), type.element, place);
        for (const FnId fn : op.fns) visit_function(module_.fn(fn).body, place);
      }
      for (const Block& inner : op.blocks) {
        const bool is_region = op.code == OpCode::region;
        visit(inner, is_region ? std::string(region_name(op.kind)) : region,
              is_region ? control : std::string(row(op.code).name));
      }
    }
  }

  const Module& module_;
  std::set<std::string> lines_;
};

}  // namespace kasen::random_programs
