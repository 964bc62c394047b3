#include "libopt/selection/greedy.h"

#include <algorithm>

#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/selection/shapes.h"

namespace kasen::fusion {
namespace {

// Returns the position of `key` in `keys`; appends it if it is not there.
template <class Key>
int number_of(std::vector<Key>& keys, const Key& key) {
  const auto at = std::find(keys.begin(), keys.end(), key);
  const auto number = static_cast<int>(at - keys.begin());
  if (at == keys.end()) keys.push_back(key);
  return number;
}

// Keys and ranges are numbered in the order in which they appear. `key_of(i)` is that of the i-th one, or nothing.
template <class Key>
std::vector<Cluster> clusters_of(const BlockGraph& graph, RegionKind kind, bool inside, Key key_of) {
  std::vector<RegionKey> kinds;
  std::vector<SlaveSet> ranges;
  ClusterRules rules;
  rules.inside = inside;
  for (int i = 0; i < graph.size(); ++i) {
    std::optional<RegionKey> key = key_of(i);
    rules.ranges.push_back(key && key->slaves ? number_of(ranges, *key->slaves) : -1);
    rules.hands_on.push_back(key && key->hands_on);
    if (key) key->slaves.reset();
    if (key) key->hands_on = false;
    rules.kinds.push_back(key ? number_of(kinds, *key) : -1);
  }
  std::vector<Cluster> clusters;
  for (std::vector<int>& members : cluster(graph, rules)) clusters.push_back({kind, std::move(members)});
  return clusters;
}

// Of single operators that these templates cover.
template <class Key>
std::vector<Cluster> clusters_of(const Units& units, RegionKind kind, bool inside,
                                 std::initializer_list<TemplateId> templates, Key key_of) {
  return clusters_of(units.graph(), kind, inside, [&](int unit) -> std::optional<RegionKey> {
    if (units[unit].kind || !units.is_covered(unit, templates)) return std::nullopt;
    return key_of(units.module(), *units[unit].ops[0], false);
  });
}

}  // namespace

std::vector<Cluster> vector_clusters(const Module& module, const Block& block) {
  const bool boxes = names_layouts(module);
  return clusters_of(BlockGraph(module, block), RegionKind::iter_on_vec, true,
                     [&](int op) { return vector_key(module, block.ops[static_cast<size_t>(op)], boxes); });
}

// Members do not need each other's results. Sparse products of several columns are members beside folds alone: each
// goes over eight of its columns at once.
std::vector<Cluster> product_clusters(const Units& units) {
  std::vector<Cluster> clusters =
      clusters_of(units, RegionKind::mxm, false, {TemplateId::mxm, TemplateId::outer, TemplateId::row}, product_key);
  const auto at = [&](int member) -> const Op& { return *units[member].ops[0]; };
  for (Cluster& cluster : clusters) {
    std::vector<int>& members = cluster.members;
    if (std::any_of(members.begin(), members.end(), [&](int m) { return is_fold(at(m)); })) continue;
    std::erase_if(members, [&](int m) { return has_columns(units.module(), at(m)); });
  }
  std::erase_if(clusters, [](const Cluster& cluster) { return cluster.members.size() < 2; });
  return clusters;
}

std::vector<PlanOperator> greedy_operators(const Module& module, const BlockDag& block, const Memo& memo) {
  Units units(module, block, memo);
  units.join(clusters_of(units, RegionKind::iter_on_vec, true, {TemplateId::cell, TemplateId::magg, TemplateId::row},
                         vector_key));
  units.join(product_clusters(units));
  for (const auto next : {next_chain, next_rows}) {
    int from = 0;
    for (std::vector<Cluster> found; !(found = next(units, from)).empty();) units.join(found);
  }
  return units.operators();
}

}  // namespace kasen::fusion
