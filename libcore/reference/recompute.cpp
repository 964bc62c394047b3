#include "libcore/reference/recompute.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "libcore/base/checked.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/scalar/elementary.h"

namespace kasen {
namespace {

// The allowed difference between a run and the interpreter, as a multiple of that between two interpretations.
constexpr double slack_factor = 16;
// Relative to an output's largest number: more slack leaves nothing to verify.
constexpr double coarse_slack = 1e-4;

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

Word word_at(const Array& array, std::int64_t plane, std::int64_t place) {
  const Scalar s = array.element.plane_scalar(plane);
  return load_word(s, array.plane(plane) + place * scalar_bytes(s));
}

class Comparer {
 public:
  Comparer(OutputComparison& all, const ElementType& element, const RoundingSlack& slack)
      : all_(all), element_(element), slack_(slack) {}

  void compare(const Word& made, const Word& wanted, std::int64_t place, std::int64_t plane) {
    const Scalar s = element_.plane_scalar(plane);
    const double allowed =
        slack_.by_plane.empty() ? 0 : slack_factor * slack_.by_plane[static_cast<std::size_t>(plane)];
    if (is_float(s) ? near(made.f, wanted.f, tolerance_of(s), allowed) : made.i == wanted.i || allowed > 0) return;
    ++all_.differing;
    if (!all_.first || place < all_.first->place) all_.first = ElementDifference{place, plane, made, wanted};
  }

 private:
  bool near(double made, double wanted, double tolerance, double allowed) {
    if (same_number(made, wanted)) return true;
    const double apart = std::fabs(made - wanted);
    const double largest = std::max(std::fabs(made), std::fabs(wanted));
    const bool finite = std::isfinite(made) && std::isfinite(wanted);
    if (!finite) return std::isinf(allowed);
    if (apart > tolerance * largest + allowed) return false;
    all_.largest = std::max(all_.largest, apart / largest);
    return true;
  }

  OutputComparison& all_;
  const ElementType& element_;
  const RoundingSlack& slack_;
};

// Libraries may differ in the last places; all round a square root correctly.
bool is_inexact(ScalarOp op) { return op == ScalarOp::pow || (op != ScalarOp::sqrt && elementary_row(op) != nullptr); }

// Changes results by a few units in the last place, up and down in turn.
void round_otherwise(Expr& e, int number) {
  for (Expr& arg : e.args) round_otherwise(arg, number);
  if (!is_inexact(e.op)) return;
  const Scalar s = e.type.scalar();
  const double unit = s == Scalar::f32 ? 0x1p-23 : 0x1p-52, units = 2 + number;
  e = make_op(ScalarOp::mul, {e, make_literal(s, Word::real(1 + (number % 2 == 0 ? -units : units) * unit))});
}

// Finds reducers. They stay unchanged, because the identity of a reducer is found by its form.
void find_reducers(const Block& block, IdMap<FnId, bool>& reducers) {
  for (const Op& op : block.ops) {
    const bool two = reduces_terms(op);
    if (two || op.code == OpCode::reduce || op.code == OpCode::reduce_by) reducers[op.fns.at(two ? 1 : 0)] = true;
    for (const Block& inner : op.blocks) find_reducers(inner, reducers);
  }
}

}  // namespace

double tolerance_of(Scalar scalar) { return scalar == Scalar::f32 ? 1e-4 : 1e-9; }

OutputShape shape_of(const Module& module, const Type& type, const std::map<std::string, std::int64_t>& sizes) {
  const Layout layout(module, type);
  const auto size_of = [&](DimId dim) { return sizes.at(module.dim(dim).name); };
  const AroundCut around = around_cut(type.dims, layout.cut_axis(), size_of, "an array's size");
  return {.outer = around.outer, .extent = around.extent, .inner = around.inner, .shared = layout.is_shared()};
}

void OutputComparison::merge(const OutputComparison& other) {
  elements += other.elements;
  differing += other.differing;
  largest = std::max(largest, other.largest);
  if (other.first && (!first || other.first->place < first->place)) first = other.first;
}

void RoundingSlack::merge(const RoundingSlack& other) {
  if (by_plane.empty()) *this = other;
  for (std::size_t p = 0; p < other.by_plane.size(); ++p) {
    by_plane[p] = std::max(by_plane[p], other.by_plane[p]);
    magnitude[p] = std::max(magnitude[p], other.magnitude[p]);
  }
}

bool RoundingSlack::is_coarse(const ElementType& element) const {
  for (std::size_t p = 0; p < by_plane.size(); ++p) {
    const bool real = is_float(element.plane_scalar(static_cast<std::int64_t>(p)));
    if (by_plane[p] > (real ? coarse_slack * magnitude[p] : 0)) return true;
  }
  return false;
}

RoundingSlack slack_between(const Array& one, const Array& other) {
  RoundingSlack slack;
  for (std::int64_t p = 0; p < one.element.planes(); ++p) {
    const bool real = is_float(one.element.plane_scalar(p));
    double apart = 0, magnitude = 0;
    for (std::int64_t i = 0; i < one.count; ++i) {
      const Word a = word_at(one, p, i), b = word_at(other, p, i);
      if (!real) {
        if (a.i != b.i) apart = std::numeric_limits<double>::infinity();
        continue;
      }
      if (std::isfinite(a.f)) magnitude = std::max(magnitude, std::fabs(a.f));
      if (same_number(a.f, b.f)) continue;
      const double between = std::fabs(a.f - b.f);
      apart = std::max(apart, std::isnan(between) ? std::numeric_limits<double>::infinity() : between);
    }
    slack.by_plane.push_back(apart);
    slack.magnitude.push_back(magnitude);
  }
  return slack;
}

OutputComparison compare_output(const Output& made, const OutputShape& shape, const Array& wanted,
                                std::int64_t wanted_extent, const std::vector<ComparedIndex>& indices,
                                const RoundingSlack& slack) {
  OutputComparison all;
  Comparer comparer(all, wanted.element, slack);
  for (const ComparedIndex& at : indices) {
    const OutputPart& part = made.parts.at(at.part);
    for (std::int64_t o = 0; o < shape.outer; ++o) {
      for (std::int64_t i = 0; i < shape.inner; ++i) {
        const std::int64_t here = (at.master * shape.outer + o) * shape.inner + i;
        const std::int64_t there = (o * wanted_extent + at.wanted) * shape.inner + i;
        const std::int64_t place = (o * shape.extent + at.global) * shape.inner + i;
        for (std::int64_t p = 0; p < wanted.element.planes(); ++p)
          comparer.compare(word_at(part.data, p, here), word_at(wanted, p, there), place, p);
      }
    }
    if (!shape.shared || part.worker == 0) all.elements += shape.outer * shape.inner;
  }
  return all;
}

Module with_other_rounding(const Module& module, int number) {
  Module other = module;
  IdMap<FnId, bool> reducers(module.functions.size());
  find_reducers(module.body, reducers);
  for (const FnId f : other.functions.ids())
    if (!reducers[f]) round_otherwise(other.functions[f].body, number);
  return other;
}

}  // namespace kasen
