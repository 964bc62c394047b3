/// \file
/// Local numbering: the position of each element of a distributed array on a worker. The executor owns it. It is a
/// function of bundle and plan alone, and Transport and KernelSet both use it.
///
/// A *space* is a dimension with a ghost set. Local indices 0..masters-1 are owned elements; masters..total-1 are
/// ghosts, by owner, then ascending. Owned elements ascend, too, unless a product_epilogue region runs over the
/// dimension. Then those that no peer mirrors in the space of its product come first. They are in windows of
/// `order_window`, by descending length of their row of the product. The others follow. So rows that need not wait come
/// first, and rows that run side by side have nearly one length and consecutive results. Every value of state C or PR
/// lives in the space of its set. A value of state P uses the first part. A product's matrix is stored in the spaces of
/// its operand and its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"
#include "libcore/system/held_list.h"

namespace kasen {

/// One worker's view of a space. It refers to the lists of the part, and to those of its Numbering.
struct LocalSpace {
  std::int64_t masters = 0;
  std::int64_t total = 0;
  /// Owned elements 0..interior-1 are mirrored by no peer in this space: they need no exchange.
  std::int64_t interior = 0;
  const IndexList* owned = nullptr;     ///< global indices of the part's owned elements, ascending
  std::span<const std::int32_t> order;  ///< the part's owned element of each local index; empty: the same
  std::span<const std::int32_t> place;  ///< local index of the part's owned element k; empty: k
  std::vector<PeerRange> slave_owners;  ///< the range of each owner among the ghosts (ascending owner)
  /// The range of each peer in the list of mirrors (ascending peer). A space of all indices has one list for all peers.
  std::vector<PeerRange> mirror_holders;
  /// Local indices of owned elements that peers mirror. Empty: mirror k is local index k.
  std::span<const std::int32_t> mirrors;
  std::span<const std::int64_t> slaves;   ///< global indices of the ghosts, unless they are all `others` of the part
  const IndexList* others = nullptr;      ///< of the part, in a space of all indices
  std::vector<std::int64_t> own_slaves;   ///< what `slaves` refers to if it unites several matrices
  std::vector<std::int32_t> own_mirrors;  ///< what `mirrors` refers to then, or if owned elements do not ascend

  LocalSpace() = default;
  LocalSpace(LocalSpace&&) = default;
  LocalSpace& operator=(LocalSpace&&) = default;
  LocalSpace(const LocalSpace&) = delete;
  LocalSpace& operator=(const LocalSpace&) = delete;
  ~LocalSpace() = default;

  [[nodiscard]] std::int64_t global(std::int64_t local) const {
    if (local >= masters) return ghost(local - masters);
    return (*owned)[order.empty() ? local : order[static_cast<std::size_t>(local)]];
  }
  /// The global index of ghost k. Ghosts are listed by owner, then ascending.
  [[nodiscard]] std::int64_t ghost(std::int64_t k) const {
    return others != nullptr ? (*others)[k] : slaves[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] std::int64_t mirror(std::int64_t k) const {
    return mirrors.empty() ? k : mirrors[static_cast<std::size_t>(k)];
  }
  /// Calls use(first, count) for runs of global indices, in the order of the local ones.
  template <class Use>
  void for_each_run(const Use& use) const {
    for (std::int64_t i = 0, count = 0; i < masters; i += count) {
      const std::int64_t first = global(i);
      for (count = 1; i + count < masters && global(i + count) == first + count;) ++count;
      use(first, count);
    }
    if (others != nullptr) return others->for_each_run(0, others->size(), use);
    for (const std::int64_t slave : slaves) use(slave, std::int64_t{1});
  }
};

inline constexpr std::int64_t order_window = 16384;

/// The product_epilogue region whose product orders the owned elements of a dimension: the first one in the deepest
/// loop. Null if they ascend.
[[nodiscard]] const Op* ordering_region(const Module& module, DimId dim);

/// True for a dense input without a buffer whose owned elements do not ascend. A second copy holds it in their order.
[[nodiscard]] bool is_reordered(const Module& module, ValueId input);

/// The number n of rows 0..n-1 of a product into this space to which no peer contributes, in whole reduction blocks.
/// The vector work of a product_epilogue region may follow these rows at once.
[[nodiscard]] std::int64_t settled_masters(const LocalSpace& space);

struct SpaceKey {
  DimId dim = no_dim;
  SlaveSet set;
  friend auto operator<=>(const SpaceKey&, const SpaceKey&) = default;
};

/// The order within a group of owned elements (those that need not wait are the first group). It only affects speed.
/// `ordered`: by the number of reads where that pays, else as by_length. `by_length`: as given, except windows of rows
/// by length. `ascending`: as given, which shows soonest how many wait.
enum class WithinGroups : std::uint8_t { ordered, by_length, ascending };

/// True if a space's mirrors lie one behind the other on their worker: all owned elements, which ascend.
[[nodiscard]] bool mirrors_in_place(const Module& module, const SpaceKey& key);

class FormStore;

/// All spaces that a plan uses, on the parts of this process, which have to outlive it.
class Numbering {
 public:
  /// Collects the spaces from the types in `module`. Orders that `forms` (null: no store) has are not made again.
  /// Throws UserError(bad_input) if a part lacks a dimension or matrix, or an order is not as it was written.
  Numbering(const Module& module, std::span<const Part> parts, WithinGroups within = WithinGroups::ordered,
            FormStore* forms = nullptr);

