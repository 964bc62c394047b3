#include "libcore/analysis/compressed_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "libcore/ir/array_views.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"

namespace kasen {
namespace {

std::optional<std::string> shape_hinders(const Module& module, const Type& type) {
  if (type.sparse || type.list > 0 || type.dims.size() != 2) return "it is no dense matrix";
  if (!Layout(module, type).is_cut(0) || !module.dim(type.dims[1]).local) {
    return fmt::format("it is no matrix that is cut along {} alone", module.dim(type.dims[0]).name);
  }
  if (!type.element.is_scalar() || type.element.bytes() == 0) return "its elements are no scalars";
  return std::nullopt;
}

// The rows of a compressed matrix have one order, and no ghosts.
std::optional<std::string> other_hinders(const Module& module, DimId rows) {
  for (const Value& value : module.values) {
    const std::vector<DimId>& dims = value.type.dims;
    if (!contains(dims, rows)) continue;
    const bool once = std::count(dims.begin(), dims.end(), rows) == 1;
    if (!value.type.sparse && once && Layout(module, value.type).cut() == rows) continue;
    return fmt::format("%{} is cut in another way along {}", value.name, module.dim(rows).name);
  }
  return std::nullopt;
}

bool may_read(const Module& module, const Op& op) {
  if (op.code == OpCode::map || op.code == OpCode::reduce || is_slice(op)) return true;
  if (is_product(op)) return is_ordinary_dense_product(module, op);
  return op.code == OpCode::region && op.kind != RegionKind::product_epilogue;
}

// True for a reducer that gives for n equal values one function of the value and n.
bool takes_counts(const ScalarFunction& reducer) {
  constexpr std::array idempotent{ScalarOp::min, ScalarOp::max, ScalarOp::logical_and, ScalarOp::logical_or};
  if (is_plain_operator(reducer, ScalarOp::add)) {
    return reducer.result().is_scalar() && is_float(reducer.result().scalar());
  }
  return std::any_of(idempotent.begin(), idempotent.end(), [&](ScalarOp op) { return is_plain_operator(reducer, op); });
}

// The operators of a region without its yield; for any other operator, the operator itself.
std::span<const Op> work_of(const Op& op) {
  if (op.code != OpCode::region) return {&op, 1};
  return std::span(op.blocks.at(0).ops).first(op.blocks.at(0).ops.size() - 1);
}

}  // namespace

std::optional<std::string> hinders_compressed(const Module& module, const Op& input) {
  const ValueId value = input.results.at(0);
  const Type& type = module.type(value);
  if (std::optional<std::string> why = shape_hinders(module, type)) return why;
  if (module.value(value).buffer != no_buffer) return "it has a buffer";
  if (std::optional<std::string> why = other_hinders(module, type.dims[0])) return why;
  std::optional<std::string> why;
  for_each_op(module, [&](const Op& op, int, int) {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (why || op.operands[i] != value || may_read(module, op)) continue;
      why = fmt::format("{} reads it", row(op.code).name);
      if (op.where.line > 0) *why += fmt::format(" in line {}", op.where.line);
    }
  });
  return why;
}

bool takes_distinct_values(const Module& module, const Op& op) {
  if (op.code != OpCode::reduce && !(op.code == OpCode::region && op.kind == RegionKind::iter_on_vec)) return false;
  const auto single = [&](ValueId v) { return module.type(v).dims.empty() && module.type(v).list == 0; };
  std::set<ValueId> matrices;
  for (const ValueId v : op.operands) {
    if (module.type(v).compressed) matrices.insert(v);
    if (!module.type(v).compressed && !single(v)) return false;
  }
  if (matrices.size() != 1 || !std::all_of(op.results.begin(), op.results.end(), single)) return false;
  const std::vector<DimId>& dims = module.type(*matrices.begin()).dims;
  for (const Op& inner : work_of(op)) {
    const ValueId made = inner.results.at(0);
    const bool whole = inner.code == OpCode::map && (module.type(made).dims == dims || single(made));
    const bool reduces = inner.code == OpCode::reduce && single(made) && module.type(inner.operands[0]).dims == dims &&
                         takes_counts(module.fn(inner.fns.at(0)));
    if (!whole && !reduces) return false;
  }
  return true;
}

std::int64_t compressed_reads(const Module& module, const Op& op, std::span<const View> inputs) {
  std::set<const CompressedArray*> arrays;
  for (const View& view : inputs) {
    if (view.compressed != nullptr) arrays.insert(view.compressed);
  }
  if (arrays.empty()) return 0;  // true of most operators, which exit early here
  const bool distinct = takes_distinct_values(module, op);
  std::int64_t bytes = 0;
  for (const CompressedArray* array : arrays) bytes += distinct ? array->distinct_bytes() : array->stored_bytes();
  return bytes;
}

}  // namespace kasen
