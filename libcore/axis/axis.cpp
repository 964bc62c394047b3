#include "libcore/axis/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "libcore/axis/element_order.h"
#include "libcore/axis/memory_axes.h"
#include "libcore/axis/pick.h"
#include "libcore/axis/rearrange.h"
#include "libcore/base/error.h"
#include "libcore/ir/axis_ops.h"

namespace kasen {
namespace {

template <class T>
class LineSorter {
 public:
  LineSorter(const AxisCall& call, const AxisLines& lines)
      : lines_(lines),
        from_(reinterpret_cast<const T*>(call.inputs[0].data)),
        to_(call.output.data),
        places_(call.op->code == OpCode::argsort) {}

  void line(std::int64_t number) {
    const std::int64_t first = number / lines_.inner * lines_.length * lines_.inner + number % lines_.inner;
    if (places_) return sort_places(first);
    keys_.resize(static_cast<std::size_t>(lines_.length));
    for (std::int64_t k = 0; k < lines_.length; ++k) keys_[static_cast<std::size_t>(k)] = order_key(at(first, k));
    boost::sort::pdqsort(keys_.begin(), keys_.end());
    T* const to = reinterpret_cast<T*>(to_);
    for (std::int64_t k = 0; k < lines_.length; ++k) {
      to[first + k * lines_.inner] = from_key<T>(keys_[static_cast<std::size_t>(k)]);
    }
  }

 private:
  using Key = decltype(order_key(T()));
  using Pair = std::pair<Key, std::int64_t>;

  [[nodiscard]] T at(std::int64_t first, std::int64_t k) const { return from_[first + k * lines_.inner]; }

  void sort_places(std::int64_t first) {
    pairs_.resize(static_cast<std::size_t>(lines_.length));
    for (std::int64_t k = 0; k < lines_.length; ++k) pairs_[static_cast<std::size_t>(k)] = {order_key(at(first, k)), k};
    boost::sort::pdqsort_branchless(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) {
      return static_cast<bool>(static_cast<int>(a.first < b.first) |
                               (static_cast<int>(a.first == b.first) & static_cast<int>(a.second < b.second)));
    });
    auto* const to = reinterpret_cast<std::int64_t*>(to_);
    for (std::int64_t k = 0; k < lines_.length; ++k) {
      to[first + k * lines_.inner] = pairs_[static_cast<std::size_t>(k)].second;
    }
  }

  AxisLines lines_;
  const T* from_;
  std::byte* to_;
  bool places_;
  std::vector<Key> keys_;
  std::vector<Pair> pairs_;
};

// The result's elements in the order of its memory, along its last axis there.
class Taker {
 public:
  explicit Taker(const AxisCall& call) : call_(call), element_(call.module->type(call.op->operands[0]).element) {
    const MemoryAxes made = memory_axes(call, call.op->results.at(0));
    const MemoryAxes array = memory_axes(call, call.op->operands[0]), places = memory_axes(call, call.op->operands[1]);
    const DimId along = worked_dim(*call.op);
    for (std::size_t i = 0; i < made.dims.size(); ++i) {
      const std::int64_t apart = made.dims[i] == along ? 0 : array.stride(made.dims[i]);
      axes_.push_back({made.sizes[i], apart, places.stride(made.dims[i])});
    }
    if (axes_.empty()) axes_.push_back({1, 0, 0});
    apart_ = array.stride(along);
    size_ = call.module->dim(along).size;
    wide_ = call.module->type(call.op->operands[1]).element.plane_scalar(0) != Scalar::i32;
  }

  [[nodiscard]] std::int64_t elements() const {
    std::int64_t all = 1;
    for (const Axis& axis : axes_) all *= axis.size;
    return all;
  }

  // Elements begin to end - 1; stops at a place outside.
  [[nodiscard]] std::optional<OutsidePlace> take(std::int64_t begin, std::int64_t end) const {
    const std::int64_t length = axes_.back().size;
    while (begin < end) {
      const std::int64_t some = std::min(length - begin % length, end - begin);
      if (const auto outside = take_in_row(begin / length, begin % length, some)) return outside;
      begin += some;
    }
    return std::nullopt;
  }

 private:
  struct Axis {
    std::int64_t size = 1, from = 0, place = 0;  // elements from one index to the next, of the array and the places
  };

  [[nodiscard]] std::int64_t place_at(std::int64_t k) const {
    const std::byte* const data = call_.inputs[1].data;
    return wide_ ? reinterpret_cast<const std::int64_t*>(data)[k] : reinterpret_cast<const std::int32_t*>(data)[k];
  }

