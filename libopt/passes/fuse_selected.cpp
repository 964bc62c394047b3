// Why: an operator by itself reads its operands from memory and writes its result there. One that runs with its readers
// keeps it in registers or a cache, and what is read by several is read once. Greedy operators compute everything once
// and hold all that may be together. Over matrices it can be cheaper to compute a value again in each operator that
// needs it, or to keep apart an operator that would join both. libopt/fusion/ lists what may run as one, a selector of
// libopt/selection/ chooses (docs/fusion.md, Selection), and this pass makes a plan of that choice. An operator that
// several selected ones compute is copied for each of them, and each becomes a region of the kind that can hold it. The
// naive way fails at a value that one selected operator computes for itself and another reads from memory. The original
// is in the operator that stores it, and copies are in all others. Requires placed values and no regions; keeps the
// order of everything else as nearly as possible. The level becomes 3.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/ir/module.h"
#include "libopt/fusion/explore.h"
#include "libopt/fusion/from_module.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/regions.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/rewrite/value_names.h"
#include "libopt/selection/greedy.h"
#include "libopt/selection/pieces.h"
#include "libopt/selection/select.h"
#include "libopt/sync/plan_notes.h"
#include "libopt/time/price.h"

namespace kasen {
namespace {

using fusion::BlockDag;
using fusion::NodeId;
using fusion::Piece;

// With bounded options: operators in the plans that one search costs, and those that the fused operators of a block may
// hold, each counted once for every one that computes it.
constexpr std::int64_t most_visits = std::int64_t{1} << 18;
constexpr size_t most_times = 4, most_members = 1000;

// Makes the regions of the pieces in their block.
class PieceRegions {
 public:
  PieceRegions(Module& module, Block& block, const BlockDag& dag, const std::vector<Piece>& pieces)
      : names_(module), block_(block), dag_(dag), pieces_(pieces), now_(pieces.size()), places_(pieces.size()) {
    home_.assign(dag.dag.size(), -1);
    for (size_t p = 0; p < pieces.size(); ++p) claim(pieces[p].op.roots, p);
    for (size_t p = 0; p < pieces.size(); ++p) claim(pieces[p].op.members, p);
  }

  void make() {
    std::vector<NodeId> node_at(block_.ops.size(), fusion::no_node);
    for (const NodeId id : dag_.dag.ids()) {
      const int place = dag_.places[id];
      if (place >= 0) node_at[static_cast<size_t>(place)] = id;
    }
    for (size_t i = 0; i < block_.ops.size(); ++i) place(block_.ops[i], node_at[i]);
    block_.ops = std::move(ops_);
    std::vector<Cluster> clusters;
    for (size_t p = 0; p < pieces_.size(); ++p) {
      if (pieces_[p].kind) clusters.push_back({*pieces_[p].kind, std::move(places_[p])});
    }
    make_regions(names_, block_, clusters);
  }

 private:
  void claim(const std::vector<NodeId>& nodes, size_t piece) {
    for (const NodeId id : nodes) {
      int& home = home_[static_cast<size_t>(id)];
      if (home < 0) home = static_cast<int>(piece);
    }
  }

  // Puts the operator itself into its home, and then copies of it into the other pieces that compute it.
  void place(Op& op, NodeId node) {
    const int home = node == fusion::no_node ? -1 : home_[static_cast<size_t>(node)];
    if (home < 0) {
      ops_.push_back(std::move(op));
      return;
    }
    const Op original = op;
    read_own(op, static_cast<size_t>(home));
    ops_.push_back(std::move(op));
    places_[static_cast<size_t>(home)].push_back(static_cast<int>(ops_.size()) - 1);
    for (size_t p = 0; p < pieces_.size(); ++p) {
      const std::vector<NodeId>& members = pieces_[p].op.members;
      if (static_cast<int>(p) == home || !std::binary_search(members.begin(), members.end(), node)) continue;
      ops_.push_back(std::move(clone_ops(names_, {&original, 1}, now_[p])[0]));
      places_[p].push_back(static_cast<int>(ops_.size()) - 1);
    }
  }

  void read_own(Op& op, size_t piece) {
    const std::vector<ValueId>& now = now_[piece];
    for (ValueId& operand : op.operands) {
      const auto v = static_cast<size_t>(operand);
      if (v < now.size() && now[v] != no_value) operand = now[v];
    }
  }

  ValueNames names_;
  Block& block_;
  const BlockDag& dag_;
  const std::vector<Piece>& pieces_;
  std::vector<int> home_;                  // by node: the piece of the operator itself
  std::vector<std::vector<ValueId>> now_;  // by piece: the results of its copies
  std::vector<std::vector<int>> places_;   // by piece: the positions of its operators in ops_
  std::vector<Op> ops_;
};

fusion::Selector selector_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::fuse_all:
      return fusion::Selector::fuse_all;
    case Strategy::fuse_no_redundancy:
      return fusion::Selector::fuse_no_redundancy;
    default:
      return fusion::Selector::cost;
  }
}

