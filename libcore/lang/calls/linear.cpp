#include "libcore/lang/calls/linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kasen::lang {
namespace {

struct Form {
  const char* name;
  OpCode code;
  std::vector<std::string> results;  // as they are usually called
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all{{"solve", OpCode::solve, {"x"}},       {"inv", OpCode::inverse, {"inverse"}},
                                     {"cholesky", OpCode::cholesky, {"L"}}, {"qr", OpCode::qr, {"Q", "R"}},
                                     {"eigh", OpCode::eigh, {"w", "V"}},    {"svd", OpCode::svd, {"U", "s", "V"}}};
  return all;
}

std::string list_of(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

}  // namespace

LinearAlgebra::LinearAlgebra(const Part& part) : Part(part) {
  for (const Form& form : forms()) {
    if (form.results.size() == 1) {
      functions_.add({form.name}, Functions::Name::yields, [this, &form](auto& node, auto& hint) {
        return emit(form.code, node, {hint.empty() ? form.results[0] : hint})[0];
      });
      continue;
    }
    functions_.add(
        {form.name}, Functions::Name::yields, [this, &form](const Node& node, const std::string& /*hint*/) -> Term {
          source_.fail(node.mark, fmt::format("{} gives {} arrays", form.name, form.results.size()), "each gets a name",
                       fmt::format("write {} = {}(X)", list_of(form.results), form.name));
        });
    functions_.add_several(form.name, form.results.size(),
                           [this, &form](auto& node, auto& hints) { return emit(form.code, node, hints); });
  }
}

void LinearAlgebra::require_local(const std::vector<DimId>& dims, const Node& node) const {
  for (const DimId d : dims) {
    if (module_.dim(d).local) continue;
    const std::string& name = module_.dim(d).name;
    source_.fail(node.mark, fmt::format("{} of an array over '{}', which is cut", node.text, name),
                 "one worker works on all of a matrix",
                 fmt::format("declare it local: dim {} local{}", name,
                             node.text == "solve" ? "; for a tall A, whose columns are local, write lstsq(A, b)" : ""));
  }
}

void LinearAlgebra::require_square(ValueId matrix, const Node& node) const {
  const std::vector<DimId>& dims = module_.type(matrix).dims;
  if (dims[dims.size() - 2] == dims.back()) return;
  source_.fail(node.mark, fmt::format("{} of a matrix over {}", node.text, show_dims(module_, dims)),
               "its rows and columns are one dimension",
               node.text == "solve" ? "write lstsq(A, b), which takes more rows than columns"
                                    : "write it over [F, F]: X' @ X is");
}

std::vector<Term> LinearAlgebra::emit(OpCode code, const Node& node, const std::vector<std::string>& hints) {
  const size_t count = code == OpCode::solve ? 2 : 1;
  if (node.args.size() != count) {
    source_.fail(node.mark, fmt::format("{} of {} arguments", node.text, node.args.size()), {},
                 fmt::format("write {}({})", node.text, count == 2 ? "A, b" : "A"));
  }
  std::vector<ValueId> operands;
  for (const Node& arg : node.args) {
    Term term = evaluator_.element(arg);
    values_.require_array(term, arg.mark, node.text);
    operands.push_back(values_.materialise(std::move(term), "t", arg.mark));
  }
  const Type matrix = module_.type(operands[0]);
  if (matrix.dims.size() < 2) {
    source_.fail(node.args[0].mark, fmt::format("{} of an array over {}", node.text, show_dims(module_, matrix.dims)),
                 "it takes a matrix");
  }
  const std::vector<DimId> batch(matrix.dims.begin(), matrix.dims.end() - 2);  // a matrix for each of their indices
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::vector<DimId>& dims = module_.type(operands[i]).dims;
    if (dims.size() <= batch.size() || !std::equal(batch.begin(), batch.end(), dims.begin())) {
      source_.fail(node.args[i].mark, fmt::format("{} of a right side over {}", node.text, show_dims(module_, dims)),
                   fmt::format("the matrix is over {}", show_dims(module_, matrix.dims)));
    }
    require_local({dims.begin() + std::ssize(batch), dims.end()}, node);
  }
  const bool real = matrix.element.is(Scalar::f64) || matrix.element.is(Scalar::f32);
  const bool alike = operands.size() < 2 || module_.type(operands[1]).element == matrix.element;
  if (!real || !alike) {
    source_.fail(node.mark, fmt::format("{} of {}", node.text, show(module_, matrix.element)),
                 "it works on f64, or on f32 throughout", "write f64(A)");
  }
  const auto type = [&](std::vector<DimId> dims) {
    dims.insert(dims.begin(), batch.begin(), batch.end());
    return Type{matrix.element, std::move(dims)};
  };
  const DimId rows = matrix.dims[batch.size()], cols = matrix.dims[batch.size() + 1];
  std::vector<Type> results;
  if (code == OpCode::qr) {
    results = {type({rows, cols}), type({cols, cols})};
  } else if (code == OpCode::svd) {
    results = {type({rows, cols}), type({cols}), type({cols, cols})};
  } else {
    require_square(operands[0], node);
    results = code == OpCode::eigh ? std::vector{type({rows}), matrix} : std::vector{matrix};
    if (code == OpCode::solve) results = {module_.type(operands[1])};
  }
  if (code == OpCode::solve && results[0].dims[batch.size()] != rows) {
    source_.fail(node.args[1].mark, fmt::format("solve of a right side over {}", show_dims(module_, results[0].dims)),
                 fmt::format("the matrix is over {}", show_dims(module_, matrix.dims)));
  }
  Op op{.code = code, .operands = std::move(operands)};
  op.where = location(node.mark);
  std::vector<Term> terms;
  for (size_t i = 0; i < results.size(); ++i) op.results.push_back(builder_.add_value(hints[i], results[i]));
  for (const ValueId v : op.results) terms.push_back(values_.term(v));
  builder_.append(std::move(op));
  return terms;
}

}  // namespace kasen::lang
