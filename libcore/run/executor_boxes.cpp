// What parts copy within themselves: of a plan that names layouts, the elements that an operator reads or makes of a
// larger box, and values that are bound to others; else values that operators read or make whole, which go between
// their own storage (the cut dimension outermost, in local numbering) and buffers in the order of the whole array.
#include "libcore/run/executor_boxes.h"

#include <cstring>

#include "libcore/data/arrangement.h"
#include "libcore/ir/layout.h"

namespace kasen::executor {
namespace {

PlaceList all_of(std::int64_t count) { return PlaceList({{IndexList::run(0, count), count}}); }

// Copies an operand's elements to a result over more dimensions, as a map broadcasts it.
void repeat_places(const ElementType& element, const View& from, const std::vector<std::int64_t>& places,
                   const View& to) {
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const std::int64_t size = scalar_bytes(element.plane_scalar(p));
    const std::byte* source = from.data + plane_offset(element, from.capacity, p);
    std::byte* target = to.data + plane_offset(element, to.capacity, p);
    for (const std::int64_t place : places) target = std::copy_n(source + place * size, size, target);
  }
}

// For each element of `all` the place of the operand's element that it meets. `met`: the axis of `all` that each axis
// of the operand meets.
std::vector<std::int64_t> met_places(const Elements& all, const Elements& operand,
                                     const std::vector<std::ptrdiff_t>& met) {
  std::vector<std::int64_t> places{0};
  for (size_t axis = 0; axis < all.axes.size(); ++axis) {
    std::int64_t stride = 0, below = 1;
    const IndexRuns* own = nullptr;
    for (size_t i = operand.axes.size(); i-- > 0;) {
      if (met[i] == static_cast<std::ptrdiff_t>(axis)) {
        stride = below;
        own = &operand.axes[i];
      }
      below *= count_of(operand.axes[i]);
    }
    std::vector<std::int64_t> finer;
    const PlaceList along = own == nullptr ? PlaceList() : places_in({{all.axes[axis]}}, {{*own}});
    for (const std::int64_t place : places) {
      if (own == nullptr) finer.insert(finer.end(), static_cast<size_t>(count_of(all.axes[axis])), place);
      along.for_each_run(0, along.size(), [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t i = first; i < first + count; ++i) finer.push_back(place + i * stride);
      });
    }
    places = std::move(finer);
  }
  return places;
}

}  // namespace

void copy_places(const Execution& run, const ElementType& element, const View& from, const PlaceList& sources,
                 const View& to, const PlaceList& targets) {
  const PlaceCopy copy{from, &sources, to, &targets};
  if (from.data == to.data) return copy_some(element, copy, 0, copy.count());
  run.kernels.copy_places(element, {&copy, 1});
}

void pack_places(const ElementType& element, const View& from, const PlaceList& sources, std::byte* message) {
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const std::int64_t size = scalar_bytes(element.plane_scalar(p));
    const std::byte* source = from.data + plane_offset(element, from.capacity, p);
    sources.for_each_run(0, sources.size(), [&](std::int64_t first, std::int64_t count) {
      message = std::copy_n(source + first * size, count * size, message);
    });
  }
}

void unpack_places(const ElementType& element, const std::byte* message, const View& to, const PlaceList& targets) {
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const std::int64_t size = scalar_bytes(element.plane_scalar(p));
    std::byte* target = to.data + plane_offset(element, to.capacity, p);
    targets.for_each_run(0, targets.size(), [&](std::int64_t first, std::int64_t count) {
      std::copy_n(message, count * size, target + first * size);
      message += count * size;
    });
  }
}

namespace {

// The elements of a stand-in whose axes have another order than those of its value.
Arrangement arrangement_of(const BoxStandIn& box, const Elements& own, const Elements& stored) {
  std::vector<std::vector<std::int64_t>> offsets;
  for (const IndexRuns& axis : own.axes) offsets.emplace_back(static_cast<size_t>(count_of(axis)), 0);
  std::int64_t stride = 1;
  for (size_t axis = stored.axes.size(); axis-- > 0;) {
    const size_t met = box.meets[axis];
    const PlaceList places = places_in({{own.axes[met]}}, {{stored.axes[axis]}});
    size_t i = 0;
    places.for_each_run(0, places.size(), [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t k = first; k < first + count; ++k) offsets[met][i++] += k * stride;
    });
    stride *= count_of(stored.axes[axis]);
  }
  return Arrangement(std::move(offsets));
}

void move_arranged(const ElementType& element, const Arrangement& arrangement, const View& whole, const View& some,
                   bool bring) {
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const std::int64_t size = scalar_bytes(element.plane_scalar(p));
    std::byte* array = whole.data + plane_offset(element, whole.capacity, p);
    std::byte* arranged = some.data + plane_offset(element, some.capacity, p);
    if (bring) {
      arrangement.arrange(array, arranged, size);
    } else {
      arrangement.restore(arranged, array, size);
    }
  }
}

}  // namespace

