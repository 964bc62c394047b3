#include "libopt/selection/pieces.h"

#include <algorithm>
#include <set>
#include <utility>

#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/rows/row_region.h"
#include "libopt/selection/operator_needs.h"
#include "libopt/selection/shapes.h"

namespace kasen::fusion {
namespace {

using Ops = std::vector<const Op*>;

// Returns the rule of kind_of_region that does not hold.
std::string reason(const Module& module, const Ops& ops) {
  const auto sparse = [&](const Op* op) {
    const bool whole = is_product(*op) && has_whole_lines(module, module.type(product_matrix(*op)));
    return is_product(*op) && !whole && !is_ordinary_dense_product(module, *op);
  };
  if (std::any_of(ops.begin(), ops.end(), sparse)) {
    return "a product with a sparse matrix, or over another semiring, shares its rows with no other work";
  }
  const DimId rows = worked_rows(module, *ops.front());
  for (const Op* op : ops) {
    const std::string why = reason_against_rows(module, *op, rows);
    if (!why.empty()) return why;
  }
  return "some of its work waits for a total";
}

class Splitter {
 public:
  Splitter(const Module& module, const BlockDag& block, const CostRules& costs)
      : module_(module), block_(block), dag_(block.dag), costs_(costs) {}

  void add(const PlanOperator& op) {
    std::vector<NodeId> cuts;
    split(op, cuts);
    if (cuts.empty()) return;
    Split reported{names(op.members), reason(module_, ops(op)), {}};
    for (const NodeId cut : cuts) reported.stored.push_back(dag_[cut].name);
    made_.splits.push_back(std::move(reported));
  }

  Pieces take() {
    std::vector<char> kept = needed();
    for (size_t piece; (piece = in_circle(kept)) < kept.size(); kept = needed()) take_apart(piece);
    Pieces taken{{}, std::move(made_.splits)};
    for (size_t piece = 0; piece < kept.size(); ++piece) {
      if (kept[piece] != 0) taken.pieces.push_back(std::move(made_.pieces[piece]));
    }
    return taken;
  }

 private:
  [[nodiscard]] Ops ops(const PlanOperator& op) const {
    Ops all;
    for (const NodeId id : op.members) {
      const int place = block_.places[id];
      if (place >= 0) all.push_back(&block_.block->ops[static_cast<size_t>(place)]);
    }
    return all;
  }

  [[nodiscard]] std::string names(const std::vector<NodeId>& nodes) const {
    std::string text;
    for (const NodeId id : nodes) {
      if (dag_[id].form != Form::transpose) text += (text.empty() ? "" : ", ") + dag_[id].name;
    }
    return text;
  }

  [[nodiscard]] bool can_be(const PlanOperator& op) const { return ops(op).size() == 1 || kind(op).has_value(); }

  // Of a region of several operators.
  [[nodiscard]] std::optional<RegionKind> kind(const PlanOperator& op) const {
    std::vector<ValueId> results;
    for (const Op* root : ops({{}, {}, op.roots, {}})) results.push_back(root->results[0]);
    return kind_of_region(module_, ops(op), results, boxes_);
  }

  // Returns the members of the operator that lead to these roots, with `stored` (or nothing) read from memory.
  [[nodiscard]] PlanOperator part(const PlanOperator& whole, std::vector<NodeId> roots, NodeId stored) const {
    PlanOperator made{roots, whole.type, {}, {}};
    std::set<NodeId> members;
    for (std::vector<NodeId> waiting = std::move(roots); !waiting.empty();) {
      const NodeId id = waiting.back();
      waiting.pop_back();
      if (!members.insert(id).second) continue;
      for (const NodeId in : dag_[id].inputs) {
        const bool inside = in != stored && std::binary_search(whole.members.begin(), whole.members.end(), in);
        if (inside) waiting.push_back(in);
      }
    }
    made.members.assign(members.begin(), members.end());
    made.inputs = inputs_of(dag_, made.members);
    return made;
  }

  // For a part that will be taken apart further: the time if each of its nodes ran by itself.
  [[nodiscard]] double seconds_of(const PlanOperator& op) const {
    if (can_be(op)) return seconds(dag_, op, costs_);
    double sum = 0;
    for (const NodeId id : op.members) {
      if (dag_[id].form != Form::transpose)
        sum += seconds(dag_, part({{id}, op.type, {id}, {}}, {id}, no_node), costs_);
    }
    return sum;
  }

