#include "libcomm/data/cut/sample.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcomm/data/cut/partition_steps.h"

namespace kasen {
namespace {

enum class Chosen : std::uint8_t { no, by_chance, always };

bool hit(std::int64_t index, double fraction) {
  constexpr XXH64_hash_t seed = 1;  // owners have 0
  return static_cast<double>(XXH3_64bits_withSeed(&index, sizeof index, seed)) < std::ldexp(fraction, 64);
}

// Ghosts in the order in which they are met, each many times.
class Met {
 public:
  void add(const SampledSlave& slave) {
    slaves_.push_back(slave);
    if (slaves_.size() > 2 * distinct_ + (std::size_t{1} << 16)) settle();
  }
  std::vector<SampledSlave> take() {
    settle();
    return std::move(slaves_);
  }

 private:
  void settle() {
    std::sort(slaves_.begin(), slaves_.end());
    slaves_.erase(std::unique(slaves_.begin(), slaves_.end()), slaves_.end());
    distinct_ = slaves_.size();
  }
  std::vector<SampledSlave> slaves_;
  std::size_t distinct_ = 0;
};

}  // namespace

struct CutSampler::State {
  double fraction = 1;
  std::vector<DimData> dims;
  std::vector<InputData> inputs;  // without their entries
  std::vector<EntryList> entries;
  std::shared_ptr<std::vector<DimLayout>> layouts;
  std::map<std::string, std::vector<Chosen>> chosen;  // by dimension and index
  // The last cut by ml, which takes long to make.
  struct Found {
    int workers = 0;
    std::int64_t theta = 0;
    std::vector<std::vector<std::int32_t>> owner;  // by dimension
  } found;

  // Repeats a cut that is already known.
  void own(std::vector<DimLayout>& of, const std::vector<EntryRule>& rules, const PartitionOptions& options) {
    const bool ml = options.method == PartitionMethod::ml;
    if (ml && found.workers == options.workers && found.theta == options.theta) {
      for (std::size_t d = 0; d < of.size(); ++d) of[d].owner = found.owner[d];
      return number_masters(of, options.workers);
    }
    assign_owners(of, inputs, entries, rules, options);
    if (!ml) return;
    found = {options.workers, options.theta, {}};
    for (const DimLayout& layout : of) found.owner.push_back(layout.owner);
  }

  void choose() {
    std::map<std::string, std::vector<std::uint32_t>> degrees;
    for (const DimLayout& layout : *layouts) degrees[layout.name].resize(static_cast<std::size_t>(layout.size));
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!inputs[k].sparse) continue;
      auto &rows = degrees[row_dim(inputs[k])], &cols = degrees[col_dim(inputs[k])];
      for_each_entry(entries[k], has_batches(inputs[k]), std::ssize(rows), [&](std::int64_t i, std::int64_t j) {
        ++rows[static_cast<std::size_t>(i)];
        ++cols[static_cast<std::size_t>(j)];
      });
    }
    for (const auto& [dim, counts] : degrees) {
      double sum = 0;
      for (const std::uint32_t count : counts) sum += count;
      const double many = sum / std::max<double>(1, static_cast<double>(counts.size())) / fraction;
      std::vector<Chosen>& of = chosen[dim];
      for (std::size_t i = 0; i < counts.size(); ++i) {
        const bool by_chance = hit(static_cast<std::int64_t>(i), fraction);
        of.push_back(fraction >= 1 || counts[i] >= many ? Chosen::always : by_chance ? Chosen::by_chance : Chosen::no);
      }
    }
  }

  // Counts entries by worker, and ghosts of both axes.
  void walk(std::size_t k, const EntryRule& rule, CutSample& sample) const {
    std::vector<std::int64_t>& counts = sample.entries[inputs[k].name];
    counts.assign(static_cast<std::size_t>(sample.workers), 0);
    Met rows, cols;
    const auto meet = [](Met& met, const DimLayout& dim, const std::vector<Chosen>& of, std::int64_t index,
                         int worker) {
      const auto at = static_cast<std::size_t>(index);
      if (dim.local || of[at] == Chosen::no || dim.owner[at] == worker) return;
      met.add({static_cast<std::int32_t>(index), worker, dim.owner[at]});
    };
    const auto &of_rows = chosen.at(rule.row->name), &of_cols = chosen.at(rule.col->name);
    for_each_entry(entries[k], rule.batches != 1, rule.row->size, [&](std::int64_t i, std::int64_t j) {
      const int worker = rule.worker(i, j);
      ++counts[static_cast<std::size_t>(worker)];
      meet(rows, *rule.row, of_rows, i, worker);
      meet(cols, *rule.col, of_cols, j, worker);
    });
    sample.axes.push_back({rule.row->name, {inputs[k].name, Axis::rows}, rows.take()});
    sample.axes.push_back({rule.col->name, {inputs[k].name, Axis::cols}, cols.take()});
  }
};

