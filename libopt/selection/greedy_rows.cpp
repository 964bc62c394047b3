// The greedy choice of work on rows: all on the rows of a matrix that passes values of its shape on, or reads the same.
#include <algorithm>
#include <optional>
#include <span>

#include "libcore/analysis/chain_rules.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/rows/row_region.h"
#include "libopt/selection/greedy.h"
#include "libopt/selection/growth.h"

namespace kasen::fusion {
namespace {

constexpr std::int64_t most_total_elements = std::int64_t{1} << 17;

class RowSearch {
 public:
  explicit RowSearch(const Units& units) : m_(units.module()), units_(units), graph_(units.graph()) {
    for (int unit = 0; unit < units.size(); ++unit) rows_.push_back(rows_of(unit));
  }

  // Returns the first one from there on, or nothing.
  [[nodiscard]] std::vector<Cluster> next(int& from) const {
    for (int step = 0; step < graph_.size(); ++step) {
      const int first = (from + step) % graph_.size();
      if (rows_[static_cast<size_t>(first)] == no_dim || columns_matrix(first) != no_value) continue;
      std::vector<int> members = grown(first);
      if (members.size() <= 1) continue;
      from = first;
      return {{RegionKind::rows, std::move(members)}};
    }
    return {};
  }

 private:
  // The rows on which a unit works; no_dim if it may not join.
  [[nodiscard]] DimId rows_of(int unit) const {
    const std::vector<const Op*>& ops = units_[unit].ops;
    const DimId rows = worked_rows(m_, *ops[0]);
    const bool fits = rows != no_dim && units_.is_covered(unit, {TemplateId::row, TemplateId::cell}) &&
                      std::all_of(ops.begin(), ops.end(), [&](const Op* op) {
                        return reason_against_rows(m_, *op, rows).empty() && is_small(*op);
                      });
    return fits ? rows : no_dim;
  }

  // True for a region of products with one dense matrix.
  [[nodiscard]] bool is_of_products(int unit) const {
    const std::optional<RegionKind> kind = units_[unit].kind;
    return kind && row(*kind).entry == RegionEntry::product && !sparse(unit);
  }

  // The dense matrix of products with columns, or no_value. Their own loops are faster, so they join only what makes
  // it.
  [[nodiscard]] ValueId columns_matrix(int unit) const {
    if (!is_of_products(unit)) return no_value;
    for (const Op* op : units_[unit].ops) {
      if (is_dense_product(m_, *op) && has_columns(m_, *op)) return product_matrix(*op);
    }
    return no_value;
  }

  // The sparse matrix that a unit goes over.
  [[nodiscard]] std::optional<ValueId> sparse(int unit) const {
    for (const Op* op : units_[unit].ops) {
      const ValueId matrix = sparse_rows(m_, *op);
      if (matrix != no_value) return matrix;
    }
    return std::nullopt;
  }

  // Totals over the columns of a sparse matrix stay in a core's cache. A size that is not known counts as few.
  [[nodiscard]] bool has_small_total(const Op& op) const {
    std::int64_t elements = 1;
    for (const DimId dim : m_.type(op.results[0]).dims)
      elements *= std::clamp<std::int64_t>(m_.dim(dim).size, 1, most_total_elements + 1);
    return gives_rows(op) || elements <= most_total_elements;
  }

  // The array over the matrix's columns is read or added to for each block of rows. It has few columns, or as many as
  // rows of the region have elements, and then few of these.
  [[nodiscard]] bool is_small(const Op& product) const {
    if (visits_entries(m_, product)) return has_small_total(product);
    if (!is_product(product)) return true;
    const Type &operand = m_.type(product.operands[0]), &matrix = m_.type(product_matrix(product));
    return chain_columns(m_, operand, operand.dims.at(0)) || chain_columns(m_, matrix, matrix.dims.at(0));
  }

  [[nodiscard]] bool is_matrix(ValueId value, DimId rows) const {
    const Type& type = m_.type(value);
    return type.dims.size() > 1 && ((type.sparse && type.dims[0] == rows) || is_of_rows(m_, value, rows));
  }

