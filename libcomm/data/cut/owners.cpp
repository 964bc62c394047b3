#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/cut/partition_steps.h"

namespace kasen {
namespace {

void own_in_blocks(DimLayout& layout, int workers) {
  const std::int64_t run = indices_of_a_block(layout.size, workers);
  for (std::int64_t i = 0; i < layout.size; ++i)
    layout.owner[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i / run);
}

void own_by_hash(DimLayout& layout, int workers) {
  constexpr std::int64_t piece = 1 << 16;
  parallel_for((layout.size + piece - 1) / piece, [&](std::int64_t k, int) {
    const std::int64_t end = std::min(layout.size, (k + 1) * piece);
    for (std::int64_t i = k * piece; i < end; ++i) layout.owner[static_cast<std::size_t>(i)] = hash_owner(i, workers);
  });
}

}  // namespace

std::int64_t indices_of_a_block(std::int64_t size, int workers) {
  return std::max<std::int64_t>(1, (size + workers - 1) / workers);
}

IndexList block_of(std::int64_t size, int workers, int worker) {
  const std::int64_t run = indices_of_a_block(size, workers), first = std::min(size, worker * run);
  return IndexList::run(first, std::min(run, size - first));
}

bool touched_by_sparse(const std::string& dim, const std::vector<InputData>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const InputData& input) {
    return input.sparse && std::find(input.dims.begin(), input.dims.end(), dim) != input.dims.end();
  });
}

int hash_owner(std::int64_t index, int workers) {
  static_assert(std::endian::native == std::endian::little);
  return static_cast<int>(XXH3_64bits_withSeed(&index, sizeof index, 0) % static_cast<XXH64_hash_t>(workers));
}

void assign_owners(std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs,
                   const std::vector<EntryList>& entries, const std::vector<EntryRule>& rules,
                   const PartitionOptions& options) {
  for (DimLayout& layout : layouts) {
    if (layout.local || layout.in_runs) continue;
    layout.owner.resize(static_cast<std::size_t>(layout.size));
    if (options.method == PartitionMethod::hybrid_cut)
      own_by_hash(layout, options.workers);
    else
      own_in_blocks(layout, options.workers);
  }
  if (options.method == PartitionMethod::ml && options.workers > 1)
    own_by_multilevel(layouts, inputs, entries, rules, options);
  number_masters(layouts, options.workers);
}

void number_masters(std::vector<DimLayout>& layouts, int workers) {
  for (DimLayout& layout : layouts) {
    if (layout.local) continue;
    if (layout.in_runs) {
      layout.masters.clear();
      for (int w = 0; w < workers; ++w) layout.masters.push_back(block_of(layout.size, workers, w).size());
      continue;
    }
    layout.place.resize(static_cast<std::size_t>(layout.size));
    layout.masters.assign(static_cast<std::size_t>(workers), 0);
    for (std::size_t i = 0; i < layout.owner.size(); ++i) {
      std::int64_t& count = layout.masters[static_cast<std::size_t>(layout.owner[i])];
      layout.place[i] = static_cast<std::int32_t>(count++);
    }
  }
}

}  // namespace kasen
