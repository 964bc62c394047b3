// Checks operators on the nonzeros of several patterns (libcore/entries/joins.h), and the patterns themselves.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/ir/entries.h"
#include "libcore/patterns/recipe.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

// A sparse value of this matrix.
bool lies_at(const Module& module, ValueId value, const std::string& matrix) {
  const Type& type = module.type(value);
  return is_over_entries(module, type) && type.list == 0 && module.dim(type.dims[0]).entries_of == matrix;
}

void verify_align(const Module& m, const Op& op, Faults& faults) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const bool matrix = m.type(op.operands[i]).sparse && find_input(m, op.operands[i]) != nullptr;
    if (!matrix) return faults.add(op, value_text(m, op.operands[i]) + " is no sparse matrix of the bundle");
  }
  const Type &to = m.type(op.operands[0]), &from = m.type(op.operands[1]), &made = m.type(op.results[0]);
  if (to.dims != from.dims) {
    return faults.add(op, fmt::format("{} is {}", value_text(m, op.operands[1]), type_text(m, from)),
                      "both matrices are over the same dimensions: then they are cut alike");
  }
  ElementType element = from.element.is(Scalar::null) ? ElementType::of(Scalar::f64) : from.element;
  if (op.operands.size() > 2) {
    element = m.type(op.operands[2]).element;
    if (!lies_at(m, op.operands[2], matrix_name(m, op.operands[1]))) {
      return faults.add(op,
                        fmt::format("{} is {}", value_text(m, op.operands[2]), type_text(m, m.type(op.operands[2]))),
                        fmt::format("it has values at the nonzeros of {}", matrix_name(m, op.operands[1])));
    }
  }
  const bool right = lies_at(m, op.results[0], matrix_name(m, op.operands[0])) && made.element == element;
  if (!right) {
    faults.add(op, "its result is " + type_text(m, made),
               fmt::format("it gives {} for each nonzero of {}", print_element_type(m, element),
                           matrix_name(m, op.operands[0])));
  }
}

class MeetCheck {
 public:
  MeetCheck(const Module& module, const Op& op, Faults& faults) : m_(module), op_(op), faults_(faults) {}

  void run() {
    const size_t count = op_.operands.size();
    if (count == 4)
      return faults_.add(op_, "it has 4 operands", "it takes places, and places and values of each factor");
    for (size_t i = 0; i < count; i += i == 0 ? 1 : 2)
      if (!places(i)) return;
    for (size_t i = 2; i < count; i += 2)
      if (!values(i)) return;
    const bool one = count == 3;
    if (dim(0, 0) != dim(1, 0) || dim(0, 1) != dim(one ? 1 : 3, 1) || (!one && dim(1, 1) != dim(3, 0))) {
      return faults_.add(op_, one ? "its factor and its places do not fit" : "its factors and its places do not fit",
                         one ? "both are over the same rows and columns"
                             : "the left factor has the places' rows, the right one their columns, and they share the "
                               "rest");
    }
    const Type& made = m_.type(op_.results[0]);
    if (made.dims == type(0).dims && made.element == type(2).element && made.list == 0) return;
    faults_.add(op_, "its result is " + type_text(m_, made), "it gives an element of its factors for each place");
  }

 private:
  [[nodiscard]] const Type& type(size_t i) const { return m_.type(op_.operands[i]); }
  [[nodiscard]] DimId dim(size_t i, size_t axis) const { return type(i).element.components.at(axis).id_of; }

  bool fault(size_t i, const std::string& why) {
    faults_.add(op_, fmt::format("{} is {}", value_text(m_, op_.operands[i]), type_text(m_, type(i))), why);
    return false;
  }

  bool places(size_t i) {
    const ElementType& element = type(i).element;
    const bool pair = element.tuple && element.components.size() == 2 &&
                      std::all_of(element.components.begin(), element.components.end(),
                                  [](const Component& c) { return c.scalar == Scalar::id && c.count == 0; });
    if (pair && is_over_entries(m_, type(i)) && type(i).list == 0) return true;
    return fault(i, "places are the row and the column of each nonzero");
  }

