#include "libopt/cost/work.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/base/checked.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/rows/row_region.h"
#include "libcore/scalar/keyed.h"
#include "libcore/scalar/loops.h"
#include "libopt/cost/extent.h"
#include "libopt/cost/reach.h"

namespace kasen {
namespace {

// Numbers the subexpressions of one function so that equal ones have one number, and counts each new one.
class Counter {
 public:
  explicit Counter(const std::vector<bool>& varies) : varies_(varies) {}

  int number(const Expr& expr) {
    std::vector<int> args;
    Found found;
    const bool loops = is_coordinate_loop(expr.op);
    const auto outer = loops_;
    if (loops) loops_[expr.index] = expr.count;
    for (const Expr& arg : expr.args) {
      args.push_back(number(arg));
      const Found& below = found_[static_cast<size_t>(args.back())];
      found.varies = found.varies || below.varies;
      found.iterations.insert(below.iterations.begin(), below.iterations.end());
    }
    loops_ = outer;
    if (expr.op == ScalarOp::param) found.varies = varies_.at(static_cast<size_t>(expr.index));
    const std::int64_t iterations = expr.op == ScalarOp::loop_var ? loops_.at(expr.index) : expr.count;
    const Key key{expr.op, expr.type, expr.literal.i, expr.index, iterations, std::move(args)};
    const auto [place, fresh] = numbers_.try_emplace(key, static_cast<int>(found_.size()));
    if (!fresh) return place->second;
    if (found.varies) count(expr, found.iterations);
    if (loops) found.iterations.erase({expr.index, expr.count});
    if (expr.op == ScalarOp::loop_var) found.iterations.insert({expr.index, iterations});
    found_.push_back(std::move(found));
    return place->second;
  }

  OperationCounts counts{};

 private:
  using Turns = std::set<std::pair<int, std::int64_t>>;  // loops by their variable, each with its number of iterations
  struct Found {
    bool varies = false;
    Turns iterations;  // the loops on whose variables it depends
  };
  using Key = std::tuple<ScalarOp, ElementType, std::int64_t, int, std::int64_t, std::vector<int>>;

  void count(const Expr& expr, Turns iterations) {
    const ElementType& operand = expr.args.empty() ? expr.type : expr.args[0].type;
    const ScalarWork work = work_of(expr.op, operand.scalar());
    if (is_coordinate_loop(expr.op)) iterations.insert({expr.index, expr.count});
    std::int64_t times = 1;
    for (const auto& [variable, trips] : iterations) times = checked_mul(times, trips, "operations of a function");
    std::int64_t& sum = counts.at(static_cast<size_t>(work));
    if (work != ScalarWork::nothing) sum = checked_add(sum, times, "operations of a function");
  }

  const std::vector<bool>& varies_;
  std::map<int, std::int64_t> loops_;
  std::map<Key, int> numbers_;
  std::vector<Found> found_;
};

std::int64_t coefficients(const Polynomial& polynomial) {
  std::int64_t sum = 0;
  for (const auto& [monomial, coefficient] : polynomial.terms()) sum = checked_add(sum, coefficient, "coefficients");
  return sum;
}

void add(Work& work, const OperationCounts& counts, const Polynomial& times) {
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts.at(i) != 0) work.operations.at(i) += times * Polynomial(counts.at(i));
  }
}

// One application counts for each element of the result, or of the reduced operand.
Work elementwise_work(const CostContext& c, const Op& op) {
  Work work;
  const Module& module = *c.module;
  const bool reduces = op.code == OpCode::reduce;
  const ValueId along = reduces ? op.operands.at(0) : op.results.at(0);
  if (is_view(op) || c.type(along).dims.empty()) return work;  // it only reads; it works on single values
  std::vector<bool> varies;
  for (const ValueId operand : op.operands) varies.push_back(!c.type(operand).dims.empty());
  if (reduces) varies.assign(2, true);
  const Polynomial elements =
      c.boxes ? c.boxes->stored(along) : computed_indices(c, op) * inner_elements(module, c.type(along));
  add(work, operations_of(module.fn(op.fns.at(0)), varies), elements);
  return work;
}

// The function runs for each element but the first of a line, or for each with a key. Where lines are cut, it runs once
// more for what elements take up.
Work scan_work(const CostContext& c, const Op& op) {
  Work work;
  const ValueId made = is_grouping(op) ? op.operands[walked_operand(*c.module, op)] : op.results.at(0);
  const Polynomial elements =
      c.boxes ? c.boxes->stored(made) : computed_indices(c, op) * inner_elements(*c.module, c.type(made));
  const Polynomial times(carried_axes(*c.module, op) == 0 ? 1 : 2);
  add(work, operations_of(c.module->fn(op.fns.at(0)), {true, true}), elements * times);
  return work;
}

