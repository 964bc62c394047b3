#include "libcore/rows/row_region.h"

#include <algorithm>
#include <set>
#include <vector>

#include "libcore/analysis/compressed_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/base/checked.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

// Of all arrays of rows: well within the second-level cache of a core.
constexpr std::int64_t bytes_of_a_block = std::int64_t{1} << 18;
constexpr std::int64_t paying_bytes = std::int64_t{1} << 15;  // the work on a block is worth to begin it
constexpr std::int64_t row_unit = 8;                          // rows: lanes, and a line of f64
constexpr std::int64_t most_rows = 4096;
// Of a share, so that arrays which go by are in memory in small pieces.
constexpr std::int64_t share_bytes = std::int64_t{1} << 24;
constexpr std::int64_t few_shares = 8;     // of large totals
constexpr std::int64_t least_shares = 64;  // threads have equal work
// Of a share of a sparse matrix that may go by, a few shares at a time; and nonzeros for each element of its totals.
constexpr std::int64_t blocks_of_a_share = 2, work_of_total = 16;
constexpr std::int64_t totals_bytes = std::int64_t{1} << 26;  // of all shares, if there are more than few

std::int64_t parts_of(std::int64_t value, std::int64_t part) { return (value + part - 1) / part; }

std::int64_t bytes_of_a_row(const Module& module, ValueId value) {
  return checked_mul(Layout(module, value).elements_per_index(), module.type(value).element.bytes(), "a row's size");
}

// One size of scalars: then a block's part of an array is found by one distance in all planes.
bool is_even(const ElementType& element) {
  const std::int64_t bytes = scalar_bytes(element.components.at(0).scalar);
  return std::all_of(element.components.begin(), element.components.end(),
                     [&](const Component& c) { return scalar_bytes(c.scalar) == bytes; });
}

bool has_rows(const Module& module, ValueId value, DimId rows) {
  const Type& type = module.type(value);
  return !type.sparse && type.list == 0 && !type.dims.empty() && Layout(module, type).cut() == rows;
}

bool has_sparse_rows(const Module& module, ValueId value, DimId rows) {
  const Type& type = module.type(value);
  return has_whole_lines(module, type) && type.dims[0] == rows && !module.dim(rows).local;
}

// Of the operands that an operator meets element by element.
bool takes_operands(const Module& module, const Op& op, DimId rows) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const ValueId v = op.operands[i];
    if (module.type(v).sparse) return false;
    if (!Layout(module, v).is_shared() && !reads_whole(module, op, i) && !has_rows(module, v, rows)) return false;
  }
  return true;
}

// Stored values at the matrix's nonzeros. A fold to the columns has its own at a block's nonzeros, by other numbers.
bool reads_stored(const Module& module, const Op& op, ValueId operand) {
  const Type& type = module.type(operand);
  return is_fold(op) && op.code != OpCode::fold_cols && is_over_entries(module, type) && type.state.is_part();
}

// What is not the matrix lies along the rows or at the nonzeros, or is a shared.
bool lies_beside(const Module& module, const Op& op, DimId rows) {
  const ValueId matrix = product_matrix(op);
  return std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId v) {
    const bool shared = Layout(module, v).is_shared();
    return v == matrix || shared || reads_stored(module, op, v) ||
           (has_rows(module, v, rows) && !module.type(v).compressed && !module.type(v).state.is_pre());
  });
}

std::string reason_against_entries(const Module& module, const Op& op, DimId rows) {
  if (!has_sparse_rows(module, product_matrix(op), rows)) return "its matrix has no whole rows on a worker";
  if (!lies_beside(module, op, rows)) return "it reads an array that is neither cut along the rows nor whole";
  if (gives_entries(op)) return "";
  if (op.code == OpCode::mxv) return multiplies_and_adds(module, op) ? "" : "it does not multiply and add f64 or f32";
  if (!joins_folds(module, op)) return "its columns are no points of at most 1024 scalars";
  const bool points = op.code == OpCode::fold_cols && module.type(op.results[0]).dims.size() > 1;
  return points ? "its total has a point for each column" : "";
}

std::string reason_against_product(const Module& module, const Op& op, DimId rows) {
  if (!is_ordinary_dense_product(module, op) || is_onto(op)) {
    return "products of f64 or f32 that are multiplied and added do, with a dense matrix";
  }
  if (module.type(product_matrix(op)).compressed) return "its matrix is compressed, and its products go by tuples";
  const ValueId matrix = product_matrix(op), rowwise = op.code == OpCode::mxvt ? op.results[0] : op.operands[0];
  const bool fits = module.type(matrix).dims.size() == 2 && has_rows(module, matrix, rows) &&
                    has_rows(module, rowwise, rows) && !Layout(module, matrix).is_cut(1);
  if (!fits) return "the matrix of a product, and what goes along its rows, is cut along the rows";
  const ValueId across = op.code == OpCode::mxvt ? op.operands[0] : op.results[0];
  if (has_rows(module, across, rows)) return "a product of rows with rows needs all of them at once";
  return module.type(op.operands[0]).compressed ? "its operand is compressed" : "";
}

}  // namespace

