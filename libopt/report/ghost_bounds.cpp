#include "libopt/report/ghost_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/cost.h"

namespace kasen {
namespace {

// One for each nonzero of each axis that the set is of; of the dimension's ghosts, all axes of all sparse matrices.
Polynomial entries_of(const Module& module, const Symbol& ghosts) {
  Polynomial sum;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::input || !module.type(op.results.at(0)).sparse) return;
    const std::span<const DimId> dims = matrix_dims(module.type(op.results[0]));
    for (const Axis axis : {Axis::rows, Axis::cols}) {
      const SlaveAtom atom{op.name, axis};
      const bool along = module.dim(axis == Axis::rows ? dims.front() : dims.back()).name == ghosts.name;
      const bool wanted =
          ghosts.set.empty() || std::find(ghosts.set.begin(), ghosts.set.end(), atom) != ghosts.set.end();
      if (along && wanted) sum += Polynomial(Symbol{SymbolKind::entries, op.name, {}, -1});
    }
  });
  return sum;
}

bool is_of_sparse_matrices(const Module& module, const SlaveSet& set) {
  return std::all_of(set.begin(), set.end(), [&](const SlaveAtom& atom) {
    return std::any_of(module.body.ops.begin(), module.body.ops.end(), [&](const Op& op) {
      return op.code == OpCode::input && op.name == atom.matrix && module.type(op.results.at(0)).sparse;
    });
  });
}

}  // namespace

void bound_ghosts(const Module& module, Sizes& sizes) {
  if (module.level == 1 || names_layouts(module)) return;  // no cost of these has ghosts
  const SymbolNames names(module);
  const std::string workers = names({SymbolKind::workers, "", {}, -1});
  for (const Symbol& symbol : module_symbols(module, measure(module))) {
    if (symbol.kind != SymbolKind::slaves || is_all(symbol.set) || sizes.totals.contains(symbol)) continue;
    std::optional<std::int64_t> most;
    std::string text;
    const auto take = [&](const std::optional<std::int64_t>& number, const std::string& form) {
      if (!number || (most && *most <= *number)) return;
      most = number;
      text = form;
    };
    take(printed_form(Polynomial(Symbol{SymbolKind::slaves, symbol.name, all_slaves(), -1})).evaluate(sizes.totals),
         fmt::format("({} - 1) {}", workers, symbol.name));
    const Polynomial entries = entries_of(module, symbol);
    if (!entries.is_zero() && is_of_sparse_matrices(module, symbol.set))
      take(entries.evaluate(sizes.totals), entries.text(names));
    if (!most) continue;
    sizes.totals[symbol] = *most;
    sizes.at_most.insert(symbol);
    sizes.notes.push_back(
        fmt::format("{0} is taken as {1} = {2}, the most that it can be: a bundle gives it, or --sizes", names(symbol),
                    text, *most));
  }
  derive_sizes(module, sizes);  // those that follow from them
}

}  // namespace kasen
