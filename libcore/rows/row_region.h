/// \file
/// Regions `rows`: all work on the rows of arrays that are cut along one dimension. A block of rows goes through every
/// operator before the next one does, so that the values between them stay in a core's cache. It is the Row template of
/// Boehm et al. (VLDB 2018, Table 1), with several results of rows, columns and all elements at once.
///
/// An array *of rows* is cut along the region's dimension, and has every index of its other ones on one worker. The
/// operators are, in program order, each on owned elements:
///   - maps and slices (range, at) that give arrays of rows;
///   - reductions of a row: over some of its other dimensions;
///   - products with a dense matrix of rows. mxvt gives arrays of rows; the array that it multiplies is from outside;
///   - products and folds of one sparse matrix whose rows are whole (has_whole_lines), and `entries`, whose values
///   leave
///     the region. Folds to the rows read such values. A block's nonzeros stay in the cache for all of them;
///   - *totals*: reductions over the region's dimension, mxv and fold_cols. They are known when all rows are done, so
///     nothing in the region reads one.
/// The dense matrix of a product may be made in the region. An input that is read compressed is made dense a block at a
/// time; its products go by its tuples, elsewhere.
#pragma once

#include <cstdint>
#include <string>

#include "libcore/ir/module.h"

namespace kasen {

/// True for an array that is cut along `rows` in the default layout, and has scalars of one size.
[[nodiscard]] bool is_of_rows(const Module& module, ValueId value, DimId rows);
/// True for a result that needs all rows: of a reduction over their dimension, an mxv or a fold_cols.
[[nodiscard]] bool is_total(const Op& op, DimId rows);
/// What combines such a total.
[[nodiscard]] FnId total_reducer(const Op& op);
/// The sparse matrix that the operator goes over, or the one of a region's operators; no_value: there is none.
[[nodiscard]] ValueId sparse_rows(const Module& module, const Op& op);
/// True if values at the matrix's nonzeros, each at its number, are read or stored.
[[nodiscard]] bool numbers_nonzeros(const Module& module, const Op& region);
/// Why the operator may not stand in a region over these rows, by itself; "" if it may.
[[nodiscard]] std::string reason_against_rows(const Module& module, const Op& op, DimId rows);
/// The dimension of the rows on which a map, slice, reduction or product works; no_dim: it works on none.
[[nodiscard]] DimId worked_rows(const Module& module, const Op& op);

/// True for fold_cols, whose function is run for each nonzero of a block, before the values are added to the total; and
/// the operator that gives these values.
[[nodiscard]] Op entries_of_fold(const Op& fold);

/// The blocks of a region's rows. Threads take *shares*, each of some blocks in order. The totals of the shares are
/// combined in order, so results do not depend on threads. All follows from sizes alone. Where a sparse matrix is on a
/// disk, several calls make the rows, one after another, as memory allows. They have the blocks and shares of all rows,
/// so that results do not depend on memory either: a call ends where a block ends (end_of_call), and the next one goes
/// on with the totals of the share that this one began.
struct RowBlocks {
  std::int64_t rows = 0;        ///< of a block; a multiple of 8, or fewer long ones
  std::int64_t share_rows = 0;  ///< a multiple of `rows`
  std::int64_t shares = 0;
  std::int64_t entries = 0;  ///< nonzeros of a block of several rows, at most
};
/// What blocks follow from, beside a part's size: bytes of a row, of totals and of a nonzero.
struct RowSizes {
  std::int64_t block = 0;          ///< of a row: what a block has in the cache; of what is viewed the views' results
  std::int64_t outside = 0;        ///< of a row: arrays from outside, whole, and results
  std::int64_t viewed = 0;         ///< of a row, and in `outside`: arrays that are read by views alone
  std::int64_t total = 0;          ///< of all totals
  std::int64_t elements = 0;       ///< of all totals; a number
  std::int64_t entry = 0;          ///< of a nonzero; 0: there is no sparse matrix
  std::int64_t block_entries = 0;  ///< nonzeros of a block of several rows, at most
};
/// `form` has the sizes of all local dimensions.
[[nodiscard]] RowSizes row_sizes(const Module& form, const Op& region);
/// `rows` are those of a part, `entries` the nonzeros of its sparse matrix.
[[nodiscard]] RowBlocks row_blocks(const RowSizes& sizes, std::int64_t rows, std::int64_t entries = 0);
/// Whether a region's operators read this operand by views alone, and so parts of its rows.
[[nodiscard]] bool is_viewed_alone(const Op& region, ValueId operand);
/// The end of the block that begins at `first`, in a share that ends at `end`. `pointers`: of the sparse matrix, or
/// null.
[[nodiscard]] std::int64_t block_end(const RowBlocks& blocks, std::int64_t first, std::int64_t end,
                                     const std::int64_t* pointers);

/// The nonzeros that a block of several rows has at most, where the matrix's elements have so many bytes.
[[nodiscard]] std::int64_t most_block_entries(std::int64_t element_bytes);
/// The end of a call that begins at `first`: it holds as many blocks as have at most so many nonzeros together, and at
/// least one.
[[nodiscard]] std::int64_t end_of_call(const RowBlocks& blocks, std::int64_t first, std::int64_t rows,
                                       std::int64_t entries, const std::int64_t* pointers);

/// Bytes that a region reads of arrays of rows from outside, and writes of its results, for each row; and what it reads
/// and stores for each nonzero.
struct RowTraffic {
  std::int64_t read = 0, written = 0, entry = 0, stored = 0;
};
[[nodiscard]] RowTraffic row_traffic(const Module& form, const Op& region);

}  // namespace kasen
