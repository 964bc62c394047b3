#include "libcore/entries/entry_dims.h"

#include <fmt/format.h>

#include <utility>

#include "libcore/analysis/whole.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

// True if an operator reads values at all nonzeros on every worker.
bool is_read_whole(const Module& module, const Dimension& wanted) {
  bool whole = false;
  for_each_op(module, [&](const Op& op, int, int) {
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const std::vector<DimId>& dims = module.type(op.operands[i]).dims;
      whole = whole || (dims.size() == 1 && &module.dim(dims[0]) == &wanted && reads_whole(module, op, i));
    }
  });
  return whole;
}

void list_others(const Part& part, const std::vector<std::int64_t>& counts, PartDim& dim) {
  dim.whole = true;
  std::int64_t first = 0;
  for (std::size_t worker = 0; worker < counts.size(); first += counts[worker++]) {
    if (std::cmp_equal(worker, part.worker) || counts[worker] == 0) continue;
    const std::int64_t begin = dim.others.size();
    dim.others.append_run(first, counts[worker]);
    dim.other_owners.push_back({static_cast<std::int32_t>(worker), begin, begin + counts[worker]});
  }
}

PartDim entries_of(const Part& part, const std::vector<std::int64_t>& counts, bool whole) {
  PartDim dim;
  std::int64_t first = 0;
  for (std::size_t worker = 0; worker < counts.size(); ++worker) {
    if (std::cmp_equal(worker, part.worker)) first = dim.size;
    dim.size = checked_add(dim.size, counts[worker], "the nonzeros of a matrix");
  }
  dim.masters = IndexList::run(first, counts.at(static_cast<std::size_t>(part.worker)));
  if (whole) list_others(part, counts, dim);
  return dim;
}

}  // namespace

EntryCounts entry_counts(std::span<const Part> parts) {
  EntryCounts counts;
  for (const Part& part : parts)
    for (const auto& [name, matrix] : part.matrices) counts[name].push_back(matrix.entries());
  return counts;
}

void number_entries(const Module& module, std::span<Part> parts, const EntryCounts& counts) {
  for (const Dimension& dim : module.dims) {
    if (!dim.is_entries()) continue;
    const auto found = counts.find(dim.entries_of);
    if (found == counts.end()) {
      fail(ExitStatus::bad_input, fmt::format("the bundle has no matrix '{}'", dim.entries_of), "the program uses it",
           "partition the data with this program's plan");
    }
    const bool whole = is_read_whole(module, dim);
    for (Part& part : parts) part.dims[dim.name] = entries_of(part, found->second, whole);
  }
}

}  // namespace kasen
