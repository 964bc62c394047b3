// Values that operators read or make whole. They are copied between their own storage (the cut dimension outermost, in
// local numbering) and buffers in the order of the whole array.
#include <cstring>

#include "libcore/ir/layout.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {

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
