#include "libkernels/elements.h"

#include <algorithm>

#include "libcore/error.h"

namespace kasen {
namespace {

Scalar scalar_of(const ElementType& element, int component) {
  return element.components[static_cast<size_t>(component)].scalar;
}
std::int64_t count_of(const ElementType& element, int component) {
  return element.components[static_cast<size_t>(component)].count;
}
int components_of(const ElementType& element) { return static_cast<int>(element.components.size()); }

// Bytes of one coordinate of all lanes in scratch memory.
std::int64_t strip_bytes(const Emitter& emitter, Scalar scalar) { return scalar_bytes(scalar) * emitter.lanes(); }

// Scratch memory for each small array of an element; null for scalar components.
std::vector<llvm::Value*> scratch_arrays(Emitter& emitter, const ElementType& element) {
  std::vector<llvm::Value*> arrays;
  for (const Component& c : element.components) {
    arrays.push_back(c.count == 0 ? nullptr : emitter.scratch(c.count * strip_bytes(emitter, c.scalar)));
  }
  return arrays;
}

llvm::Value* strip_address(Emitter& emitter, llvm::Value* array, Scalar scalar, llvm::Value* coordinate) {
  return emitter.at_byte(array, emitter.b.CreateMul(coordinate, emitter.integer(strip_bytes(emitter, scalar))));
}

// All lanes of one coordinate, or of a coordinate of their own each.
Plane load_strip(Emitter& emitter, llvm::Value* array, Scalar scalar, const Plane& coordinate) {
  llvm::Value* saved = emitter.mask;
  emitter.mask = nullptr;  // scratch memory is always there
  llvm::Value* value = nullptr;
  if (coordinate.uniform) {
    value = emitter.load_lanes(scalar, strip_address(emitter, array, scalar, coordinate.value));
  } else {
    llvm::Value* size = emitter.spread({emitter.integer(scalar_bytes(scalar)), true});
    llvm::Value* row = emitter.spread({emitter.integer(emitter.lanes()), true});
    llvm::Value* place = emitter.b.CreateAdd(emitter.b.CreateMul(coordinate.value, row), emitter.lane_numbers());
    value = emitter.gather(scalar, emitter.at_byte(array, emitter.b.CreateMul(place, size)));
  }
  emitter.mask = saved;
  return {value, emitter.lanes() == 1};
}

void store_strip(Emitter& emitter, llvm::Value* array, Scalar scalar, llvm::Value* coordinate, const Plane& value) {
  llvm::Value* saved = emitter.mask;
  emitter.mask = nullptr;
  emitter.store_lanes(scalar, strip_address(emitter, array, scalar, coordinate), value);
  emitter.mask = saved;
}

}  // namespace

int ArgumentLayout::add_array(const ElementType& element) {
  const int first = words_;
  words_ += 2 * components_of(element);
  return first;
}

int ArgumentLayout::add_word() { return words_++; }

void append_array(std::vector<std::int64_t>& words, const ElementType& element, const View& view) {
  std::int64_t plane = 0;
  for (const Component& c : element.components) {
    words.push_back(reinterpret_cast<std::int64_t>(view.data) + plane_offset(element, view.capacity, plane));
    words.push_back((view.capacity * scalar_bytes(c.scalar) + 63) / 64 * 64);
    plane += c.planes();
  }
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

void MemorySource::move_to(Emitter& emitter, llvm::Value* index) {
  index_ = index;
  loaded_.assign(planes_.components.size(), Plane{});
  for (int c = 0; c < components_of(planes_.element); ++c) {
    if (count_of(planes_.element, c) == 0) loaded_[static_cast<size_t>(c)] = load(emitter, c, nullptr);
  }
}

llvm::Value* MemorySource::address(Emitter& emitter, int component, const Plane* coordinate) {
  const ArrayPlanes::Component& place = planes_.components[static_cast<size_t>(component)];
  const std::int64_t size = scalar_bytes(scalar_of(planes_.element, component));
  const auto splat = [&](llvm::Value* v) { return emitter.spread({v, true}); };
  const bool own_coordinate = coordinate != nullptr && !coordinate->uniform;
  if (access_ == Access::scattered && coordinate == nullptr) {  // a form that gathers take as it is
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

Plane MemorySource::load(Emitter& emitter, int component, const Plane* coordinate) {
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

Temporary::Temporary(Emitter& emitter, const ElementType& element)
    : element_(element), scalars_(element.components.size()), arrays_(scratch_arrays(emitter, element)) {}

Plane Temporary::load(Emitter& emitter, int component, const Plane* coordinate) {
  if (coordinate == nullptr) return scalars_[static_cast<size_t>(component)];
  return load_strip(emitter, arrays_[static_cast<size_t>(component)], scalar_of(element_, component), *coordinate);
}

void Temporary::store(Emitter& emitter, int component, llvm::Value* coordinate, const Plane& value) {
  store_strip(emitter, arrays_[static_cast<size_t>(component)], scalar_of(element_, component), coordinate, value);
}

Accumulator::Accumulator(Emitter& emitter, const ElementType& element)
    : element_(element), arrays_(scratch_arrays(emitter, element)), spare_(scratch_arrays(emitter, element)) {
  for (const Component& c : element.components) {
    scalars_.push_back(c.count == 0 ? emitter.variable(emitter.wide(emitter.type(c.scalar))) : nullptr);
  }
}

Plane Accumulator::load(Emitter& emitter, int component, const Plane* coordinate) {
  if (coordinate != nullptr) {
    return load_strip(emitter, arrays_[static_cast<size_t>(component)], scalar_of(element_, component), *coordinate);
  }
  llvm::AllocaInst* variable = scalars_[static_cast<size_t>(component)];
  return {emitter.b.CreateLoad(variable->getAllocatedType(), variable), emitter.lanes() == 1};
}

void Accumulator::fill(Emitter& emitter, const std::vector<Word>& words) {
  size_t plane = 0;
  for (int c = 0; c < components_of(element_); ++c) {
    const Scalar scalar = scalar_of(element_, c);
    const auto place = static_cast<size_t>(c);
    const std::int64_t count = count_of(element_, c);
    const Plane start{emitter.word(scalar, words[plane]), true};
    const auto same = [&](const Word& w) { return w.i == words[plane].i; };
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(plane);
    if (count == 0) {
      emitter.b.CreateStore(emitter.spread(start), scalars_[place]);
    } else if (std::all_of(first, first + count, same)) {
      emitter.loop(emitter.integer(0), emitter.integer(count), 1,
                   [&](llvm::Value* j) { store_strip(emitter, arrays_[place], scalar, j, start); });
    } else {
      for (std::int64_t j = 0; j < count; ++j) {
        store_strip(emitter, arrays_[place], scalar, emitter.integer(j), {emitter.word(scalar, first[j]), true});
      }
    }
    plane += static_cast<size_t>(element_.components[place].planes());
  }
}

// All of the new value is computed before any of the old one is overwritten.
void Accumulator::assign(Emitter& emitter, const Expr& body, const Sources& sources) {
  const auto kept = [&](const Plane& value, const Plane& old) {
    return emitter.mask == nullptr ? value : emitter.select({emitter.mask, false}, value, old);
  };
  std::vector<Plane> values(element_.components.size());
  for_each_plane(emitter, element_, [&](int c, const Plane* j) {
    const Plane value = kept(emitter.value_at(body, sources, c, j), load(emitter, c, j));
    const auto place = static_cast<size_t>(c);
    if (j == nullptr) {
      values[place] = value;
    } else {
      store_strip(emitter, spare_[place], scalar_of(element_, c), j->value, value);
    }
  });
  for_each_plane(emitter, element_, [&](int c, const Plane* j) {
    const auto place = static_cast<size_t>(c);
    const Scalar scalar = scalar_of(element_, c);
    if (j == nullptr) {
      emitter.b.CreateStore(emitter.spread(values[place]), scalars_[place]);
    } else {
      store_strip(emitter, arrays_[place], scalar, j->value, load_strip(emitter, spare_[place], scalar, *j));
    }
  });
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
      emitter.loop(emitter.integer(0), emitter.integer(count_of(element, c)), 1, [&](llvm::Value* j) {
        const Plane coordinate{j, true};
        visit(c, &coordinate);
      });
    }
  }
}

}  // namespace kasen
