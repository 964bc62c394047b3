// Local numbering: where each element of a distributed array lives on a worker. Owned by the executor, a function of
// bundle and plan alone, and handed to Transport and KernelSet alike.
//
// A *space* is a dimension with a slave set: local indices 0..masters-1 are masters, masters..total-1 slaves, by owner,
// then ascending. Masters ascend too, but for a dimension over which a product_epilogue region runs: there first those
// that no peer mirrors in the space of its product, in windows of `order_window` of them by descending length of their
// row of the product, then the others. So rows that need not wait come first, and rows that run side by side have
// nearly one length and consecutive results. Every value of state C or PR lives in the space of its set; a value of
// state P uses its first part. A product's matrix is stored in the spaces of its operand and its result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

// One worker's view of a space.
struct LocalSpace {
  std::int64_t masters = 0;
  std::int64_t total = 0;
  // Masters 0..interior-1 are mirrored by no peer in this space: they need no exchange.
  std::int64_t interior = 0;
  std::vector<std::int64_t> global;  // of every local index (masters in numbering order, then slaves)
  AxisSlaves exchange;               // mirrors as local indices of this numbering
  std::vector<std::int32_t> place;   // local index of the part's master number k; empty: k
};

inline constexpr std::int64_t order_window = 16384;

// The product_epilogue region whose product orders the masters of a dimension: that in the deepest loop, the first of
// these. Null: they ascend.
[[nodiscard]] const Op* ordering_region(const Module& module, DimId dim);

// A dense input without a buffer whose masters do not ascend: it is held a second time, in their order.
[[nodiscard]] bool is_reordered(const Module& module, ValueId input);

// Rows 0..n-1 of a product into this space to which no peer contributes, in whole blocks of a reduction: the vector
// work of a product_epilogue region may follow them at once.
[[nodiscard]] std::int64_t settled_masters(const LocalSpace& space);

struct SpaceKey {
  DimId dim = no_dim;
  SlaveSet set;
  friend auto operator<=>(const SpaceKey&, const SpaceKey&) = default;
};

// Within a group of masters (those that need not wait first) the order is a matter of speed alone. ordered: by how
// often they are read where that pays, else by_length: as they are given but for windows of rows by length. ascending:
// as they are given, which tells soonest how many wait.
enum class WithinGroups : std::uint8_t { ordered, by_length, ascending };

// All spaces that a plan uses, on the parts of this process.
class Numbering {
 public:
  // Collects the spaces from the types in `module`; throws UserError(bad_input) where a part lacks a dimension or
  // matrix.
  Numbering(const Module& module, std::span<const Part> parts, WithinGroups within = WithinGroups::ordered);

  [[nodiscard]] std::span<const SpaceKey> keys() const { return keys_; }
  [[nodiscard]] int find(DimId dim, const SlaveSet& set) const;  // place in keys(); InternalError if absent
  [[nodiscard]] const LocalSpace& space(int key, int part) const {
    return spaces_[static_cast<size_t>(key)][static_cast<size_t>(part)];
  }
  [[nodiscard]] const LocalSpace& space(DimId dim, const SlaveSet& set, int part) const {
    return space(find(dim, set), part);
  }
  // Masters of a dimension on a part, and the order in which this numbering has them: order[i] is the place in
  // PartDim::masters of local index i (empty: the identity).
  [[nodiscard]] std::int64_t masters(DimId dim, int part) const;
  [[nodiscard]] const std::vector<std::int32_t>& order(DimId dim, int part) const;

 private:
  void order_masters(const Module& module, DimId dim, std::span<const Part> parts, WithinGroups within);

  std::vector<SpaceKey> keys_;
  std::vector<std::vector<LocalSpace>> spaces_;                 // [key][part]
  std::vector<std::vector<std::vector<std::int32_t>>> orders_;  // [dim][part]
  std::vector<std::vector<std::int64_t>> masters_;              // [dim][part]
};

// A sparse part in pull form for one product: for each local index of the result's space the entries that meet it,
// as local indices of the operand's space, ascending by (global index of the operand element).
struct LocalMatrix {
  std::int64_t outputs = 0, inputs = 0;  // totals of the two spaces
  std::int64_t masters = 0;            // of the result's space: the first outputs (a product may take the others apart)
  LargeVector<std::int64_t> pointers;  // outputs + 1
  LargeVector<std::int32_t> indices;   // entries
  ElementType element;
  Array values;  // entries (none for null)
  [[nodiscard]] std::int64_t entries() const { return pointers.empty() ? 0 : pointers.back(); }
  // 8 (outputs + 1) + 4 entries + value bytes: what the actual cost charges for this format.
  [[nodiscard]] std::int64_t storage_bytes() const;
};

}  // namespace kasen
