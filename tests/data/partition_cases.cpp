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

Owners owners_in(const std::vector<Part>& parts, const std::string& dim) {
  Owners owners(static_cast<std::size_t>(parts.at(0).dims.at(dim).size), -1);
  for (const Part& part : parts)
    for (const std::int64_t i : part.dims.at(dim).masters) owners.at(static_cast<std::size_t>(i)) = part.worker;
  return owners;
}

Count plain_count(const std::vector<Edge>& edges, std::int64_t row_size, std::int64_t col_size,
                  const PartitionOptions& options) {
  const bool hash = options.method == PartitionMethod::hybrid_cut;
  Owners rows, cols;
  for (std::int64_t i = 0; i < row_size; ++i) rows.push_back(plain_owner(i, row_size, options.workers, hash));
  for (std::int64_t j = 0; j < col_size; ++j) cols.push_back(plain_owner(j, col_size, options.workers, hash));
  return plain_count(edges, rows, cols, options);
}

Count plain_count(const std::vector<Edge>& edges, const Owners& row_owners, const Owners& col_owners,
                  const PartitionOptions& options) {
  const bool by_column = options.method != PartitionMethod::block;
  std::map<std::int64_t, std::int64_t> column_entries;
  for (const Edge& e : edges) ++column_entries[e.second];
  Count count;
  count.rows.resize(static_cast<std::size_t>(options.workers));
  count.cols.resize(static_cast<std::size_t>(options.workers));
  count.entries.resize(static_cast<std::size_t>(options.workers));
  for (const auto& [i, j] : edges) {
    const std::int64_t row_owner = row_owners.at(static_cast<std::size_t>(i));
    const std::int64_t col_owner = col_owners.at(static_cast<std::size_t>(j));
    const std::int64_t holder = by_column && column_entries[j] <= options.theta ? col_owner : row_owner;
    const auto w = static_cast<std::size_t>(holder);
    ++count.entries[w];
    if (row_owner != holder) count.rows[w].insert(i);
    if (col_owner != holder) count.cols[w].insert(j);
  }
  return count;
}

}  // namespace kasen::cases