  // Returns the cut after which the two parts take the least time; the first of several such cuts.
  [[nodiscard]] NodeId cheapest_cut(const PlanOperator& op) const {
    NodeId best = no_node;
    double least = 0;
    for (const NodeId id : op.members) {
      if (id == op.roots[0] || dag_[id].form == Form::transpose) continue;
      const double sum = seconds_of(part(op, {id}, no_node)) + seconds_of(part(op, op.roots, id));
      if (best == no_node || sum < least) {
        best = id;
        least = sum;
      }
    }
    return best;
  }

  void split(const PlanOperator& op, std::vector<NodeId>& cuts) {
    if (can_be(op)) {
      made_.pieces.push_back({op, ops(op).size() == 1 ? std::nullopt : kind(op)});
    } else if (op.roots.size() > 1) {
      for (const NodeId root : op.roots) split(part(op, {root}, no_node), cuts);
    } else {
      const NodeId cut = cheapest_cut(op);
      cuts.push_back(cut);
      split(part(op, {cut}, no_node), cuts);
      split(part(op, op.roots, cut), cuts);
    }
  }

  [[nodiscard]] OperatorNeeds needs() const {
    std::vector<const PlanOperator*> operators;
    for (const Piece& piece : made_.pieces) operators.push_back(&piece.op);
    return OperatorNeeds(dag_, std::move(operators));
  }

  // A stored value is made once, even if several operators were taken apart there. Values that only the others needed
  // are not made at all. By piece, 1 or 0.
  [[nodiscard]] std::vector<char> needed() const {
    const OperatorNeeds makers = needs();
    std::vector<NodeId> needed;
    for (const NodeId id : dag_.ids()) {
      if (dag_[id].escapes) needed.push_back(id);
    }
    std::vector<char> kept(made_.pieces.size(), 0);
    while (!needed.empty()) {
      const size_t piece = makers.maker(needed.back());
      needed.pop_back();
      if (piece == OperatorNeeds::nothing_makes || std::exchange(kept[piece], 1) != 0) continue;
      const std::vector<NodeId>& inputs = made_.pieces[piece].op.inputs;
      needed.insert(needed.end(), inputs.begin(), inputs.end());
    }
    return kept;
  }

  // Returns the first kept piece of several results that needs itself, or kept.size(). Such a piece is possible. The
  // nodes between two of its results had the first one for themselves, until they were taken apart and read it from
  // memory. Every circle goes through such a piece, since no result is made of itself.
  [[nodiscard]] size_t in_circle(const std::vector<char>& kept) const {
    const OperatorNeeds graph = needs();
    const auto circular = [&](size_t piece) {
      return kept[piece] != 0 && made_.pieces[piece].op.roots.size() > 1 && graph.needs(piece, piece);
    };
    size_t piece = 0;
    while (piece < kept.size() && !circular(piece)) ++piece;
    return piece;
  }

  // Makes one piece for each result.
  void take_apart(size_t piece) {
    const PlanOperator op = std::move(made_.pieces[piece].op);
    made_.pieces.erase(made_.pieces.begin() + static_cast<std::ptrdiff_t>(piece));
    Split reported{names(op.roots), "a value made of one of them goes into another", {}};
    std::vector<NodeId> cuts;
    for (const NodeId root : op.roots) {
      reported.stored.push_back(dag_[root].name);
      split(part(op, {root}, no_node), cuts);
    }
    for (const NodeId cut : cuts) reported.stored.push_back(dag_[cut].name);
    made_.splits.push_back(std::move(reported));
  }

  const Module& module_;
  const bool boxes_ = names_layouts(module_);
  const BlockDag& block_;
  const Dag& dag_;
  const CostRules& costs_;
  Pieces made_;
};

}  // namespace

Pieces pieces_of(const Module& module, const BlockDag& block, const std::vector<PlanOperator>& operators,
                 const CostRules& costs) {
  Splitter splitter(module, block, costs);
  for (const PlanOperator& op : operators) splitter.add(op);
  return splitter.take();
}

}  // namespace kasen::fusion
