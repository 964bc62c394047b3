#include "libcore/analysis/chain_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "libcore/ir/array_views.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/scalar/loops.h"

namespace kasen {

std::optional<std::int64_t> chain_columns(const Module& module, const Type& type, DimId rows) {
  std::vector<DimId> dims = type.dims;
  if (!dims.empty() && dims[0] == rows) dims.erase(dims.begin());
  if (dims.empty()) return 1;
  if (dims.size() > 1 || !type.element.is_scalar()) return std::nullopt;
  const Dimension& columns = module.dim(dims[0]);
  const bool few = columns.local && columns.size >= 1 && columns.size <= most_chain_columns;
  return few ? std::optional(columns.size) : std::nullopt;
}

bool may_stand_in_chain(const Module& module, const Op& product) {
  if (!is_ordinary_dense_product(module, product)) return false;
  const Type& matrix = module.type(product.operands.at(1));
  if (matrix.dims.size() != 2 || !Layout(module, matrix).is_cut(0)) return false;
  const Type& operand = module.type(product.operands.at(0));
  return chain_columns(module, operand, operand.dims.at(0)).has_value();
}

namespace {

// Views of a row are read in place, however many columns there are. (A compressed row is decompressed first.)
bool may_be_viewed(const Module& module, const Op& view, DimId rows) {
  const Type& array = module.type(viewed(view));
  return is_slice(view) && array.dims.size() == 2 && array.dims[0] == rows && module.dim(array.dims[1]).local &&
         array.element.is_scalar() && !array.compressed;
}

}  // namespace

bool follows_chain_rows(const Module& module, const Op& op, DimId rows) {
  const auto fits = [&](ValueId v) { return chain_columns(module, module.type(v), rows).has_value(); };
  const bool shows = is_view(op) && may_be_viewed(module, op, rows);
  if (!std::all_of(op.operands.begin() + (shows ? 1 : 0), op.operands.end(), fits)) return false;
  if (!std::all_of(op.results.begin(), op.results.end(), fits)) return false;
  if (op.code != OpCode::reduce || module.type(op.operands[0]).dims.size() == 1) return true;
  const bool keeps_columns = op.over == std::vector<DimId>{rows};
  const bool numbers = is_numeric(module.type(op.operands[0]).element.scalar());  // coordinate loops take no ids
  return keeps_columns || (numbers && coordinate_loop(module.fn(op.fns.at(0))).has_value());
}

std::optional<ScalarOp> coordinate_loop(const ScalarFunction& fn) {
  for (const ScalarOp loop : combining_loops) {
    if (is_plain_operator(fn, loop_step(loop).op)) return loop;
  }
  return std::nullopt;
}

}  // namespace kasen
