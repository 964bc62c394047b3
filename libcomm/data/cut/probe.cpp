#include "libcomm/data/cut/probe.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "libcomm/data/base/parallel.h"
#include "libcore/patterns/recipe.h"

namespace kasen {
namespace {

constexpr double probed_entries = 1 << 16;                    // entries of each axis, about
constexpr std::int64_t most_kept = 1 << 19;                   // where a dimension has few indices
constexpr std::int64_t enough = 128, enough_of_a_worker = 8;  // entries of one index, by which its workers show

bool probes(std::int64_t index, double fraction) {
  constexpr XXH64_hash_t seed = 1;  // owners have 0
  return static_cast<double>(XXH3_64bits_withSeed(&index, sizeof index, seed)) < std::ldexp(fraction, 64);
}

// Of an index with many entries, a part of them by chance.
class Thinning {
 public:
  explicit Thinning(int workers) : most_(static_cast<std::uint32_t>(std::max(enough, enough_of_a_worker * workers))) {}
  // Indices of a dimension, as many as a sample should have.
  [[nodiscard]] std::int64_t indices() const { return std::clamp<std::int64_t>(most_kept / most_, 64, 4096); }
  [[nodiscard]] bool keeps(std::uint32_t count, std::int64_t index, std::int64_t other) const {
    if (count <= most_) return true;
    std::uint64_t mixed = static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(other);
    mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93U;
    mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93U;
    return (mixed >> 32) * count < std::uint64_t{most_} << 32;
  }

 private:
  std::uint32_t most_;
};

void add_one(std::uint32_t& count) {
  if (count < std::numeric_limits<std::uint32_t>::max()) ++count;
}

// Entries of a chunk, in room that a thread uses for one chunk after another.
struct Unpacked {
  std::vector<std::int64_t> rows;
  std::vector<std::int32_t> cols;
};

template <class Each>
void for_each_entry_of(const EntryChunk& chunk, const EntryRule& rule, Unpacked& room, const Each& each) {
  const auto count = static_cast<std::size_t>(chunk.count());
  room.rows.resize(std::max(room.rows.size(), count));
  room.cols.resize(room.rows.size());
  chunk.rows.unpack(room.rows.data());
  chunk.cols.unpack(room.cols.data());
  if (rule.batches != 1)
    for (std::size_t e = 0; e < count; ++e) room.rows[e] %= rule.row->size;
  for (std::size_t e = 0; e < count; ++e) each(room.rows[e], std::int64_t{room.cols[e]});
}

// The ghosts of one axis: the pairs are of this axis' indices in the sample.
template <class Worker>
std::vector<SampledSlave> slaves_of(const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs,
                                    const DimLayout& dim, int workers, const Worker& worker_of) {
  std::vector<SampledSlave> slaves;
  std::vector<std::int32_t> seen(static_cast<std::size_t>(workers), -1);
  for (std::size_t at = 0; at < pairs.size();) {
    const std::int32_t index = pairs[at].first, owner = dim.owner[static_cast<std::size_t>(index)];
    const auto first = static_cast<std::ptrdiff_t>(slaves.size());
    for (; at < pairs.size() && pairs[at].first == index; ++at) {
      const int worker = worker_of(index, pairs[at].second);
      if (worker == owner || seen[static_cast<std::size_t>(worker)] == index) continue;
      seen[static_cast<std::size_t>(worker)] = index;
      slaves.push_back({index, worker, owner});
    }
    std::sort(slaves.begin() + first, slaves.end());
  }
  return slaves;
}

}  // namespace

CutProbe::CutProbe(const std::vector<InputData>& inputs, const std::vector<EntryList>& entries,
                   const std::vector<DimLayout>& layouts, const PartitionOptions& options)
    : inputs_(inputs), entries_(entries), options_(options) {
  for (const DimLayout& layout : layouts)
    layouts_.push_back({.name = layout.name, .local = layout.local, .size = layout.size, .in_runs = layout.in_runs});
  options_.method = PartitionMethod::block;  // rules of blocks count nothing
  rules_ = make_rules(inputs_, entries_, layouts_, options_);
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    if (!inputs_[k].sparse) continue;
    matrices_.push_back({.rule = k});
    count_ += entries_[k].count();
  }
  for (Matrix& matrix : matrices_) count(matrix);
  for (Matrix& matrix : matrices_) {
    EntryRule& rule = rules_[matrix.rule];
    if (rule.row->local || rule.col->local) continue;
    rule.col_count = matrix.cols;
    const std::vector<std::size_t> together = counted_together(inputs_, matrix.rule);
    if (together.size() == 1 && together[0] == matrix.rule) continue;
    std::fill(rule.col_count.begin(), rule.col_count.end(), 0);
    for (const Matrix& other : matrices_) {
      if (std::find(together.begin(), together.end(), other.rule) == together.end()) continue;
      for (std::size_t j = 0; j < rule.col_count.size(); ++j)
        rule.col_count[j] += std::min(other.cols[j], std::numeric_limits<std::uint32_t>::max() - rule.col_count[j]);
    }
  }
  for (Matrix& matrix : matrices_) {
    const EntryRule& rule = rules_[matrix.rule];
    for (std::size_t j = 0; j < rule.col_count.size(); ++j)
      if (rule.col_count[j] > rule.theta) matrix.high += matrix.cols[j];
  }
  choose_indices();
  for (Matrix& matrix : matrices_) take_sample(matrix);
}