bool is_of_rows(const Module& module, ValueId value, DimId rows) {
  return has_rows(module, value, rows) && is_even(module.type(value).element);
}

FnId total_reducer(const Op& op) { return op.fns.at(reduces_terms(op) ? 1 : 0); }

ValueId sparse_rows(const Module& module, const Op& op) {
  if (op.code != OpCode::region) return visits_entries(module, op) ? product_matrix(op) : no_value;
  for (const Op& inner : op.blocks.at(0).ops)
    if (visits_entries(module, inner)) return product_matrix(inner);
  return no_value;
}

bool numbers_nonzeros(const Module& module, const Op& region) {
  const std::vector<Op>& ops = region.blocks.at(0).ops;
  return std::any_of(ops.begin(), ops.end(), [&](const Op& op) { return is_fold(op) && numbers_entries(module, op); });
}

Op entries_of_fold(const Op& fold) {
  Op made = fold;
  made.code = OpCode::entries;
  made.fns.resize(1);
  return made;
}

bool is_total(const Op& op, DimId rows) {
  return op.code == OpCode::mxv || op.code == OpCode::fold_cols ||
         (op.code == OpCode::reduce && (op.over.empty() || contains(op.over, rows)));
}

DimId worked_rows(const Module& module, const Op& op) {
  ValueId along = no_value;
  if (is_product(op) || is_fold(op)) {
    along = product_matrix(op);
  } else if (op.code == OpCode::reduce) {
    along = op.operands.at(0);
  } else if (op.code == OpCode::map || is_slice(op)) {
    along = op.results.at(0);
  }
  if (along == no_value || module.type(along).dims.empty()) return no_dim;
  const DimId rows = Layout(module, along).cut();
  const bool works = rows != no_dim && (has_rows(module, along, rows) || has_sparse_rows(module, along, rows));
  return works ? rows : no_dim;
}

std::string reason_against_rows(const Module& module, const Op& op, DimId rows) {
  if (rows == no_dim || worked_rows(module, op) != rows) return "it works on no rows over this dimension";
  if (visits_entries(module, op)) return reason_against_entries(module, op, rows);
  if (takes_distinct_values(module, op)) return "it goes over the distinct values of a compressed matrix";
  // A total of an array that has slaves is that of its masters.
  const bool on_slaves = !is_total(op, rows) && module.type(op.results.at(0)).state.is_cons();
  const Type& along = module.type(op.code == OpCode::reduce ? op.operands[0] : op.results[0]);
  if (on_slaves || (!is_product(op) && along.state.is_pre())) {
    return "it works on slaves as well, and a region of rows on masters";
  }
  if (is_product(op)) return reason_against_product(module, op, rows);
  if (!takes_operands(module, op, rows)) return "it reads an array that is neither cut along the rows nor whole";
  if (!is_total(op, rows) && !is_of_rows(module, op.results[0], rows)) return "its elements have scalars of two sizes";
  return "";
}

namespace {

// For each nonzero, without the matrix: what its column brings. Rows' elements are read once a row.
std::int64_t bytes_across(const Module& form, const Op& op) {
  if (op.code == OpCode::mxv) return 0;
  const Op met = op.code == OpCode::fold_cols ? entries_of_fold(op) : op;
  std::int64_t bytes = 0;
  for (const EntryPass::Operand& operand : entry_operands(form, {&met, 1}))
    if (operand.across) bytes += operand.bytes();
  return bytes;
}

}  // namespace

RowTraffic row_traffic(const Module& form, const Op& region) {
  const std::vector<Op>& ops = region.blocks.at(0).ops;
  const DimId rows = worked_rows(form, ops[0]);
  RowTraffic traffic;
  std::set<ValueId> seen;
  if (const ValueId matrix = sparse_rows(form, region); matrix != no_value) {
    traffic.read += 8;
    traffic.entry += (numbers_nonzeros(form, region) ? 8 : 4) + form.type(matrix).element.bytes();
  }
  for (const Op& op : ops) {
    if (op.code == OpCode::yield) continue;
    if (visits_entries(form, op)) traffic.entry += bytes_across(form, op);
    if (gives_entries(op)) traffic.stored += form.type(op.results[0]).element.bytes();
    for (const ValueId v : op.operands) {
      if (!contains(region.operands, v)) continue;
      if (is_over_entries(form, form.type(v)) && seen.insert(v).second) traffic.entry += form.type(v).element.bytes();
      if (!has_rows(form, v, rows) || form.type(v).compressed) continue;  // compressed_reads
      if (is_view(op) && v == viewed(op)) {
        traffic.read += bytes_of_a_row(form, op.results[0]);
      } else if (seen.insert(v).second) {
        traffic.read += bytes_of_a_row(form, v);
      }
    }
  }
  for (const ValueId v : ops.back().operands) {
    if (has_rows(form, v, rows)) traffic.written += bytes_of_a_row(form, v);
  }
  return traffic;
}

