#include "libcore/entries/entry_dims.h"

#include <fmt/format.h>

#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

PartDim entries_of(const Part& part, const std::vector<std::int64_t>& counts) {
  PartDim dim;
  std::int64_t first = 0;
  for (std::size_t worker = 0; worker < counts.size(); ++worker) {
    if (std::cmp_equal(worker, part.worker)) first = dim.size;
    dim.size = checked_add(dim.size, counts[worker], "the nonzeros of a matrix");
  }
  dim.masters = IndexList::run(first, counts.at(static_cast<std::size_t>(part.worker)));
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
    for (Part& part : parts) part.dims[dim.name] = entries_of(part, found->second);
  }
}

}  // namespace kasen
