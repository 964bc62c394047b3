#include "libcomm/data/cut/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "libcomm/data/base/parallel.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

// One sparse input, as a model uses it.
struct Matrix {
  const EntryList* entries = nullptr;
  const EntryRule* rule = nullptr;
  std::int64_t first_row = 0, first_col = 0;  // vertices
  std::size_t load = 0;                       // its position in CutModel::entries

  [[nodiscard]] bool low(std::int64_t j) const { return rule->col_count[static_cast<std::size_t>(j)] <= rule->theta; }
  template <class Each>
  void for_each(const Each& each) const {
    for_each_entry(*entries, rule->batches != 1, rule->row->size, each);
  }
};

// Calls each(vertex, net) for the pin of each entry; a net's home is the pin of no entry.
template <class Each>
void for_each_pin(const Matrix& m, const Each& each) {
  if (m.rule->row->local || m.rule->col->local) return;
  m.for_each([&](std::int64_t i, std::int64_t j) {
    const std::int64_t row = m.first_row + i, col = m.first_col + j;
    if (m.low(j))
      each(col, static_cast<std::uint32_t>(2 * row));
    else
      each(row, static_cast<std::uint32_t>(2 * col + 1));
  });
}

// Counts loads and the pins of each vertex, and marks the nets that have pins.
void count(CutModel& model, const Matrix& m) {
  std::vector<std::uint32_t>& weight = model.entries[m.load];
  const auto add = [&](std::int64_t v) {
    std::uint32_t& w = weight[static_cast<std::size_t>(v)];
    if (w < std::numeric_limits<std::uint32_t>::max()) ++w;
  };
  if (m.rule->row->local || m.rule->col->local) {
    const bool by_col = m.rule->row->local;
    return m.for_each([&](std::int64_t i, std::int64_t j) { add(by_col ? m.first_col + j : m.first_row + i); });
  }
  for_each_pin(m, [&](std::int64_t v, std::uint32_t net) {
    add(v);  // a pin's vertex is its entry's holder
    ++model.begin[static_cast<std::size_t>(v) + 1];
    model.pins[net] = 1;
  });
}

// Makes nets distinct and ascending: the same entry may be in two matrices, and a diagonal one is its net's home.
void settle_nets(CutModel& model) {
  constexpr std::int64_t piece = 1 << 14;
  std::vector<std::int64_t> kept(static_cast<std::size_t>(model.vertices) + 1);
  parallel_for((model.vertices + piece - 1) / piece, [&](std::int64_t k, int) {
    for (std::int64_t v = k * piece; v < std::min(model.vertices, (k + 1) * piece); ++v) {
      const auto at = static_cast<std::size_t>(v);
      const auto begin = model.nets.begin() + model.begin[at], end = model.nets.begin() + model.begin[at + 1];
      if (!std::is_sorted(begin, end)) std::sort(begin, end);
      kept[at + 1] = std::unique(begin, end) - begin;
    }
  });
  std::partial_sum(kept.begin(), kept.end(), kept.begin());
  if (kept.back() != model.begin.back()) {
    for (std::size_t v = 0; v + 1 < kept.size(); ++v)
      std::copy_n(model.nets.begin() + model.begin[v], kept[v + 1] - kept[v], model.nets.begin() + kept[v]);
    model.begin = std::move(kept);
    model.nets.resize(static_cast<std::size_t>(model.begin.back()));
  }
  std::fill(model.pins.begin(), model.pins.end(), 0);
  for (const std::uint32_t net : model.nets) ++model.pins[net];
}

void list_nets(CutModel& model, const std::vector<Matrix>& matrices) {
  const auto n = static_cast<std::size_t>(model.vertices);
  model.begin.assign(n + 1, 0);
  model.pins.assign(2 * n, 0);
  for (const Matrix& m : matrices) count(model, m);
  for (std::size_t net = 0; net < 2 * n; ++net) model.begin[net / 2 + 1] += model.pins[net];  // homes
  std::partial_sum(model.begin.begin(), model.begin.end(), model.begin.begin());
  model.nets.resize(static_cast<std::size_t>(model.begin.back()));
  std::vector<std::int64_t> next(model.begin.begin(), model.begin.end() - 1);
  const auto put = [&](std::size_t v, std::uint32_t net) { model.nets[static_cast<std::size_t>(next[v]++)] = net; };
  for (std::size_t net = 0; net < 2 * n; ++net)
    if (model.pins[net] > 0) put(net / 2, static_cast<std::uint32_t>(net));
  for (const Matrix& m : matrices)
    for_each_pin(m, [&](std::int64_t v, std::uint32_t net) { put(static_cast<std::size_t>(v), net); });
  settle_nets(model);
}

// For each dimension, the first one of its connected set.
std::vector<std::size_t> connected(const std::vector<DimLayout>& layouts, const std::vector<EntryRule>& rules) {
  std::vector<std::size_t> set(layouts.size());
  std::iota(set.begin(), set.end(), std::size_t{0});
  for (const EntryRule& rule : rules) {
    if (rule.row == nullptr || rule.row->local || rule.col->local) continue;
    const std::size_t a = set[static_cast<std::size_t>(rule.row - layouts.data())];
    const std::size_t b = set[static_cast<std::size_t>(rule.col - layouts.data())];
    for (std::size_t& s : set)
      if (s == a || s == b) s = std::min(a, b);
  }
  return set;
}

}  // namespace

std::vector<CutModel> cut_models(std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs,
                                 const std::vector<EntryList>& entries, const std::vector<EntryRule>& rules) {
  const std::vector<std::size_t> set = connected(layouts, rules);
  std::vector<CutModel> models;
  for (std::size_t s = 0; s < layouts.size(); ++s) {
    CutModel model;
    std::vector<std::int64_t> first(layouts.size());
    std::vector<Matrix> matrices;
    std::vector<std::vector<std::string>> pairs;
    for (std::size_t d = 0; d < layouts.size(); ++d) {
      const bool used = std::any_of(rules.begin(), rules.end(),
                                    [&](const EntryRule& r) { return r.row == &layouts[d] || r.col == &layouts[d]; });
      if (set[d] != s || layouts[d].local || !used) continue;
      first[d] = model.vertices;
      model.dims.push_back({&layouts[d], model.vertices});
      model.vertices = checked_add(model.vertices, layouts[d].size, "the indices that are cut together");
    }
    if (model.vertices > std::numeric_limits<std::int32_t>::max())
      fail(ExitStatus::limit, fmt::format("ml would cut {} indices together", model.vertices),
           "at most 2^31 - 1 are supported", "partition by --method hybrid-cut");
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (rules[k].row == nullptr) continue;
      const auto row = static_cast<std::size_t>(rules[k].row - layouts.data());
      const auto col = static_cast<std::size_t>(rules[k].col - layouts.data());
      if (set[rules[k].row->local ? col : row] != s) continue;
      const auto load = std::find(pairs.begin(), pairs.end(), inputs[k].dims);
      matrices.push_back(
          {&entries[k], &rules[k], first[row], first[col], static_cast<std::size_t>(load - pairs.begin())});
      if (load == pairs.end()) pairs.push_back(inputs[k].dims);
    }
    if (model.vertices == 0) continue;
    model.entries.assign(pairs.size(), std::vector<std::uint32_t>(static_cast<std::size_t>(model.vertices)));
    list_nets(model, matrices);
    models.push_back(std::move(model));
  }
  return models;
}

}  // namespace kasen
