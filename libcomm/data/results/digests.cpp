#include "libcomm/data/results/digests.h"

#include <string>
#include <utility>

#include "libcomm/data/base/new_file.h"
#include "libcore/base/error.h"

namespace kasen {

ResultDigests::ResultDigests(const std::vector<ResultTable>& tables, ResultRanks& ranks)
    : tables_(tables), ranks_(ranks) {
  if (ranks.ranks() == 1)
    for (const ResultTable& table : tables) running_.emplace_back(table.columns.size());
}

void ResultDigests::add(std::size_t table, std::size_t column, std::span<const std::byte> bytes) {
  if (!running_.empty()) running_[table][column].update(bytes.data(), std::ssize(bytes));
}

// The columns are dealt out to the ranks in turn; this rank's digests follow one another. A file that another node
// wrote is opened anew: only then do network file systems promise to show its closed content.
std::string ResultDigests::read_mine(const ResultPlaces& places) const {
  std::string mine;
  int iteration = 0;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    for (std::size_t c = 0; c < tables_[t].columns.size(); ++c) {
      if (iteration++ % ranks_.ranks() != ranks_.rank()) continue;
      const auto& [file, offset] = places[t][c];
      mine += digest_of_range(FileHandle::open_to_read(file), offset,
                              tables_[t].elements() * tables_[t].columns[c].bytes());
    }
  }
  return mine;
}

ColumnDigests ResultDigests::finish(const ResultPlaces& places) {
  ColumnDigests all;
  if (!running_.empty()) {
    for (const auto& table : running_)
      for (auto& made = all.emplace_back(); const RunningDigest& column : table) made.push_back(column.hex());
    return all;
  }
  std::string mine;
  ranks_.together([&] { mine = read_mine(places); });
  const std::vector<std::string> theirs =
      ranks_.exchange(std::vector<std::string>(static_cast<std::size_t>(ranks_.ranks()), mine));
  std::size_t iteration = 0;
  for (const ResultTable& table : tables_) {
    std::vector<std::string>& made = all.emplace_back();
    for (std::size_t c = 0; c < table.columns.size(); ++c, ++iteration)
      made.push_back(
          theirs[iteration % theirs.size()].substr(iteration / theirs.size() * digest_digits, digest_digits));
  }
  return all;
}

}  // namespace kasen
