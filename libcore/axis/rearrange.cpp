#include "libcore/axis/rearrange.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/axis/element_order.h"
#include "libcore/axis/memory_axes.h"
#include "libcore/ir/axis_ops.h"

namespace kasen {

Rearrangement::Rearrangement(const AxisCall& call) : call_(call) {
  std::int64_t placed = 0;  // indices of a concatenation's dimension that earlier operands take
  for (std::size_t i = 0; i < call.op->operands.size(); ++i) add(i, placed);
}

void Rearrangement::add(std::size_t operand, std::int64_t& placed) {
  const Op& op = *call_.op;
  const std::vector<ArrayAxis> from = array_axes(call_, op.operands[operand]), to = array_axes(call_, op.results.at(0));
  Copy copy;
  copy.operand = operand;
  const std::vector<std::ptrdiff_t> places = axis_op_places(*call_.module, op, operand);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (places[i] == no_axis) continue;
    copy.axes.push_back({from[i].size, from[i].stride, to[static_cast<std::size_t>(places[i])].stride});
  }
  add_worked(operand, placed, copy);
  std::stable_sort(copy.axes.begin(), copy.axes.end(), [](const Axis& a, const Axis& b) { return a.to > b.to; });
  std::vector<Axis> joined;  // axes that lie behind each other in both arrays are one
  std::int64_t count = 1;
  for (const Axis& axis : copy.axes) {
    count *= axis.size;
    if (axis.size == 1) continue;
    const bool behind =
        !joined.empty() && joined.back().from == axis.size * axis.from && joined.back().to == axis.size * axis.to;
    if (behind) {
      joined.back() = {joined.back().size * axis.size, axis.from, axis.to};
    } else {
      joined.push_back(axis);
    }
  }
  if (joined.empty()) joined.push_back({1, 1, 1});
  copy.axes = std::move(joined);
  copy.begin = elements();
  copy.end = copy.begin + count;
  copies_.push_back(std::move(copy));
}

// The axes along which lines change.
void Rearrangement::add_worked(std::size_t operand, std::int64_t& placed, Copy& copy) const {
  const Op& op = *call_.op;
  const std::vector<ArrayAxis> from = array_axes(call_, op.operands[operand]), to = array_axes(call_, op.results.at(0));
  const std::size_t first = worked_axes(*call_.module, op, operand).first;
  const AxisRange made = made_axes(*call_.module, op);
  const ArrayAxis source = from.at(first), target = to.at(made.first);
  if (op.code == OpCode::slice) {
    const SlicedIndices indices = sliced_by(*call_.module, op);
    copy.from = indices.first * source.stride;
    copy.axes.push_back({indices.count, indices.step * source.stride, target.stride});
  } else if (op.code == OpCode::concat) {
    copy.to = placed * target.stride;
    copy.axes.push_back({source.size, source.stride, target.stride});
    placed += source.size;
  } else {
    const bool joins = made.count == 1;
    std::int64_t behind = 1;  // indices of the product for one of this dimension
    for (std::size_t i = op.over.size(); i-- > 0;) {
      const ArrayAxis part = joins ? from.at(first + i) : to.at(made.first + i);
      const std::int64_t product = behind * (joins ? target : source).stride;
      copy.axes.push_back({part.size, joins ? part.stride : product, joins ? product : part.stride});
      behind *= part.size;
    }
  }
}

void Rearrangement::copy(std::int64_t begin, std::int64_t end) const {
  for (const Copy& copy : copies_) {
    const std::int64_t first = std::max(begin, copy.begin), last = std::min(end, copy.end);
    if (first < last) copy_part(copy, first - copy.begin, last - copy.begin);
  }
}

void Rearrangement::copy_part(const Copy& copy, std::int64_t begin, std::int64_t end) const {
  const Axis& last = copy.axes.back();
  while (begin < end) {
    const std::int64_t within = begin % last.size, some = std::min(last.size - within, end - begin);
    std::int64_t from = copy.from + within * last.from, to = copy.to + within * last.to, row = begin / last.size;
    for (std::size_t i = copy.axes.size() - 1; i-- > 0; row /= copy.axes[i].size) {
      from += row % copy.axes[i].size * copy.axes[i].from;
      to += row % copy.axes[i].size * copy.axes[i].to;
    }
    copy_row(copy, from, to, some);
    begin += some;
  }
}

// `count` elements along the innermost axis, of every plane.
void Rearrangement::copy_row(const Copy& copy, std::int64_t from, std::int64_t to, std::int64_t count) const {
  const Axis& axis = copy.axes.back();
  const View &array = call_.inputs[copy.operand], &made = call_.output;
  const ElementType& element = call_.module->type(call_.op->operands[copy.operand]).element;
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const Scalar scalar = element.plane_scalar(p);
    const std::byte* const source = array.data + plane_offset(element, array.capacity, p);
    std::byte* const target = made.data + plane_offset(element, made.capacity, p);
    if (axis.from == 1 && axis.to == 1) {
      const std::int64_t size = scalar_bytes(scalar);
      std::memcpy(target + to * size, source + from * size, static_cast<std::size_t>(count * size));
      continue;
    }
    with_type(scalar, [&](auto zero) {
      using T = decltype(zero);
      const T* const elements = reinterpret_cast<const T*>(source) + from;
      T* const results = reinterpret_cast<T*>(target) + to;
      for (std::int64_t j = 0; j < count; ++j) results[j * axis.to] = elements[j * axis.from];
    });
  }
}

}  // namespace kasen
