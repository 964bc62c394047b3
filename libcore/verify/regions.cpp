// Level 3: checks the contents of regions, and that a region's operands are the values that it reads from outside.
#include "libcore/ir/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "libcore/analysis/chain_rules.h"
#include "libcore/analysis/op_boxes.h"
#include "libcore/analysis/whole.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/rows/row_region.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

constexpr size_t row_count = 0
#define REGION(kind, entry, in_place, pass, holds) +1  // NOLINT(bugprone-macro-parentheses): one term of a sum
#include "libcore/ir/regions.def"
#undef REGION
    ;

class RegionCheck {
 public:
  RegionCheck(const Module& module, Faults& faults) : m_(module), faults_(faults) {}

  void block(const Block& b) {
    for (const Op& op : b.ops) {
      if (op.code == OpCode::region) {
        region(op);
        continue;
      }
      for (const Block& inner : op.blocks) block(inner);
    }
  }

 private:
  using Check = void (RegionCheck::*)(const Op&);

  void region(const Op& op) {
    static constexpr std::array<Check, row_count> checks{
#define REGION(kind, entry, in_place, pass, holds) &RegionCheck::kind,
#include "libcore/ir/regions.def"
#undef REGION
    };
    if (op.blocks[0].ops.size() < 2) return faults_.add(op, "a region without operators");
    if (is_blocks(op)) return;  // verify_blocks
    for (const Op& inner : op.blocks[0].ops) {
      if (!inner.blocks.empty()) return faults_.add(inner, "an operator with blocks inside of a region");
    }
    operands(op);
    yielded(op);
    (this->*checks[static_cast<size_t>(op.kind)])(op);
  }

  void blocks(const Op&) {}  // verify_blocks

  // The operands are exactly the values from outside that are used inside, in the order of their first use.
  void operands(const Op& op) {
    std::vector<ValueId> made, outside;
    for (const Op& inner : op.blocks[0].ops) {
      for (const ValueId id : inner.operands) {
        if (!contains(made, id) && !contains(outside, id)) outside.push_back(id);
      }
      made.insert(made.end(), inner.results.begin(), inner.results.end());
    }
    if (outside == op.operands) return;
    std::string names;
    for (const ValueId id : outside) names += (names.empty() ? "" : ", ") + value_text(m_, id);
    faults_.add(op, "its operands are not the values that it reads",
                fmt::format("in order of first use it reads ({})", names));
  }

  void yielded(const Op& op) {
    std::vector<ValueId> made;
    for (const Op& inner : op.blocks[0].ops) made.insert(made.end(), inner.results.begin(), inner.results.end());
    for (const ValueId id : op.blocks[0].ops.back().operands) {
      if (!contains(made, id)) faults_.add(op, value_text(m_, id) + " is handed on, but not made inside");
    }
  }

  // The dimension along which the operator runs; no_dim if there is none.
  [[nodiscard]] DimId runs_along(const Op& op) const {
    return Layout(m_, op.code == OpCode::reduce ? op.operands[0] : op.results[0]).cut();
  }

  // Checks map and reduce over `dim`. None of them may read a shared that the region itself reduces.
  void vector_work(const Op& op, std::span<const Op> ops, DimId dim) {
    std::vector<ValueId> reduced;
    for (const Op& inner : ops) vector_work(op, inner, dim, reduced);
  }

  // Checks one of them; `reduced` has the results of the reductions before it.
  void vector_work(const Op& op, const Op& inner, DimId dim, std::vector<ValueId>& reduced) {
    if (!may_follow_elements(op, inner)) return;
    if (is_slice(inner)) slice_of(op, inner);
    if (runs_along(inner) == no_dim || runs_along(inner) != dim) {
      faults_.add(inner, "it runs over another dimension than its region",
                  dim == no_dim ? "" : fmt::format("the region runs over {}", m_.dim(dim).name));
    }
    if (makes_whole(m_, inner)) {
      faults_.add(inner, "it may not stand in a region", "a reduction to an array that is made whole runs alone");
    }
    after_loop(inner, reduced);
    const bool of_a_row = is_row_chain(op) && Layout(m_, inner.results[0]).is_distributed();
    if (inner.code == OpCode::reduce && !of_a_row) reduced.push_back(inner.results[0]);
  }