  // True if all that go over a sparse matrix go over the same one.
  [[nodiscard]] bool has_one_matrix(const std::vector<int>& members, int op) const {
    return !sparse(op) || std::all_of(members.begin(), members.end(),
                                      [&](int member) { return !sparse(member) || sparse(member) == sparse(op); });
  }

  // The members of a region so far, and by value whether they read or make it.
  struct Members {
    std::vector<int> ops;
    std::vector<bool> used, made;
  };

  void add(int unit, Members& members) const {
    members.ops.push_back(unit);
    for (const ValueId v : graph_.reads(unit)) members.used[static_cast<size_t>(v)] = true;
    for (const ValueId v : units_[unit].results) {
      members.used[static_cast<size_t>(v)] = members.made[static_cast<size_t>(v)] = true;
    }
  }

  [[nodiscard]] Members begun_with(int first) const {
    Members members{{}, std::vector<bool>(m_.values.size()), std::vector<bool>(m_.values.size())};
    add(first, members);
    return members;
  }

  // True if values of a matrix's shape go from a member to `op`, or both read one.
  [[nodiscard]] bool shares(const Members& members, int op, DimId rows) const {
    const std::vector<ValueId>& reads = graph_.reads(op);
    return std::any_of(reads.begin(), reads.end(),
                       [&](ValueId v) { return members.used[static_cast<size_t>(v)] && is_matrix(v, rows); });
  }

  // What has matrices in common with the members, or reads what they make of rows, joins them.
  [[nodiscard]] std::vector<int> grown(int first) const {
    const DimId rows = rows_[static_cast<size_t>(first)];
    Members members = begun_with(first);
    const auto joins = [&](int unit, bool reads_member) {
      if (rows_[static_cast<size_t>(unit)] != rows || !has_one_matrix(members.ops, unit)) return false;
      const ValueId matrix = columns_matrix(unit);
      const bool fits =
          matrix != no_value ? members.made[static_cast<size_t>(matrix)] : reads_member || shares(members, unit, rows);
      if (fits) add(unit, members);
      return fits;
    };
    (void)grow(graph_, first, joins, [&](int need, int unit) { return passes_rows(need, unit, rows); });
    return has_matrix_between(members.ops, rows) ? members.ops : std::vector<int>{};
  }

  // True if all that `unit` reads of `need` lies along the rows.
  [[nodiscard]] bool passes_rows(int need, int unit, DimId rows) const {
    const std::vector<ValueId>& made = units_[need].results;
    const std::vector<ValueId>& read = units_[unit].reads;
    return std::none_of(made.begin(), made.end(),
                        [&](ValueId v) { return contains(read, v) && !is_of_rows(m_, v, rows); });
  }

  // Vectors alone are as well in loops of their own, and so are products alone.
  [[nodiscard]] bool has_matrix_between(const std::vector<int>& members, DimId rows) const {
    const bool only_products = std::none_of(members.begin(), members.end(),
                                            [&](int op) { return !is_of_products(op) && has_matrix(op, rows); });
    if (only_products) return false;
    Members before = begun_with(members[0]);
    for (size_t i = 1; i < members.size(); ++i) {
      if (shares(before, members[i], rows)) return true;
      add(members[i], before);
    }
    return false;
  }

  [[nodiscard]] bool has_matrix(int op, DimId rows) const {
    const auto is = [&](ValueId v) { return is_matrix(v, rows); };
    const std::vector<ValueId>& reads = graph_.reads(op);
    const std::vector<ValueId>& made = units_[op].results;
    return std::any_of(reads.begin(), reads.end(), is) || std::any_of(made.begin(), made.end(), is);
  }

  const Module& m_;
  const Units& units_;
  const BlockGraph& graph_;
  std::vector<DimId> rows_;
};

}  // namespace

std::vector<Cluster> next_rows(const Units& units, int& from) { return RowSearch(units).next(from); }

}  // namespace kasen::fusion
