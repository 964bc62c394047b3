#include "libopt/fusion/from_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "libcore/analysis/chain_rules.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/laws/shapes.h"
#include "libcore/rows/row_region.h"
#include "libopt/cost/extent.h"
#include "libopt/cost/rules.h"
#include "libopt/cost/work.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen::fusion {
namespace {

constexpr std::int64_t coordinate_bytes = 4;  // beside each nonzero (docs/cost.md, the actual column)

constexpr double most_stored = 1 - 1e-9;  // a sparse matrix stays one, whatever it stores

// An aggregate's form by the dimensions that it reduces; rows are the first dimension, columns all others. Of some of
// the columns' dimensions it leaves a shorter row.
Form reduce_form(const Module& module, const Op& op) {
  if (module.type(op.results.at(0)).dims.empty()) return Form::agg_full;
  return contains(op.over, module.type(op.operands.at(0)).dims[0]) ? Form::agg_col : Form::agg_row;
}

// Maps of a pre-reduced value under no law stand alone.
bool stands_alone(const Module& module, const Op& op) {
  return module.type(op.results.at(0)).state.is_pre() && law_in_force(module, op) == nullptr;
}

// Maps on owned elements of a pre-reduced value (rules 11 and 15): the ghosts keep their values.
bool hands_ghosts_on(const Module& module, const Op& op) {
  if (op.code != OpCode::map || !module.type(op.results.at(0)).state.is_pre()) return false;
  const LawUse* law = law_in_force(module, op);
  return law != nullptr && law->kind == LawKind::pushdown;
}

bool goes_along_rows(const Module& module, const Op& op) {
  return reason_against_rows(module, op, worked_rows(module, op)).empty() ||
         (is_product(op) && may_stand_in_chain(module, op));
}

// A dense matrix that is cut along its columns, or that every worker holds, has no rows to go through.
bool is_cut_along_rows(const Module& module, ValueId matrix) {
  const Type& type = module.type(matrix);
  return Layout(module, type).is_cut(0);
}

Form form_of(const Module& module, const Op& op) {
  if (is_slice(op)) return Layout(module, op.results[0]).is_shared() ? Form::read : Form::range;
  switch (op.code) {
    case OpCode::map:
      return Layout(module, op.results[0]).is_shared() || stands_alone(module, op) ? Form::read : Form::cell;
    case OpCode::reduce:
      return Layout(module, op.operands[0]).is_shared() ? Form::read : reduce_form(module, op);
    case OpCode::mxv:
    case OpCode::mxvt:
      return is_cut_along_rows(module, product_matrix(op)) ? Form::product : Form::read;
    default:
      return is_fold(op) && (!gives_entries(op) || goes_along_rows(module, op)) ? Form::fold : Form::read;
  }
}

// Holds if one of a fold's sums over coordinates is of points at both sides.
bool has_outer(const Module& module, const Op& fold) {
  const EntryPass pass = entry_pass(module, {&fold, 1});
  return std::any_of(pass.sums.begin(), pass.sums.end(), [&](const ScalarFunction& sum) {
    const auto reads = [&](bool across) {
      for (size_t i = 0; i < pass.operands.size(); ++i) {
        const EntryPass::Operand& operand = pass.operands[i];
        if (operand.is_point() && operand.across == across && uses_param(sum.body, static_cast<int>(i) + 1))
          return true;
      }
      return false;
    };
    return reads(true) && reads(false);
  });
}

// The elements over which an operator runs, or for which a value is stored: owned ones, or also the ghosts of a set.
using Range = SlaveSet;
Range stored_range(const State& state) { return state.is_part() || !state.placed() ? Range{} : state.slaves; }

Range read_range(const Module& module, const Op& op, ValueId operand) {
  const State& state = module.type(operand).state;
  if (op.code == OpCode::map || is_view(op)) return stored_range(module.type(op.results.at(0)).state);
  if (op.code == OpCode::reduce) return state.is_pre() ? state.slaves : Range{};
  return is_dense_product(module, op) ? Range{} : stored_range(state);
}

class BlockReader {
 public:
  BlockReader(const Module& module, const Block& block, const std::vector<int>& uses, const TimeCase& in)
      : module_(module), block_(block), uses_(uses), in_(in), costs_(cost_context(module)) {
    node_of_.assign(module.values.size(), no_node);
  }

