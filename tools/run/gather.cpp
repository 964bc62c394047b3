#include "tools/run/gather.h"

namespace kasen::tools {

RunReport gather_report(Cluster& cluster, const Module& module, const RunReport& mine) {
  if (cluster.ranks() == 1) return mine;
  RunReport all;
  bool first = true;
  for (const std::string& text : cluster.gather(run_report_json(module, mine))) {
    RunReport rank = read_run_report(text, "a rank's counters");
    if (first) {
      all = std::move(rank);
    } else {
      merge(all, rank);
    }
    first = false;
  }
  return all;
}

Polynomial::Bindings data_sizes(const BundleStatistics& data) {
  Polynomial::Bindings sizes;
  for (const DimStatistics& dim : data.dims) {
    sizes[{SymbolKind::size, dim.name, {}, -1}] = dim.size;
    if (!data.matrices.empty()) sizes[{SymbolKind::slaves, dim.name, {}, -1}] = dim.slaves;
  }
  for (const MatrixStatistics& matrix : data.matrices) {
    sizes[{SymbolKind::entries, matrix.name, {}, -1}] = matrix.entries;
    sizes[{SymbolKind::slaves, matrix.row_dim, {{matrix.name, Axis::rows}}, -1}] = matrix.row_slaves;
    sizes[{SymbolKind::slaves, matrix.col_dim, {{matrix.name, Axis::cols}}, -1}] = matrix.col_slaves;
  }
  return sizes;
}

}  // namespace kasen::tools
