#include "libopt/selection/units.h"

#include <algorithm>
#include <map>
#include <utility>

#include "libcore/base/sorted.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen::fusion {

Units::Units(const Module& module, const BlockDag& block, const Memo& memo)
    : module_(module),
      block_(block),
      memo_(memo),
      uses_(count_uses(module)),
      nodes_(block.block->ops.size(), no_node),
      graph_(module, *block.block) {
  for (const NodeId id : block.dag.ids()) {
    if (block.places[id] >= 0) nodes_[static_cast<size_t>(block.places[id])] = id;
  }
  for (int place = 0; place < graph_.size(); ++place) units_.push_back(unit_of({place}, std::nullopt));
}

Unit Units::unit_of(std::vector<int> places, std::optional<RegionKind> kind) const {
  Unit unit;
  unit.places = std::move(places);
  unit.kind = kind;
  std::map<ValueId, int> inside;  // uses by its operators
  for (const int place : unit.places) {
    const Op& op = block_.block->ops[static_cast<size_t>(place)];
    unit.ops.push_back(&op);
    unit.made.insert(unit.made.end(), op.results.begin(), op.results.end());
    for (const ValueId v : op.operands) ++inside[v];
  }
  for (const auto& [value, count] : inside) {
    if (!contains(unit.made, value)) unit.reads.push_back(value);
  }
  for (const ValueId v : unit.made) {
    const auto at = inside.find(v);
    if (uses_[static_cast<size_t>(v)] > (at == inside.end() ? 0 : at->second)) unit.results.push_back(v);
  }
  return unit;
}

bool Units::is_covered(int unit, std::initializer_list<TemplateId> wanted) const {
  const std::vector<int>& places = (*this)[unit].places;
  return std::all_of(places.begin(), places.end(), [&](int place) {
    const NodeId node = node_at(place);
    return node != no_node && std::any_of(wanted.begin(), wanted.end(),
                                          [&](TemplateId type) { return memo_.covered[node].contains(type); });
  });
}

void Units::join(const std::vector<Cluster>& clusters) {
  std::vector<std::vector<int>> drawn, members;
  for (const Cluster& cluster : clusters) drawn.push_back(cluster.members);
  std::vector<Unit> units;
  for (const int at : contracted_order(graph_, drawn)) {
    if (at >= 0) {
      members.push_back({at});
      units.push_back(std::move(units_[static_cast<size_t>(at)]));
      continue;
    }
    const Cluster& cluster = clusters[static_cast<size_t>(-1 - at)];
    std::vector<int> places;
    for (const int unit : cluster.members) {
      const std::vector<int>& more = units_[static_cast<size_t>(unit)].places;
      places.insert(places.end(), more.begin(), more.end());
    }
    sort_unique(places);
    members.push_back(cluster.members);
    units.push_back(unit_of(std::move(places), cluster.kind));
  }
  graph_ = graph_.contracted(members);
  units_ = std::move(units);
}

namespace {

// The template that covers what a region of the kind holds.
std::optional<TemplateId> template_of(std::optional<RegionKind> kind) {
  if (!kind) return std::nullopt;
  if (*kind == RegionKind::iter_on_vec) return TemplateId::cell;
  return *kind == RegionKind::mxm ? TemplateId::mxm : TemplateId::row;
}

}  // namespace

// Views between members are members.
void Units::add_views(std::vector<NodeId>& members) const {
  std::vector<NodeId> views;
  for (const NodeId id : members) {
    for (const NodeId in : block_.dag[id].inputs) {
      const bool inside = std::binary_search(members.begin(), members.end(), block_.dag.stored(in));
      if (block_.dag[in].form == Form::transpose && inside) views.push_back(in);
    }
  }
  members.insert(members.end(), views.begin(), views.end());
  sort_unique(members);
}

std::vector<PlanOperator> Units::operators() const {
  std::vector<PlanOperator> made;
  for (const Unit& unit : units_) {
    if (node_at(unit.places[0]) == no_node) continue;
    PlanOperator op;
    op.type = template_of(unit.kind);
    for (size_t i = 0; i < unit.places.size(); ++i) {
      const NodeId node = node_at(unit.places[i]);
      op.members.push_back(node);
      if (unit.ops.size() == 1 || contains(unit.results, unit.ops[i]->results[0])) op.roots.push_back(node);
    }
    add_views(op.members);
    op.inputs = inputs_of(block_.dag, op.members);
    made.push_back(std::move(op));
  }
  return made;
}

}  // namespace kasen::fusion