// Rows and columns on a thread each.
void CutProbe::count(Matrix& matrix) {
  const EntryRule& rule = rules_[matrix.rule];
  const EntryList& entries = entries_[matrix.rule];
  matrix.rows.resize(static_cast<std::size_t>(rule.row->size));
  matrix.cols.resize(static_cast<std::size_t>(rule.col->size));
  parallel_for(2, [&](std::int64_t axis, int) {
    std::vector<std::int64_t> indices;
    for (const EntryChunk& chunk : entries.chunks) {
      indices.resize(static_cast<std::size_t>(chunk.count()));
      (axis == 0 ? chunk.rows : chunk.cols).unpack(indices.data());
      if (axis == 0 && rule.batches != 1)
        for (std::int64_t& row : indices) row %= rule.row->size;
      std::vector<std::uint32_t>& counts = axis == 0 ? matrix.rows : matrix.cols;
      for (const std::int64_t i : indices) add_one(counts[static_cast<std::size_t>(i)]);
    }
  });
}

void CutProbe::choose_indices() {
  const double all = std::min(1.0, probed_entries / std::max(1.0, static_cast<double>(count_)));
  const std::int64_t least = Thinning(options_.workers).indices();
  for (const DimLayout& dim : layouts_) {
    const double some = dim.size <= least ? 1 : static_cast<double>(least) / static_cast<double>(dim.size);
    fraction_.push_back(std::max(all, some));
    chosen_.emplace_back();
    if (fraction_.back() >= 1 || dim.local || dim.in_runs) continue;
    sampled_ = true;
    chosen_.back().resize(static_cast<std::size_t>(dim.size));
    for (std::int64_t i = 0; i < dim.size; ++i)
      chosen_.back()[static_cast<std::size_t>(i)] = probes(i, fraction_.back()) ? 1 : 0;
  }
}

void CutProbe::take_sample(Matrix& matrix) {
  const EntryRule& rule = rules_[matrix.rule];
  if (rule.row->local || rule.col->local) return;
  const Thinning thinning(options_.workers);
  const std::vector<std::uint8_t>&of_rows = chosen_[place_of(*rule.row)], &of_cols = chosen_[place_of(*rule.col)];
  const std::vector<EntryChunk>& chunks = entries_[matrix.rule].chunks;
  std::vector<Pairs> by_row(chunks.size()), by_col(chunks.size());
  std::vector<Unpacked> rooms(static_cast<std::size_t>(data_threads()));
  parallel_for(std::ssize(chunks), [&](std::int64_t k, int thread) {
    const auto chunk = static_cast<std::size_t>(k);
    for_each_entry_of(chunks[chunk], rule, rooms[static_cast<std::size_t>(thread)],
                      [&](std::int64_t i, std::int64_t j) {
                        const auto r = static_cast<std::size_t>(i), c = static_cast<std::size_t>(j);
                        if ((of_rows.empty() || of_rows[r] != 0) && thinning.keeps(matrix.rows[r], i, j))
                          by_row[chunk].emplace_back(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j));
                        if ((of_cols.empty() || of_cols[c] != 0) && thinning.keeps(matrix.cols[c], j, i))
                          by_col[chunk].emplace_back(static_cast<std::int32_t>(j), static_cast<std::int32_t>(i));
                      });
  });
  parallel_for(2, [&](std::int64_t axis, int) {
    Pairs& all = axis == 0 ? matrix.by_row : matrix.by_col;
    for (const Pairs& some : axis == 0 ? by_row : by_col) all.insert(all.end(), some.begin(), some.end());
    if (!std::is_sorted(all.begin(), all.end())) std::sort(all.begin(), all.end());
  });
}

void CutProbe::own(PartitionMethod method) {
  if (owned_ && options_.method == method) return;
  owned_ = true;
  for (EntryRule& rule : rules_) rule.by_column = cuts_columns(method) && options_.workers > 1;
  options_.method = method;
  if (method == PartitionMethod::ml && multilevel_) {
    for (std::size_t d = 0; d < layouts_.size(); ++d) layouts_[d].owner = (*multilevel_)[d];
    return number_masters(layouts_, options_.workers);
  }
  assign_owners(layouts_, inputs_, entries_, rules_, options_);
  if (method != PartitionMethod::ml) return;
  multilevel_.emplace();
  for (const DimLayout& layout : layouts_) multilevel_->push_back(layout.owner);
}

