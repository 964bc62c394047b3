#include "libcore/lang/calls/generate.h"

#include <fmt/format.h>

#include <numbers>
#include <utility>

namespace kasen::lang {
namespace {

Term real_literal(double v) { return literal_term(Scalar::f64, Word::real(v)); }
Term whole_literal(std::int64_t v) { return literal_term(Scalar::i64, Word::integer(v)); }

// The upper 53 bits as a multiple of 2^-53 in [0, 1); every step is exact.
Term uniform_number(const Module& module, Term bits) {
  Term upper = combine(module, ScalarOp::floor_div, {std::move(bits), whole_literal(2048)});
  Term centred =
      combine(module, ScalarOp::mul, {convert_term(module, Scalar::f64, std::move(upper)), real_literal(0x1p-53)});
  return combine(module, ScalarOp::add, {std::move(centred), real_literal(0.5)});
}

// Box and Muller's transformation: a radius and an angle, from two numbers of the element's own sequence.
Term normal_number(const Module& module, const Term& key) {
  const auto number = [&](std::int64_t i) {
    return uniform_number(module, combine(module, ScalarOp::mix64, {key, whole_literal(i)}));
  };
  Term logarithm = combine(module, ScalarOp::log, {combine(module, ScalarOp::sub, {real_literal(1), number(0)})});
  Term radius =
      combine(module, ScalarOp::sqrt, {combine(module, ScalarOp::mul, {real_literal(-2), std::move(logarithm)})});
  Term angle = combine(module, ScalarOp::mul, {real_literal(2 * std::numbers::pi), number(1)});
  return combine(module, ScalarOp::mul, {std::move(radius), combine(module, ScalarOp::cos, {std::move(angle)})});
}

}  // namespace

Generators::Generators(const Part& part) : Part(part) {
  using Name = Functions::Name;
  functions_.add({"fill"}, Name::kept, [this](auto& node, auto&) { return fill(node); });
  functions_.add({"index"}, Name::kept, [this](auto& node, auto& hint) { return index(node, hint); });
  functions_.add({"size"}, Name::kept, [this](auto& node, auto& hint) { return size(node, hint); });
  functions_.add({"random", "normal"}, Name::yields, [this](auto& node, auto& hint) { return random(node, hint); });
}

// fill(value, N, ...)
Term Generators::fill(const Node& node) {
  if (node.args.size() < 2) source_.fail(node.mark, "fill takes a value and dimensions", {}, "write fill(1.0, N)");
  Term value = evaluator_.element(node.args[0]);
  if (!value.dims.empty()) source_.fail(node.args[0].mark, "fill takes a single value, not an array");
  Type type{value.type(), {}};
  for (size_t i = 1; i < node.args.size(); ++i) {
    const std::vector<DimId> dims = types_.dims(node.args[i]);
    type.dims.insert(type.dims.end(), dims.begin(), dims.end());
  }
  value = values_.conform(std::move(value), type, node.mark, "fill");
  value.named = false;
  return value;
}

Term Generators::index(const Node& node, const std::string& hint) {
  if (node.args.size() != 1) source_.fail(node.mark, "index takes a dimension", {}, "write index(N)");
  return values_.term(values_.index(types_.dim(node.args[0]), node.mark, hint));
}

Term Generators::size(const Node& node, const std::string& hint) {
  if (node.args.size() != 1) source_.fail(node.mark, "size takes a dimension", {}, "write size(N)");
  // In a def a name may stand for several dimensions, or none: as many indices as they have together.
  const std::vector<DimId> dims = types_.dims(node.args[0]);
  if (dims.size() == 1) return values_.term(values_.size(dims[0], node.mark, hint));
  Term product = literal_term(Scalar::i64, Word::integer(1));
  for (const DimId d : dims) {
    Term size = values_.term(values_.size(d, node.mark, "size"));
    product =
        product.literal ? std::move(size) : combine(module_, ScalarOp::mul, {std::move(product), std::move(size)});
  }
  return product;
}

// random(seed, N, ...), normal(seed, N, ...): one operator of its own, so that no law is checked for random bits.
Term Generators::random(const Node& node, const std::string& hint) {
  if (node.args.size() < 2) {
    source_.fail(node.mark, fmt::format("{} takes a seed and dimensions", node.text), {},
                 fmt::format("write {}(7, N)", node.text));
  }
  if (node.args[1].kind == NodeKind::integer || node.args[1].kind == NodeKind::real) {
    source_.fail(node.args[1].mark, fmt::format("{} takes a seed and dimensions, not a range", node.text),
                 node.text == "random" ? "it gives numbers of [0, 1), one for each index"
                                       : "it gives numbers of mean 0 and variance 1, one for each index",
                 node.text == "random"
                     ? "write random(7, N), or randint(7, 1, 1000, over N) for whole numbers below 1000"
                     : "write 10 + 2 * normal(7, N) for the mean 10 and the deviation 2");
  }
  const ValueId seed = evaluator_.shared(node.args[0], Scalar::i64, "seed", "a seed");
  std::vector<DimId> dims;
  for (size_t i = 1; i < node.args.size(); ++i) {
    for (const DimId d : types_.dims(node.args[i])) {
      if (contains(dims, d)) {
        source_.fail(node.args[i].mark, fmt::format("{} over {} twice", node.text, module_.dim(d).name),
                     "the names of their dimensions distinguish an element's ids",
                     "use a second dimension of the same size");
      }
      dims.push_back(d);
    }
  }
  return located(source_, node.mark, [&] {
    Term key = combine(module_, ScalarOp::mix64, {values_.term(seed), whole_literal(0)});
    for (const DimId d : dims) {
      Term id = convert_term(module_, Scalar::i64, values_.term(values_.index(d, node.mark, "ids")));
      id.dims = dims;
      key = combine(module_, ScalarOp::mix64, {std::move(key), std::move(id)});
    }
    Term number = node.text == "normal" ? normal_number(module_, key) : uniform_number(module_, std::move(key));
    return values_.term(values_.materialise(std::move(number), hint.empty() ? node.text : hint, node.mark));
  });
}

}  // namespace kasen::lang
