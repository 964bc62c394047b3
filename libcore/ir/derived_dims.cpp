#include "libcore/ir/derived_dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "libcore/base/checked.h"

namespace kasen {
namespace {

// A bound of a slice, from the end if negative, moved into lowest .. highest.
std::int64_t clipped(std::int64_t bound, std::int64_t size, std::int64_t lowest, std::int64_t highest) {
  return std::clamp(bound < 0 ? bound + size : bound, lowest, highest);
}

using Bound = std::optional<std::int64_t>;
void lower(Bound& bound, std::int64_t to) { bound = std::min(bound.value_or(to), to); }

// The slice, narrower by what its displacement needs; nothing if that is not as simple.
std::optional<Derivation> narrower(Derivation slice, std::int64_t displacement) {
  Bound& bound = displacement < 0 ? slice.begin : slice.end;
  if (slice.step < 0 || displacement == std::numeric_limits<std::int64_t>::min() ||
      (bound && (*bound < 0) == (displacement < 0)))
    return std::nullopt;
  bound = -displacement;
  return slice;
}

}  // namespace

SlicedIndices sliced_indices(const Derivation& slice, std::int64_t size) {
  const bool up = slice.step > 0;
  const std::int64_t lowest = up ? 0 : -1, highest = up ? size : size - 1;
  const auto bound = [&](const std::optional<std::int64_t>& given, std::int64_t usual) {
    return given ? clipped(*given, size, lowest, highest) : usual;
  };
  const std::int64_t first = bound(slice.begin, up ? lowest : highest), last = bound(slice.end, up ? highest : lowest);
  if (up ? first >= last : first <= last) return {};
  const std::int64_t count = (last - first + (up ? -1 : 1)) / slice.step + 1;
  return {first, count, count > 1 ? slice.step : 1};
}

// The indices of a slice that goes down are those of one that goes up, counted from the end: ~i for i.
Displacements possible_displacements(const Derivation& slice) {
  constexpr std::int64_t far = std::int64_t{1} << 61;  // greater numbers are as good as this
  const bool up = slice.step > 0;
  const std::int64_t step = std::abs(std::clamp(slice.step, -far, far));
  const auto bound = [&](const Bound& given) -> Bound {
    if (!given) return std::nullopt;
    const std::int64_t near = std::clamp(*given, -far, far);
    return up ? near : ~near;
  };
  const Bound begin = bound(slice.begin), end = bound(slice.end);
  Bound before, behind;  // the most indices that may stand there
  if (begin.value_or(0) >= 0) lower(before, begin.value_or(0));
  if (end && *end >= 0) lower(before, *end - 1);
  if (end.value_or(-1) < 0) lower(behind, step - 1 - end.value_or(0));
  if (begin && *begin < 0) lower(behind, -*begin - 1);
  if (!up) std::swap(before, behind);
  Displacements possible;
  if (before) possible.lowest = -std::max<std::int64_t>(*before, 0);
  if (behind) possible.highest = std::max<std::int64_t>(*behind, 0);
  return possible;
}

OutsideFault outside_fault(const Derivation& slice, std::int64_t displacement, std::int64_t size,
                           const std::string& source) {
  Displacements possible = possible_displacements(slice);
  const auto text = [&](const Derivation& derived) { return derivation_text(derived, [&](DimId) { return source; }); };
  std::string why = fmt::format("{} leaves no index there, for any size of '{}'", text(slice), source);
  if (size >= 0) {
    const SlicedIndices indices = sliced_indices(slice, size);
    if (indices.count == 0) return {};
    const std::int64_t last = indices.first + (indices.count - 1) * indices.step;
    const auto [least, greatest] = std::minmax(indices.first, last);
    possible = {-least, size - 1 - greatest};
    why = fmt::format("{} has the indices {} to {}, and '{}' those from 0 to {}", text(slice), least, greatest, source,
                      size - 1);
  }
  if (displacement >= possible.lowest.value_or(displacement) &&
      displacement <= possible.highest.value_or(displacement)) {
    return {};
  }
  const std::optional<Derivation> less = narrower(slice, displacement);
  return {fmt::format("a slice displaced by {} lies outside of '{}'", displacement, source), std::move(why),
          less ? fmt::format("take a narrower one: {}", text(*less)) : "take a narrower one"};
}

bool fills(const Derivation& derived) { return derived.kind == Derivation::Kind::quotient && derived.step < 0; }

bool is_quotient(const Derivation& derived) { return derived.kind == Derivation::Kind::quotient && !fills(derived); }

namespace {

// Of N / M, rounded up; and of what N lacks for as much in each of M parts.
std::int64_t divided_size(const Derivation& derived, std::int64_t whole, std::int64_t parts) {
  if (whole < 0 || parts < 0) return -1;
  if (whole == 0 || parts == 0) return 0;
  return fills(derived) ? (parts - whole % parts) % parts : (whole - 1) / parts + 1;
}

}  // namespace

std::int64_t derived_size(const Derivation& derived, const std::function<std::int64_t(DimId)>& size_of_source) {
  if (derived.kind == Derivation::Kind::workers) return -1;
  constexpr std::string_view what = "a dimension's size";
  if (derived.kind == Derivation::Kind::quotient) {
    return divided_size(derived, size_of_source(derived.sources.at(0)), size_of_source(derived.sources.at(1)));
  }
  const bool sum = derived.kind == Derivation::Kind::sum;
  std::int64_t size = sum ? 0 : 1;
  for (const DimId source : derived.sources) {
    const std::int64_t other = size_of_source(source);
    if (other < 0) return -1;
    size = sum ? checked_add(size, other, what) : checked_mul(size, other, what);
  }
  return derived.kind == Derivation::Kind::slice ? sliced_indices(derived, size).count : size;
}

bool may_have_size(const Derivation& derived, std::int64_t size, std::int64_t derived_size) {
  if (size < 0 || derived_size < 0) return true;
  return derived.kind == Derivation::Kind::some ? size <= derived_size : size == derived_size;
}

void require_whole(const Dimension& dim, const std::function<std::int64_t(DimId)>& size_of_source,
                   const std::function<std::string(DimId)>& name_of_source) {
  if (!is_quotient(dim.derived)) return;
  const DimId of = dim.derived.sources.at(0), by = dim.derived.sources.at(1);
  const std::int64_t whole = size_of_source(of), parts = size_of_source(by);
  if (whole < 0 || parts < 0 || whole == 0 || (parts > 0 && whole % parts == 0)) return;
  const std::string name = name_of_source(of), other = name_of_source(by);
  fail(ExitStatus::bad_input,
       fmt::format("dimension '{}' is {}, but '{}' has {} indices and '{}' {}", dim.name,
                   derivation_text(dim.derived, name_of_source), name, whole, other, parts),
       "a quotient is of equal parts",
       parts == 0
           ? ""
           : fmt::format(
                 "take sizes that fit, or add {1} indices: dim Z local fills {0} / {3}, S = {0} + Z, {2} = S / {3}",
                 name, parts - whole % parts, dim.name, other));
}

namespace {

void derive(IdMap<DimId, Dimension>& dims, std::string_view origin, std::int64_t workers) {
  const auto size_of = [&](DimId source) { return dims[source].size; };
  const auto name_of = [&](DimId source) { return dims[source].name; };
  for (Dimension& dim : dims) {
    if (!dim.is_derived()) continue;
    const std::int64_t size = dim.is_workers() ? workers : derived_size(dim.derived, size_of);
    if (dim.is_observed() && dim.size >= 0 && dim.size <= size) continue;
    if (!may_have_size(dim.derived, dim.size, size)) {
      refuse_derived_size(fmt::format("dimension '{}' has {} indices in {}", dim.name, dim.size, origin),
                          derivation_text(dim.derived, name_of), size);
    }
    require_whole(dim, size_of, name_of);
    if (size >= 0) dim.size = size;
  }
}

}  // namespace

void derive_sizes(IdMap<DimId, Dimension>& dims, std::string_view origin) { derive(dims, origin, -1); }

void derive_sizes(IdMap<DimId, Dimension>& dims, std::string_view origin, std::int64_t workers) {
  derive(dims, origin, workers);
}

bool depends_on_workers(const IdMap<DimId, Dimension>& dims, DimId dim) {
  const Derivation& derived = dims[dim].derived;
  return dims[dim].is_workers() || std::any_of(derived.sources.begin(), derived.sources.end(),
                                               [&](DimId source) { return depends_on_workers(dims, source); });
}

DimId workers_dim(const IdMap<DimId, Dimension>& dims) {
  for (const DimId dim : dims.ids()) {
    if (dims[dim].is_workers()) return dim;
  }
  return no_dim;
}

namespace {

// The dimension of which this one has all indices in their order.
DimId origin_of(const Module& module, DimId dim) {
  for (;;) {
    const Derivation& derived = module.dim(dim).derived;
    const bool all =
        derived.kind == Derivation::Kind::slice && derived.begin.value_or(0) == 0 && !derived.end && derived.step == 1;
    if (!all) return dim;
    dim = derived.sources.at(0);
  }
}

}  // namespace

bool is_product_of(const Module& module, DimId whole, const std::vector<DimId>& parts) {
  const Derivation& derived = module.dim(whole).derived;
  const auto same = [&](DimId a, DimId b) { return origin_of(module, a) == origin_of(module, b); };
  if (parts.size() == 1 && same(whole, parts[0])) return true;
  if (derived.kind == Derivation::Kind::product &&
      std::equal(derived.sources.begin(), derived.sources.end(), parts.begin(), parts.end(), same))
    return true;
  const auto divides = [&](DimId part, DimId by) {
    const Derivation& own = module.dim(part).derived;
    return is_quotient(own) && own.sources == std::vector<DimId>{whole, by};
  };
  return parts.size() == 2 && (divides(parts[0], parts[1]) || divides(parts[1], parts[0]));
}

std::string derivation_text(const Derivation& derived, const std::function<std::string(DimId)>& name_of_source) {
  if (derived.kind == Derivation::Kind::workers) return "an index for each worker";
  if (derived.kind == Derivation::Kind::some) return "some " + name_of_source(derived.sources.at(0));
  const char* const sign = derived.kind == Derivation::Kind::sum        ? " + "
                           : derived.kind == Derivation::Kind::quotient ? " / "
                                                                        : " * ";
  std::string text = fills(derived) ? "fills " : "";
  for (const DimId& source : derived.sources) {
    text += &source == derived.sources.data() ? "" : sign;
    text += name_of_source(source);
  }
  if (derived.kind != Derivation::Kind::slice) return text;
  const auto bound = [](const std::optional<std::int64_t>& given) { return given ? fmt::format("{}", *given) : ""; };
  text += fmt::format("[{}:{}", bound(derived.begin), bound(derived.end));
  return text + (derived.step == 1 ? "]" : fmt::format(":{}]", derived.step));
}

std::string derivation_text(const Module& module, DimId dim) {
  return derivation_text(module.dim(dim).derived, [&](DimId source) { return module.dim(source).name; });
}

void refuse_derived_size(const std::string& has, const std::string& derivation, std::int64_t size) {
  fail(ExitStatus::bad_input, has,
       fmt::format("the program derives it as {}, which has {}{}", derivation,
                   derivation.starts_with("some ") ? "at most " : "", size),
       "give data that fits, or a dimension of its own");
}

}  // namespace kasen
