#include "libcore/axis/pick.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "libcore/axis/memory_axes.h"
#include "libcore/base/error.h"
#include "libcore/ir/axis_ops.h"

namespace kasen {

Picker::Picker(const AxisCall& call) : call_(call) {
  const AxisLines lines = lines_of(call);
  outer_ = lines.outer;
  length_ = lines.length;
  inner_ = lines.inner;
  const Dimension& dim = call.module->dim(call.op->dim);
  places_.reserve(static_cast<std::size_t>(std::clamp<std::int64_t>(dim.size, 0, length_)));
  const auto* const mask = reinterpret_cast<const std::uint8_t*>(call.inputs[1].data);
  for (std::int64_t k = 0; k < length_; ++k) {
    if (mask[k] != 0) places_.push_back(k);
  }
  require_picked(*call.op, dim, count());
}

void require_picked(const Op& op, const Dimension& picked, std::int64_t count) {
  if (count == picked.size) return;
  const std::string name = picked.name.substr(0, picked.name.find('\''));  // of a worker's dimension: the plan's
  fail(ExitStatus::bad_input, fmt::format("a mask that is true at {} indices", count),
       fmt::format("dimension '{}' has {}: the size that another mask gave it", name, picked.size),
       "declare a dimension for each mask", op.where);
}

void Picker::copy(std::int64_t begin, std::int64_t end) const {
  const ElementType& element = call_.module->type(call_.op->operands[0]).element;
  const View &array = call_.inputs[0], &made = call_.output;
  while (begin < end) {  // those of one index of the result's line at a time
    const std::int64_t line = begin / inner_, within = begin % inner_, some = std::min(inner_ - within, end - begin);
    const std::int64_t from = (line / count() * length_ + places_[static_cast<std::size_t>(line % count())]) * inner_;
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const std::int64_t size = scalar_bytes(element.plane_scalar(p));
      std::memcpy(made.data + plane_offset(element, made.capacity, p) + begin * size,
                  array.data + plane_offset(element, array.capacity, p) + (from + within) * size,
                  static_cast<std::size_t>(some * size));
    }
    begin += some;
  }
}

}  // namespace kasen
