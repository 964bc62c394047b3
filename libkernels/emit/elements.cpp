#include "libkernels/emit/elements.h"

#include "libcore/base/error.h"

namespace kasen {

llvm::Value* make_array(Emitter& emitter, const Component& component) {
  if (component.count == 0) return nullptr;
  const std::int64_t bytes = component.count * strip_bytes(emitter, component.scalar);
  return Emitter::is_small(component.count) ? emitter.local(bytes) : emitter.scratch(bytes);
}

std::optional<std::int64_t> known_coordinate(const Plane* coordinate) {
  if (coordinate == nullptr) return std::nullopt;
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(coordinate->value);
  return constant == nullptr ? std::nullopt : std::optional(constant->getSExtValue());
}

llvm::Value* read_word(Emitter& emitter, llvm::Value* arguments, int number) {
  return emitter.b.CreateLoad(emitter.b.getInt64Ty(), emitter.at_byte(arguments, emitter.integer(8 * number)));
}

ArrayPlanes read_array(Emitter& emitter, llvm::Value* arguments, int first_word, const ElementType& element) {
  ArrayPlanes planes{element, {}};
  for (int c = 0; c < components_of(element); ++c) {
    llvm::Value* base = read_word(emitter, arguments, first_word + 2 * c);
    planes.components.push_back(
        {emitter.b.CreateIntToPtr(base, emitter.b.getPtrTy()), read_word(emitter, arguments, first_word + 2 * c + 1)});
  }
  return planes;
}

Plane MemorySource::load_each(Emitter& emitter, int component, std::span<llvm::Value* const> each) const {
  const Scalar scalar = scalar_of(planes_.element, component);
  llvm::Value* base = planes_.components[static_cast<size_t>(component)].base;
  std::vector<llvm::Value*> addresses;
  for (llvm::Value* index : each) {
    addresses.push_back(emitter.b.CreateGEP(emitter.memory_type(scalar), base, index));
  }
  return {emitter.load_each(scalar, addresses), false};
}

void MemorySource::move_to(Emitter& emitter, llvm::Value* index, std::span<llvm::Value* const> each) {
  emitter.forget();
  index_ = index;
  loaded_.assign(planes_.components.size(), Plane{});
  coordinates_.clear();
  for (int c = 0; c < components_of(planes_.element); ++c) {
    if (count_of(planes_.element, c) > 0) continue;
    const bool alone = !each.empty() && scalar_of(planes_.element, c) != Scalar::null;
    loaded_[static_cast<size_t>(c)] = alone ? load_each(emitter, c, each) : load(emitter, c, nullptr);
  }
}

llvm::Value* MemorySource::address(Emitter& emitter, int component, const Plane* coordinate) {
  const ArrayPlanes::Component& place = planes_.components[static_cast<size_t>(component)];
  const std::int64_t size = scalar_bytes(scalar_of(planes_.element, component));
  const auto splat = [&](llvm::Value* v) { return emitter.spread({v, true}); };
  const bool own_coordinate = coordinate != nullptr && !coordinate->uniform;
  if (access_ == Access::scattered && coordinate == nullptr) {  // gathers take this form directly
    return emitter.b.CreateGEP(emitter.memory_type(scalar_of(planes_.element, component)), place.base, index_);
  }
  llvm::Value* offset = nullptr;
  if (access_ == Access::scattered) {
    offset = emitter.b.CreateMul(index_, splat(emitter.integer(size)));
  } else {
    offset = emitter.b.CreateMul(index_, emitter.integer(size));
  }
  if (coordinate == nullptr) return emitter.at_byte(place.base, offset);
  if (!own_coordinate) {
    llvm::Value* plane = emitter.at_byte(place.base, emitter.b.CreateMul(coordinate->value, place.stride));
    return emitter.at_byte(plane, offset);
  }
  if (access_ != Access::scattered) {
    offset = splat(offset);
    if (access_ == Access::consecutive) {
      llvm::Value* step = emitter.b.CreateMul(emitter.lane_numbers(), splat(emitter.integer(size)));
      offset = emitter.b.CreateAdd(offset, step);
    }
  }
  offset = emitter.b.CreateAdd(offset, emitter.b.CreateMul(coordinate->value, splat(place.stride)));
  return emitter.at_byte(place.base, offset);
}

// Data read at one index stay in registers; data that all indices share are read again, from the first cache.
Plane MemorySource::load(Emitter& emitter, int component, const Plane* coordinate) {
  const std::optional<std::int64_t> number = known_coordinate(coordinate);
  if (!number || access_ != Access::consecutive || emitter.in_coordinate_loop()) {
    return load_from_memory(emitter, component, coordinate);
  }
  Plane& kept = coordinates_[{component, *number}];
  if (kept.value == nullptr) kept = load_from_memory(emitter, component, coordinate);
  return kept;
}

Plane MemorySource::load_from_memory(Emitter& emitter, int component, const Plane* coordinate) {
  const Scalar scalar = scalar_of(planes_.element, component);
  if (scalar == Scalar::null) return {emitter.integer(1), true};
  const Plane& kept = loaded_[static_cast<size_t>(component)];
  if (coordinate == nullptr && kept.value != nullptr) return kept;
  const bool one_lane = emitter.lanes() == 1;
  const bool per_lane = access_ == Access::scattered || (coordinate != nullptr && !coordinate->uniform);
  llvm::Value* from = address(emitter, component, coordinate);
  if (per_lane && !one_lane) return {emitter.gather(scalar, from), false};
  if (access_ == Access::shared) return {emitter.load_one(scalar, from), true};
  return {emitter.load_lanes(scalar, from), one_lane};
}

void MemorySource::store(Emitter& emitter, int component, const Plane* coordinate, const Plane& value) {
  const Scalar scalar = scalar_of(planes_.element, component);
  llvm::Value* to = address(emitter, component, coordinate);
  if (access_ == Access::scattered) return emitter.scatter(scalar, to, value);
  if (streamed_) return emitter.stream_lanes(scalar, to, value);
  emitter.store_lanes(scalar, to, value);
}

// The scalars are loaded already, and no result aliases an element that all lanes share.
ReadsFrom MemorySource::reads_from(const ElementType& result, int component) const {
  if (access_ == Access::shared || count_of(planes_.element, component) == 0) return ReadsFrom::registers;
  if (planes_.element != result) return ReadsFrom::other_types;
  return access_ == Access::consecutive ? ReadsFrom::own_place : ReadsFrom::elsewhere;
}

Plane ShiftedSource::load(Emitter& emitter, int component, const Plane* coordinate) {
  llvm::Value* value = emitter.spread(of_.load(emitter, component, coordinate));
  std::vector<int> places;
  for (int l = 0; l < emitter.lanes(); ++l) places.push_back((l + by_) % emitter.lanes());
  return {emitter.b.CreateShuffleVector(value, places), false};
}

llvm::Value* SlotSource::slot(Emitter& emitter, int component, const Plane* coordinate) const {
  llvm::Value* plane = emitter.integer(element_.first_plane(component));
  if (coordinate != nullptr) plane = emitter.b.CreateAdd(plane, coordinate->value);
  return emitter.at_byte(address_, emitter.b.CreateMul(plane, emitter.integer(8)));
}

Plane SlotSource::load(Emitter& emitter, int component, const Plane* coordinate) {
  return {emitter.load_one(scalar_of(element_, component), slot(emitter, component, coordinate)), true};
}

void SlotSource::store(Emitter& emitter, int component, const Plane* coordinate, llvm::Value* value) {
  emitter.store_one(scalar_of(element_, component), slot(emitter, component, coordinate), value);
}

void for_each_plane(Emitter& emitter, const ElementType& element,
                    const std::function<void(int component, const Plane* coordinate)>& visit) {
  for (int c = 0; c < components_of(element); ++c) {
    if (count_of(element, c) == 0) {
      visit(c, nullptr);
    } else {
      emitter.coordinates(0, count_of(element, c), [&](llvm::Value* j) {
        const Plane coordinate{j, true};
        visit(c, &coordinate);
      });
    }
  }
}

}  // namespace kasen
