#include <fmt/format.h>

#include <algorithm>

#include "libcomm/data/cut/partition_steps.h"
#include "libcomm/data/cut/sample.h"
#include "libcore/base/checked.h"
#include "libcore/system/memory_limit.h"

namespace kasen {
namespace {

constexpr std::int64_t listed_index = 8;  // of an index in a list, on one worker

// The row pointers of an index in all sparse inputs, or in those with batches alone: one for each batch.
std::int64_t pointer_bytes(const DimLayout& dim, const std::vector<InputData>& inputs, bool of_batches) {
  std::int64_t bytes = 0;
  for (const InputData& input : inputs) {
    if (!input.sparse || row_dim(input) != dim.name || (of_batches && !has_batches(input))) continue;
    const std::int64_t batches = has_batches(input) ? input.extents[0] : 1;
    bytes = checked_add(bytes, checked_mul(listed_index, batches, "the memory of a partition"),
                        "the memory of a partition");
  }
  return bytes;
}

// Of a dimension that counts batches: the entries of one, and its group.
std::int64_t batch_bytes(const DimLayout& dim, const std::vector<InputData>& inputs) {
  const bool counts = std::any_of(inputs.begin(), inputs.end(), [&](const InputData& input) {
    return has_batches(input) && input.dims[0] == dim.name;
  });
  return counts ? sizeof(std::int64_t) + sizeof(std::int32_t) : 0;
}

}  // namespace

// The bytes that an index takes from beginning to end, whatever is stored there.
std::int64_t part_index_bytes(const DimLayout& dim, const std::vector<InputData>& inputs,
                              const PartitionOptions& options) {
  const std::int64_t workers = options.workers;
  if (dim.local) {
    const std::int64_t at_once = options.spilled != nullptr ? 1 : workers;  // parts with row pointers
    const std::int64_t pointers = checked_mul(at_once, pointer_bytes(dim, inputs, true), "the memory of a partition");
    return checked_add(pointers, batch_bytes(dim, inputs), "the memory of a partition");
  }
  if (dim.in_runs) return 0;
  const bool in_runs = options.method == PartitionMethod::block;
  std::int64_t bytes = 2 * sizeof(std::int32_t) + (in_runs ? 0 : listed_index);  // owner, place, masters
  if (dim.whole && !in_runs) bytes += listed_index * (workers - 1);
  for (const InputData& input : inputs) {
    const bool numbered = input.sparse && (row_dim(input) == dim.name || col_dim(input) == dim.name);
    if (numbered && workers > 1) bytes += sizeof(std::int32_t);
  }
  return checked_add(bytes, pointer_bytes(dim, inputs, false), "the memory of a partition");
}

namespace {

// What an index takes where entries do not stay in memory, at most: of all that part_index_bytes counts and what is
// made of it meanwhile, with row pointers of one part at a time.
std::int64_t spilled_index_bytes(const DimLayout& dim, const std::vector<InputData>& inputs,
                                 const PartitionOptions& options) {
  constexpr std::int64_t copies_of_ids = 3;  // of the dimension, of the cut, of the parts
  std::int64_t bytes = part_index_bytes(dim, inputs, options);
  if (!dim.original.empty()) bytes += copies_of_ids * listed_index;
  if (bytes == 0 || dim.local) return bytes;
  if (options.workers > 1) bytes += listed_index;  // a list as it is written
  for (const InputData& input : inputs) {
    const bool counted = input.sparse && col_dim(input) == dim.name;
    if (counted && options.workers > 1 && options.method != PartitionMethod::block) bytes += sizeof(std::uint32_t);
  }
  return bytes;
}

}  // namespace

void reserve_indices(const std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs,
                     const PartitionOptions& options) {
  if (options.spill == nullptr) return;
  for (const DimLayout& dim : layouts) {
    const std::int64_t bytes =
        checked_mul(dim.size, spilled_index_bytes(dim, inputs, options), "the memory of a partition");
    if (bytes == 0) continue;
    options.spill->reserve(bytes, fmt::format("the {} indices of dimension {}", dim.size, dim.name));
  }
}

void require_multilevel(const std::vector<InputData>& inputs, const PartitionOptions& options) {
  if (options.spill == nullptr || options.method != PartitionMethod::ml || options.workers == 1) return;
  const std::int64_t enough = options.spill->enough_for(multilevel_bytes(inputs));
  if (enough <= options.spill->limit()) return;
  fail(ExitStatus::limit, fmt::format("method ml needs some {} bytes of memory for the whole graph", enough),
       fmt::format("{} are allowed (--memory)", options.spill->limit()),
       "partition by --method hybrid-cut, which takes one part of it after another, or allow more memory");
}

void fail_for_size(const std::string& dim, std::int64_t size, const std::string& why, bool has_ids) {
  fail(ExitStatus::limit, fmt::format("dimension {} has {} indices", dim, size), why,
       has_ids ? "where most of them have no data, give the entries as an edge list and no --dim: then only the ids "
                 "that occur count, however large they are"
               : "choose a smaller size");
}

void require_room(const std::vector<DimLayout>& layouts,
                  const std::function<std::int64_t(const DimLayout&)>& index_bytes) {
  const auto room = available_memory();
  if (!room) return;
  std::int64_t needed = 0, largest = 0;
  const DimLayout* widest = nullptr;
  for (const DimLayout& dim : layouts) {
    const std::int64_t bytes = checked_mul(dim.size, index_bytes(dim), "the memory of a partition");
    needed = checked_add(needed, bytes, "the memory of a partition");
    if (widest != nullptr && bytes <= largest) continue;
    widest = &dim;
    largest = bytes;
  }
  if (needed <= *room) return;
  fail_for_size(widest->name, widest->size,
                fmt::format("to cut them takes {} bytes of memory or more, with data or without, and {} are available",
                            needed, *room),
                !widest->local);
}

}  // namespace kasen
