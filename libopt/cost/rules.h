// The rules of docs/cost.md, one for each column: the cost of one execution of one operator. Internal to libopt.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "libcore/analysis/liveness.h"
#include "libcore/ir/module.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/cost.h"

namespace kasen {

// The data that the rules use besides the operator itself.
struct CostContext {
  const Module* module = nullptr;
  std::map<ValueId, std::string> inputs;  // the name of each input, also by its batches
  std::map<ValueId, int> batches;         // of sparse inputs; the loop that takes each of them once, or -1
  std::shared_ptr<const BoxCosts> boxes;  // of a module that names layouts
  [[nodiscard]] const Type& type(ValueId value) const { return module->type(value); }
  [[nodiscard]] std::string matrix_name(ValueId value) const;
  [[nodiscard]] Polynomial entries(ValueId matrix) const;
};

[[nodiscard]] CostContext cost_context(const Module& module);

// The paper's model, with ghosts by set.
[[nodiscard]] Cost model_cost(const CostContext& context, const Op& op);

// The bytes that this implementation touches and sends, over all workers; without the copies of carried values.
[[nodiscard]] Cost actual_cost(const CostContext& context, const Op& op);
// Local indices on which an element-wise operator computes.
[[nodiscard]] Polynomial computed_indices(const CostContext& context, const Op& op);
// Both costs of one region, by its kind: each kind of regions.def has a function in model.cpp and one in actual.cpp.
[[nodiscard]] Cost model_region(const CostContext& context, const Op& region);
[[nodiscard]] Cost actual_region(const CostContext& context, const Op& region);
#define REGION(kind, entry, in_place, pass, holds)                               \
  [[nodiscard]] Cost model_##kind(const CostContext& context, const Op& region); \
  [[nodiscard]] Cost actual_##kind(const CostContext& context, const Op& region);
#include "libcore/ir/regions.def"
#undef REGION

// Of all elements of a value that a worker stores.
[[nodiscard]] Polynomial stored_bytes(const CostContext& context, ValueId value);
// The cost of those of `bindings` that copy; `spared` arrays of a list are not copied.
[[nodiscard]] Cost copy_cost(const CostContext& context, std::span<const Binding> bindings, std::int64_t spared = 0);

// A row of operators.def in one of the columns.
struct CostRule {
  OpCode code;
  Cost (*cost)(const CostContext&, const Op&);
};
template <std::size_t count>
consteval bool is_complete(const std::array<CostRule, count>& rules) {
  for (std::size_t i = 0; i < count; ++i) {
    if (rules[i].code != static_cast<OpCode>(i)) return false;
  }
  return count == operator_count;
}

// Network of a gather or scatter: the same in both columns.
[[nodiscard]] Cost transition_network(const CostContext& context, const Op& op);

}  // namespace kasen