  [[nodiscard]] std::span<const SpaceKey> keys() const { return keys_; }
  [[nodiscard]] int find(DimId dim, const SlaveSet& set) const;  ///< index in keys(); InternalError if absent
  [[nodiscard]] const LocalSpace& space(int key, int part) const {
    return spaces_[static_cast<size_t>(key)][static_cast<size_t>(part)];
  }
  [[nodiscard]] const LocalSpace& space(DimId dim, const SlaveSet& set, int part) const {
    return space(find(dim, set), part);
  }
  /// The number of owned elements of a dimension on a part, and their order in this numbering. order[i] is the index in
  /// PartDim::masters of local index i (empty: the identity).
  [[nodiscard]] std::int64_t masters(DimId dim, int part) const;
  [[nodiscard]] const std::vector<std::int32_t>& order(DimId dim, int part) const;
  /// The bytes of a part's lists here, beside those of the part itself.
  [[nodiscard]] std::int64_t list_bytes(int part) const;

 private:
  void order_masters(const Module& module, DimId dim, std::span<const Part> parts, WithinGroups within,
                     FormStore* forms);

  std::vector<SpaceKey> keys_;
  std::vector<std::vector<LocalSpace>> spaces_;                           ///< [key][part]
  IdMap<DimId, std::vector<std::vector<std::int32_t>>> orders_, places_;  ///< [dim][part]: the orders, their inverses
  IdMap<DimId, std::vector<std::int64_t>> masters_;                       ///< [dim][part]
};

/// A sparse part in pull form for one product. For each local index of the result's space it has the nonzeros that meet
/// it, as local indices of the operand's space. They ascend by the global index of the operand element.
struct LocalMatrix {
  std::int64_t outputs = 0, inputs = 0;  ///< totals of the two spaces
  std::int64_t masters = 0;         ///< of the result's space: the first outputs (a product may take the others apart)
  HeldList<std::int64_t> pointers;  ///< outputs + 1
  HeldList<std::int32_t> indices;   ///< one for each nonzero
  ElementType element;
  Array values;  ///< one for each nonzero (none for null), and perhaps room behind them
  /// Of a form that sparse values are read or made with: the place of each nonzero among those of the part.
  HeldList<std::int32_t> numbers;
  /// The nonzeros are on a disk, and in memory only while a call uses them: no other form of them is made.
  bool goes_by = false;
  [[nodiscard]] std::int64_t entries() const { return pointers.empty() ? 0 : pointers.back(); }
  /// 8 (outputs + 1) + 4 entries + value bytes, and 4 entries for numbers: the actual cost of this format.
  [[nodiscard]] std::int64_t storage_bytes() const;
};

}  // namespace kasen
