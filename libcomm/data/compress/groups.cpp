// Chooses the columns of each group. Columns with about as many distinct values are compared together, a few dozen at a
// time (Elgohary et al. pack them into bins). Of these, the two groups that save most are joined, again and again,
// until no two save anything.
#include <algorithm>
#include <numeric>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/compress/steps.h"

namespace kasen {
namespace {

constexpr std::size_t columns_of_a_bin = 24;

// The bytes that two groups save if they are joined.
std::int64_t gain_of(const SampledGroup& a, const SampledGroup& b, const SampledGroup& both) {
  return a.size.bytes + b.size.bytes - both.size.bytes;
}

// Assumes that the tuples of one group determine those of the other: no group of both takes less.
bool may_save(const SampledGroup& a, const SampledGroup& b, const DenseCells& cells) {
  const GroupFacts least{.width = a.facts.width + b.facts.width,
                         .tuples = std::max(a.facts.tuples, b.facts.tuples),
                         .filled = std::max(a.facts.filled, b.facts.filled),
                         .runs = std::max(a.facts.runs, b.facts.runs),
                         .has_zero = true};
  return smallest_size(least, cells).bytes < a.size.bytes + b.size.bytes;
}

class Bin {
 public:
  Bin(const DenseCells& cells, std::vector<SampledGroup> groups) : cells_(cells), groups_(std::move(groups)) {
    for (const SampledGroup& group : groups_) apart_.push_back(group.size.bytes);
    gains_.assign(groups_.size(), std::vector<std::int64_t>(groups_.size()));
    for (std::size_t a = 0; a < groups_.size(); ++a) {
      for (std::size_t b = a + 1; b < groups_.size(); ++b) look_at(a, b);
    }
  }

  [[nodiscard]] std::vector<PlannedGroup> joined_groups() {
    while (join_best()) {
    }
    std::vector<PlannedGroup> planned;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!groups_[g].columns.empty()) planned.push_back({groups_[g].columns, groups_[g].size.bytes, apart_[g]});
    }
    return planned;
  }

 private:
  void look_at(std::size_t a, std::size_t b) {
    std::int64_t& gain = gains_[std::min(a, b)][std::max(a, b)];
    gain = 0;
    if (!groups_[a].columns.empty() && !groups_[b].columns.empty() && may_save(groups_[a], groups_[b], cells_))
      gain = gain_of(groups_[a], groups_[b], joined(groups_[a], groups_[b], cells_));
  }

  // Of equal gains, the first is taken.
  bool join_best() {
    std::size_t a = 0, b = 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      for (std::size_t j = i + 1; j < groups_.size(); ++j) {
        if (gains_[i][j] > gains_[a][b]) a = i, b = j;
      }
    }
    if (gains_[a][b] <= 0) return false;
    groups_[a] = joined(groups_[a], groups_[b], cells_);
    apart_[a] += apart_[b];
    groups_[b] = {};
    for (std::size_t other = 0; other < groups_.size(); ++other) {
      if (other != a) look_at(a, other);
      if (other != b) look_at(b, other);
    }
    return true;
  }

  const DenseCells& cells_;
  std::vector<SampledGroup> groups_;
  std::vector<std::int64_t> apart_;               // bytes of a group's columns, each by itself
  std::vector<std::vector<std::int64_t>> gains_;  // [a][b], a < b: bytes that joining saves
};

// The columns that are smaller compressed, those of few distinct values first.
std::vector<std::int32_t> compressible(const DenseCells& cells, const std::vector<std::int64_t>& sample) {
  std::vector<SampledGroup> found(static_cast<std::size_t>(cells.cols));
  parallel_for(cells.cols, [&](std::int64_t c, int) {
    SampledGroup& group = found[static_cast<std::size_t>(c)];
    group = sampled_column(cells, static_cast<std::int32_t>(c), sample);
    group.numbers = {};
    group.filled = group.begins = {};
  });
  std::vector<std::int32_t> columns(found.size());
  std::iota(columns.begin(), columns.end(), 0);
  const auto facts = [&](std::int32_t c) -> const SampledGroup& { return found[static_cast<std::size_t>(c)]; };
  std::erase_if(columns, [&](std::int32_t c) { return facts(c).size.format == GroupFormat::plain; });
  std::stable_sort(columns.begin(), columns.end(),
                   [&](std::int32_t a, std::int32_t b) { return facts(a).facts.tuples < facts(b).facts.tuples; });
  return columns;
}

}  // namespace

std::vector<PlannedGroup> plan_groups(const DenseCells& cells) {
  const std::vector<std::int64_t> sample = sample_rows(cells.rows);
  const std::vector<std::int32_t> columns = compressible(cells, sample);
  const std::size_t bins = (columns.size() + columns_of_a_bin - 1) / columns_of_a_bin;
  std::vector<std::vector<PlannedGroup>> planned(bins);
  parallel_for(static_cast<std::int64_t>(bins), [&](std::int64_t bin, int) {
    const std::size_t begin = static_cast<std::size_t>(bin) * columns_of_a_bin;
    std::vector<SampledGroup> groups;
    for (std::size_t k = begin; k < std::min(columns.size(), begin + columns_of_a_bin); ++k)
      groups.push_back(sampled_column(cells, columns[k], sample));
    planned[static_cast<std::size_t>(bin)] = Bin(cells, std::move(groups)).joined_groups();
  });
  std::vector<PlannedGroup> all;
  for (std::vector<PlannedGroup>& bin : planned) std::move(bin.begin(), bin.end(), std::back_inserter(all));
  std::sort(all.begin(), all.end(),
            [](const PlannedGroup& a, const PlannedGroup& b) { return a.columns[0] < b.columns[0]; });
  return all;
}

}  // namespace kasen
