#include "libcore/ir/dense_blocks.h"

#include <algorithm>
#include <span>

#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"

namespace kasen {
namespace {

constexpr std::int64_t usual_rows = 1024;
constexpr std::int64_t kept_bytes = std::int64_t{1} << 26;
constexpr std::int64_t few_blocks = 16;
// A product whose parts are worth a thread each, in multiplications.
constexpr std::int64_t large_product = std::int64_t{1} << 24;

// The size of equal parts of `size` rows or columns, a multiple of 8: halves of halves, none of which has more than
// 768. A part that is longer leaves threads without work; one that is shorter packs its operands for little.
std::int64_t part_of(std::int64_t size) {
  constexpr std::int64_t most = 768, worth_halving = 256;
  std::int64_t parts = size >= worth_halving ? 2 : 1;
  while ((size + parts - 1) / parts > most) parts *= 2;
  return ((size + parts - 1) / parts + 7) / 8 * 8;
}

bool is_large(const DenseSizes& s) {
  return s.columns > 1 && s.rows > 0 && s.cols > 0 && s.columns > large_product / s.rows / s.cols;
}

}  // namespace

std::int64_t rows_of_block(const DenseSizes& s) {
  const std::int64_t blocks = std::max<std::int64_t>(64, kept_bytes / std::max<std::int64_t>(s.result_bytes, 1));
  if (!is_large(s) || s.rows > few_blocks * usual_rows) return std::max(usual_rows, (s.rows + blocks - 1) / blocks);
  if (s.result_bytes == 0) return part_of(s.rows);
  const std::int64_t equal = (s.rows + usual_rows - 1) / usual_rows;  // no more results are kept than of others
  return ((s.rows + equal - 1) / equal + 7) / 8 * 8;
}

std::int64_t columns_at_once(const DenseSizes& s) {
  const bool splits = is_large(s) && s.rows <= few_blocks * usual_rows;
  return splits ? std::min(s.columns, part_of(s.columns)) : s.columns;
}

std::int64_t dense_rows_at_once(const Module& module, const Op& op, std::int64_t rows, std::int64_t cols) {
  if (is_row_chain(op)) return rows < whole_chain_blocks * chain_block_rows ? 0 : chain_block_rows;
  const bool region = op.code == OpCode::region;
  const std::span<const Op> products = region ? std::span(op.blocks.at(0).ops) : std::span(&op, 1);
  DenseSizes sizes{.rows = rows, .cols = cols};
  for (const Op& one : products) {
    if (one.code == OpCode::yield) continue;
    // Over another semiring, columns of the matrix are reduced as a whole, rows each by itself.
    if (!is_ordinary_dense_product(module, one)) return !region && one.code == OpCode::mxvt ? general_block_rows : 0;
    sizes.columns = product_columns(module, one);
    if (cols == 0 || sizes.columns == 0) return 0;  // there are no blocks: results are zeros
    const std::int64_t bytes = cols * sizes.columns * module.type(one.results[0]).element.bytes();
    if (one.code == OpCode::mxv) sizes.result_bytes += bytes;
  }
  return rows_of_block(sizes);
}

}  // namespace kasen