  BlockDag read(const std::string& title) {
    for (const Op& op : block_.ops) read_what_others_make(op);
    BlockDag made{title, &block_, {}, {}};
    for (size_t i = 0; i < block_.ops.size(); ++i) {
      const Form form = form_of(module_, block_.ops[i]);
      if (form == Form::read) continue;
      cover(block_.ops[i], form);
      made.places.resize(dag_.size(), -1);
      made.places.back() = static_cast<int>(i);
    }
    mark_escapes();
    find_waits();
    made.dag = std::move(dag_);
    return made;
  }

 private:
  // Adds nodes of form read: operands of covered operators that no covered one of this block makes.
  void read_what_others_make(const Op& op) {
    if (form_of(module_, op) == Form::read) return;
    for (const ValueId operand : operands(op)) {
      if (made_.contains(operand) || node_of(operand) != no_node) continue;
      Node node;
      node.op = "read";
      describe(node, operand);
      node_of(operand) = dag_.add(std::move(node));
    }
    made_.insert(op.results.begin(), op.results.end());
  }

  void cover(const Op& op, Form form) {
    const ValueId result = op.results.at(0);
    Node node;
    node.form = form;
    node.op = name_of(op);
    describe(node, result);
    for (const ValueId operand : operands(op)) {
      node.inputs.push_back(node_of(operand));
      node.apart.push_back(made_.contains(operand) &&
                           stored_range(module_.type(operand).state) != read_range(module_, op, operand));
    }
    if ((is_product(op) || is_fold(op)) && !gives_rows(op)) node.inputs[0] = iteration(node.inputs[0]);
    node.outer = is_fold(op) && has_outer(module_, op);
    node.by_rows = goes_along_rows(module_, op);
    node.hands_on = hands_ghosts_on(module_, op);
    node.stores = gives_entries(op);
    node.visits = visits_entries(module_, op);
    node.seconds = seconds(work_of(costs_, op));
    node.in_rows = std::max(0.0, seconds(work_in_rows(costs_, op)) - node.seconds);
    node_of(result) = dag_.add(std::move(node));
  }

  // Each product has its own view: sharing it would gain nothing.
  NodeId iteration(NodeId matrix) {
    Node view;
    view.form = Form::transpose;
    view.op = "t";
    view.inputs = {matrix};
    view.shape = {dag_[matrix].shape.cols, dag_[matrix].shape.rows};
    view.bytes = dag_[matrix].bytes;
    view.sparsity = dag_[matrix].sparsity;
    return dag_.add(std::move(view));
  }

  // In the paper's order: A, then B. Numbers that belong to no index are no inputs.
  [[nodiscard]] std::vector<ValueId> operands(const Op& op) const {
    if (is_product(op)) return {op.operands.at(1), op.operands.at(0)};
    std::vector<ValueId> arrays;
    for (const ValueId operand : op.operands) {
      if (!module_.type(operand).dims.empty()) arrays.push_back(operand);
    }
    return arrays;
  }

  void describe(Node& node, ValueId value) {
    const Type& type = module_.type(value);
    node.name = module_.value(value).name;
    if (!type.dims.empty()) node.shape.rows = axis({type.dims[0]});
    if (type.dims.size() > 1) node.shape.cols = axis({type.dims.begin() + 1, type.dims.end()});
    if (type.sparse) {
      const double entries = number(costs_.entries(value));
      node.bytes = entries * static_cast<double>(coordinate_bytes + type.element.bytes());
      node.sparsity = std::min(most_stored, entries / std::max(1.0, node.shape.cells()));
    } else if (type.compressed) {
      node.bytes = number(Polynomial(Symbol{SymbolKind::compressed, costs_.matrix_name(value), {}, -1}));
    } else if (is_distributed_array(module_, value)) {
      node.bytes = number(whole_elements(module_, type)) * static_cast<double>(type.element.bytes());
    }
  }