  [[nodiscard]] std::optional<OutsidePlace> take_in_row(std::int64_t row, std::int64_t first,
                                                        std::int64_t count) const {
    const Axis& last = axes_.back();
    std::int64_t from = first * last.from, place = first * last.place, rest = row;
    for (std::size_t i = axes_.size() - 1; i-- > 0; rest /= axes_[i].size) {
      from += rest % axes_[i].size * axes_[i].from;
      place += rest % axes_[i].size * axes_[i].place;
    }
    const std::int64_t to = row * last.size + first;
    for (std::int64_t j = 0; j < (last.place == 0 ? 1 : count); ++j) {
      const std::int64_t at = place_at(place + j * last.place);
      if (at < 0 || at >= size_) return OutsidePlace{to + j, at};
    }
    for (std::int64_t p = 0; p < element_.planes(); ++p) {
      const View &array = call_.inputs[0], &made = call_.output;
      const Scalar scalar = element_.plane_scalar(p);
      const std::byte* const source = array.data + plane_offset(element_, array.capacity, p);
      std::byte* const target = made.data + plane_offset(element_, made.capacity, p);
      with_type(scalar, [&](auto zero) {
        using T = decltype(zero);
        const T* const elements = reinterpret_cast<const T*>(source) + from;
        T* const results = reinterpret_cast<T*>(target) + to;
        const std::int64_t only = last.place == 0 ? place_at(place) * apart_ : 0;  // one place for the whole row
        for (std::int64_t j = 0; j < count; ++j) {
          const std::int64_t line = last.place == 0 ? only : place_at(place + j * last.place) * apart_;
          results[j] = elements[j * last.from + line];
        }
      });
    }
    return std::nullopt;
  }

  const AxisCall& call_;
  const ElementType& element_;
  std::vector<Axis> axes_;  // of the result, in the order of its memory
  std::int64_t apart_ = 1;  // elements of the array from one place to the next
  std::int64_t size_ = 0;   // places
  bool wide_ = true;
};

}  // namespace

AxisLines lines_of(const AxisCall& call) {
  const MemoryAxes axes = memory_axes(call, call.op->operands.at(0));
  AxisLines lines;
  bool before = true;
  for (std::size_t i = 0; i < axes.dims.size(); ++i) {
    const bool worked = axes.dims[i] == worked_dim(*call.op);
    std::int64_t& side = worked ? lines.length : before ? lines.outer : lines.inner;
    side *= axes.sizes[i];
    before = before && !worked;
  }
  return lines;
}

std::int64_t axis_pieces(const AxisCall& call) {
  if (call.op->code == OpCode::pick) return Picker(call).elements();
  if (is_rearrangement(*call.op)) return Rearrangement(call).elements();
  return call.op->code == OpCode::take ? Taker(call).elements() : lines_of(call).lines();
}

std::optional<OutsidePlace> run_axis(const AxisCall& call, std::int64_t begin, std::int64_t end) {
  if (call.op->code == OpCode::take) return Taker(call).take(begin, end);
  if (call.op->code == OpCode::pick) {
    Picker(call).copy(begin, end);
    return std::nullopt;
  }
  if (is_rearrangement(*call.op)) {
    Rearrangement(call).copy(begin, end);
    return std::nullopt;
  }
  const AxisLines lines = lines_of(call);
  with_type(call.module->type(call.op->operands[0]).element.plane_scalar(0), [&](auto zero) {
    LineSorter<decltype(zero)> sorter(call, lines);
    for (std::int64_t line = begin; line < end; ++line) sorter.line(line);
  });
  return std::nullopt;
}

void run_all(const AxisCall& call) {
  const auto outside = run_axis(call, 0, axis_pieces(call));
  if (outside) refuse_outside(*call.op, call.module->dim(worked_dim(*call.op)), outside->place);
}

void refuse_outside(const Op& op, const Dimension& dim, std::int64_t place) {
  const std::string name = dim.name.substr(0, dim.name.find('\''));  // of a worker's dimension: the plan's
  const std::string has = dim.size > 0 ? fmt::format("its places are 0 to {}", dim.size - 1) : "it has no place";
  fail(ExitStatus::bad_input, fmt::format("take reads place {} of '{}'", place, name), has,
       "take places inside of the array, for example min(max(k, 0), size - 1)", op.where);
}

bool comes_before(Scalar scalar, const Word& a, const Word& b) {
  return is_float(scalar) ? order_key(a.f) < order_key(b.f) : a.i < b.i;
}

}  // namespace kasen
