// The registry of region kinds (regions.def).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

enum class RegionEntry : std::uint8_t { elementwise, product, rows, blocks };

struct RegionRow {
  RegionKind kind;
  std::string_view name;
  RegionEntry entry;
  bool in_place;
  std::string_view pass;
  std::string_view holds;
};

[[nodiscard]] std::span<const RegionRow> region_rows();
[[nodiscard]] const RegionRow& row(RegionKind kind);
[[nodiscard]] const RegionRow* find_region(std::string_view name);

// True if a result of a region, or of a contraction onto `v`, may be written over operand `v`, element by element.
// Element i of `v` is read before element i of any result is written, and not after that. Elements that a product or a
// view reads at other positions are excluded. A row_chain has read everything that its views show of a row when it
// writes the row. In a region of rows nothing reads `v` behind the first operator whose result is handed on, and this
// one only as a map.
[[nodiscard]] bool may_write_over(const Op& op, ValueId v);

// The product and the gather at the beginning of a product_epilogue region.
[[nodiscard]] inline const Op& epilogue_product(const Op& region) { return region.blocks[0].ops[0]; }
[[nodiscard]] inline const Op& epilogue_gather(const Op& region) { return region.blocks[0].ops[1]; }
[[nodiscard]] inline bool is_epilogue(const Op& op) {
  return op.code == OpCode::region && op.kind == RegionKind::product_epilogue;
}

// The contents of a row_chain region, each in program order: products with one result a row, vector work on rows,
// products with one result a column.
struct RowChain {
  std::vector<const Op*> inner, work, outer;
};
[[nodiscard]] RowChain row_chain(const Op& region);
[[nodiscard]] inline bool is_row_chain(const Op& op) {
  return op.code == OpCode::region && op.kind == RegionKind::row_chain;
}

// A region of rows (libcore/rows/row_region.h).
[[nodiscard]] inline bool is_rows(const Op& op) { return op.code == OpCode::region && op.kind == RegionKind::rows; }

// The most tasks of an operator in a region of blocks.
inline constexpr std::int64_t most_block_tasks = 1'000'000;
[[nodiscard]] inline bool is_blocks(const Op& op) { return op.code == OpCode::region && op.kind == RegionKind::blocks; }

}  // namespace kasen
