#include "libcomm/data/bundle/entries.h"

#include "libcore/ir/entries.h"

namespace kasen {

void number_entries(const Module& plan, std::span<Part> parts, const BundleStatistics& data) {
  if (!has_entries_dims(plan)) return;
  EntryCounts counts;
  for (const MatrixStatistics& matrix : data.matrices) counts.emplace(matrix.name, matrix.entries_by_worker);
  number_entries(plan, parts, counts);
}

}  // namespace kasen
