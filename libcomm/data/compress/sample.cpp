#include <algorithm>
#include <cmath>
#include <iterator>

#include "libcomm/data/compress/steps.h"

namespace kasen {
namespace {

// One row of twenty, within limits: enough that rare values are found in small data, and few enough that large data
// take little time.
constexpr std::int64_t least_sampled = 8192, most_sampled = 65536;

// Random bits by a counter alone (Steele, Lea, Flood: SplitMix64).
std::uint64_t random_bits(std::uint64_t counter) {
  std::uint64_t x = (counter + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::int64_t scaled(std::int64_t found, std::int64_t sampled, std::int64_t rows) {
  return std::llround(static_cast<double>(found) / static_cast<double>(sampled) * static_cast<double>(rows));
}

// From the sample's rows and the bounds on the number of distinct tuples.
void estimate_facts(SampledGroup& group, const DenseCells& cells, std::int64_t least, std::int64_t most) {
  const auto sampled = std::ssize(group.numbers);
  std::vector<std::int32_t> occurrences(static_cast<std::size_t>(group.distinct));
  std::int64_t filled = 0, begun = 0;
  for (std::size_t k = 0; k < group.numbers.size(); ++k) {
    ++occurrences[static_cast<std::size_t>(group.numbers[k])];
    filled += group.filled[k];
    begun += group.filled[k] & group.begins[k];
  }
  group.facts.width = std::ssize(group.columns);
  group.facts.tuples = std::clamp(estimate_distinct(occurrences, cells.rows), least, most);
  group.facts.filled = scaled(filled, sampled, cells.rows);
  group.facts.has_zero = filled < sampled;
  const std::int64_t cut = cells.rows / rows_of_a_segment;  // at most by the ends of segments
  group.facts.runs = std::min(group.facts.filled, scaled(begun, sampled, cells.rows) + cut);
  group.size = smallest_size(group.facts, cells);
}

}  // namespace

// Each row is taken with the probability that fills the sample (Knuth's algorithm S).
std::vector<std::int64_t> sample_rows(std::int64_t rows) {
  const std::int64_t wanted = std::min(rows, std::clamp(rows / 20, least_sampled, most_sampled));
  std::vector<std::int64_t> sample;
  sample.reserve(static_cast<std::size_t>(wanted));
  for (std::int64_t row = 0; std::ssize(sample) < wanted; ++row) {
    const double chance = static_cast<double>(random_bits(static_cast<std::uint64_t>(row)) >> 11) * 0x1p-53;
    if (chance * static_cast<double>(rows - row) < static_cast<double>(wanted - std::ssize(sample)))
      sample.push_back(row);
  }
  return sample;
}

SampledGroup sampled_column(const DenseCells& cells, std::int32_t column, const std::vector<std::int64_t>& sample) {
  SampledGroup group{.columns = {column}};
  group.numbers.reserve(sample.size());
  group.filled.reserve(sample.size());
  group.begins.reserve(sample.size());
  KeyNumbers numbering;
  for (const std::int64_t row : sample) {
    const std::uint64_t key = cells.key(row, column);
    group.numbers.push_back(numbering.number(key));
    group.filled.push_back(key != 0 ? 1 : 0);
    group.begins.push_back(row == 0 || cells.key(row - 1, column) != key ? 1 : 0);
  }
  group.distinct = numbering.count();
  estimate_facts(group, cells, 1, cells.rows);
  return group;
}

SampledGroup joined(const SampledGroup& a, const SampledGroup& b, const DenseCells& cells) {
  SampledGroup group;
  std::merge(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(), std::back_inserter(group.columns));
  const std::size_t sampled = a.numbers.size();
  group.numbers.resize(sampled);
  group.filled.resize(sampled);
  group.begins.resize(sampled);
  KeyNumbers numbering;
  for (std::size_t k = 0; k < sampled; ++k) {
    group.numbers[k] =
        numbering.number(static_cast<std::uint64_t>(a.numbers[k]) << 32 | static_cast<std::uint32_t>(b.numbers[k]));
    group.filled[k] = static_cast<char>(a.filled[k] | b.filled[k]);
    group.begins[k] = static_cast<char>(a.begins[k] | b.begins[k]);
  }
  group.distinct = numbering.count();
  const double pairs = static_cast<double>(a.facts.tuples) * static_cast<double>(b.facts.tuples);
  const bool few = pairs < static_cast<double>(cells.rows);
  estimate_facts(group, cells, std::max(a.facts.tuples, b.facts.tuples),
                 few ? a.facts.tuples * b.facts.tuples : cells.rows);
  return group;
}

}  // namespace kasen