// How many workers compute each tuple of a contraction's indices: those along axes of the mesh that cut no label.
Polynomial repeats(const Module& module, const Op& op) {
  std::vector<State> states;
  for (const ValueId v : op.operands) states.push_back(module.type(v).state);
  MeshAxes cut = 0;
  for (const auto& [label, axes] : contraction(module, op, states).cuts) cut |= axes;
  if (module.mesh.empty()) return cut == 0 ? Polynomial(Symbol{SymbolKind::workers, "", {}, -1}) : Polynomial(1);
  Polynomial times(1);
  for (size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if ((cut & (MeshAxes{1} << axis)) == 0) times = times * Polynomial(module.mesh[axis].size);
  }
  return times;
}

// The multiplier and the reducer run for each tuple of indices.
Work contraction_work(const CostContext& c, const Op& op) {
  Work work;
  const Module& module = *c.module;
  const Labels labels = labels_of(module, op);
  Type all;
  for (const char label : labels.result + labels.summed()) {
    all.dims.push_back(label_dim(module, op, labels, label));
  }
  const Polynomial tuples = whole_elements(module, all) * repeats(module, op);
  if (is_onto(op))
    add(work, operations_of(module.fn(op.fns[1]), {true, true}), whole_elements(module, c.type(op.results[0])));
  if (reduces_terms(op) && multiplies_and_adds(module, op)) {
    work.operations.at(static_cast<size_t>(ScalarWork::term)) += tuples;
    return work;
  }
  for (const FnId fn : op.fns) add(work, operations_of(module.fn(fn), {true, true}), tuples);
  return work;
}

// The multiplier and the reducer run for each nonzero. A dense matrix's vector is read in order.
Work product_work(const CostContext& c, const Op& op) {
  if (c.boxes) return contraction_work(c, op);
  Work work;
  const Module& module = *c.module;
  const ValueId vector = op.operands.at(0), matrix = op.operands.at(1);
  const Polynomial entries = c.entries(matrix) * column_elements(module, op);
  if (is_ordinary_dense_product(module, op)) {
    work.operations.at(static_cast<size_t>(ScalarWork::term)) += entries;
    return work;
  }
  for (const FnId fn : op.fns) add(work, operations_of(module.fn(fn), {true, true}), entries);
  if (!c.type(matrix).sparse) return work;
  const ElementType& element = c.type(vector).element;
  const Polynomial& reads = entries;
  work.entries = reads * Polynomial(element.planes());
  work.entry_bytes = reads * Polynomial(element.bytes());
  work.span =
      stored_lines(module, c.type(vector)) * point_elements(module, c.type(vector)) * Polynomial(element.bytes());
  work.reads = axis_read(module, op);
  return work;
}

// The functions run for each nonzero, and a reducer for each column of its result. What several functions have in
// common is computed once, and each operand is read once.
Work entries_work(const CostContext& c, std::span<const Op> ops) {
  Work work;
  const Module& module = *c.module;
  const EntryPass pass = entry_pass(module, ops);
  const Polynomial entries = c.entries(pass.matrix);
  const auto add_function = [&](const ScalarFunction& fn) {
    add(work, operations_of(fn, std::vector<bool>(fn.params.size(), true)), entries);
  };
  for (ScalarFunction sum : pass.sums) {
    Expr& body = sum.body;
    body = make_loop(ScalarOp::sum_over, body.index, body.count, Expr(body.args[0]));
    add_function(sum);
  }
  for (const ScalarFunction& fn : pass.once) add_function(fn);
  for (const EntryPass::Result& result : pass.results) {
    add_function(result.function);
    if (pass.stores) continue;
    const Polynomial columns = point_elements(module, c.type(result.value));
    add(work, operations_of(module.fn(result.reducer), {true, true}), entries * columns);
  }
  for (const EntryPass::Operand& operand : pass.operands) {
    if (!operand.across) continue;
    const Type& type = c.type(operand.value);
    const Polynomial bytes = point_elements(module, type) * Polynomial(type.element.bytes());
    work.entries += entries * Polynomial(type.element.planes());
    work.entry_bytes += entries * bytes;
    work.span += stored_lines(module, type) * bytes;
  }
  work.reads = axis_read(module, ops[0]);
  return work;
}

