// The digests of a result's columns: XXH3-128 of their bytes in the order of the file, whoever wrote them; private to
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/results/files.h"
#include "libcomm/data/results/ranks.h"
#include "libcomm/data/results/table.h"

namespace kasen {

class ResultDigests {
 public:
  ResultDigests(const std::vector<ResultTable>& tables, ResultRanks& ranks);
  // Adds bytes that this rank writes into a column, in the order of the file. Only a single rank sees all bytes so.
  void add(std::size_t table, std::size_t column, std::span<const std::byte> bytes);
  // Collective, once all ranks have closed the files. If there are several ranks, each reads some of the columns,
  // whole.
  [[nodiscard]] ColumnDigests finish(const ResultPlaces& places);

 private:
  [[nodiscard]] std::string read_mine(const ResultPlaces& places) const;

  const std::vector<ResultTable>& tables_;
  ResultRanks& ranks_;
  std::deque<std::deque<RunningDigest>> running_;  // of one rank, by table
};

}  // namespace kasen