  // Several dimensions together are one axis.
  Axis axis(const std::vector<DimId>& dims) {
    const auto [place, fresh] = axes_.try_emplace(dims, Axis{static_cast<int>(axes_.size()), 1});
    if (fresh) {
      Type type;
      type.dims = dims;
      place->second.size = number(whole_elements(module_, type));
    }
    return place->second;
  }

  [[nodiscard]] double number(const Polynomial& polynomial) const {
    const auto value = in_.value(polynomial);
    if (!value) throw InternalError("a fusion DAG without a size");
    return *value;
  }

  [[nodiscard]] double seconds(const Work& work) const {
    const auto value = computing(work, in_);
    if (!value) throw InternalError("a fusion DAG without a size");
    return value->seconds;
  }

  [[nodiscard]] std::string name_of(const Op& op) const {
    const std::string name(row(op.code).name);
    return op.fns.empty() || is_product(op) ? name : fmt::format("{}[{}]", name, module_.fn(op.fns.at(0)).name);
  }

  // Uses by anything but this block's covered operators.
  void mark_escapes() {
    std::vector<int> left = uses_;
    for (const Op& op : block_.ops) {
      if (form_of(module_, op) == Form::read) continue;
      for (const ValueId operand : op.operands) --left[static_cast<size_t>(operand)];
    }
    for (const ValueId value : made_) dag_[node_of(value)].escapes = left[static_cast<size_t>(value)] > 0;
  }

  // Numbers are no inputs of a node, but may come from others.
  [[nodiscard]] std::vector<NodeId> waits_of(const Op& op, const std::map<ValueId, std::set<NodeId>>& behind) const {
    std::set<NodeId> needs;
    for (const ValueId operand : op.operands) {
      const auto at = behind.find(operand);
      if (module_.type(operand).dims.empty() && at != behind.end()) needs.insert(at->second.begin(), at->second.end());
    }
    return {needs.begin(), needs.end()};
  }

  // Through transitions, control and the like, values that are read may come from nodes of this DAG.
  void find_waits() {
    std::map<ValueId, std::set<NodeId>> behind;
    for (const Op& op : block_.ops) {
      const bool covered = form_of(module_, op) != Form::read;
      std::set<NodeId> needs;
      for_each_operand(op, [&](ValueId operand) {
        if (made_.contains(operand)) needs.insert(node_of(operand));
        const auto at = behind.find(operand);
        if (at != behind.end()) needs.insert(at->second.begin(), at->second.end());
      });
      if (covered) {
        dag_[node_of(op.results[0])].waits = waits_of(op, behind);
        continue;
      }
      for (const ValueId result : op.results) {
        behind[result] = needs;
        if (node_of(result) != no_node) dag_[node_of(result)].waits.assign(needs.begin(), needs.end());
      }
    }
  }

  NodeId& node_of(ValueId value) { return node_of_[value]; }

  const Module& module_;
  const Block& block_;
  const std::vector<int>& uses_;
  const TimeCase& in_;
  CostContext costs_;
  IdMap<ValueId, NodeId> node_of_;
  std::set<ValueId> made_;  // results of this block's covered operators, so far or all
  std::map<std::vector<DimId>, Axis> axes_;
  Dag dag_;
};

// Collects blocks with their titles, outermost first.
void collect(const Block& block, const std::string& title, std::vector<std::pair<std::string, const Block*>>& blocks) {
  blocks.emplace_back(title, &block);
  for (const Op& op : block.ops) {
    if (op.code == OpCode::region) continue;
    for (size_t i = 0; i < op.blocks.size(); ++i) {
      const std::string name = i == 0 ? std::string(row(op.code).name) : "else";
      collect(op.blocks[i], fmt::format("{} at {}:{}", name, op.where.line, op.where.column), blocks);
    }
  }
}

}  // namespace

std::vector<BlockDag> fusion_dags(const Module& module, const TimeCase& in) {
  std::vector<std::pair<std::string, const Block*>> blocks;
  collect(module.body, "body", blocks);
  const std::vector<int> uses = count_uses(module);
  std::vector<BlockDag> dags;
  for (const auto& [title, block] : blocks) {
    BlockDag read = BlockReader(module, *block, uses, in).read(title);
    if (read.dag.size() > 0) dags.push_back(std::move(read));
  }
  return dags;
}

}  // namespace kasen::fusion