CutSampler::CutSampler(std::vector<DimData> dims, std::vector<InputData> inputs, double fraction, bool keep,
                       int workers)
    : state_(std::make_unique<State>()) {
  check_inputs(inputs, {});
  settle_axes(inputs, dims);
  state_->fraction = fraction;
  state_->layouts = std::make_shared<std::vector<DimLayout>>(unite_dims(dims, inputs, workers));
  mark_whole(dims, inputs, *state_->layouts);
  constexpr std::int64_t owner_and_place = 8;
  require_room(*state_->layouts, [](const DimLayout& dim) { return dim.local ? 0 : owner_and_place; });
  state_->dims = std::move(dims);
  state_->entries = take_entries(inputs, *state_->layouts);
  for (InputData& input : inputs)
    if (!keep) input.table = {};
  state_->inputs = std::move(inputs);
  state_->choose();
}

CutSampler::~CutSampler() = default;

CutSample CutSampler::cut(const PartitionOptions& options) const {
  std::vector<DimLayout> layouts = *state_->layouts;
  const std::vector<EntryRule> rules = make_rules(state_->inputs, state_->entries, layouts, options);
  state_->own(layouts, rules, options);
  CutSample sample;
  sample.workers = options.workers;
  sample.fraction = state_->fraction;
  for (const DimLayout& layout : layouts) {
    sample.sizes[layout.name] = layout.size;
    if (!layout.local) sample.masters[layout.name] = layout.masters;
    std::vector<bool>& certain = sample.certain[layout.name];
    for (const Chosen chosen : state_->chosen.at(layout.name)) certain.push_back(chosen == Chosen::always);
  }
  for (std::size_t k = 0; k < state_->inputs.size(); ++k) {
    if (!state_->inputs[k].sparse) continue;
    state_->walk(k, rules[k], sample);
  }
  return sample;
}

std::vector<Part> CutSampler::parts(const PartitionOptions& options) {
  State& s = *state_;
  const std::vector<EntryRule> rules = make_rules(s.inputs, s.entries, *s.layouts, options);
  s.own(*s.layouts, rules, options);
  s.found = {};
  s.chosen.clear();
  reserve_indices(*s.layouts, s.inputs, options);
  return build_parts(std::move(s.inputs), s.layouts, std::move(s.entries), rules, options);
}

const std::vector<DimData>& CutSampler::dims() const { return state_->dims; }

namespace {

// Sums up what each entry takes, beside its value as often as `values` says, and each index that has one.
std::int64_t bytes_of(const std::vector<InputData>& inputs, std::int64_t entry, std::int64_t values,
                      std::int64_t index) {
  std::int64_t bytes = 0;
  for (const InputData& input : inputs) {
    if (!input.sparse) continue;
    const std::int64_t count = input.matrix.entries.count();
    bytes += count * (entry + values * input.element.bytes());
    bytes += index * (std::min(input.matrix.row_count, count) + std::min(input.matrix.col_count, count));
  }
  return bytes;
}

}  // namespace

std::int64_t partition_bytes(const std::vector<InputData>& inputs) { return bytes_of(inputs, 16, 1, 24); }

std::int64_t multilevel_bytes(const std::vector<InputData>& inputs) { return bytes_of(inputs, 60, 0, 200); }

}  // namespace kasen
