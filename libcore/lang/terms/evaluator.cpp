#include "libcore/lang/terms/evaluator.h"

#include <fmt/format.h>

#include <utility>

#include "libcore/ir/products.h"
#include "libcore/lang/terms/id_places.h"

namespace kasen::lang {
namespace {

constexpr int max_eval_depth = 700;
constexpr std::int64_t max_work = 20'000'000;

}  // namespace

Term Evaluator::lower(const Node& node, const std::string& hint) {
  const Until guard(depth_, depth_ + 1);
  if (depth_ > max_eval_depth) source_.fail(node.mark, "functions are nested too deeply in each other");
  return lower_(node, hint);
}

Term Evaluator::any(const Node& node, const std::string& hint) {
  Term term = lower(node, hint);
  located(source_, node.mark, [&] { require_closed(module_, term); });
  return term;
}

Term Evaluator::eval(const Node& node, const std::string& hint) {
  Term term = any(node, hint);
  refuse_batches(term, node);
  return term;
}

void Evaluator::refuse_batches(const Term& term, const Node& node) const {
  if (!term.bare() || term.leaves[0] < 0 || !has_batches(module_.type(term.leaves[0]))) return;
  const std::string& name = builder_.base_name(term.leaves[0]);
  const std::string& dim = module_.dim(module_.type(term.leaves[0]).dims[0]).name;
  source_.fail(node.mark, fmt::format("'{}' has batches", name),
               fmt::format("it is a sparse matrix for each index of '{}'", dim),
               fmt::format("take one of them: at({}, t, over {})", name, dim));
}

Term Evaluator::operand(const Node& node) { return require_element(lower(node, {}), node); }

Term Evaluator::element(const Node& node, const std::string& hint) { return require_element(eval(node, hint), node); }

Term Evaluator::require_element(Term term, const Node& node) const {
  if (!term.bare() || term.leaves[0] < 0) return term;
  const Type& type = module_.type(term.leaves[0]);
  if (type.list > 0) {
    source_.fail(node.mark, fmt::format("'{}' is a list", node.text), "expressions take its arrays one by one",
                 fmt::format("write {}[i]", node.text));
  }
  if (!type.sparse) return term;
  refuse_batches(term, node);
  // The nonzeros of a null matrix are the number 1.
  if (term.type().is(Scalar::null)) term.expr = make_param(0, ElementType::of(Scalar::f64));
  term.named = false;
  return term;
}

std::vector<Term> Evaluator::operands(const std::vector<Node>& nodes) {
  std::vector<Term> terms;
  for (const Node& node : nodes) terms.push_back(operand(node));
  return terms;
}

std::vector<Term> Evaluator::elements(const std::vector<Node>& nodes, size_t from) {
  std::vector<Term> terms;
  for (size_t i = from; i < nodes.size(); ++i) terms.push_back(element(nodes[i]));
  return terms;
}

Term Evaluator::typed(const Node& node, const ElementType& wanted, const std::string& hint) {
  const auto parts_are = [&](size_t count) { return node.args.size() == count; };
  const bool tuple = node.kind == NodeKind::tuple && wanted.tuple && parts_are(wanted.components.size());
  const bool array = node.kind == NodeKind::small_array && wanted.is_array() &&
                     parts_are(static_cast<size_t>(wanted.components[0].count));
  if (!tuple && !array) return element(node, hint);
  std::vector<Term> parts;
  for (size_t i = 0; i < node.args.size(); ++i) {
    ElementType type;
    type.components = {wanted.components[tuple ? i : 0]};
    if (array) type.components[0].count = 0;
    Term part = typed(node.args[i], type);
    if (type.is_scalar()) {
      part = located(source_, node.args[i].mark, [&] { return adapt(std::move(part), type.scalar()); });
    }
    parts.push_back(std::move(part));
  }
  return located(source_, node.mark, [&] {
    return tuple ? tuple_term(module_, std::move(parts)) : array_term(module_, std::move(parts), builder_.new_loop());
  });
}

ValueId Evaluator::shared(const Node& node, Scalar scalar, const std::string& hint, const std::string& what,
                          DimId along) {
  Term term = element(node);
  if (!term.dims.empty()) {
    source_.fail(node.mark, fmt::format("{} must be a single value", what),
                 fmt::format("this is an array over {}", show_dims(module_, term.dims)),
                 scalar == Scalar::boolean ? "use any(...) or all(...)" : "");
  }
  term = located(source_, node.mark, [&] { return adapt(std::move(term), scalar); });
  if (!term.type().is(scalar)) {
    if (along != no_dim) refuse_other_place(term.type(), along, node, what);
    source_.fail(node.mark, fmt::format("{} must be {}, not {}", what, scalar_name(scalar), show(module_, term.type())),
                 {}, scalar == Scalar::i64 ? "write i64(...)" : "compare it with something");
  }
  return values_.materialise(std::move(term), hint, node.mark);
}

// An id of another dimension than the one that it is an index of.
void Evaluator::refuse_other_place(const ElementType& type, DimId along, const Node& node,
                                   const std::string& what) const {
  if (!type.is_scalar() || type.scalar() != Scalar::id || type == ElementType::id(along)) return;
  const OtherPlaces told = other_places(module_, type.components[0].id_of, along, node, true);
  source_.fail(node.mark, fmt::format("{} must be i64, not {}", what, show(module_, type)), told.why, told.remedy);
}

std::int64_t Evaluator::count(const Node& node, std::int64_t lowest, const std::string& what) {
  Term term = element(node);
  if (term.whole) term = adapt(std::move(term), Scalar::i64);
  if (!term.known() || term.expr.op != ScalarOp::constant || !is_integer(term.type().scalar())) {
    source_.fail(node.mark, fmt::format("{} must be known to plan", what),
                 "it is an integer, a const, or an expression of them", "make it a const: const k = 5");
  }
  const std::int64_t value = term.expr.literal.i;
  if (value >= lowest) return value;
  source_.fail(node.mark, fmt::format("{} is {}", what, value), fmt::format("it must be at least {}", lowest));
}

Term Evaluator::charge(Term term) {
  work_ += term.size;
  if (work_ > max_work) fail(ExitStatus::limit, "the program is too large", "its functions expand without bound");
  return term;
}

}  // namespace kasen::lang
