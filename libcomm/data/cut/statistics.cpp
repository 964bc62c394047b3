#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "libcomm/data/cut/partition.h"
#include "libcore/base/count_text.h"

namespace kasen {
namespace {

template <class Row>
Row& row_named(std::vector<Row>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  if (found != rows.end()) return *found;
  rows.push_back({});
  rows.back().name = name;
  return rows.back();
}

// Notes a worker's number and returns it for the total.
std::int64_t note(std::vector<std::int64_t>& by_worker, const Part& part, std::size_t count) {
  by_worker.resize(static_cast<std::size_t>(part.workers));
  return by_worker[static_cast<std::size_t>(part.worker)] = static_cast<std::int64_t>(count);
}

std::size_t union_of_slaves(const Part& part, const std::string& dim) {
  std::vector<const std::vector<std::int64_t>*> lists;
  std::size_t total = 0;
  const auto add = [&](const std::string& name, const AxisSlaves& axis) {
    if (name != dim) return;
    lists.push_back(&axis.slaves);
    total += axis.slaves.size();
  };
  for (const auto& [name, matrix] : part.matrices) {
    add(matrix.row_dim, matrix.row_slaves);
    add(matrix.col_dim, matrix.col_slaves);
  }
  const std::int64_t size = part.dims.at(dim).size;
  if (std::cmp_less(total, size / 64)) {
    std::set<std::int64_t> all;
    for (const auto* list : lists) all.insert(list->begin(), list->end());
    return all.size();
  }
  std::vector<bool> seen(static_cast<std::size_t>(size));
  for (const auto* list : lists)
    for (const std::int64_t i : *list) seen[static_cast<std::size_t>(i)] = true;
  return static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
}

// Largest over mean: 1 is perfect.
double balance(const std::vector<std::int64_t>& counts) {
  const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (total == 0) return 1;
  return static_cast<double>(*std::max_element(counts.begin(), counts.end())) * static_cast<double>(counts.size()) /
         static_cast<double>(total);
}

std::string dim_text(const DimStatistics& dim) {
  if (dim.local) return fmt::format("dimension {}: {} indices, local: every worker holds all\n", dim.name, dim.size);
  std::string text = fmt::format("dimension {}: N = {} masters, S = {} slaves", dim.name, dim.size, dim.slaves);
  if (dim.size > 0)
    text += fmt::format(", replication factor {:.3f}, balance of masters {:.3f}",
                        1 + static_cast<double>(dim.slaves) / static_cast<double>(dim.size),
                        balance(dim.masters_by_worker));
  if (dim.whole)
    text += fmt::format(", {} copies where it is held whole",
                        dim.size * (static_cast<std::int64_t>(dim.masters_by_worker.size()) - 1));
  return text + "\n";
}

std::string matrix_text(const MatrixStatistics& m) {
  return fmt::format(
      "matrix {} [{}, {}]{}: {} entries, balance {:.3f}\n"
      "  slaves by axis: {}, {}\n"
      "  MxV:  S_scatter = {}, S_gather = {}\n"
      "  MxVT: S_scatter = {}, S_gather = {}\n",
      m.name, m.row_dim, m.col_dim, m.batches == 1 ? "" : fmt::format(" in {} batches", m.batches), m.entries,
      balance(m.entries_by_worker), count_text(m.row_slaves, "row"), count_text(m.col_slaves, "column"), m.row_slaves,
      m.col_slaves, m.col_slaves, m.row_slaves);
}

struct Column {
  std::string head;
  const std::vector<std::int64_t>* numbers;
};

std::string table_text(const BundleStatistics& statistics) {
  std::vector<Column> columns;
  for (const DimStatistics& d : statistics.dims) {
    if (d.local) continue;
    columns.push_back({d.name + " masters", &d.masters_by_worker});
    columns.push_back({d.name + " slaves", &d.slaves_by_worker});
  }
  for (const MatrixStatistics& m : statistics.matrices) {
    columns.push_back({m.name + " entries", &m.entries_by_worker});
    columns.push_back({m.name + " row slaves", &m.row_slaves_by_worker});
    columns.push_back({m.name + " col slaves", &m.col_slaves_by_worker});
  }
  std::string text = "worker";
  for (const Column& c : columns) text += fmt::format("  {:>12}", c.head);
  text += "\n";
  for (std::size_t w = 0; w < static_cast<std::size_t>(statistics.workers); ++w) {
    text += fmt::format("{:>6}", w);
    for (const Column& c : columns)
      text += fmt::format("  {:>{}}", (*c.numbers)[w], std::max<std::size_t>(12, c.head.size()));
    text += "\n";
  }
  return text;
}

}  // namespace

std::int64_t entries_of(const Part& part, const std::string& matrix, const SpilledMatrices* spilled) {
  const auto found = spilled != nullptr ? spilled->find(matrix) : SpilledMatrices::const_iterator();
  if (spilled != nullptr && found != spilled->end()) return found->second->count();
  return std::ssize(part.matrices.at(matrix).columns);
}

void add_statistics(BundleStatistics& statistics, const Part& part, const SpilledMatrices* spilled) {
  statistics.workers = part.workers;
  for (const auto& [name, dim] : part.dims) {
    DimStatistics& row = row_named(statistics.dims, name);
    row.local = dim.local;
    row.size = dim.size;
    row.whole = dim.whole;
    note(row.masters_by_worker, part, dim.masters.size());
    row.slaves += note(row.slaves_by_worker, part, union_of_slaves(part, name));
  }
  for (const auto& [name, matrix] : part.matrices) {
    MatrixStatistics& row = row_named(statistics.matrices, name);
    row.row_dim = matrix.row_dim;
    row.col_dim = matrix.col_dim;
    row.batches = matrix.batches;
    row.entries += note(row.entries_by_worker, part, static_cast<std::size_t>(entries_of(part, name, spilled)));
    row.row_slaves += note(row.row_slaves_by_worker, part, matrix.row_slaves.slaves.size());
    row.col_slaves += note(row.col_slaves_by_worker, part, matrix.col_slaves.slaves.size());
    note(row.row_mirrors_by_worker, part, matrix.row_slaves.mirrors.size());
    note(row.col_mirrors_by_worker, part, matrix.col_slaves.mirrors.size());
  }
}

BundleStatistics statistics(const std::vector<Part>& parts) {
  BundleStatistics result;
  for (const Part& part : parts) add_statistics(result, part);
  return result;
}

std::string statistics_text(const BundleStatistics& statistics) {
  std::string text = count_text(statistics.workers, "worker") + "\n";
  for (const DimStatistics& dim : statistics.dims) text += dim_text(dim);
  for (const MatrixStatistics& matrix : statistics.matrices) text += matrix_text(matrix);
  return text + table_text(statistics);
}

}  // namespace kasen
