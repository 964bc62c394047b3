#include "libcore/axis/grouping.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/axis/memory_axes.h"
#include "libcore/base/error.h"
#include "libcore/ir/axis_ops.h"

namespace kasen {
namespace {

constexpr std::int64_t block_elements = 65536, most_blocks = 32;
constexpr std::int64_t elements_per_result = 16;  // in a block

}  // namespace

GroupWalk::GroupWalk(const AxisCall& call) : call_(call) {
  const Module& module = *call.module;
  const Op& op = *call.op;
  const std::size_t walked = walked_operand(module, op);
  single_ = walked == 1;
  const MemoryAxes from = memory_axes(call, op.operands[walked]), keys = memory_axes(call, op.operands[1]);
  const MemoryAxes made = memory_axes(call, op.results.at(0));
  const std::vector<DimId>& dims = module.type(op.operands[walked]).dims;
  const std::vector<std::ptrdiff_t> places = grouped_places(module, op);
  const std::vector<DimId>& result = module.type(op.results[0]).dims;
  for (std::size_t i = 0; i < from.dims.size(); ++i) {
    const std::ptrdiff_t place =
        places.at(static_cast<std::size_t>(std::find(dims.begin(), dims.end(), from.dims[i]) - dims.begin()));
    const std::int64_t to = place < 0 ? 0 : made.stride(result[static_cast<std::size_t>(place)]);
    axes_.push_back({from.sizes[i], keys.stride(from.dims[i]), to});
  }
  count_ = from.count();
  results_ = made.count();
  apart_ = made.stride(key_dim(module, op));
  keys_ = module.dim(key_dim(module, op)).size;
  wide_ = module.type(op.operands[1]).element.plane_scalar(0) != Scalar::i32;
}

// The loop has no branch, so that the compiler can take several keys at once.
template <class Key>
std::optional<std::int64_t> GroupWalk::along(const Key* keys, std::int64_t step, std::int64_t to, std::int64_t to_step,
                                             std::span<std::int64_t> places) const {
  const auto limit = static_cast<std::uint64_t>(keys_);
  const auto count = static_cast<std::int64_t>(places.size());
  bool outside = false;
  for (std::int64_t j = 0; j < count; ++j) {
    const auto key = static_cast<std::uint64_t>(std::int64_t{keys[j * step]});
    outside |= key >= limit;
    places[static_cast<std::size_t>(j)] = static_cast<std::int64_t>(static_cast<std::uint64_t>(to + j * to_step) +
                                                                    key * static_cast<std::uint64_t>(apart_));
  }
  for (std::int64_t j = 0; j < count && outside; ++j) {
    if (static_cast<std::uint64_t>(std::int64_t{keys[j * step]}) >= limit) return j;
  }
  return std::nullopt;
}

std::optional<OutsidePlace> GroupWalk::targets(std::int64_t begin, std::span<std::int64_t> places) const {
  const Axis& last = axes_.back();
  const auto* const wide = reinterpret_cast<const std::int64_t*>(call_.inputs[1].data);
  const auto* const narrow = reinterpret_cast<const std::int32_t*>(call_.inputs[1].data);
  const auto count = static_cast<std::int64_t>(places.size());
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t row = (begin + done) / last.size, first = (begin + done) % last.size;
    const std::int64_t some = std::min(last.size - first, count - done);
    std::int64_t key = first * last.key, to = first * last.to, rest = row;
    for (std::size_t i = axes_.size() - 1; i-- > 0; rest /= axes_[i].size) {
      key += rest % axes_[i].size * axes_[i].key;
      to += rest % axes_[i].size * axes_[i].to;
    }
    const std::span part = places.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(some));
    const auto found =
        wide_ ? along(wide + key, last.key, to, last.to, part) : along(narrow + key, last.key, to, last.to, part);
    if (found) {
      const std::int64_t at = key + *found * last.key;
      return OutsidePlace{begin + done + *found, wide_ ? wide[at] : std::int64_t{narrow[at]}};
    }
    done += some;
  }
  return std::nullopt;
}

std::int64_t group_blocks(const GroupWalk& walk) {
  const std::int64_t results = std::max<std::int64_t>(walk.results(), 1);
  const std::int64_t least =
      std::max(block_elements, results > walk.count() ? walk.count() : results * elements_per_result);
  return std::clamp<std::int64_t>(walk.count() / std::max<std::int64_t>(least, 1), 1, most_blocks);
}

void refuse_key(const AxisCall& call, std::int64_t key) {
  const Dimension& dim = call.module->dim(key_dim(*call.module, *call.op));
  const std::string name = dim.name.substr(0, dim.name.find('\''));  // of a worker's dimension: the plan's
  const std::string has = dim.size > 0 ? fmt::format("its keys are 0 to {}", dim.size - 1) : "it has no index";
  fail(ExitStatus::bad_input, fmt::format("a key {} of '{}'", key, name), has,
       "make '" + name + "' larger, or the keys fit, for example min(max(k, 0), size(" + name + ") - 1)",
       call.op->where);
}

}  // namespace kasen
