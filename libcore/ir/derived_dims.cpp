#include "libcore/ir/derived_dims.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/checked.h"

namespace kasen {
namespace {

// A bound of a slice, from the end if negative, moved into lowest .. highest.
std::int64_t clipped(std::int64_t bound, std::int64_t size, std::int64_t lowest, std::int64_t highest) {
  return std::clamp(bound < 0 ? bound + size : bound, lowest, highest);
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

std::int64_t derived_size(const Derivation& derived, const std::function<std::int64_t(DimId)>& size_of_source) {
  constexpr std::string_view what = "a dimension's size";
  const bool sum = derived.kind == Derivation::Kind::sum;
  std::int64_t size = sum ? 0 : 1;
  for (const DimId source : derived.sources) {
    const std::int64_t other = size_of_source(source);
    if (other < 0) return -1;
    size = sum ? checked_add(size, other, what) : checked_mul(size, other, what);
  }
  return derived.kind == Derivation::Kind::slice ? sliced_indices(derived, size).count : size;
}

void derive_sizes(IdMap<DimId, Dimension>& dims, std::string_view origin) {
  for (Dimension& dim : dims) {
    if (!dim.is_derived()) continue;
    const std::int64_t size = derived_size(dim.derived, [&](DimId source) { return dims[source].size; });
    if (dim.size >= 0 && size >= 0 && dim.size != size) {
      refuse_derived_size(fmt::format("dimension '{}' has {} indices in {}", dim.name, dim.size, origin),
                          derivation_text(dim.derived, [&](DimId source) { return dims[source].name; }), size);
    }
    if (size >= 0) dim.size = size;
  }
}

std::string derivation_text(const Derivation& derived, const std::function<std::string(DimId)>& name_of_source) {
  std::string text;
  for (const DimId source : derived.sources) {
    text += text.empty() ? "" : derived.kind == Derivation::Kind::sum ? " + " : " * ";
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
  fail(ExitStatus::bad_input, has, fmt::format("the program derives it as {}, which has {}", derivation, size),
       "give data that fits, or a dimension of its own");
}

}  // namespace kasen
