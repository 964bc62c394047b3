// The storage of values while a plan runs. A *slot* is a name for memory on every part: a buffer of the plan, or a
// value's own. Binding carried values changes which memory a slot names; nothing moves. Internal to the executor.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "libcore/analysis/liveness.h"
#include "libcore/analysis/whole.h"
#include "libcore/kernels/kernel_set.h"
#include "libcore/kernels/numbering.h"
#include "libcore/run/executor.h"
#include "libcore/run/local_forms.h"
#include "libcore/stream/passing_set.h"
#include "libcore/stream/tier_mover.h"

namespace kasen::executor {

// Properties of one value that the executor often needs.
struct ValueInfo {
  DimId cut = no_dim;         // no_dim: a shared
  int space = -1;             // its index in Numbering::keys(); -1 for shareds
  std::int64_t inner = 1;     // elements for each index; all elements of a shared. Of boxes: on the first part
  int slot = -1;              // its first slot; of a view: its current slot. -1: a matrix, which has none
  int slots = 1;              // arrays of a list
  ValueId memory = no_value;  // the value whose memory it is, if that is another one's
};

struct Slot {
  ElementType element;
  std::vector<std::int64_t> capacity;  // elements on each part
  std::vector<View> views;             // on each part
  int form = -1;                       // slots of one form may exchange their memory; -1: never (an input's own data)
  bool pooled = false;                 // counts as buffer_bytes
  bool spilled = false;                // its memory is that of an array on a disk
  bool on_disk = false;                // it has no memory: its views stand for places on a disk
};

class Storage {
 public:
  // `plan` has its sizes bound, `forms` are its kernel forms. Nothing is allocated yet.
  Storage(const Module& plan, const LocalForms& forms, const Liveness& live, const Numbering& numbering,
          std::span<const Part> parts);

  [[nodiscard]] const ValueInfo& info(ValueId value) const { return values_[value]; }
  [[nodiscard]] int slots() const { return static_cast<int>(slots_.size()); }
  [[nodiscard]] const Slot& slot(int s) const { return slots_[static_cast<size_t>(s)]; }
  [[nodiscard]] const View& view(ValueId value, int part) const {
    const ValueInfo& of = info(value).memory == no_value ? info(value) : info(info(value).memory);
    return slot(of.slot).views[static_cast<size_t>(part)];
  }
  [[nodiscard]] const View& view_of(int s, int part) const { return slot(s).views[static_cast<size_t>(part)]; }
  // An array lies there from now on.
  void lies_at(int s, int part, std::byte* data) {
    slots_.at(static_cast<size_t>(s)).views[static_cast<size_t>(part)].data = data;
  }
  // The number of local indices at which a value is stored: the owned elements in state P, the whole space in C and PR;
  // 1 for shareds.
  [[nodiscard]] std::int64_t indices(ValueId value, int part) const;
  // The elements for each of these. Parts differ where arrays are boxes.
  [[nodiscard]] std::int64_t inner(ValueId value, int part) const;
  [[nodiscard]] std::int64_t elements(ValueId value, int part) const {
    return indices(value, part) * inner(value, part);
  }
  [[nodiscard]] std::int64_t masters(ValueId value, int part) const;

  // True for an input that is copied out of the data.
  [[nodiscard]] bool copies_input(ValueId value) const { return slot(info(value).slot).form >= 0; }

  void look_at(ValueId view, int slot) { values_[view].slot = slot; }
  void set_views(int slot, std::vector<View> views) { slots_[static_cast<size_t>(slot)].views = std::move(views); }

  // The inputs of a part that are on a disk.
  [[nodiscard]] stream::PassingSet& passing(int part) { return passing_[static_cast<size_t>(part)]; }
  [[nodiscard]] const stream::PassingSet& passing(int part) const { return passing_[static_cast<size_t>(part)]; }
  [[nodiscard]] bool has_passing() const;
  // The rows of a slot, which `value` has, go to a disk: it has no memory of the pool.
  void spill(int slot, ValueId value, Tier& tier);
  [[nodiscard]] std::int64_t slot_bytes(int slot) const;  // on the largest part

  // Gives each slot that is on a disk its place there.
  void place_on_disk(stream::TierMover& mover, Tier& tier);
  // The bytes that allocate() will take on a part: the pool, and shareds without a buffer of it.
  [[nodiscard]] std::int64_t planned_bytes(int part) const;
  [[nodiscard]] std::int64_t planned_pool_bytes(int part) const;  // the pool alone
  // Allocates the memory of every slot, so that nothing is allocated later. Pages that are never touched cost nothing.
  void allocate();
  // Takes over the memory of all slots of the same sizes, before allocate(). `other` is of the same plan, with other
  // sizes of some dimensions, and is not used any more.
  void adopt(Storage& other);
  [[nodiscard]] std::int64_t adopted_bytes(int part) const { return adopted_[static_cast<size_t>(part)]; }
  // Hands over the memory that begins there: no slot is read or written any more. Empty: it is not memory of a slot.
  [[nodiscard]] Bytes take(const std::byte* data);
  [[nodiscard]] std::int64_t pool_bytes(int part) const { return pool_[static_cast<size_t>(part)]; }
  // The bytes of the buffers for values that operators read or make whole.
  [[nodiscard]] std::int64_t whole_bytes(int part) const { return whole_[static_cast<size_t>(part)]; }
  [[nodiscard]] std::int64_t allocations() const { return static_cast<std::int64_t>(memory_.size()); }

 private:
  int add_slot(const ElementType& element, std::vector<std::int64_t> capacity, bool pooled, bool on_disk = false);
  int buffer_slot(BufferId buffer);
  void place(const Op& op, const Liveness& live, std::span<const Part> parts);
  void place_input(const Op& op, std::span<const Part> parts);
  [[nodiscard]] View place_elements(const PartArray& array, int part, std::int64_t rows);
  void place_value(ValueId value);
  void place_stand_ins();
  [[nodiscard]] std::vector<std::int64_t> capacity_of(ValueId value) const;
  [[nodiscard]] std::vector<std::int64_t> capacity_of(DimId cut, std::int64_t inner,
                                                      std::span<const SlaveSet> sets) const;

  const Module& plan_;
  const LocalForms& forms_of_parts_;
  const KernelForm& form_;
  const Module& module_;  // of the form
  const Numbering& numbering_;
  size_t parts_;
  IdMap<ValueId, ValueInfo> values_;
  const IdMap<ValueId, bool> on_disk_;
  std::vector<Slot> slots_;
  IdMap<BufferId, int> buffers_;  // slot of each buffer
  std::map<std::tuple<ElementType, std::vector<std::int64_t>, bool>, int> forms_;
  std::vector<Bytes> memory_;
  std::vector<stream::PassingSet> passing_;           // by part
  std::vector<std::int64_t> pool_, whole_, adopted_;  // bytes on each part
};

}  // namespace kasen::executor
