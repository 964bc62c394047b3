// Checks which elements of which arrays views may show, and under which dimensions.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/ir/array_views.h"
#include "libcore/ir/products.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

ViewFault result_fault(const Module& module, const Op& view, const std::vector<DimId>& dims) {
  const Type &from = module.type(viewed(view)), &to = module.type(view.results[0]);
  const std::string array = value_text(module, viewed(view));
  if (to.dims != dims || to.sparse || to.list > 0) {
    return {"the result has other dimensions than the view of " + array, "", ""};
  }
  if (to.element == from.element) return {};
  return {"its result holds " + print_element_type(module, to.element),
          fmt::format("{} holds {}", array, print_element_type(module, from.element)), ""};
}

ViewFault sliced_fault(const Module& module, const Op& view) {
  std::vector<DimId> dims = module.type(viewed(view)).dims;
  const std::string array = value_text(module, viewed(view));
  const bool single = takes_one_index(view);
  const auto stands = [&](DimId d) { return std::count(dims.begin(), dims.end(), d); };
  const bool square = std::any_of(dims.begin(), dims.end(), [&](DimId d) { return stands(d) > 1; });
  if (view.over.size() != 1 || stands(view.over[0]) != 1 || square) {
    return {fmt::format("it {} no one dimension of {}", single ? "takes an index of" : "ranges over", array), "", ""};
  }
  const DimId whole = view.over[0];
  if (!module.dim(whole).local || (!single && !module.dim(view.dim).local)) {
    const std::string& cut = module.dim(module.dim(whole).local ? view.dim : whole).name;
    return {fmt::format("it {} '{}', which is cut", single ? "takes an index of" : "ranges over", cut),
            "every worker holds all of a local dimension, but only its part of others", "declare the dimension local"};
  }
  if (!single && stands(view.dim) > 0) {
    return {fmt::format("{} is over '{}' already", array, module.dim(view.dim).name), "",
            "give the range another dimension"};
  }
  const std::string outside = range_fault(range_sizes(module, view), 0);
  if (!outside.empty()) return {"it lies outside of " + array, outside, ""};
  const auto at = std::find(dims.begin(), dims.end(), whole);
  if (single) {
    dims.erase(at);
  } else {
    *at = view.dim;
  }
  return result_fault(module, view, dims);
}

ViewFault transposed_fault(const Module& module, const Op& view) {
  std::vector<DimId> dims = module.type(viewed(view)).dims;
  const std::string array = value_text(module, viewed(view));
  if (dims.size() != 2) return {array + " is no matrix", "it does not have two dimensions", ""};
  const bool usual = module.type(viewed(view)).cuts.empty() && module.type(view.results.at(0)).cuts.empty();
  if (usual && std::none_of(dims.begin(), dims.end(), [&](DimId d) { return module.dim(d).local; })) {
    return {array + " is cut, and would be cut along its other dimension", "no element moves to another worker",
            "declare one of its dimensions local"};
  }
  std::reverse(dims.begin(), dims.end());
  return result_fault(module, view, dims);
}

ViewFault batch_fault(const Module& module, const Op& op) {
  const std::string array = value_text(module, viewed(op));
  Type wanted = module.type(viewed(op));
  if (!has_batches(wanted) || find_input(module, viewed(op)) == nullptr) {
    return {array + " is no sparse input with batches", "only one with three dimensions has some", ""};
  }
  const DimId dim = wanted.dims[0];
  if (op.over != std::vector{dim}) {
    return {fmt::format("it takes an index of another dimension than '{}'", module.dim(dim).name),
            fmt::format("that counts the batches of {}", array), ""};
  }
  const Type& index = module.type(op.operands.at(1));
  if (!index.element.is(Scalar::i64) || !index.dims.empty() || index.list > 0) {
    return {fmt::format("{} is {}, but the index of a batch is a shared i64", value_text(module, op.operands[1]),
                        type_text(module, index)),
            "", ""};
  }
  wanted.dims.erase(wanted.dims.begin());
  const Type& made = module.type(op.results.at(0));
  if (same_but_state(wanted, made)) return {};
  return {fmt::format("its result is {}", type_text(module, made)),
          fmt::format("a batch of {} is {}", array, type_text(module, wanted)), ""};
}

}  // namespace

void verify_batches(const Module& module, Faults& faults) {
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code == OpCode::batch) {
      const ViewFault fault = batch_fault(module, op);
      if (!fault.what.empty()) faults.add(op, fault.what, fault.why, fault.remedy);
      return;
    }
    for (const ValueId v : op.operands) {
      if (!has_batches(module.type(v))) continue;
      return faults.add(op, value_text(module, v) + " has batches", "each of them is a matrix, and all are none",
                        "take one with batch");
    }
  });
}

ViewFault view_fault(const Module& module, const Op& view) {
  if (module.type(viewed(view)).sparse) {
    return {value_text(module, viewed(view)) + " is a sparse matrix", "only dense arrays have views", ""};
  }
  return is_slice(view) ? sliced_fault(module, view) : transposed_fault(module, view);
}

}  // namespace kasen
