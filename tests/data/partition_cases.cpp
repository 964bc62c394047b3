#include "tests/data/partition_cases.h"

#include <xxhash.h>

#include <bit>

namespace kasen::cases {

std::int64_t plain_owner(std::int64_t index, std::int64_t size, std::int64_t workers, bool hash) {
  if (!hash) {
    std::int64_t run = size / workers;
    if (size % workers != 0) ++run;
    return index / run;
  }
  unsigned char bytes[8];
  for (unsigned k = 0; k < 8; ++k) bytes[k] = static_cast<unsigned char>(index >> (8 * k));
  return static_cast<std::int64_t>(XXH3_64bits(bytes, 8) % static_cast<std::uint64_t>(workers));
}

Count plain_count(const std::vector<Edge>& edges, std::int64_t row_size, std::int64_t col_size,
                  const PartitionOptions& options) {
  const bool hybrid = options.method == PartitionMethod::hybrid_cut;
  std::map<std::int64_t, std::int64_t> column_entries;
  for (const Edge& e : edges) ++column_entries[e.second];
  Count count;
  count.rows.resize(static_cast<std::size_t>(options.workers));
  count.cols.resize(static_cast<std::size_t>(options.workers));
  count.entries.resize(static_cast<std::size_t>(options.workers));
  for (const auto& [i, j] : edges) {
    const std::int64_t row_owner = plain_owner(i, row_size, options.workers, hybrid);
    const std::int64_t col_owner = plain_owner(j, col_size, options.workers, hybrid);
    const std::int64_t holder = hybrid && column_entries[j] <= options.theta ? col_owner : row_owner;
    const auto w = static_cast<std::size_t>(holder);
    ++count.entries[w];
    if (row_owner != holder) count.rows[w].insert(i);
    if (col_owner != holder) count.cols[w].insert(j);
  }
  return count;
}

}  // namespace kasen::cases
