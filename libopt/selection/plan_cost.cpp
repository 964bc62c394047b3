#include "libopt/selection/plan_cost.h"

#include <algorithm>
#include <utility>

namespace kasen::fusion {
namespace {

// A node stands by itself, or within an operator of each template.
size_t contexts() { return templates().size() + 1; }

size_t slot(NodeId node, std::optional<TemplateId> within) {
  return static_cast<size_t>(node) * contexts() + (within ? 1 + static_cast<size_t>(*within) : 0);
}

size_t at(NodeId node) { return static_cast<size_t>(node); }

// An operator that goes through no rows needs no Row template. A chain of cells over one shape, with an aggregate at
// its end, is a Cell operator, even if another template was preferred where it was opened.
bool is_cellwise(const Dag& dag, const PlanOperator& op) {
  const Node& root = dag[op.roots[0]];
  const Shape& shape = is_aggregate(root.form) ? dag[root.inputs[0]].shape : root.shape;
  return std::all_of(op.members.begin(), op.members.end(), [&](NodeId id) {
    if (id == op.roots[0] && is_aggregate(root.form)) return true;
    return dag[id].form == Form::cell && dag[id].shape == shape;
  });
}

}  // namespace

PlanCoster::PlanCoster(const Dag& dag, const Memo& memo, const Partition& partition, const CostRules& rules)
    : dag_(dag), rules_(rules) {
  const size_t nodes = dag.size();
  candidates_.resize(nodes);
  opened_.resize(nodes);
  covered_.resize(nodes);
  read_.resize(nodes);
  whole_.inside.assign(nodes, 0);
  whole_.tops = partition.tops;
  std::vector<std::vector<int>> from(nodes);  // by node: its points
  for (size_t p = 0; p < partition.points.size(); ++p)
    from[at(partition.points[p].from)].push_back(static_cast<int>(p));
  for (const NodeId id : partition.nodes) {
    whole_.inside[at(id)] = 1;
    for (const Entry& entry : memo[id]) {
      if (row(entry.type).joins(dag, id)) continue;  // chosen after all others
      Candidate made{entry.type, entry.close, entry.refs, {}, {}, row(entry.type).open(dag, id)};
      for (const NodeId ref : entry.refs) {
        const auto& seen = made.distinct;
        if (ref != no_node && std::find(seen.begin(), seen.end(), ref) == seen.end()) made.distinct.push_back(ref);
      }
      for (const int p : from[at(id)]) {
        if (entry.refers_to(partition.points[static_cast<size_t>(p)].to)) made.points.push_back(p);
      }
      candidates_[at(id)].push_back(std::move(made));
    }
    // First the templates' order, then the number of absorbed inputs.
    std::stable_sort(candidates_[at(id)].begin(), candidates_[at(id)].end(),
                     [](const Candidate& a, const Candidate& b) {
                       return a.type != b.type ? a.type < b.type : a.distinct.size() > b.distinct.size();
                     });
  }
}

bool PlanCoster::fits(const Assignment& plan, const Candidate& candidate, std::optional<TemplateId> within) {
  if (within ? is_closed(candidate.close) || !takes(*within, candidate.type) : !is_valid(candidate.close)) return false;
  const auto is_true = [&](int point) { return plan[static_cast<size_t>(point)] != 0; };
  if (std::any_of(candidate.points.begin(), candidate.points.end(), is_true)) return false;
  // A reference to a group without an entry that goes on leads nowhere. With cells alone the template never begins.
  bool begins = candidate.opens;
  for (const NodeId ref : candidate.distinct) {
    const int below = choose(plan, ref, candidate.type);
    if (below == none) return false;
    begins = begins || candidates_[at(ref)][static_cast<size_t>(below)].type == candidate.type;
  }
  return begins;
}

// Chooses the entry of a node, by itself or within an operator of some template. An entry of the same template comes
// first.
int PlanCoster::choose(const Assignment& plan, NodeId node, std::optional<TemplateId> within) {
  int& known = chosen_[slot(node, within)];
  if (known != unknown) return known;
  int best = none;
  const std::vector<Candidate>& candidates = candidates_[at(node)];
  for (int c = 0; c < static_cast<int>(candidates.size()); ++c) {
    const bool own = within && candidates[static_cast<size_t>(c)].type == *within;
    if (best != none && !own) continue;
    if (!fits(plan, candidates[static_cast<size_t>(c)], within)) continue;
    best = c;
    if (own || !within) break;
  }
  return chosen_[slot(node, within)] = best;
}

void PlanCoster::add_inputs(const Assignment& plan, const Visit& visit, PlanOperator& op, std::vector<Visit>& waiting) {
  const Candidate* entry =
      visit.candidate == none ? nullptr : &candidates_[at(visit.node)][static_cast<size_t>(visit.candidate)];
  const std::vector<NodeId>& inputs = dag_[visit.node].inputs;
  for (size_t i = inputs.size(); i-- > 0;) {
    if (entry != nullptr && entry->refs[i] != no_node) {
      waiting.push_back({inputs[i], choose(plan, inputs[i], entry->type)});
      continue;
    }
    const NodeId in = dag_.stored(inputs[i]);
    if (read_[at(in)] == operator_number_) continue;  // an input that is already read
    read_[at(in)] = operator_number_;
    op.inputs.push_back(in);
  }
}

// A block of rows has the nonzeros of one matrix: what goes over another one's is read from memory.
bool PlanCoster::goes_over_another(const PlanOperator& op, NodeId node) {
  const NodeId matrix = visited_matrix(dag_, node);
  if (op.type != TemplateId::row || matrix == no_node) return false;
  if (matrix_ == no_node) matrix_ = matrix;
  return matrix_ != matrix;
}

PlanOperator PlanCoster::open(const Assignment& plan, NodeId root) {
  ++operator_number_;
  matrix_ = no_node;
  PlanOperator op;
  op.roots = {root};
  const int entry = choose(plan, root, std::nullopt);
  if (entry != none) op.type = candidates_[at(root)][static_cast<size_t>(entry)].type;
  std::vector<Visit> waiting{{root, entry}};  // depth first, in the order of inputs
  while (!waiting.empty()) {
    const Visit visit = waiting.back();
    waiting.pop_back();
    if (covered_[at(visit.node)] == operator_number_) continue;  // a common subexpression
    if (goes_over_another(op, visit.node)) {
      if (std::exchange(read_[at(visit.node)], operator_number_) != operator_number_) op.inputs.push_back(visit.node);
      continue;
    }
    covered_[at(visit.node)] = operator_number_;
    op.members.push_back(visit.node);
    add_inputs(plan, visit, op, waiting);
  }
  std::sort(op.members.begin(), op.members.end());
  std::sort(op.inputs.begin(), op.inputs.end());
  if (op.members.size() == 1) op.type.reset();
  if (op.type && is_cellwise(dag_, op)) op.type = TemplateId::cell;
  return op;
}

template <class Take>
void PlanCoster::each_operator(const Assignment& plan, const Scope& scope, Take take) {
  ++plan_number_;
  chosen_.assign(candidates_.size() * contexts(), unknown);
  std::vector<NodeId> waiting(scope.tops.rbegin(), scope.tops.rend());
  while (!waiting.empty()) {
    const NodeId root = waiting.back();
    waiting.pop_back();
    if (opened_[at(root)] == plan_number_) continue;
    opened_[at(root)] = plan_number_;
    PlanOperator op = open(plan, root);
    for (const NodeId in : op.inputs) {
      if (scope.inside[at(in)] != 0) waiting.push_back(in);
    }
    if (!take(std::move(op))) return;
  }
}

double PlanCoster::cost(const Assignment& plan, const Scope& scope, double bound) {
  double sum = 0;
  each_operator(plan, scope, [&](const PlanOperator& op) {
    sum += seconds(dag_, op, rules_);
    return sum < bound;
  });
  return sum;
}

std::vector<PlanOperator> PlanCoster::operators(const Assignment& plan, const Scope& scope) {
  std::vector<PlanOperator> all;
  each_operator(plan, scope, [&](PlanOperator op) {
    all.push_back(std::move(op));
    return true;
  });
  return all;
}

}  // namespace kasen::fusion
