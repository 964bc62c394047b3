// The greedy choice of chains: products with one dense matrix and the vector work on its rows.
#include <algorithm>

#include "libcore/analysis/chain_rules.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/selection/greedy.h"
#include "libopt/selection/growth.h"
#include "libopt/selection/shapes.h"

namespace kasen::fusion {
namespace {

// Looks for a row_chain among single operators and regions of vector work and of products.
class ChainSearch {
 public:
  explicit ChainSearch(const Units& units) : module_(units.module()), units_(units), graph_(units.graph()) {}

  // Returns the first one from there on, or nothing.
  [[nodiscard]] std::vector<Cluster> next(int& from) const {
    for (int step = 0; step < graph_.size(); ++step) {
      const int product = (from + step) % graph_.size();
      if (!passes_dense_matrix(product)) continue;
      for (const int first : {begin_of(product), product}) {
        std::vector<int> members = grown(first, product);
        if (!contains(members, product) || (!goes_back(members) && !works_on_rows(members))) continue;
        from = first;
        return {{RegionKind::row_chain, std::move(members)}};
      }
    }
    return {};
  }

 private:
  [[nodiscard]] ValueId matrix_of(int product) const { return product_matrix(*units_[product].ops[0]); }

  [[nodiscard]] bool passes_dense_matrix(int unit) const {
    const Op& first = *units_[unit].ops[0];
    const bool passes = units_[unit].kind ? units_[unit].kind == RegionKind::mxm : is_product(first);
    return passes && units_.is_covered(unit, {TemplateId::row}) && may_stand_in_chain(module_, first);
  }

  // Returns true for vector work on owned elements of the rows, which does not make the matrix.
  [[nodiscard]] bool follows(int unit, DimId rows, ValueId matrix) const {
    const std::vector<const Op*>& ops = units_[unit].ops;
    const bool vectors = !units_[unit].kind || units_[unit].kind == RegionKind::iter_on_vec;
    return vectors && units_.is_covered(unit, {TemplateId::row, TemplateId::cell}) &&
           std::all_of(ops.begin(), ops.end(),
                       [&](const Op* op) { return may_follow_chain(module_, *op, rows, matrix); });
  }

  // Returns true if `reader` follows the rows, too. Work that reads the matrix itself joins for products with it alone,
  // as in X' (w * X): what it makes of a row stays in the cache. All else would be transposed to be stored.
  [[nodiscard]] bool joins(int reader, DimId rows, ValueId matrix) const {
    if (!follows(reader, rows, matrix)) return false;
    if (!contains(units_[reader].reads, matrix)) return true;
    const std::vector<int>& readers = graph_.needed_by(reader);
    return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](int by) {
      const Op& product = *units_[by].ops[0];
      return !units_[by].kind && product.code == OpCode::mxv && product_matrix(product) == matrix &&
             product.operands[0] != matrix;
    });
  }

  // Returns the beginning of a product's chain: the work that makes the rows which it brings back, if that may join,
  // and what that itself weighs the matrix's rows by.
  [[nodiscard]] int begin_of(int product) const {
    const Op& op = *units_[product].ops[0];
    if (units_[product].kind || op.code != OpCode::mxv) return product;
    const ValueId matrix = product_matrix(op);
    const int maker = maker_of({op.operands[0]}, product, matrix);
    if (maker == product || !contains(units_[maker].reads, matrix)) return maker;
    return maker_of(units_[maker].reads, maker, matrix);
  }

  // Returns the work that makes one of the values for `reader`, if that may join; else the reader.
  [[nodiscard]] int maker_of(const std::vector<ValueId>& values, int reader, ValueId matrix) const {
    const DimId rows = module_.type(matrix).dims[0];
    for (const int need : graph_.needs(reader)) {
      const std::vector<ValueId>& made = units_[need].results;
      const bool makes = std::any_of(made.begin(), made.end(), [&](ValueId v) { return contains(values, v); });
      if (makes && joins(need, rows, matrix)) return need;
    }
    return reader;
  }

  // Other products with the matrix join, and work that reads what members make of its rows.
  [[nodiscard]] std::vector<int> grown(int first, int product) const {
    const ValueId matrix = matrix_of(product);
    const DimId rows = module_.type(matrix).dims[0];
    const auto may_join = [&](int unit, bool reads_member) {
      const bool same_matrix = passes_dense_matrix(unit) && matrix_of(unit) == matrix;
      return same_matrix || (reads_member && joins(unit, rows, matrix));
    };
    return grow(graph_, first, may_join, [](int /*need*/, int /*unit*/) { return true; });
  }

  // Returns true if one of the products reads values made from another's rows.
  [[nodiscard]] bool goes_back(const std::vector<int>& members) const {
    std::vector<ValueId> made;
    for (const int member : members) {
      for (const Op* op : units_[member].ops) {
        if (op->code == OpCode::mxv && contains(made, op->operands[0])) return true;
      }
      made.insert(made.end(), units_[member].made.begin(), units_[member].made.end());
    }
    return false;
  }

  // Returns true if vector work is among them. Values between it and a product are not read from memory, and they are
  // stored only if something else reads them.
  [[nodiscard]] bool works_on_rows(const std::vector<int>& members) const {
    return std::any_of(members.begin(), members.end(), [&](int member) { return !is_product(*units_[member].ops[0]); });
  }

  const Module& module_;
  const Units& units_;
  const BlockGraph& graph_;
};

}  // namespace

std::vector<Cluster> next_chain(const Units& units, int& from) { return ChainSearch(units).next(from); }

}  // namespace kasen::fusion