  bool values(size_t i) {
    const ElementType& element = type(i).element;
    const bool numbers = element.is_scalar() && (is_numeric(element.scalar()) || element.is(Scalar::boolean));
    if (numbers && type(i).dims == type(i - 1).dims && type(i).list == 0 && element == type(2).element) return true;
    return fault(i, "the factors have numbers of one type, or bool, at their places");
  }

  const Module& m_;
  const Op& op_;
  Faults& faults_;
};

// The rows and columns of a recipe's pattern; nothing if its parts do not fit.
using Shape = std::vector<DimId>;
Shape shape_of(const Module& m, const Recipe& recipe) {
  if (recipe.kind == RecipeKind::input) {
    for (const Op& op : m.body.ops) {
      const bool named = op.code == OpCode::input && op.name == recipe.name && op.results.size() == 1;
      if (named && m.values.contains(op.results[0]) && m.type(op.results[0]).sparse) return m.type(op.results[0]).dims;
    }
    return {};
  }
  const Shape first = shape_of(m, recipe.parts[0]);
  if (first.size() != 2) return {};
  if (recipe.kind == RecipeKind::turned) return {first[1], first[0]};
  if (recipe.kind == RecipeKind::gaps) return first;
  if (recipe.kind == RecipeKind::product) {
    const Shape second = shape_of(m, recipe.parts[1]);
    return second.size() == 2 && first[1] == second[0] ? Shape{first[0], second[1]} : Shape();
  }
  const bool alike = std::all_of(recipe.parts.begin(), recipe.parts.end(),
                                 [&](const Recipe& part) { return shape_of(m, part) == first; });
  return alike ? first : Shape();
}

// The values of a matrix, as an array over its nonzeros.
void values_of_matrix(const Module& module, const Op& op, Faults& faults) {
  const Type& type = module.type(op.results.at(0));
  const std::string& matrix = module.dim(type.dims[0]).entries_of;
  const auto read = std::find_if(module.body.ops.begin(), module.body.ops.end(), [&](const Op& other) {
    return other.code == OpCode::input && other.name == matrix && module.type(other.results.at(0)).sparse;
  });
  const bool fits = read != module.body.ops.end() && op.name == matrix &&
                    module.type(read->results[0]).element == type.element && !type.element.is(Scalar::null);
  if (fits && type.list == 0 && !type.compressed) return;
  faults.add(op, fmt::format("'{}' as {} is not the values of a sparse input", op.name, type_text(module, type)),
             fmt::format("its indices are the nonzeros of '{}'", matrix));
}

}  // namespace

void verify_join(const Module& module, const Op& op, Faults& faults) {
  if (op.code == OpCode::align) return verify_align(module, op, faults);
  MeetCheck(module, op, faults).run();
}

void verify_patterns(const Module& module, Faults& faults) {
  for (const Op& op : module.body.ops) {
    if (gives_values(module, op)) values_of_matrix(module, op, faults);
    if (op.code != OpCode::input || !is_recipe(op.name)) continue;
    const std::optional<Recipe> recipe = parse_recipe(op.name);
    const Type& type = module.type(op.results.at(0));
    if (!recipe || recipe->kind == RecipeKind::input) {
      faults.add(op, fmt::format("'{}' is no pattern", op.name), "a pattern is made of those of sparse inputs",
                 "write it as in \"X|Y\", \"X&Y\", \"A@B\" or \"A'\"");
    } else if (!type.sparse || !type.element.is(Scalar::null)) {
      faults.add(op, fmt::format("the pattern '{}' is {}", op.name, type_text(module, type)),
                 "it is a sparse matrix of null: positions without values");
    } else if (shape_of(module, *recipe) != type.dims) {
      faults.add(op, fmt::format("the pattern '{}' is {}", op.name, type_text(module, type)),
                 "its dimensions are not those of the sparse inputs that it names");
    }
  }
}

}  // namespace kasen
