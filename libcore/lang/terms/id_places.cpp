#include "libcore/lang/terms/id_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "libcore/ir/derived_dims.h"

namespace kasen::lang {
namespace {

// Where the indices of a dimension stand in another one: base + offset + step * index. An empty base is 0.
struct Line {
  std::string base;
  std::int64_t offset = 0, step = 1;
};

using MaybeLine = std::optional<Line>;
constexpr std::int64_t far = std::int64_t{1} << 31;  // greater numbers have no formula

// The indices of a slice in the dimension that it is one of. Nothing where they are bounded by a size that only run
// knows.
MaybeLine line_of_slice(const Module& module, const Derivation& slice) {
  const Dimension& whole = module.dim(slice.sources.at(0));
  if (whole.size >= 0) {
    const SlicedIndices indices = sliced_indices(slice, whole.size);
    if (indices.count > 0) return Line{"", indices.first, indices.step};
    return std::nullopt;
  }
  if (slice.step < 0 && !slice.begin) return Line{fmt::format("size({})", whole.name), -1, slice.step};
  if (slice.step < 0 || slice.begin.value_or(0) < 0) return std::nullopt;
  return Line{"", slice.begin.value_or(0), slice.step};
}

// First `inner`, then `outer`.
MaybeLine after(const Line& outer, const Line& inner) {
  const bool near = std::abs(outer.step) < far && std::abs(inner.step) < far && std::abs(outer.offset) < far &&
                    std::abs(inner.offset) < far;
  if (!near || (!inner.base.empty() && (outer.step != 1 || !outer.base.empty()))) return std::nullopt;
  return Line{outer.base + inner.base, outer.offset + outer.step * inner.offset, outer.step * inner.step};
}

bool is_slice(const Module& module, DimId dim) { return module.dim(dim).derived.kind == Derivation::Kind::slice; }

// The dimension, that of which it is a slice, and so on.
std::vector<DimId> wholes(const Module& module, DimId dim) {
  std::vector<DimId> all{dim};
  while (is_slice(module, all.back())) all.push_back(module.dim(all.back()).derived.sources.at(0));
  return all;
}

// From a dimension to one of its wholes.
MaybeLine line_to(const Module& module, DimId from, DimId to) {
  MaybeLine line = Line{};
  for (DimId at = from; at != to && line; at = module.dim(at).derived.sources.at(0)) {
    const MaybeLine step = line_of_slice(module, module.dim(at).derived);
    line = step ? after(*step, *line) : std::nullopt;
  }
  return line;
}

// The other way: the number of the index that stands at a place.
MaybeLine back(const Line& given, const Line& wanted) {
  if (given.base != wanted.base || wanted.step == 0) return std::nullopt;
  const std::int64_t apart = given.offset - wanted.offset;
  if (apart % wanted.step != 0 || given.step % wanted.step != 0) return std::nullopt;
  return Line{"", apart / wanted.step, given.step / wanted.step};
}

// "i64(w) + 1", "2 * i64(w) + 1", "size(N) - 1 - i64(w)"
std::string formula(const Line& line, const std::string& index) {
  const std::int64_t times = std::abs(line.step);
  const std::string scaled = times == 1 ? index : fmt::format("{} * {}", times, index);
  const auto added = [](std::int64_t n) {
    return n == 0 ? std::string() : fmt::format(" {} {}", n < 0 ? '-' : '+', std::abs(n));
  };
  if (line.base.empty() && line.step > 0) return scaled + added(line.offset);
  const std::string first = line.base.empty() ? std::to_string(line.offset) : line.base + added(line.offset);
  return fmt::format("{} {} {}", first, line.step < 0 ? '-' : '+', scaled);
}

std::string named(const Module& module, DimId dim) {
  const Dimension& own = module.dim(dim);
  return own.is_derived() ? fmt::format("{} is {}", own.name, derivation_text(module, dim)) : "";
}

// Of what the two dimensions have in common, and how one follows from it.
struct Relation {
  bool related = false;
  bool inside = false;  // each index of the given one has a place in the wanted one
  MaybeLine line;
};

Relation relation(const Module& module, DimId given, DimId wanted) {
  const Derivation& sum = module.dim(wanted).derived;
  if (sum.kind == Derivation::Kind::sum && std::count(sum.sources.begin(), sum.sources.end(), given) == 1) {
    Line line;
    if (sum.sources[0] != given) line.base = fmt::format("size({})", module.dim(sum.sources[0]).name);
    return {true, true, sum.sources.size() == 2 ? MaybeLine(line) : std::nullopt};
  }
  const std::vector<DimId> of_wanted = wholes(module, wanted);
  for (const DimId whole : wholes(module, given)) {
    if (!contains(of_wanted, whole)) continue;
    const MaybeLine to = line_to(module, given, whole);
    if (whole == wanted) return {true, true, to};
    const MaybeLine from = line_to(module, wanted, whole);
    return {true, false, to && from ? back(*to, *from) : std::nullopt};
  }
  return {};
}

std::string number_of(const Node& id) { return fmt::format("i64({})", id.kind == NodeKind::name ? id.text : "..."); }

// By the numbers of the whole's indices, sliced or picked as the values are.
std::string by_places(const std::string& places, const std::string& own, const Node& id, bool single) {
  const std::string name = id.kind == NodeKind::name ? id.text : "...";
  return single ? fmt::format("write places = {}, and places[i64({})]", places, name)
                : fmt::format("write take({}, {}, over {})", places, name, own);
}

OtherPlaces unrelated(const std::string& own, const std::string& whole) {
  return {fmt::format("it is an index of {}, not of {}, where the same number is something else", own, whole),
          fmt::format("take an array over {}, or an index of {}", own, whole), false};
}

}  // namespace

OtherPlaces other_places(const Module& module, DimId given, DimId wanted, const Node& id, bool single) {
  const std::string &own = module.dim(given).name, &whole = module.dim(wanted).name;
  const Derivation& derived = module.dim(given).derived;
  if (derived.kind == Derivation::Kind::some && derived.sources.at(0) == wanted) {
    return {fmt::format("{} counts the elements of {} that a mask keeps", own, whole),
            by_places(fmt::format("pick(i64(index({})), m, {})", whole, own), own, id, single)};
  }
  const Relation found = relation(module, given, wanted);
  if (!found.related) return unrelated(own, whole);
  std::string why = named(module, given);
  if (why.empty() || !found.inside) why += (why.empty() ? "" : ", and ") + named(module, wanted);
  if (found.line) {
    const std::string place = formula(*found.line, "k");
    return {fmt::format("{}: place k of {} is place {} of {}{}", why, own, place, whole,
                        found.inside ? "" : ", where it lies there"),
            fmt::format("write {}", formula(*found.line, number_of(id)))};
  }
  why += fmt::format(": places of {} are others in {}", own, whole);
  const bool direct = found.inside && is_slice(module, given) && derived.sources.at(0) == wanted;
  return {std::move(why), direct ? by_places(fmt::format("slice(i64(index({})), {})", whole, own), own, id, single)
                                 : fmt::format("take an array over {}, or an index of {}", own, whole)};
}

namespace {

bool is_id(const ElementType& type) { return type.is_scalar() && type.scalar() == Scalar::id; }

// The side whose places the other one has, too: then both can be told there.
std::string both_there(const Module& module, const Operand& a, const Operand& b) {
  const DimId one = a.term->type().components[0].id_of, other = b.term->type().components[0].id_of;
  static const Node unnamed;
  const Node &x = a.node == nullptr ? unnamed : *a.node, &y = b.node == nullptr ? unnamed : *b.node;
  const Relation up = relation(module, one, other), down = relation(module, other, one);
  if (up.line && up.inside) {
    return fmt::format("in {} they are {} and {}", module.dim(other).name, formula(*up.line, number_of(x)),
                       number_of(y));
  }
  if (down.line && (down.inside || down.related)) {
    return fmt::format("in {} they are {} and {}", module.dim(one).name, number_of(x),
                       formula(*down.line, number_of(y)));
  }
  return up.related || down.related ? "bring both to one dimension" : "";
}

}  // namespace

void refuse_other_ids(const SourceText& source, const Module& module, Mark mark, std::string_view sign,
                      const std::vector<Operand>& operands) {
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const ElementType &a = operands[0].term->type(), &b = operands[i].term->type();
    if (!is_id(a) || !is_id(b) || a == b) continue;
    const std::string one = module.dim(a.components[0].id_of).name, other = module.dim(b.components[0].id_of).name;
    const std::string there = both_there(module, operands[0], operands[i]);
    if (!there.empty()) {
      source.fail(mark, fmt::format("'{}' of id[{}] and id[{}]", sign, one, other),
                  fmt::format("an index of {} is no index of {}", one, other), there);
    }
    source.fail(
        mark, fmt::format("'{}' of id[{}] and id[{}]", sign, one, other),
        fmt::format("{} and {} number different things, words too, so that equal numbers are not the same", one, other),
        fmt::format("declare both inputs over one dimension, id[{0}] and id[{0}], which then has one list of "
                    "words; the page of recipes has it: Join by words",
                    one));
  }
}

std::string conversion_to(const Module& module, const ElementType& wanted, const ElementType& given) {
  if (!wanted.is_scalar()) return "";
  if (is_id(wanted)) return fmt::format("no number becomes an id: declare it {}", show(module, given));
  return fmt::format("write {}(x)", show(module, wanted));
}

}  // namespace kasen::lang