  bool may_follow_elements(const Op& region, const Op& inner) {
    if (inner.code == OpCode::map || inner.code == OpCode::reduce || is_slice(inner)) return true;
    faults_.add(inner, fmt::format("it may not stand in a region {}", region_name(region.kind)),
                "only map, reduce, range and at follow the elements of one dimension");
    return false;
  }

  void after_loop(const Op& inner, const std::vector<ValueId>& reduced) {
    for (const ValueId id : inner.operands) {
      if (contains(reduced, id)) {
        faults_.add(inner, value_text(m_, id) + " is a reduction of this region",
                    "it is known only when the loop has ended");
      }
    }
  }

  // The begin of a slice is known before the loop. Elements of a row are available; all others must be in memory.
  void slice_of(const Op& op, const Op& slice) {
    const bool outside = contains(op.operands, viewed(slice)) || is_row_chain(op);
    if (outside && contains(op.operands, range_begin(slice))) return;
    const ValueId made = outside ? range_begin(slice) : viewed(slice);
    faults_.add(slice, value_text(m_, made) + " is made inside of its region", "its elements are read at other places");
  }

  // The ghosts on which an operator computes; none for operators that compute on owned elements only.
  [[nodiscard]] const SlaveSet& slaves_of(const Op& op) const {
    static const SlaveSet none;
    const State& state = m_.type(op.code == OpCode::reduce ? op.operands[0] : op.results[0]).state;
    const bool all = state.is_pre() || (state.is_cons() && op.code != OpCode::reduce);
    return all ? state.slaves : none;
  }

  // One loop runs over one numbering: all operators that compute on ghosts use the same set of ghosts.
  void one_numbering(const Op& op) {
    const SlaveSet* seen = nullptr;
    for (const Op& inner : work(op, 0)) {
      const SlaveSet& here = slaves_of(inner);
      if (here.empty()) continue;
      if (seen != nullptr && *seen != here) {
        faults_.add(inner, "it computes on other slaves than its region", "a loop runs over one set of slaves");
      }
      seen = &here;
    }
  }

  [[nodiscard]] static std::span<const Op> work(const Op& op, size_t from) {
    const std::vector<Op>& ops = op.blocks[0].ops;
    return std::span(ops).subspan(from, ops.size() - 1 - from);
  }

  void iter_on_vec(const Op& op) {
    if (names_layouts(m_)) return over_box(op);
    vector_work(op, work(op, 0), runs_along(op.blocks[0].ops[0]));
    if (faults_.empty()) one_numbering(op);
  }

  // Over a mesh, a loop runs over what each worker stores of its values.
  void over_box(const Op& op) {
    std::optional<Box> loop;
    std::vector<ValueId> reduced;
    for (const Op& inner : work(op, 0)) {
      if (!may_follow_elements(op, inner)) return;
      if (is_slice(inner)) slice_of(op, inner);
      const std::optional<Box> box = loop_box(m_, inner);
      if (!box || (loop && *loop != *box)) {
        return faults_.add(inner, "it runs over another box than its region",
                           "a loop runs over all that a worker stores of its values, which are cut and held alike",
                           "let it stand outside of the region");
      }
      loop = box;
      after_loop(inner, reduced);
      if (inner.code == OpCode::reduce) reduced.push_back(inner.results[0]);
    }
  }

  void mxm(const Op& op) {
    const Op& first = op.blocks[0].ops[0];
    const bool folds = holds_fold(op);
    std::vector<ValueId> made;
    for (const Op& inner : work(op, 0)) {
      if (!is_product(inner) && !is_fold(inner)) {
        faults_.add(inner, "it may not stand in a region mxm", "only products and folds of one matrix do");
        continue;
      }
      if (folds && !joins_folds(m_, inner)) {
        faults_.add(inner, "it may not share a pass over its matrix with folds",
                    gives_entries(inner) ? "it stores a value for each nonzero and goes through them alone"
                                         : "its columns are no points of at most 1024 scalars");
      } else if (!folds && (is_dense_product(m_, inner) || has_columns(m_, inner))) {
        in_one_pass(inner);
      } else if (gives_rows(inner) != gives_rows(first)) {
        faults_.add(inner, fmt::format("{} and {} in one region", row(first.code).name, row(inner.code).name),
                    "they visit the matrix in different order");
      }
      if (product_matrix(inner) != product_matrix(first)) faults_.add(inner, "another matrix than that of its region");
      by_itself(op, inner, made);
      made.push_back(inner.results[0]);
    }
  }