// Entries in columns with more than theta go to the owners of their rows.
void CutProbe::add_high(const Matrix& matrix, std::vector<std::int64_t>& loads) const {
  if (matrix.high == 0) return;
  const EntryRule& rule = rules_[matrix.rule];
  const std::vector<EntryChunk>& chunks = entries_[matrix.rule].chunks;
  std::vector<std::vector<std::int64_t>> of_thread(static_cast<std::size_t>(data_threads()));
  std::vector<Unpacked> rooms(of_thread.size());
  parallel_for(std::ssize(chunks), [&](std::int64_t k, int thread) {
    const auto room = static_cast<std::size_t>(thread);
    std::vector<std::int64_t>& here = of_thread[room];
    here.resize(loads.size());
    for_each_entry_of(chunks[static_cast<std::size_t>(k)], rule, rooms[room], [&](std::int64_t i, std::int64_t j) {
      if (rule.col_count[static_cast<std::size_t>(j)] > rule.theta)
        ++here[static_cast<std::size_t>(rule.row->owner[static_cast<std::size_t>(i)])];
    });
  });
  for (const std::vector<std::int64_t>& here : of_thread)
    for (std::size_t w = 0; w < here.size(); ++w) loads[w] += here[w];
}

// The entries of each worker.
std::vector<std::int64_t> CutProbe::loads(const Matrix& matrix) const {
  const EntryRule& rule = rules_[matrix.rule];
  std::vector<std::int64_t> loads(static_cast<std::size_t>(options_.workers));
  const bool whole_columns = rule.row->local, low_columns = rule.by_column && !rule.col->local && !whole_columns;
  const auto add = [&](const DimLayout& dim, std::size_t index, std::uint32_t count) {
    loads[static_cast<std::size_t>(dim.owner[index])] += count;
  };
  if (whole_columns || low_columns) {
    for (std::size_t j = 0; j < matrix.cols.size(); ++j)
      if (whole_columns || rule.col_count[j] <= rule.theta) add(*rule.col, j, matrix.cols[j]);
    if (low_columns) add_high(matrix, loads);
    return loads;
  }
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) add(*rule.row, i, matrix.rows[i]);
  return loads;
}

CutSample CutProbe::cut(PartitionMethod method) {
  own(method);
  CutSample sample;
  sample.workers = options_.workers;
  for (std::size_t d = 0; d < layouts_.size(); ++d) {
    const DimLayout& layout = layouts_[d];
    sample.sizes[layout.name] = layout.size;
    if (!layout.local) sample.masters[layout.name] = layout.masters;
    const bool all = chosen_[d].empty();
    if (!all) sample.fractions[layout.name] = fraction_[d];
    sample.certain[layout.name].assign(layout.owner.size(), all);
  }
  for (const Matrix& matrix : matrices_) {
    const EntryRule& rule = rules_[matrix.rule];
    const std::string& name = inputs_[matrix.rule].name;
    sample.entries[name] = loads(matrix);
    sample.axes.push_back({rule.row->name,
                           {name, Axis::rows},
                           slaves_of(matrix.by_row, *rule.row, options_.workers,
                                     [&](std::int32_t i, std::int32_t j) { return rule.worker(i, j); })});
    sample.axes.push_back({rule.col->name,
                           {name, Axis::cols},
                           slaves_of(matrix.by_col, *rule.col, options_.workers,
                                     [&](std::int32_t j, std::int32_t i) { return rule.worker(i, j); })});
  }
  return sample;
}

std::vector<EntryRule> CutProbe::settle(PartitionMethod method, std::vector<DimLayout>& layouts) {
  own(method);
  for (std::size_t d = 0; d < layouts.size(); ++d) {
    layouts[d].owner = std::move(layouts_[d].owner);
    layouts[d].place = std::move(layouts_[d].place);
    layouts[d].masters = std::move(layouts_[d].masters);
  }
  for (const Matrix& matrix : matrices_) {
    EntryRule& rule = rules_[matrix.rule];
    rule.row = &layouts[place_of(*rule.row)];
    rule.col = &layouts[place_of(*rule.col)];
    if (!rule.by_column) rule.col_count = {};
  }
  matrices_.clear();
  chosen_.clear();
  multilevel_.reset();
  return std::move(rules_);
}

std::int64_t CutProbe::bytes(const std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs) {
  constexpr std::int64_t owner_place_mark = 9, counts = 8;  // of a matrix: its own, and those of its rule
  std::int64_t bytes = std::int64_t{2} * most_kept * static_cast<std::int64_t>(sizeof(Pairs::value_type));
  for (const DimLayout& dim : layouts) {
    if (dim.local) continue;
    std::int64_t each = owner_place_mark;
    for (const InputData& input : inputs) {
      if (!input.sparse) continue;
      if (row_dim(input) == dim.name || col_dim(input) == dim.name) each += counts;
    }
    bytes += dim.size * each;
  }
  return bytes;
}

}  // namespace kasen
