// The greedy choice of regions of rows: all work on the rows of a matrix that passes values of its shape on, or reads
// the same.
#include <algorithm>
#include <optional>

#include "libcore/analysis/chain_rules.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/rows/row_region.h"
#include "libopt/rewrite/dependence.h"
#include "libopt/selection/greedy.h"

namespace kasen::fusion {
namespace {

constexpr std::int64_t most_total_elements = std::int64_t{1} << 17;

class RowSearch {
 public:
  RowSearch(const Module& module, const Block& block) : m_(module), block_(block), graph_(module, block) {
    for (const Op& op : block.ops) rows_.push_back(rows_of(op));
  }

  // Returns the first one from there on, or nothing.
  [[nodiscard]] std::vector<Cluster> next(int& from) const {
    for (int step = 0; step < graph_.size(); ++step) {
      const int first = (from + step) % graph_.size();
      if (rows_[static_cast<size_t>(first)] == no_dim || has_fast_columns(first)) continue;
      std::vector<int> members = grow(first);
      if (members.size() <= 1) continue;
      from = first;
      return {{RegionKind::rows, std::move(members)}};
    }
    return {};
  }

 private:
  // The rows on which an operator works, or all those of a region; no_dim if it may not join.
  [[nodiscard]] DimId rows_of(const Op& op) const {
    const std::span<const Op> ops = operators_of(op);
    const DimId rows = worked_rows(m_, ops[0]);
    const bool fits = rows != no_dim && std::all_of(ops.begin(), ops.end(), [&](const Op& inner) {
                        return reason_against_rows(m_, inner, rows).empty() && is_small(inner);
                      });
    return fits ? rows : no_dim;
  }

  // True for a region of products with one dense matrix.
  [[nodiscard]] bool is_of_products(int op) const {
    const Op& region = block_.ops[static_cast<size_t>(op)];
    return region.code == OpCode::region && row(region.kind).entry == RegionEntry::product && !sparse(op);
  }

  // True if some of them have columns: their own loops are faster, so they join only what makes their matrix.
  [[nodiscard]] bool has_fast_columns(int op) const {
    const std::span<const Op> ops = operators_of(block_.ops[static_cast<size_t>(op)]);
    return is_of_products(op) && std::any_of(ops.begin(), ops.end(), [&](const Op& inner) {
             return is_dense_product(m_, inner) && has_columns(m_, inner);
           });
  }

  // The sparse matrix that an operator or region goes over.
  [[nodiscard]] std::optional<ValueId> sparse(int op) const {
    const ValueId matrix = sparse_rows(m_, block_.ops[static_cast<size_t>(op)]);
    return matrix == no_value ? std::nullopt : std::optional(matrix);
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

  void add(int op, Members& members) const {
    members.ops.push_back(op);
    for (const ValueId v : graph_.reads(op)) members.used[static_cast<size_t>(v)] = true;
    for (const ValueId v : block_.ops[static_cast<size_t>(op)].results) {
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

  // Collects, in program order from `first` on, all that may join: what has matrices in common with the members, or
  // reads what they make of rows. No operand waits for a member outside of the region, or for a total.
  [[nodiscard]] std::vector<int> grow(int first) const {
    const DimId rows = rows_[static_cast<size_t>(first)];
    Members members = begun_with(first);
    std::vector<bool> waits(block_.ops.size()), inside(block_.ops.size());
    inside[static_cast<size_t>(first)] = true;
    for (int op = first + 1; op < graph_.size(); ++op) {
      bool blocked = false, reads_member = false;
      for (const int need : graph_.needs(op)) {
        blocked = blocked || waits[static_cast<size_t>(need)] ||
                  (inside[static_cast<size_t>(need)] && !passes_rows(need, op, rows));
        reads_member = reads_member || inside[static_cast<size_t>(need)];
      }
      const bool joins = has_fast_columns(op)
                             ? members.made[static_cast<size_t>(product_matrix(block_.ops[static_cast<size_t>(op)]))]
                             : reads_member || shares(members, op, rows);
      const bool fits = rows_[static_cast<size_t>(op)] == rows && joins && has_one_matrix(members.ops, op);
      if (fits && !blocked) {
        inside[static_cast<size_t>(op)] = true;
        add(op, members);
      } else {
        waits[static_cast<size_t>(op)] = reads_member || blocked;
      }
    }
    return has_matrix_between(members.ops, rows) ? members.ops : std::vector<int>{};
  }

  // True if all that `op` reads of `need` lies along the rows.
  [[nodiscard]] bool passes_rows(int need, int op, DimId rows) const {
    const std::vector<ValueId>& made = block_.ops[static_cast<size_t>(need)].results;
    const std::vector<ValueId>& read = block_.ops[static_cast<size_t>(op)].operands;
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
    const std::vector<ValueId>& made = block_.ops[static_cast<size_t>(op)].results;
    return std::any_of(reads.begin(), reads.end(), is) || std::any_of(made.begin(), made.end(), is);
  }

  const Module& m_;
  const Block& block_;
  const BlockGraph graph_;
  std::vector<DimId> rows_;
};

}  // namespace

std::vector<Cluster> row_clusters(const Module& module, const Block& block, int& from) {
  if (names_layouts(module)) return {};
  return RowSearch(module, block).next(from);
}

}  // namespace kasen::fusion
