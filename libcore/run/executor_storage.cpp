#include "libcore/run/executor_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/tiers.h"

namespace kasen::executor {
namespace {

[[noreturn]] void no_input(const Op& op, const std::string& why,
                           const std::string& remedy = "partition the data with this program") {
  fail(ExitStatus::bad_input, fmt::format("input '{}' does not fit the data", op.name), why, remedy, op.where);
}

}  // namespace

Storage::Storage(const Module& plan, const LocalForms& forms, const Liveness& live, const Numbering& numbering,
                 std::span<const Part> parts)
    : plan_(plan),
      forms_of_parts_(forms),
      form_(forms.first()),
      module_(form_.module),
      numbering_(numbering),
      parts_(parts.size()),
      values_(module_.values.size()),
      on_disk_(values_on_disk(module_)),
      passing_(parts.size()) {
  pool_.assign(parts_, 0);
  whole_.assign(parts_, 0);
  adopted_.assign(parts_, 0);
  for (const ValueId v : values_.ids()) {
    const Type& type = module_.type(v);
    if (type.sparse) continue;
    ValueInfo& info = values_[v];
    const Layout layout(module_, type);
    info.cut = layout.cut();
    info.inner = layout.elements_per_index();
    info.slots = static_cast<int>(std::max<std::int64_t>(type.list, 1));
    if (info.cut != no_dim) info.space = numbering.find(info.cut, type.state.slaves);
  }
  for (const BufferId b : module_.buffers.ids()) buffers_.push_back(buffer_slot(b));
  int region = -1;  // depth of the open region: inside, only values with a buffer have storage
  for_each_op(module_, [&](const Op& op, int, int depth) {
    if (region >= 0 && depth > region) {
      if (!op.results.empty() && module_.value(op.results[0]).buffer != no_buffer) place_value(op.results[0]);
      return;
    }
    region = op.code == OpCode::region ? depth : -1;
    place(op, live, parts);
  });
  place_stand_ins();
}

// Each stand-in represents one value of the plan and has memory for the whole array on every part.
void Storage::place_stand_ins() {
  for (const ValueId v : IdSequence(plan_.values.end_id(), values_.end_id())) {
    if (form_.is_mark(v)) continue;
    if (const ValueId memory = forms_of_parts_.memory_of(v); memory != v) {
      values_[v].memory = memory;
      continue;
    }
    const ElementType& element = module_.values[v].type.element;
    const std::vector<std::int64_t> capacity = capacity_of(v);
    for (size_t p = 0; p < parts_; ++p) whole_[p] += storage_bytes(element, capacity[p]);
    values_[v].slot = add_slot(element, capacity, false);
  }
}

std::vector<std::int64_t> Storage::capacity_of(ValueId value) const {
  const ValueInfo& info = values_[value];
  if (!forms_of_parts_.are_boxes()) return capacity_of(info.cut, info.inner, {&module_.type(value).state.slaves, 1});
  std::vector<std::int64_t> capacity;
  for (size_t p = 0; p < parts_; ++p) capacity.push_back(inner(value, static_cast<int>(p)));
  return capacity;
}

std::vector<std::int64_t> Storage::capacity_of(DimId cut, std::int64_t inner, std::span<const SlaveSet> sets) const {
  std::vector<std::int64_t> capacity;
  for (size_t p = 0; p < parts_; ++p) {
    const int part = static_cast<int>(p);
    std::int64_t indices = cut == no_dim ? 1 : numbering_.masters(cut, part);
    for (const SlaveSet& set : sets) {
      if (cut != no_dim) indices = std::max(indices, numbering_.space(cut, set, part).total);
    }
    capacity.push_back(checked_mul(indices, inner, "an array's size"));
  }
  return capacity;
}

int Storage::add_slot(const ElementType& element, std::vector<std::int64_t> capacity, bool pooled, bool on_disk) {
  Slot slot;
  slot.element = element;
  slot.form = forms_.emplace(std::tuple(element, capacity, on_disk), static_cast<int>(forms_.size())).first->second;
  for (const std::int64_t elements : capacity) slot.views.push_back({nullptr, elements});
  slot.capacity = std::move(capacity);
  slot.pooled = pooled && !on_disk;
  slot.on_disk = on_disk;
  slots_.push_back(std::move(slot));
  return static_cast<int>(slots_.size()) - 1;
}

int Storage::buffer_slot(BufferId buffer) {
  const BufferDecl& decl = module_.buffers[buffer];
  if (forms_of_parts_.are_boxes()) {
    std::vector<std::int64_t> capacity;
    for (size_t p = 0; p < parts_; ++p) {
      capacity.push_back(forms_of_parts_.buffer_elements(buffer, static_cast<int>(p)));
    }
    return add_slot(decl.element, std::move(capacity), true, decl.on_disk);
  }
  const Layout layout(module_, decl.dims);
  return add_slot(decl.element, capacity_of(layout.cut(), layout.elements_per_index(), decl.holds), true, decl.on_disk);
}

void Storage::place(const Op& op, const Liveness& live, std::span<const Part> parts) {
  for (const Block& block : op.blocks) {
    for (const ValueId arg : block.args) {
      if (op.code != OpCode::region) place_value(arg);
    }
  }
  for (const ValueId made : op.results) {
    const ValueId result = form_.original(made);
    if (op.code == OpCode::input && module_.value(result).buffer == no_buffer) {
      place_input(op, parts);
    } else if (forms_of_parts_.are_boxes() && stands_in_input(plan_, op)) {
      values_[result].slot = values_[op.operands[0]].slot;
    } else if (form_.is_mark(result) || !live.is_view(result)) {
      place_value(result);
    }
  }
}

void Storage::place_value(ValueId value) {
  const Value& v = module_.value(value);
  ValueInfo& info = values_[value];
  if (v.type.sparse) return;
  if (v.buffer != no_buffer) {
    info.slot = buffers_.at(v.buffer);
    const BufferId last(v.buffer + info.slots - 1);
    const std::vector<std::int64_t> needed = capacity_of(value);
    for (size_t p = 0; p < parts_; ++p) {
      if (!buffers_.contains(last) || slot(buffers_[last]).capacity[p] < needed[p] ||
          slot(info.slot).element != v.type.element) {
        fail(ExitStatus::bad_input, fmt::format("%{} does not fit into its buffer", v.name), "",
             "fuse the program again");
      }
    }
    return;
  }
  for (int i = 0; i < info.slots; ++i) {
    const int made = add_slot(v.type.element, capacity_of(value), !v.type.dims.empty(), on_disk_[value]);
    if (i == 0) info.slot = made;
  }
}

// Where an input's elements are: in the part itself, or where they come from the disk.
View Storage::place_elements(const PartArray& array, int part, std::int64_t rows) {
  if (array.on_disk == nullptr) return {const_cast<std::byte*>(array.data.bytes.data()), array.data.count};
  const ElementMemory& memory = passing(part).add(array.data.element, rows, array.data.count / rows, array.on_disk);
  return {memory.data, memory.capacity};
}

bool Storage::has_passing() const {
  return std::any_of(passing_.begin(), passing_.end(), [](const stream::PassingSet& set) { return !set.empty(); });
}

void Storage::spill(int slot, ValueId value, Tier& tier) {
  Slot& gone = slots_[static_cast<size_t>(slot)];
  gone.spilled = true;
  for (size_t p = 0; p < parts_; ++p) {
    const int part = static_cast<int>(p);
    const ElementMemory& memory = passing_[p].add(gone.element, masters(value, part), inner(value, part), tier);
    gone.views[p] = {memory.data, memory.capacity};
  }
}

std::int64_t Storage::slot_bytes(int slot) const {
  const Slot& of = slots_[static_cast<size_t>(slot)];
  return storage_bytes(of.element, *std::max_element(of.capacity.begin(), of.capacity.end()));
}

// A dense input without a buffer lives in the part itself and is only read. If its owned elements do not ascend, it has
// storage of its own, in their order.
void Storage::place_input(const Op& op, std::span<const Part> parts) {
  const ValueId value = op.results[0];
  const Type& type = module_.type(value);
  ValueInfo& info = values_[value];
  Slot slot;
  slot.element = type.element;
  for (size_t p = 0; p < parts.size(); ++p) {
    std::vector<std::string> dims;
    for (const DimId dim : plan_.type(value).dims) dims.push_back(plan_.dim(dim).name);
    if (type.sparse) {
      const auto it = parts[p].matrices.find(op.name);
      if (it == parts[p].matrices.end()) no_input(op, "the data has no matrix of that name");
      if (it->second.element != type.element) no_input(op, "its elements are of another type");
      const std::int64_t batches = has_batches(type) ? parts[p].dims.at(dims.at(0)).size : 1;
      if (has_batches(type)) dims.erase(dims.begin());
      if (dims != std::vector{it->second.row_dim, it->second.col_dim}) no_input(op, "it has other dimensions");
      if (it->second.batches != batches) no_input(op, "it has another number of batches");
      continue;
    }
    if (gives_values(module_, op)) {
      const Array& values = parts[p].matrices.at(op.name).values;
      if (values.element != type.element || values.count != numbering_.masters(info.cut, static_cast<int>(p))) {
        no_input(op, "its matrix has other values");
      }
      slot.views.push_back({const_cast<std::byte*>(values.bytes.data()), values.count});
      slot.capacity.push_back(values.count);
      continue;
    }
    const auto it = parts[p].arrays.find(op.name);
    if (it == parts[p].arrays.end()) no_input(op, "the data has no array of that name");
    const PartArray& array = it->second;
    if (array.data.element != type.element) no_input(op, "its elements are of another type");
    if (array.dims != dims) no_input(op, "it has other dimensions");
    const std::int64_t indices = info.cut == no_dim ? 1 : numbering_.masters(info.cut, static_cast<int>(p));
    if (array.compressed.has_value() != type.compressed) {
      no_input(op, type.compressed ? "it is not compressed, as the plan takes it" : "it is compressed",
               "fuse the program again with this bundle");
    }
    if (type.compressed) {
      const CompressedArray& columns = *array.compressed;
      if (columns.rows != indices || columns.cols != info.inner || columns.scalar != type.element.scalar()) {
        no_input(op, "it has another shape");
      }
      slot.views.push_back({nullptr, indices * info.inner, &columns});
      slot.capacity.push_back(indices * info.inner);
      continue;
    }
    if (array.data.count != indices * inner(value, static_cast<int>(p))) {
      no_input(op, "it has another number of elements");
    }
    slot.views.push_back(place_elements(array, static_cast<int>(p), indices));
    slot.capacity.push_back(array.data.count);
  }
  if (type.sparse) return;
  if (is_reordered(module_, value)) {
    info.slot = add_slot(type.element, std::move(slot.capacity), false);
    return;
  }
  slots_.push_back(std::move(slot));
  info.slot = static_cast<int>(slots_.size()) - 1;
}

std::int64_t Storage::masters(ValueId value, int part) const {
  const ValueInfo& info = values_[value];
  return info.cut == no_dim ? 1 : numbering_.masters(info.cut, part);
}

std::int64_t Storage::indices(ValueId value, int part) const {
  const ValueInfo& info = values_[value];
  if (info.cut == no_dim) return 1;
  const State& state = module_.type(value).state;
  if (state.is_part()) return numbering_.masters(info.cut, part);
  return numbering_.space(info.space, part).total;
}

std::int64_t Storage::inner(ValueId value, int part) const {
  if (forms_of_parts_.shape(part) == 0) return values_[value].inner;
  return Layout(forms_of_parts_.module(part), value).elements_per_index();
}

void Storage::allocate() {
  for (Slot& slot : slots_) {
    if (slot.form < 0 || slot.spilled || slot.on_disk) continue;
    for (size_t p = 0; p < parts_; ++p) {
      if (slot.pooled) pool_[p] += storage_bytes(slot.element, slot.capacity[p]);
      if (slot.views[p].data != nullptr) continue;  // adopted
      Bytes bytes(storage_bytes(slot.element, slot.capacity[p]));
      slot.views[p].data = bytes.data();
      memory_.push_back(std::move(bytes));
    }
  }
}

void Storage::adopt(Storage& other) {
  if (other.slots_.size() != slots_.size()) throw InternalError("memory of another plan");
  for (size_t s = 0; s < slots_.size(); ++s) {
    Slot& slot = slots_[s];
    if (slot.form < 0) continue;
    for (size_t p = 0; p < parts_; ++p) {
      const View& theirs = other.slots_[s].views[p];
      if (slot.capacity[p] != other.slots_[s].capacity[p]) {
        (void)other.take(theirs.data);  // freed
        continue;
      }
      slot.views[p].data = theirs.data;
      adopted_[p] += storage_bytes(slot.element, slot.capacity[p]);
    }
  }
  std::erase_if(other.memory_, [](const Bytes& bytes) { return bytes.size() == 0; });
  memory_ = std::move(other.memory_);
  for (const ValueId v : values_.ids()) values_[v].slot = other.values_[v].slot;  // what views show
}

Bytes Storage::take(const std::byte* data) {
  const auto found =
      std::find_if(memory_.begin(), memory_.end(), [&](const Bytes& bytes) { return bytes.data() == data; });
  return found == memory_.end() ? Bytes() : std::exchange(*found, Bytes());
}

std::int64_t Storage::planned_bytes(int part) const {
  std::int64_t total = 0;
  for (const Slot& slot : slots_) {
    if (slot.form < 0 || slot.spilled || slot.on_disk) continue;
    total =
        checked_add(total, storage_bytes(slot.element, slot.capacity[static_cast<size_t>(part)]), "the pool's size");
  }
  return total;
}

}  // namespace kasen::executor
