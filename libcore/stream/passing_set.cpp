#include "libcore/stream/passing_set.h"

#include <algorithm>
#include <numeric>

#include "libcore/base/checked.h"
#include "libcore/data/data.h"

namespace kasen::stream {

HeldArray& PassingSet::hold(const ElementType& element, std::int64_t rows, std::int64_t inner) {
  arrays_.push_back(hold_array(element, rows, inner));
  sizes_.push_back({.rows = rows, .row_bytes = arrays_.back().array.row_bytes()});
  return arrays_.back();
}

const ElementMemory& PassingSet::add(const ElementType& element, std::int64_t rows, std::int64_t inner,
                                     std::shared_ptr<DiskElements> disk) {
  HeldArray& held = hold(element, rows, inner);
  sizes_.back().staging = disk->staging_bytes();
  held.array.disk = std::move(disk);
  return held.array.memory;
}

const ElementMemory& PassingSet::add(const ElementType& element, std::int64_t rows, std::int64_t inner, Tier& tier,
                                     std::int64_t forming) {
  HeldArray& held = hold(element, rows, inner);
  held.array.spilled = tier.make(element, held.array.memory.capacity);
  held.array.disk = held.array.spilled;
  sizes_.back().staging = checked_add(held.array.spilled->staging_bytes(), forming, "an array's size");
  sizes_.back().forming = forming;
  sizes_.back().unit = SpilledElements::group / std::gcd(SpilledElements::group, std::max<std::int64_t>(inner, 1));
  return held.array.memory;
}

int PassingSet::find(const std::byte* address) const {
  const auto found =
      std::find_if(arrays_.begin(), arrays_.end(), [&](const HeldArray& held) { return held.addresses.has(address); });
  return found == arrays_.end() ? -1 : static_cast<int>(found - arrays_.begin());
}

void PassingSet::clear_passages() {
  passages_.clear();
  for (ArrayOnDisk& size : sizes_) size.whole = false;
}

void PassingSet::tie(const std::vector<int>& arrays) {
  for (const int array : arrays) sizes_[static_cast<std::size_t>(array)].together = arrays.front();
}

void PassingSet::keep(const Shares& shares, std::size_t part, std::int64_t brought) {
  const Residency found = keep_rows(sizes_, needs(brought), passages_, shares.stay[part], shares.aside, brought);
  window_ = found.window;
  kept_bytes_ = found.bytes;
  brought_ = brought;
  for (std::size_t a = 0; a < arrays_.size(); ++a) {
    PassingArray& array = arrays_[a].array;
    array.kept = found.kept[a];
    sizes_[a].whole |= shares.whole;
    if (array.spilled != nullptr && array.kept == array.rows) array.loaded = array.rows;  // it never leaves
  }
}

void PassingSet::bring_whole(int array) {
  PassingArray& whole = arrays_[static_cast<std::size_t>(array)].array;
  if (!sizes_[static_cast<std::size_t>(array)].whole || whole.loaded == whole.rows) return;
  whole.disk->begin(whole.loaded * whole.inner, whole.rows * whole.inner);
  whole.disk->load(whole.rows * whole.inner, whole.memory);
  whole.disk->end();
  whole.loaded = whole.rows;
}

std::unique_ptr<RowWindow> PassingSet::pass(std::vector<PassingUse> uses, std::int64_t at_once) const {
  std::erase_if(uses, [](const PassingUse& use) { return !use.goes_by(); });
  if (uses.empty()) return nullptr;
  const std::int64_t rows = uses.front().array->rows;
  return std::make_unique<RowWindow>(std::move(uses), 0, rows, at_once, window_, brought_);
}

std::unique_ptr<RowWindow> PassingSet::pass_some(std::vector<PassingUse> uses, std::int64_t first, std::int64_t last,
                                                 std::int64_t at_once) const {
  std::erase_if(uses, [&](const PassingUse& use) { return use.array->loaded >= last; });
  if (uses.empty() || first >= last) return nullptr;
  return std::make_unique<RowWindow>(std::move(uses), first, last, at_once, window_, brought_);
}

Bytes PassingSet::hand_over(int array, std::int64_t elements) {
  PassingArray& made = arrays_[static_cast<std::size_t>(array)].array;
  const std::int64_t kept = made.kept * made.inner;
  made.spilled->begin_store(0, kept);
  (void)made.spilled->store(kept, made.memory);
  made.loaded = 0;
  drop_all(made);
  return made.spilled->pages(elements);
}

std::int64_t PassingSet::read_bytes() const {
  return std::accumulate(arrays_.begin(), arrays_.end(), std::int64_t{0},
                         [](std::int64_t sum, const HeldArray& held) { return sum + held.array.disk->read_bytes(); });
}

std::int64_t PassingSet::written_bytes() const {
  return std::accumulate(arrays_.begin(), arrays_.end(), std::int64_t{0}, [](std::int64_t sum, const HeldArray& held) {
    return sum + (held.array.spilled != nullptr ? held.array.spilled->written_bytes() : 0);
  });
}

}  // namespace kasen::stream