// The sums of a region by numbers of one key, such as the points of each cluster. A kernel makes them in one pass, in
// which each element is added once, so that all but one of them are free (libkernels/emit/keyed_sums.h).
std::set<ValueId> free_sums(const CostContext& c, const Block& block) {
  struct Sum {
    KeyedBody body;
    const Op *map, *reduce;
  };
  const Module& module = *c.module;
  std::map<ValueId, const Op*> makers;
  std::map<ValueId, int> uses;
  for (const Op& op : block.ops) {
    if (op.code == OpCode::map) makers[op.results[0]] = &op;
    for (const ValueId operand : op.operands) ++uses[operand];
  }
  std::vector<std::map<std::int64_t, Sum>> groups;  // by number
  for (const Op& op : block.ops) {
    if (op.code != OpCode::reduce || uses.at(op.operands[0]) > 1 || !makers.contains(op.operands[0])) continue;
    const Op& map = *makers.at(op.operands[0]);
    const std::optional<KeyedBody> body = as_keyed(module.fn(map.fns[0]).body);
    if (!body || !may_be_keyed(*body)) continue;
    const auto alike = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      const Sum& other = group.begin()->second;
      return *other.body.key == *body->key && *other.body.value == *body->value &&
             other.map->operands == map.operands && other.reduce->fns[0] == op.fns[0];
    });
    auto& group = alike == groups.end() ? groups.emplace_back() : *alike;
    group.emplace(body->number, Sum{*body, &map, &op});
  }
  std::set<ValueId> free;
  for (const auto& group : groups) {
    const auto count = std::ssize(group);
    if (count < least_keyed || group.rbegin()->first - group.begin()->first != count - 1) continue;
    for (auto it = std::next(group.begin()); it != group.end(); ++it)
      free.insert({it->second.map->results[0], it->second.reduce->results[0]});
  }
  return free;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  for (size_t i = 0; i < operations.size(); ++i) operations.at(i) += other.operations.at(i);
  entries += other.entries;
  entry_bytes += other.entry_bytes;
  if (coefficients(other.span) > coefficients(span)) {
    span = other.span;
    reads = other.reads;
  }
  return *this;
}

bool Work::is_zero() const {
  return entries.is_zero() &&
         std::all_of(operations.begin(), operations.end(), [](const Polynomial& p) { return p.is_zero(); });
}

OperationCounts operations_of(const ScalarFunction& fn, const std::vector<bool>& varies) {
  Counter counter(varies);
  (void)counter.number(fn.body);
  return counter.counts;
}

Work work_of(const CostContext& context, const Op& op) {
  if (op.code == OpCode::region) {
    if (holds_fold(op)) return entries_work(context, entry_operators(op));
    Work work;
    const std::set<ValueId> free = free_sums(context, op.blocks.at(0));
    for (const Op& member : op.blocks.at(0).ops) {
      if (!member.results.empty() && free.contains(member.results[0])) continue;
      work += op.kind == RegionKind::rows ? work_in_rows(context, member) : work_of(context, member);
    }
    return work;
  }
  switch (row(op.code).group) {
    case OpGroup::vector:
      return elementwise_work(context, op);
    case OpGroup::axis:
      return op.code == OpCode::scan || is_grouping(op) ? scan_work(context, op) : Work();
    case OpGroup::entries:
      return entries_work(context, {&op, 1});
    case OpGroup::product:
      return product_work(context, op);
    case OpGroup::contraction:
      return contraction_work(context, op);
    default:
      return {};
  }
}

// A product by itself has its rows sorted by length, and takes several at once. In a region of rows each row ends where
// no processor foresees it, which takes as long as some reads. Totals over the columns are added to as if they were
// read.
Work work_in_rows(const CostContext& context, const Op& op) {
  constexpr std::int64_t reads_of_a_row = 3;
  Work work = work_of(context, op);
  const Module& module = *context.module;
  const bool goes =
      op.code == OpCode::fold_cols || op.code == OpCode::mxv || (op.code == OpCode::mxvt && !has_columns(module, op));
  const DimId rows = goes && sparse_rows(module, op) != no_value ? worked_rows(module, op) : no_dim;
  if (rows == no_dim) return work;
  work.entries += Polynomial(Symbol{SymbolKind::size, module.dim(rows).name, {}, -1}) * Polynomial(reads_of_a_row);
  if (op.code == OpCode::fold_cols) work.entries += context.entries(product_matrix(op));
  if (op.code == OpCode::mxv) {
    const Type& total = context.type(op.results.at(0));
    work.span = stored_lines(module, total) * point_elements(module, total) * Polynomial(total.element.bytes());
    work.reads = std::nullopt;
  }
  return work;
}

}  // namespace kasen
