// Partitioners (SYSTEMS section 6, decision 7): every index of a dimension and every stored entry to one worker.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcomm/data/readers.h"
#include "libcore/data.h"
#include "libcore/module.h"

namespace kasen {

enum class PartitionMethod : std::uint8_t { block, hybrid_cut };

struct PartitionOptions {
  int workers = 1;
  PartitionMethod method = PartitionMethod::hybrid_cut;
  std::int64_t theta = 100;  // hybrid-cut: a column with at most theta entries is cut by its owner
};

// One input of the program with what was read for it; exactly one of matrix, table is used.
struct InputData {
  std::string name;
  std::vector<std::string> dims;   // the program's dimension names
  ElementType element;
  bool sparse = false;
  RawMatrix matrix;
  RawTable table;
  std::string source;              // file name and digest, for the manifest
};

struct DimData {
  std::string name;
  bool local = false;
  std::int64_t size = 0;
  std::vector<std::int64_t> original;  // ids of the user where they had gaps (ascending); empty: 0..size-1
};

// Unites the ids of all inputs over each dimension (relabelling those with gaps), owners, entries, slaves, exchange
// lists. Deterministic. The inputs are consumed.
[[nodiscard]] std::vector<Part> partition(std::vector<DimData>& dims, std::vector<InputData> inputs,
                                          const PartitionOptions& options);

// What `kasen partition --stats` prints and measure evaluates with; for one bundle.
struct DimStatistics {
  std::string name;
  std::int64_t size = 0;
  std::int64_t slaves = 0;                     // S as the paper counts it: union over all axes and matrices
  std::vector<std::int64_t> masters_by_worker, slaves_by_worker;
};
struct MatrixStatistics {
  std::string name, row_dim, col_dim;
  std::int64_t entries = 0;
  std::int64_t row_slaves = 0, col_slaves = 0; // slaves by axis: MxV scatters rows and gathers columns; MxVT reversed
  std::vector<std::int64_t> entries_by_worker, row_slaves_by_worker, col_slaves_by_worker;
};
struct BundleStatistics {
  int workers = 1;
  std::vector<DimStatistics> dims;
  std::vector<MatrixStatistics> matrices;
};
[[nodiscard]] BundleStatistics statistics(const std::vector<Part>& parts);

}  // namespace kasen
