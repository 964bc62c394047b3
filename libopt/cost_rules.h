// The rules of docs/cost.md, one a column: what one execution of one operator costs. Internal to libopt.
#pragma once

#include <map>
#include <string>

#include "libcore/module.h"
#include "libopt/cost.h"

namespace kasen {

// What the rules look up besides the operator itself.
struct CostContext {
  const Module* module = nullptr;
  std::map<ValueId, std::string> inputs;  // the name of each input
  [[nodiscard]] const Type& type(ValueId value) const { return module->type(value); }
  [[nodiscard]] std::string matrix_name(ValueId value) const;
  [[nodiscard]] Polynomial entries(ValueId matrix) const;
};

[[nodiscard]] CostContext cost_context(const Module& module);

// The paper's model, slaves by set.
[[nodiscard]] Cost model_cost(const CostContext& context, const Op& op);

// Network of a gather or scatter: the same in both columns.
[[nodiscard]] Cost transition_network(const CostContext& context, const Op& op);

}  // namespace kasen
