// Arrays of random numbers. Each element depends only on the seed and its own ids. So it is the same for any partition
// and on every worker.
#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <utility>

#include "libcore/lang/lower.h"

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

// random(seed, N, ...), normal(seed, N, ...): one operator of its own, so that no law is checked for random bits.
Term Lowering::random_call(const Node& node, const std::string& hint) {
  if (node.args.size() < 2) {
    source_.fail(node.mark, fmt::format("{} takes a seed and dimensions", node.text), {},
                 fmt::format("write {}(7, N)", node.text));
  }
  const ValueId seed = shared(node.args[0], Scalar::i64, "seed", "a seed");
  std::vector<DimId> dims;
  for (size_t i = 1; i < node.args.size(); ++i) {
    dims.push_back(dim_argument(node.args[i]));
    if (std::find(dims.begin(), dims.end() - 1, dims.back()) == dims.end() - 1) continue;
    source_.fail(node.args[i].mark, fmt::format("{} over {} twice", node.text, module_.dim(dims.back()).name),
                 "the names of their dimensions distinguish an element's ids",
                 "use a second dimension of the same size");
  }
  return at(node.mark, [&] {
    Term key = combine(module_, ScalarOp::mix64, {value_term(seed, false), whole_literal(0)});
    for (const DimId d : dims) {
      Term id = convert_term(module_, Scalar::i64, value_term(emit_index(d, node.mark, "ids"), false));
      id.dims = dims;
      key = combine(module_, ScalarOp::mix64, {std::move(key), std::move(id)});
    }
    Term number = node.text == "normal" ? normal_number(module_, key) : uniform_number(module_, std::move(key));
    return value_term(materialise(std::move(number), hint.empty() ? node.text : hint, node.mark), false);
  });
}

}  // namespace kasen::lang