  // A product or fold needs no result of another one, and its own is handed on.
  void by_itself(const Op& region, const Op& inner, const std::vector<ValueId>& made) {
    for (const ValueId id : inner.operands) {
      if (!contains(made, id)) continue;
      faults_.add(inner, value_text(m_, id) + " is a product of this region", "none may need another's result");
    }
    if (!contains(region.blocks[0].ops.back().operands, inner.results[0])) {
      faults_.add(inner, value_text(m_, inner.results[0]) + " is not handed on", "its product is made in vain");
    }
  }

  void in_one_pass(const Op& product) {
    if (shares_dense_pass(m_, product)) return;
    faults_.add(
        product, "it may not share a pass over its matrix",
        "only vectors do, and of a dense matrix those of f64 or f32 that are multiplied and added, with a matrix "
        "that is cut along its rows");
  }

  // Blocks of rows go through the region one after another. A value that needs all blocks is known only at the end.
  // (The state rules check that no product reads such a value.)
  void row_chain(const Op& op) {
    const std::vector<Op>& ops = op.blocks[0].ops;
    const auto product = std::find_if(ops.begin(), ops.end(), is_product);
    if (product == ops.end()) return faults_.add(op, "a row_chain without a product", "", "make it an iter_on_vec");
    const bool brings_rows = std::any_of(ops.begin(), ops.end(), [](const Op& o) { return o.code == OpCode::mxvt; });
    if (brings_rows && ops[0].code != OpCode::mxvt) {
      return faults_.add(op, "it does not begin with mxvt",
                         "a row_chain goes from a product with one result a row to values made of the rows");
    }
    const ValueId matrix = product->operands.at(1);
    const DimId rows = m_.type(matrix).dims.empty() ? no_dim : m_.type(matrix).dims[0];
    std::vector<ValueId> reduced;
    for (const Op& inner : work(op, 0)) {
      if (!is_product(inner)) {
        vector_work(op, inner, rows, reduced);
        if (row(inner.code).group == OpGroup::vector) in_chain(inner, rows, matrix);
      } else {
        chain_product(op, inner, matrix);
      }
    }
  }

  void chain_product(const Op& op, const Op& product, ValueId matrix) {
    if (!may_stand_in_chain(m_, product)) {
      faults_.add(
          product, "it may not stand in a row_chain",
          "only products of f64 or f32 that are multiplied and added do, with a dense matrix that is cut along its "
          "rows, of vectors or of a few columns whose number the program states");
    }
    if (product.operands[1] != matrix) {
      faults_.add(product, "another matrix than that of its region");
    }
    if (product.code == OpCode::mxv && !contains(op.blocks[0].ops.back().operands, product.results[0])) {
      faults_.add(product, value_text(m_, product.results[0]) + " is not handed on", "its product is made in vain");
    }
  }

  // A value that needs all rows is known only at the end.
  void rows(const Op& op) {
    const DimId dim = worked_rows(m_, op.blocks[0].ops[0]);
    std::vector<ValueId> totals;
    for (const Op& inner : work(op, 0)) {
      const std::string why = reason_against_rows(m_, inner, dim);
      if (!why.empty()) return faults_.add(inner, "it may not stand in a region rows", why);
      const ValueId sparse = sparse_rows(m_, inner);
      if (sparse != no_value && sparse != sparse_rows(m_, op))
        faults_.add(inner, "another sparse matrix than that of its region", "blocks have the nonzeros of one matrix");
      after_loop(inner, totals);
      if (is_slice(inner)) begins_outside(op, inner);
      if (inner.code == OpCode::mxvt && !contains(op.operands, inner.operands[0])) {
        faults_.add(inner, value_text(m_, inner.operands[0]) + " is made inside of its region");
      }
      if (!is_total(inner, dim)) continue;
      totals.push_back(inner.results[0]);
      if (contains(op.blocks[0].ops.back().operands, inner.results[0])) continue;
      faults_.add(inner, value_text(m_, inner.results[0]) + " is not handed on", "it is made in vain");
    }
  }

