#include "libopt/selection/shapes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "libcore/analysis/chain_rules.h"
#include "libcore/analysis/op_boxes.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/rows/row_region.h"

namespace kasen::fusion {
namespace {

using Members = std::span<const Op* const>;
using Results = std::span<const ValueId>;

// Returns the ghosts over which a pre-reduced or consistent value makes an operator run; nothing for owned elements
// alone.
std::optional<SlaveSet> range_of(const State& state) {
  if (state.is_part()) return std::nullopt;
  return state.slaves;
}

// The key of reductions of all elements to one. Reductions over some dimensions have another shape and stand alone.
std::optional<RegionKey> reduce_key(const Module& module, const Op& op) {
  const Type& type = module.type(op.operands[0]);
  if (Layout(module, type).is_shared() || !module.type(op.results[0]).dims.empty()) return std::nullopt;
  const bool slaves_count = type.state.is_pre();
  return RegionKey{type.dims, slaves_count ? range_of(type.state) : std::nullopt};
}

// Over a mesh: of operators that copy nothing to run. A reduction that nobody gathers is known at once, and its readers
// would join it. So it stands alone, as do readers of one that still waits for others' contributions.
std::optional<RegionKey> box_key(const Module& module, const Op& op) {
  const auto is_waiting = [&](ValueId v) { return module.type(v).dims.empty() && module.type(v).state.is_pre(); };
  if (op.code == OpCode::reduce && !module.type(op.results.at(0)).state.is_pre()) return std::nullopt;
  if (std::any_of(op.operands.begin(), op.operands.end(), is_waiting)) return std::nullopt;
  const bool made = row(op.code).group == OpGroup::vector && module.type(op.results.at(0)).state.placed();
  std::optional<Box> box = made ? loop_box(module, op) : std::nullopt;
  if (!box) return std::nullopt;
  return RegionKey{{}, std::nullopt, no_value, std::nullopt, false, *std::move(box)};
}

// Returns true if all go over one matrix in one way.
bool have_one_pass(const Module& module, Members members, bool boxes) {
  const std::optional<RegionKey> first = product_key(module, *members[0], boxes);
  return first && std::all_of(members.begin(), members.end(),
                              [&](const Op* op) { return product_key(module, *op, boxes) == first; });
}

// All go over one space: owned elements alone, or these beside the ghosts of one set too. What hands ghosts on stands
// beside what computes on them.
bool is_loop_over_elements(const Module& module, Members members, Results /*results*/, bool boxes) {
  std::optional<RegionKey> common;
  std::optional<SlaveSet> ghosts;
  bool hands_on = false, computes = false;
  for (const Op* op : members) {
    std::optional<RegionKey> key = vector_key(module, *op, boxes);
    if (!key || (key->slaves && ghosts && *key->slaves != *ghosts)) return false;
    hands_on = hands_on || key->hands_on;
    computes = computes || (key->slaves && !key->hands_on);
    if (key->slaves) ghosts = std::exchange(key->slaves, std::nullopt);
    key->hands_on = false;
    if (common && *common != *key) return false;
    common = std::move(key);
  }
  return computes || !hands_on;
}

// None needs another's result.
bool is_pass_over_matrix(const Module& module, Members members, Results /*results*/, bool boxes) {
  std::vector<ValueId> made;
  for (const Op* op : members) made.insert(made.end(), op->results.begin(), op->results.end());
  const bool folds = std::any_of(members.begin(), members.end(), [](const Op* op) { return is_fold(*op); });
  return have_one_pass(module, members, boxes) && std::none_of(members.begin(), members.end(), [&](const Op* op) {
           const auto needs = [&](ValueId operand) { return contains(made, operand); };
           const bool alone = folds ? !joins_folds(module, *op) : has_columns(module, *op);
           return alone || std::any_of(op->operands.begin(), op->operands.end(), needs);
         });
}

// Work that reads a chain's matrix itself is there for products with it alone, as in X' (w * X). All else would be
// transposed to be stored, and a region of rows stores it as it is.
bool serves_products(const Op& work, ValueId matrix, Members members, Results results) {
  if (!contains(work.operands, matrix)) return true;
  const auto reads = [&](const Op* op) { return contains(op->operands, work.results[0]); };
  return std::find(results.begin(), results.end(), work.results[0]) == results.end() &&
         std::all_of(members.begin(), members.end(), [&](const Op* op) {
           return !reads(op) || (op->code == OpCode::mxv && op->operands[0] != matrix);
         });
}

// Returns true for products with one dense matrix and work on its rows (verify/regions.cpp, row_chain).
bool is_chain(const Module& module, Members members, Results results, bool /*boxes*/) {
  const auto product = std::find_if(members.begin(), members.end(), [](const Op* op) { return is_product(*op); });
  if (product == members.end()) return false;
  const ValueId matrix = product_matrix(**product);
  const DimId rows = module.type(matrix).dims.at(0);
  return std::all_of(members.begin(), members.end(), [&](const Op* op) {
    return is_product(*op)
               ? product_matrix(*op) == matrix && may_stand_in_chain(module, *op)
               : may_follow_chain(module, *op, rows, matrix) && serves_products(*op, matrix, members, results);
  });
}

// Returns true for work on the rows over one dimension (libcore/rows/row_region.h), of which none needs another's
// total.
bool is_row_work(const Module& module, Members members, Results /*results*/, bool boxes) {
  const DimId rows = boxes ? no_dim : worked_rows(module, *members[0]);
  std::vector<ValueId> made, totals;
  ValueId sparse = no_value;
  for (const Op* op : members) {
    if (!reason_against_rows(module, *op, rows).empty()) return false;
    const ValueId matrix = sparse_rows(module, *op);
    if (matrix != no_value && sparse != no_value && matrix != sparse) return false;
    if (matrix != no_value) sparse = matrix;
    const auto waits = [&](ValueId v) { return contains(totals, v); };
    if (std::any_of(op->operands.begin(), op->operands.end(), waits)) return false;
    if (is_slice(*op) && contains(made, range_begin(*op))) return false;
    if (op->code == OpCode::mxvt && contains(made, op->operands[0])) return false;
    made.insert(made.end(), op->results.begin(), op->results.end());
    if (is_total(*op, rows)) totals.push_back(op->results[0]);
  }
  return true;
}

constexpr std::array shapes{
    RegionShape{RegionKind::iter_on_vec, is_loop_over_elements},
    RegionShape{RegionKind::mxm, is_pass_over_matrix},
    RegionShape{RegionKind::row_chain, is_chain},
    RegionShape{RegionKind::rows, is_row_work},
};

constexpr size_t other_kinds = 2;  // product_epilogue, blocks
#define REGION(kind, entry, in_place, pass, holds) +1
static_assert(shapes.size() + other_kinds == 0
#include "libcore/ir/regions.def"
);
#undef REGION

}  // namespace

// A slice is read where its array lies. (A distributed matrix is transposed by itself.)
std::optional<RegionKey> vector_key(const Module& module, const Op& op, bool boxes) {
  if (boxes) return box_key(module, op);
  if (op.code == OpCode::reduce) return reduce_key(module, op);
  if (op.code != OpCode::map && !is_slice(op)) return std::nullopt;
  const Type& type = module.type(op.results[0]);
  if (Layout(module, type).is_shared() || !type.state.placed()) return std::nullopt;
  RegionKey key{type.dims, range_of(type.state)};
  if (op.code == OpCode::map && type.state.is_pre()) {
    const LawUse* law = law_in_force(module, op);
    if (law == nullptr) return std::nullopt;
    key.hands_on = law->kind == LawKind::pushdown;
  }
  return key;
}

// A stored matrix has a form for each direction and space of its operands; one pass over a dense one serves both.
std::optional<RegionKey> product_key(const Module& module, const Op& op, bool boxes) {
  if (boxes || (!is_product(op) && !is_fold(op)) || gives_entries(op)) return std::nullopt;
  if (is_dense_product(module, op)) {
    if (!shares_dense_pass(module, op)) return std::nullopt;
    return RegionKey{{}, std::nullopt, op.operands[1]};
  }
  if (is_product(op) && has_columns(module, op) && !joins_folds(module, op)) return std::nullopt;
  const State& state = module.type(is_fold(op) ? across_operand(module, op) : op.operands[0]).state;
  if (has_whole_lines(module, module.type(product_matrix(op)))) {
    if (!state.placed() || state.is_pre()) return std::nullopt;
    return RegionKey{{}, SlaveSet{}, product_matrix(op), gives_rows(op) ? OpCode::mxvt : OpCode::mxv};
  }
  if (!state.is_cons()) return std::nullopt;
  return RegionKey{{}, state.slaves, product_matrix(op), gives_rows(op) ? OpCode::mxvt : OpCode::mxv};
}

std::span<const RegionShape> region_shapes() { return shapes; }

std::optional<RegionKind> kind_of_region(const Module& module, Members members, Results results, bool boxes) {
  for (const RegionShape& shape : shapes) {
    if (shape.holds(module, members, results, boxes)) return shape.kind;
  }
  return std::nullopt;
}

// The matrix is in memory; products read it, and maps, as a row's few elements.
bool may_follow_chain(const Module& module, const Op& op, DimId rows, ValueId matrix) {
  if (contains(op.results, matrix) || (op.code != OpCode::map && contains(op.operands, matrix))) return false;
  const bool reduces = op.code == OpCode::reduce;
  if (!reduces && op.code != OpCode::map && !is_slice(op)) return false;
  const Type& along = module.type(reduces ? op.operands[0] : op.results[0]);
  const bool on_masters = reduces ? !along.state.is_pre() : along.state.is_part();
  return on_masters && Layout(module, along).cut() == rows && !makes_whole(module, op) &&
         follows_chain_rows(module, op, rows);
}

}  // namespace kasen::fusion