// Notes how the pass changed the block: values that are computed again, and pieces that could not be a region.
FusionNote note_of(const BlockDag& block, const fusion::Pieces& made, std::vector<std::string> cut) {
  FusionNote note{block.title, {}, {}, std::move(cut)};
  for (const NodeId id : block.dag.ids()) {
    if (block.places[id] < 0) continue;
    const auto times = std::count_if(made.pieces.begin(), made.pieces.end(), [&](const Piece& piece) {
      return std::binary_search(piece.op.members.begin(), piece.op.members.end(), id);
    });
    if (times > 1) note.again.push_back(fmt::format("{} in {} operators", block.dag[id].name, times));
  }
  for (const fusion::Split& split : made.splits) {
    note.splits.push_back(fmt::format("{} cannot be one region ({}): it stores {}", split.what, split.why,
                                      fmt::join(split.stored, ", ")));
  }
  return note;
}

// Returns the selection of a block. Of plans that are compared, one whose operators compute most of the block again and
// again is not made: its text would grow with the square of the program's. It stores what several need instead.
fusion::Selection selection_of(const fusion::Dag& dag, const fusion::Memo& memo, const OptimizeOptions& options,
                               const fusion::CostRules& costs, std::vector<std::string>& cut) {
  fusion::SearchRules rules;
  if (options.bounded) rules.visits = most_visits;
  fusion::Selection selected = fusion::select(dag, memo, selector_of(options.strategy), costs, rules);
  for (const fusion::PartitionChoice& choice : selected.partitions) {
    if (!choice.exact) cut.push_back(cut_text(choice));
  }
  size_t members = 0;
  for (const fusion::PlanOperator& op : selected.operators) members += op.members.size();
  if (!options.bounded || members <= most_times * dag.size() + most_members) return selected;
  cut.push_back(
      fmt::format("operators that compute {} values for {}: what several need is stored", members, dag.size()));
  return fusion::select(dag, memo, fusion::Selector::fuse_no_redundancy, costs, rules);
}

double seconds_of(const fusion::Dag& dag, const std::vector<fusion::PlanOperator>& operators,
                  const fusion::CostRules& costs) {
  double sum = 0;
  for (const fusion::PlanOperator& op : operators) sum += fusion::seconds(dag, op, costs);
  return sum;
}

// Returns the operators of a block. By cost, greedy's are one more choice: they have several results.
std::vector<fusion::PlanOperator> operators_of(const Module& module, const BlockDag& block,
                                               const OptimizeOptions& options, const fusion::CostRules& costs,
                                               std::vector<std::string>& cut) {
  const fusion::Memo memo = fusion::explore(block.dag);
  if (options.strategy == Strategy::greedy) return fusion::greedy_operators(module, block, memo);
  fusion::Selection selected = selection_of(block.dag, memo, options, costs, cut);
  if (selector_of(options.strategy) != fusion::Selector::cost) return std::move(selected.operators);
  std::vector<fusion::PlanOperator> joined = fusion::greedy_operators(module, block, memo);
  const bool cheaper = seconds_of(block.dag, joined, costs) < seconds_of(block.dag, selected.operators, costs);
  return cheaper ? std::move(joined) : std::move(selected.operators);
}

bool holds_regions(const Module& module) {
  bool found = false;
  for_each_op(module, [&](const Op& op, int, int) { found = found || op.code == OpCode::region; });
  return found;
}

}  // namespace

bool pass_fuse_selected(Module& module, PassContext& context) {
  if (holds_regions(module)) return false;
  Pricing pricing(context.options.sizes, context.options.machine);
  const TimeCase in = pricing.time_case(module);
  const std::vector<BlockDag> dags = fusion::fusion_dags(module, in);
  const fusion::CostRules costs{.machine = in.machine, .processes = in.processes};
  std::vector<fusion::Pieces> made;
  std::vector<std::vector<std::string>> cuts(dags.size());
  for (const BlockDag& block : dags) {
    const std::vector<fusion::PlanOperator> selected =
        operators_of(module, block, context.options, costs, cuts[made.size()]);
    made.push_back(fusion::pieces_of(module, block, selected, costs));
  }
  if (context.options.notes != nullptr) {
    for (size_t d = 0; d < dags.size(); ++d)
      context.options.notes->fusion.push_back(note_of(dags[d], made[d], std::move(cuts[d])));
  }
  for_each_block(module, [&](Block& block) {
    for (size_t d = 0; d < dags.size(); ++d) {
      if (dags[d].block == &block) PieceRegions(module, block, dags[d], made[d].pieces).make();
    }
  });
  return holds_regions(module);
}

}  // namespace kasen
