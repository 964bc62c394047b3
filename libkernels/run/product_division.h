// Divides the rows of a product among threads by nonzeros. So a few long rows (a star) or blocks of them (a power law
// whose rows lie by length) keep nobody waiting. Results do not depend on the division.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libkernels/run/sorted_rows.h"

namespace kasen {

// Work is counted in nonzeros, plus row_work for each row.
inline constexpr std::int64_t row_work = 4;
inline constexpr std::int64_t piece_work = 32768;                // of one piece
inline constexpr std::int64_t giant_row = 16 * reduction_block;  // nonzeros from which a row is cut among threads

// Rows begin .. end - 1. With a window of the sorted form (its first row), they are the positions begin .. end - 1 of
// its order in a block of the operand. The nonzeros of the piece begin at `entry`.
struct RowPiece {
  std::int64_t begin = 0, end = 0;
  std::int64_t window = -1;
  std::int64_t entry = 0;
};

// The rows of the range that are cut among threads before all else, in order; none for one thread.
[[nodiscard]] std::vector<std::int64_t> giant_rows(const LocalMatrix& matrix, Range range, int threads);

// Work of the rows begin .. end - 1 without the nonzeros of giants.
[[nodiscard]] std::int64_t work_of(const LocalMatrix& matrix, std::span<const std::int64_t> giants, std::int64_t begin,
                                   std::int64_t end);
// Rows and nonzeros of a call.
[[nodiscard]] std::int64_t work_of(const ProductCall& call);

// All rows of the range in pieces of about piece_work. If rows are sorted, a piece has whole windows or, from a window
// that is heavy beside a thread's share, whole slices. The pieces are those of `block` of the operand; rows outside of
// whole windows are in the first one's.
[[nodiscard]] std::vector<RowPiece> divide_rows(const LocalMatrix& matrix, const SortedRows* sorted,
                                                std::span<const std::int64_t> giants, Range range, int threads,
                                                std::int64_t block = 0);

// For products with an epilogue, which go block by block (reduction_block rows, from the range's first row on).
struct BlockDivision {
  struct Piece {
    std::size_t heavy = 0;  // the heavy block that it belongs to
    RowPiece rows;
  };
  std::vector<std::int64_t> heavy;   // blocks whose rows all threads compute first, ascending
  std::vector<Piece> pieces;         // of these
  std::vector<std::int64_t> starts;  // of each thread's own run of blocks, and the number of blocks
};
[[nodiscard]] BlockDivision divide_blocks(const LocalMatrix& matrix, const SortedRows* sorted,
                                          std::span<const std::int64_t> giants, Range range, int threads);

}  // namespace kasen