  void begins_outside(const Op& op, const Op& slice) {
    if (contains(op.operands, range_begin(slice))) return;
    faults_.add(slice, value_text(m_, range_begin(slice)) + " is made inside of its region",
                "which elements of a row a slice has is known before the rows");
  }

  void product_epilogue(const Op& op) {
    const std::vector<Op>& ops = op.blocks[0].ops;
    if (ops.size() < 3 || !is_product(ops[0]) || ops[1].code != OpCode::gather || ops[1].operands != ops[0].results) {
      return faults_.add(op, "it does not begin with one product and its gather",
                         "then follows the vector work of each row");
    }
    if (is_dense_product(m_, ops[0])) {
      faults_.add(ops[0], "a product with a dense matrix may not stand in a region product_epilogue",
                  "its rows are not computed one by one");
    } else if (has_columns(m_, ops[0])) {
      faults_.add(ops[0], "a product of several columns may not stand in a region product_epilogue",
                  "one element follows each row");
    }
    const ValueId product = ops[0].results[0];
    for (size_t i = 2; i < ops.size(); ++i) {
      if (contains(ops[i].operands, product)) {
        faults_.add(ops[i], value_text(m_, product) + " is used before it is gathered",
                    "only the gather reads the product");
      }
    }
    vector_work(op, work(op, 2), Layout(m_, ops[1].results[0]).cut());
    for (const Op& inner : work(op, 2)) behind_a_row(inner);
    const BufferId waiting = m_.value(product).buffer;
    if (waiting != m_.value(ops[1].results[0]).buffer) {
      faults_.add(ops[1], "it does not work in place", "rows wait in place for the contributions of others",
                  fmt::format("give {} the buffer of {}", value_text(m_, ops[1].results[0]), value_text(m_, product)));
    }
  }

  void on_masters(const Op& op) {
    const bool reduces = op.code == OpCode::reduce;
    const State& state = m_.type(reduces ? op.operands[0] : op.results[0]).state;
    if (reduces ? state.is_pre() : !state.is_part()) {
      faults_.add(op, "it computes on slaves as well", "rows of a product are followed by work on masters");
    }
  }

  // A row gives one element, or a few. Work that also touches ghosts runs apart.
  void in_chain(const Op& op, DimId rows, ValueId matrix) {
    on_masters(op);
    if (op.code != OpCode::map && contains(op.operands, matrix)) {
      return faults_.add(op, "it reads its region's matrix", "only products and maps do in a row_chain");
    }
    if (contains(op.results, matrix)) {
      return faults_.add(op, "it makes its region's matrix", "a row_chain reads its matrix from memory");
    }
    if (runs_along(op) != rows || follows_chain_rows(m_, op, rows)) return;
    faults_.add(
        op, "it may not follow the rows of a row_chain",
        "a row has one element, or scalars over one local dimension of known size up to 64, which +, *, min or max "
        "reduce");
  }

  // A row gives one owned element. Work that also touches ghosts, or several elements a row, runs apart.
  void behind_a_row(const Op& op) {
    on_masters(op);
    for (const auto* values : {&op.operands, &op.results}) {
      for (const ValueId id : *values) {
        if (Layout(m_, id).is_shared() || m_.type(id).dims.size() == 1) continue;
        faults_.add(op, value_text(m_, id) + " is no vector", "one element follows each row");
      }
    }
  }

  const Module& m_;
  Faults& faults_;
};

}  // namespace

void verify_regions(const Module& module, Faults& faults) { RegionCheck(module, faults).block(module.body); }

}  // namespace kasen
