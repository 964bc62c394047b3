#include "libopt/time/imbalance.h"

#include <algorithm>
#include <vector>

namespace kasen {
namespace {

// Returns the largest over the mean, of the sum over these symbols.
double of_symbols(const Sizes& sizes, const std::vector<Symbol>& symbols, int processes) {
  std::int64_t most = 0, total = 0;
  int worker = 0;
  for (int process = 0; process < processes; ++process) {
    const std::int64_t end = (std::int64_t{process} + 1) * sizes.workers / processes;
    std::int64_t here = 0;
    for (; worker < end; ++worker) {
      for (const Symbol& symbol : symbols) here += sizes.on_worker(worker, symbol);
    }
    most = std::max(most, here);
    total += here;
  }
  return total == 0 ? 1 : static_cast<double>(most) * processes / static_cast<double>(total);
}

}  // namespace

double imbalance(const Module& module, const Sizes& sizes, int processes) {
  if (sizes.by_worker.empty() || processes < 1 || processes > sizes.workers) return 1;
  std::vector<Symbol> masters, entries;
  const auto add = [&](std::vector<Symbol>& symbols, Symbol symbol) {
    if (sizes.by_worker.front().contains(symbol)) symbols.push_back(std::move(symbol));
  };
  for (const Dimension& dim : module.dims) {
    if (!dim.local) add(masters, {SymbolKind::size, dim.name, {}, -1});
  }
  for (const Op& op : module.body.ops) {
    const bool sparse = op.code == OpCode::input && module.type(op.results[0]).sparse;
    if (sparse) add(entries, {SymbolKind::entries, op.name, {}, -1});
  }
  return std::max(of_symbols(sizes, masters, processes), of_symbols(sizes, entries, processes));
}

}  // namespace kasen