bool is_viewed_alone(const Op& region, ValueId operand) {
  const std::vector<Op>& ops = region.blocks.at(0).ops;
  return std::none_of(ops.begin(), ops.end(), [&](const Op& op) {
    const bool views = is_view(op) && viewed(op) == operand;
    return std::count(op.operands.begin(), op.operands.end(), operand) > (views ? 1 : 0);
  });
}

RowSizes row_sizes(const Module& form, const Op& region) {
  const std::vector<Op>& ops = region.blocks.at(0).ops;
  const DimId dim = worked_rows(form, ops[0]);
  RowSizes sizes;
  for (const ValueId v : region.operands) {
    if (!has_rows(form, v, dim)) continue;
    const bool parts = is_viewed_alone(region, v) && !form.type(v).compressed;  // else made dense, row by row
    (parts ? sizes.viewed : sizes.outside) += bytes_of_a_row(form, v);
  }
  if (const ValueId matrix = sparse_rows(form, region); matrix != no_value) {
    const std::int64_t element = form.type(matrix).element.bytes();
    sizes.entry = 4 + element;
    sizes.block_entries = most_block_entries(element);
  }
  sizes.block = sizes.outside;
  for (const Op& op : ops) {
    if (op.code == OpCode::yield) continue;
    const ValueId v = op.results[0];
    (is_total(op, dim) ? sizes.total : sizes.block) += bytes_of_a_row(form, v);
    if (is_total(op, dim)) sizes.elements += Layout(form, v).elements_per_index();
    if (!is_total(op, dim) && contains(ops.back().operands, v)) sizes.outside += bytes_of_a_row(form, v);
  }
  sizes.outside += sizes.viewed;
  return sizes;
}

RowBlocks row_blocks(const RowSizes& sizes, std::int64_t rows, std::int64_t entries) {
  RowBlocks made;
  made.entries = sizes.block_entries;
  const std::int64_t stored =
      parts_of(checked_mul(entries, sizes.entry, "a part's nonzeros"), std::max<std::int64_t>(rows, 1));
  const std::int64_t row_bytes = std::max<std::int64_t>(sizes.block + stored, 1),
                     outside_bytes = std::max<std::int64_t>(sizes.outside + stored, 1);
  // Of what is read by views a block has the views' results in the cache, but a share that goes by has whole rows. Of
  // a loop over blocks of rows, these have the rows of all its blocks.
  const std::int64_t passing = share_bytes / outside_bytes, least = sizes.viewed > 0 ? paying_bytes / row_bytes : 1;
  const std::int64_t fitting =
      std::clamp(std::min(bytes_of_a_block / row_bytes, std::max(passing, least)), std::int64_t{1}, most_rows);
  made.rows = fitting < row_unit ? fitting : fitting / row_unit * row_unit;
  const std::int64_t most_shares = std::max(few_shares, totals_bytes / std::max<std::int64_t>(sizes.total, 1));
  std::int64_t wanted = parts_of(checked_mul(rows, outside_bytes, "a part's size"), share_bytes);
  if (made.entries > 0)
    wanted = std::max(wanted, entries / std::max(blocks_of_a_share * made.entries, work_of_total * sizes.elements));
  const std::int64_t shares = std::min(std::max(wanted, least_shares), most_shares);
  const std::int64_t blocks = parts_of(rows, made.rows);
  made.share_rows = std::max<std::int64_t>(parts_of(blocks, shares), 1) * made.rows;
  made.shares = parts_of(rows, made.share_rows);
  return made;
}

std::int64_t most_block_entries(std::int64_t element_bytes) { return bytes_of_a_block / 2 / (4 + element_bytes); }

std::int64_t end_of_call(const RowBlocks& blocks, std::int64_t first, std::int64_t rows, std::int64_t entries,
                         const std::int64_t* pointers) {
  std::int64_t end = first;
  while (end < rows) {
    const std::int64_t share = std::min(rows, (end / blocks.share_rows + 1) * blocks.share_rows);
    const std::int64_t next = block_end(blocks, end, share, pointers);
    if (end > first && pointers[next] - pointers[first] > entries) break;
    end = next;
  }
  return end;
}

std::int64_t block_end(const RowBlocks& blocks, std::int64_t first, std::int64_t end, const std::int64_t* pointers) {
  const std::int64_t most = std::min(end, first + blocks.rows);
  if (pointers == nullptr || pointers[most] - pointers[first] <= blocks.entries) return most;
  const std::int64_t* const behind =
      std::upper_bound(pointers + first, pointers + most, pointers[first] + blocks.entries);
  const std::int64_t rows = std::max<std::int64_t>(behind - pointers - 1 - first, 1);
  return first + (rows < row_unit ? rows : rows / row_unit * row_unit);
}

}  // namespace kasen
