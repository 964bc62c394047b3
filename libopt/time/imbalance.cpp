#include "libopt/time/imbalance.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "libcore/ir/layout.h"
#include "libopt/cost/box_cost.h"

namespace kasen {
namespace {

// Returns the largest over the mean, of what the workers of each process have.
double of_workers(int workers, int processes, const std::function<double(int worker)>& has) {
  double most = 0, total = 0;
  int worker = 0;
  for (int process = 0; process < processes; ++process) {
    const std::int64_t end = (std::int64_t{process} + 1) * workers / processes;
    double here = 0;
    for (; worker < end; ++worker) here += has(worker);
    most = std::max(most, here);
    total += here;
  }
  return total == 0 ? 1 : most * processes / total;
}

double of_symbols(const Sizes& sizes, const std::vector<Symbol>& symbols, int processes) {
  return of_workers(sizes.workers, processes, [&](int worker) {
    double sum = 0;
    for (const Symbol& symbol : symbols) sum += static_cast<double>(sizes.on_worker(worker, symbol));
    return sum;
  });
}

// By the bytes of all arrays.
double of_boxes(const Module& module, const Sizes& sizes, int processes) {
  const Module sized = sized_module(module, sizes);
  return of_workers(sizes.workers, processes, [&](int worker) {
    double sum = 0;
    for (const ValueId v : sized.values.ids()) {
      if (!sized.type(v).dims.empty()) sum += static_cast<double>(box_bytes(sized, v, worker));
    }
    return sum;
  });
}

}  // namespace

WorkImbalance work_imbalance(const Module& module, const Sizes& sizes, int processes) {
  if (sizes.by_worker.empty() || processes < 1 || processes > sizes.workers) return {};
  if (names_layouts(module)) {
    const double of_both = of_boxes(module, sizes, processes);
    return {of_both, of_both};
  }
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
  return {of_symbols(sizes, masters, processes), of_symbols(sizes, entries, processes)};
}

double imbalance(const Module& module, const Sizes& sizes, int processes) {
  const WorkImbalance both = work_imbalance(module, sizes, processes);
  return std::max(both.indices, both.entries);
}

}  // namespace kasen