void Execution::copy_value(ValueId from, const View& source, ValueId to, const View& target, int part) const {
  if (tier_mover != nullptr) {
    tier_mover->await_reading(source.data);
    tier_mover->await_writing(target.data);
  }
  const ElementType& element = module.type(to).element;
  if (!forms.are_boxes() || stored_box(plan, plan.type(from)) == stored_box(plan, plan.type(to))) {
    const std::int64_t count = std::min(storage.elements(from, part), storage.elements(to, part));
    return copy_elements(element, source, target, 0, count);
  }
  const int worker = parts[static_cast<size_t>(part)].worker;
  const Elements wanted = elements_of(plan, stored_box(plan, plan.type(to)), worker);
  const Elements held = elements_of(plan, stored_box(plan, plan.type(from)), worker);
  const PlaceList from_places = places_in(wanted, held), to_places = all_of(wanted.count());
  copy_some(element, {source, &from_places, target, &to_places}, 0, wanted.count());
}

// The elements of a stand-in come from its value before the step. If the step makes it, they go there behind it.
void Execution::move_box(ValueId stand_in, int part, int number, bool bring) {
  const BoxStandIn& box = forms.stand_ins()[static_cast<size_t>(stand_in - plan.values.end_id())];
  const int worker = parts[static_cast<size_t>(part)].worker;
  const Type& type = plan.type(box.of);
  const View &whole = storage.view(box.of, part), &some = storage.view(stand_in, part);
  const Elements stored = elements_of(plan, stored_box(plan, type), worker);
  const Elements own = elements_of(plan, box.box, worker);
  if (box.arranged) {
    move_arranged(type.element, arrangement_of(box, own, stored), whole, some, bring);
    return charge_moved(box.of, number, own.count(), own.count());
  }
  const PlaceList places = places_in(own, stored), all = all_of(own.count());
  if (bring) {
    copy_places(*this, type.element, whole, places, some, all);
  } else {
    if (box.handed_on == no_value) {
      store_identity(*this, box.reducer, whole, stored.count());
      charge_moved(box.of, number, 0, stored.count());
    } else if (storage.info(box.handed_on).slot != storage.info(box.of).slot) {
      const Type& kept = plan.type(box.handed_on);
      const Elements held = elements_of(plan, stored_box(plan, kept), worker);
      repeat_places(type.element, storage.view(box.handed_on, part),
                    met_places(stored, held, met_axes(type.dims, kept.dims)), whole);
      charge_moved(box.of, number, stored.count(), stored.count());
    }
    if (!is_first_along(plan, worker, box.first_only)) return;
    copy_places(*this, type.element, some, all, whole, places);
  }
  charge_moved(box.of, number, own.count(), own.count());
}

// ---- values that are read or made whole

void Execution::move_whole(ValueId stand_in, int part, bool bring) {
  const ValueId value = form.original(stand_in);
  const Type& type = module.type(value);
  const ValueInfo& info = storage.info(value);
  const LocalSpace& space = numbering.space(info.space, part);
  const AroundCut around = Layout(module, type).around();
  if (space.total != around.extent) throw InternalError("a value that is met whole is not held whole");
  const View& local = storage.view(value, part);
  const View& whole = storage.view(stand_in, part);
  for (std::int64_t p = 0; p < type.element.planes(); ++p) {
    const std::int64_t bytes = scalar_bytes(type.element.plane_scalar(p)) * around.inner;
    std::byte* held = local.data + plane_offset(type.element, local.capacity, p);
    std::byte* room = whole.data + plane_offset(type.element, whole.capacity, p);
    const auto move = [&](std::int64_t first, std::int64_t count) {
      std::byte* at = room + first * bytes;
      std::memcpy(bring ? at : held, bring ? held : at, static_cast<size_t>(count * bytes));
      held += count * bytes;
    };
    space.for_each_run([&](std::int64_t first, std::int64_t count) {
      if (around.outer == 1) return move(first, count);
      for (std::int64_t i = first; i < first + count; ++i) {
        for (std::int64_t b = 0; b < around.outer; ++b) move(b * around.extent + i, 1);
      }
    });
  }
}

void Execution::bring_whole(const Step& step) {
  for (const ValueId stand_in : step.reads_whole) {
    for (int p = 0; p < part_count(); ++p) {
      if (forms.are_boxes()) {
        move_box(stand_in, p, step.number, true);
      } else {
        move_whole(stand_in, p, true);
      }
    }
  }
}

void Execution::take_whole(const Step& step) {
  for (const ValueId stand_in : step.makes_whole) {
    for (int p = 0; p < part_count() && forms.are_boxes(); ++p) move_box(stand_in, p, step.number, false);
    if (forms.are_boxes()) continue;
    const std::int64_t bytes = storage.info(stand_in).inner * module.type(stand_in).element.bytes();
    for (int p = 0; p < part_count(); ++p) move_whole(stand_in, p, false);
    count(step.number).written_bytes += bytes * part_count();
  }
}

}  // namespace kasen::executor
