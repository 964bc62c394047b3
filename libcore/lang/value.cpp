// Gives terms a value: operators, their names, and shapes that a declaration requires.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/lang/lower.h"

namespace kasen::lang {
namespace {
constexpr std::int64_t max_ops = 20'000;
}

// The user's name, with a number if it is taken. Module::add_value does the same, but searches all names.
ValueId Lowering::add_value(const std::string& hint, Type type) {
  const std::string base = hint.empty() ? "t" : hint;
  const int number = ++name_numbers_[base];
  const std::string wanted = number == 1 ? base : fmt::format("{}_{}", base, number);
  std::string name = wanted;
  for (int next = 2; !names_.insert(name).second; ++next) name = fmt::format("{}_{}", wanted, next);
  base_names_.push_back(base);
  module_.values.push_back(Value{std::move(name), std::move(type), no_buffer});
  return static_cast<ValueId>(module_.values.size()) - 1;
}

ValueId Lowering::emit(OpCode code, Mark mark, const std::string& hint, Type type,
                       const std::function<void(Op&)>& fill) {
  if (++ops_ > max_ops) {
    source_.fail(mark, fmt::format("the program has more than {} operators", max_ops), "unrolled loops count in full",
                 "use a loop without 'unroll'");
  }
  Op op;
  op.code = code;
  op.where = {"", mark.line, mark.column};
  fill(op);
  const ValueId result = add_value(hint, std::move(type));
  op.results = {result};
  block_->ops.push_back(std::move(op));
  return result;
}

ValueId Lowering::constant_value(const Term& term, const std::string& hint, Mark mark) {
  Type type;
  type.element = term.type();
  type.dims = term.dims;
  return emit(term.dims.empty() ? OpCode::literal : OpCode::fill, mark, hint, type,
              [&](Op& op) { op.literal = constant_words(term); });
}

// A map has the shape of its operands. A dimension that none of them has (of `fill`, or of a declared type) is added by
// its index.
void Lowering::cover(Term& term, Mark mark) {
  for (const DimId d : term.dims) {
    const bool covered = std::any_of(term.leaves.begin(), term.leaves.end(), [&](ValueId leaf) {
      const std::vector<DimId>& dims = module_.type(leaf).dims;
      return std::find(dims.begin(), dims.end(), d) != dims.end();
    });
    if (covered) continue;
    Type ids;
    ids.element = ElementType::id(d);
    ids.dims = {d};
    term.leaves.push_back(emit(OpCode::index, mark, "t", ids, [&](Op& op) { op.dim = d; }));
  }
}

// One map of the whole expression, or one apply if it has only shareds. A single leaf needs nothing, unless a copy is
// requested.
ValueId Lowering::materialise(Term term, const std::string& hint, Mark mark, bool copy) {
  refuse_entries(term, mark);
  return at(mark, [&] {
    if (term.leaves.empty()) {
      if (term.expr.op == ScalarOp::loop_var) source_.fail(mark, "a coordinate outside its loop");
      return constant_value(term, hint, mark);
    }
    const bool leaf = term.bare() && term.dims == module_.type(term.leaves[0]).dims && term.leaves.size() == 1;
    if (leaf && module_.type(term.leaves[0]).sparse && copy) {
      source_.fail(mark, "a sparse matrix is not copied", "it is an input, and stays one", "use it by its own name");
    }
    if (leaf && (!copy || is_shared(module_, module_.type(term.leaves[0])))) return term.leaves[0];
    cover(term, mark);
    Finished made = finish(module_, term, hint.empty() ? "t" : hint, base_names_);
    if (made.operands.empty()) return constant_value(term, hint, mark);
    Type type;
    type.element = made.fn.result();
    type.dims = term.dims;
    const Statement* origin = term.origin;
    const FnId fn = module_.add_function(std::move(made.fn));
    if (origin != nullptr) {
      Instance instance{fn, {}};
      for (const ValueId l : term.origin_leaves) {
        const auto it = std::find(made.operands.begin(), made.operands.end(), l);
        instance.operand_of.push_back(it == made.operands.end() ? -1 : static_cast<int>(it - made.operands.begin()));
      }
      instances_[origin->name.text].push_back(std::move(instance));
    }
    const OpCode code = type.dims.empty() ? OpCode::apply : OpCode::map;
    return emit(code, mark, hint, type, [&](Op& op) {
      op.fns = {fn};
      op.operands = made.operands;
    });
  });
}

// A value with a declared type: literals take the type, also those inside `(1, 2)` and `[1, 2]`.
Term Lowering::typed_element(const Node& node, const ElementType& wanted) {
  const auto parts_are = [&](size_t count) { return node.args.size() == count; };
  const bool tuple = node.kind == NodeKind::tuple && wanted.tuple && parts_are(wanted.components.size());
  const bool array = node.kind == NodeKind::small_array && wanted.is_array() &&
                     parts_are(static_cast<size_t>(wanted.components[0].count));
  if (!tuple && !array) return element(node);
  hint_.clear();
  std::vector<Term> parts;
  for (size_t i = 0; i < node.args.size(); ++i) {
    ElementType type;
    type.components = {wanted.components[tuple ? i : 0]};
    if (array) type.components[0].count = 0;
    Term part = typed_element(node.args[i], type);
    if (type.is_scalar()) part = at(node.args[i].mark, [&] { return adapt(std::move(part), type.scalar()); });
    parts.push_back(std::move(part));
  }
  return at(node.mark, [&] {
    return tuple ? tuple_term(module_, std::move(parts)) : array_term(module_, std::move(parts), loops_++);
  });
}

// A single value for every scalar of an element: `list c[k] : [f64; 3] = 0`.
Term Lowering::fill_element(const Term& term, const ElementType& element) {
  std::vector<Term> parts;
  for (const Component& c : element.components) {
    Term part = adapt(term, c.scalar);
    part.literal = false;
    if (c.count > 0) part = loop_term(ScalarOp::build, loops_++, c.count, std::move(part));
    parts.push_back(std::move(part));
  }
  return element.tuple ? tuple_term(module_, std::move(parts)) : std::move(parts[0]);
}

// The term as an array of exactly this type: literals take its element type, missing dimensions are filled.
Term Lowering::conform(Term term, const Type& type, Mark mark, const std::string& what) {
  return at(mark, [&] {
    if (term.literal) {
      term = fill_element(term, type.element);
      term.literal = false;
    }
    if (term.type() != type.element) {
      const std::string wanted = show(module_, type.element);
      fail(ExitStatus::bad_input, fmt::format("{} is {}, not {}", what, wanted, show(module_, term.type())),
           "nothing is converted silently", type.element.is_scalar() ? fmt::format("write {}(...)", wanted) : "");
    }
    if (term.dims == type.dims) return std::move(term);
    const bool subset = std::all_of(term.dims.begin(), term.dims.end(), [&](DimId d) {
      return std::find(type.dims.begin(), type.dims.end(), d) != type.dims.end();
    });
    if (!subset || term.dims.size() >= type.dims.size()) {
      fail(ExitStatus::bad_input, fmt::format("{} is over {}, not over {}", what, show_dims(module_, type.dims),
                                              show_dims(module_, term.dims)));
    }
    term.named = false;
    term.origin = nullptr;
    term.dims = type.dims;
    return std::move(term);
  });
}

// A single value that all workers hold: conditions, bounds, indices of lists.
ValueId Lowering::shared(const Node& node, Scalar scalar, const std::string& hint, const std::string& what) {
  Term term = element(node);
  if (!term.dims.empty()) {
    source_.fail(node.mark, fmt::format("{} must be a single value", what),
                 fmt::format("this is an array over {}", show_dims(module_, term.dims)),
                 scalar == Scalar::boolean ? "use any(...) or all(...)" : "");
  }
  term = at(node.mark, [&] { return adapt(std::move(term), scalar); });
  if (!term.type().is(scalar)) {
    source_.fail(node.mark, fmt::format("{} must be {}, not {}", what, scalar_name(scalar), show(module_, term.type())),
                 {}, scalar == Scalar::i64 ? "write i64(...)" : "compare it with something");
  }
  return materialise(std::move(term), hint, node.mark);
}

}  // namespace kasen::lang
