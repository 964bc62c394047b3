// Checks element types, dimensions by name and shapes of every operator. It does not check states.
//
// Broadcasting (map, apply): the result has the dimensions of every operand, in the same order, and some operand has
// each dimension of the result. A map gives an array (a shared, too, if all its dimensions are local). apply computes
// values of rank 0.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

bool is_subsequence(const std::vector<DimId>& part, const std::vector<DimId>& whole) {
  auto at = whole.begin();
  for (const DimId d : part) {
    at = std::find(at, whole.end(), d);
    if (at == whole.end()) return false;
    ++at;
  }
  return true;
}

class TypeCheck {
 public:
  TypeCheck(const Module& module, Faults& faults) : m_(module), faults_(faults) {}

  void block(const Block& b) {
    for (const Op& op : b.ops) {
      one(op);
      for (const Block& inner : op.blocks) block(inner);
    }
  }

 private:
  using Check = void (TypeCheck::*)(const Op&);
  static const std::array<Check, operator_count> checks;  // by operator

  void one(const Op& op) {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const bool reads = is_product(op) ? i == 1 : is_fold(op) ? i == 0 : op.code == OpCode::align && i < 2;
      if (type(op, i).sparse && op.code != OpCode::region && op.code != OpCode::batch && !reads) {
        return faults_.add(op, name(op, i) + " is a sparse matrix", "only products and folds read nonzeros",
                           "use it as the matrix of mxv, mxvt, fold_rows, fold_cols or entries");
      }
    }
    for (const ValueId id : op.results) {
      const bool matrix = op.code == OpCode::input || op.code == OpCode::batch;
      if (m_.type(id).sparse && !matrix) return faults_.add(op, "only inputs are sparse");
      if (m_.level == 1 && m_.type(id).state.placed()) return faults_.add(op, "level 1 places nothing", "", "write @?");
    }
    for (const Block& b : op.blocks) {
      for (const ValueId id : b.args) {
        if (m_.type(id).sparse) return faults_.add(op, "only inputs are sparse");
        if (m_.level == 1 && m_.type(id).state.placed())
          return faults_.add(op, "level 1 places nothing", "", "write @?");
      }
    }
    (this->*checks.at(static_cast<size_t>(op.code)))(op);
  }

  [[nodiscard]] const Type& type(const Op& op, size_t i) const { return m_.type(op.operands[i]); }
  [[nodiscard]] const Type& result(const Op& op) const { return m_.type(op.results[0]); }
  [[nodiscard]] std::string name(const Op& op, size_t i) const { return value_text(m_, op.operands[i]); }
  [[nodiscard]] std::string text(const Type& t) const { return type_text(m_, t); }
  [[nodiscard]] std::string dims_text(const std::vector<DimId>& dims) const {
    std::string names;
    for (const DimId d : dims) names += (names.empty() ? "" : ",") + m_.dim(d).name;
    return '[' + names + ']';
  }

  // The operand is one array of rank 0 with this element.
  bool is_single(const Op& op, ValueId id, Scalar scalar, const char* what) {
    const Type& t = m_.type(id);
    if (t.element.is(scalar) && t.dims.empty() && t.list == 0) return true;
    faults_.add(op,
                fmt::format("{} is {}, but {} is a shared {}", value_text(m_, id), text(t), what, scalar_name(scalar)));
    return false;
  }

  bool no_list(const Op& op) {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (type(op, i).list == 0) continue;
      faults_.add(op, name(op, i) + " is a list", "this operator takes one array", "take an array of it with get");
      return false;
    }
    for (const ValueId id : op.results) {
      if (m_.type(id).list == 0) continue;
      faults_.add(op, "its result is a list", "this operator gives one array");
      return false;
    }
    return true;
  }

  void expect(const Op& op, const Type& wanted, ValueId got, const std::string& what) {
    const Type& t = m_.type(got);
    if (same_but_state(wanted, t)) return;
    faults_.add(op, fmt::format("{} is {}, but {} is {}", value_text(m_, got), text(t), what, text(wanted)));
  }

  // ---- sources
  void input(const Op& op) { (void)no_list(op); }

  void words(const Op& op) {
    if (!no_list(op)) return;
    const auto planes = static_cast<size_t>(result(op).element.planes());
    if (op.literal.size() != planes) {
      faults_.add(op, fmt::format("{} literals for an element of {} scalars", op.literal.size(), planes));
    }
    const bool single = op.code == OpCode::param || op.code == OpCode::literal;
    if (single && !result(op).dims.empty()) faults_.add(op, "its result has dimensions", "", "use fill for arrays");
  }

  void index(const Op& op) {
    if (!no_list(op)) return;
    const Type wanted{ElementType::id(op.dim), {op.dim}, false, 0, {}, false, result(op).cuts};
    expect(op, wanted, op.results[0], "the index");
  }

  void size(const Op& op) { (void)is_single(op, op.results[0], Scalar::i64, "a size"); }

  // ---- functions of elements

  bool fits_parameter(const Op& op, const ScalarFunction& fn, size_t i, const ElementType& element,
                      const std::string& what) {
    if (fn.params[i].type == element) return true;
    faults_.add(op, fmt::format("{} holds {}", what, print_element_type(m_, element)),
                fmt::format("parameter '{}' of {} is {}", fn.params[i].name, fn.name,
                            print_element_type(m_, fn.params[i].type)),
                "convert it in the function, for example with f64(x)");
    return false;
  }

  bool parameter_count(const Op& op, const ScalarFunction& fn, size_t wanted) {
    if (fn.params.size() == wanted) return true;
    faults_.add(op, fmt::format("{} has {} parameters", fn.name, fn.params.size()),
                fmt::format("it is given {}", wanted));
    return false;
  }

  void gives(const Op& op, const ScalarFunction& fn) {
    if (fn.result() == result(op).element) return;
    faults_.add(op, "its result holds " + print_element_type(m_, result(op).element),
                fmt::format("{} gives {}", fn.name, print_element_type(m_, fn.result())));
  }

  void elementwise(const Op& op) {
    const ScalarFunction& fn = m_.fn(op.fns[0]);
    if (!no_list(op) || !parameter_count(op, fn, op.operands.size())) return;
    std::vector<DimId> seen;
    const std::vector<DimId>& dims = result(op).dims;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (!fits_parameter(op, fn, i, type(op, i).element, name(op, i))) return;
      seen.insert(seen.end(), type(op, i).dims.begin(), type(op, i).dims.end());
      if (is_subsequence(type(op, i).dims, dims)) continue;
      return faults_.add(op,
                         fmt::format("{} is over {}, but the result over {}", name(op, i), dims_text(type(op, i).dims),
                                     dims_text(dims)),
                         "the result has the dimensions of every operand, in the same order");
    }
    for (const DimId d : dims) {
      if (std::find(seen.begin(), seen.end(), d) == seen.end()) {
        return faults_.add(op, fmt::format("no operand has the result's dimension '{}'", m_.dim(d).name));
      }
    }
    gives(op, fn);
    if (op.code == OpCode::map && dims.empty())
      faults_.add(op, "its result has rank 0", "map gives arrays", "use apply");
    if (op.code == OpCode::apply && !dims.empty()) {
      faults_.add(op, "its result is an array", "apply gives shareds of rank 0", "use map");
    }
  }

  static bool stands_twice(std::vector<DimId> dims) {
    std::sort(dims.begin(), dims.end());
    return std::adjacent_find(dims.begin(), dims.end()) != dims.end();
  }

  void reduce(const Op& op) {
    const ScalarFunction& fn = m_.fn(op.fns[0]);
    if (!no_list(op) || !parameter_count(op, fn, 2)) return;
    if (!fits_parameter(op, fn, 0, type(op, 0).element, name(op, 0))) return;
    const bool square = !op.over.empty() && stands_twice(type(op, 0).dims);
    if (square) {
      return faults_.add(op, fmt::format("it reduces {} over some of {}", name(op, 0), dims_text(type(op, 0).dims)),
                         "a dimension is listed twice", "use a product with a vector of ones");
    }
    std::vector<DimId> rest;
    if (!op.over.empty()) {
      for (const DimId d : type(op, 0).dims) {
        if (std::find(op.over.begin(), op.over.end(), d) == op.over.end()) rest.push_back(d);
      }
    }
    for (const DimId d : op.over) {
      const auto& dims = type(op, 0).dims;
      if (!m_.dims.contains(d) || std::find(dims.begin(), dims.end(), d) == dims.end()) {
        return faults_.add(op, "it reduces over a dimension that " + name(op, 0) + " does not have");
      }
    }
    gives(op, fn);
    if (result(op).dims != rest) {
      faults_.add(op, fmt::format("its result is over {}", dims_text(result(op).dims)),
                  fmt::format("the rest of {} is {}", dims_text(type(op, 0).dims), dims_text(rest)));
    }
  }

  void view(const Op& op) {
    if (!no_list(op)) return;
    const char* const begin = takes_one_index(op) ? "the index of a dimension" : "the beginning of a range";
    if (is_slice(op) && !is_single(op, range_begin(op), Scalar::i64, begin)) return;
    const ViewFault fault = view_fault(m_, op);
    if (!fault.what.empty()) faults_.add(op, fault.what, fault.why, fault.remedy);
  }

  void product(const Op& op) {
    if (!no_list(op)) return;
    const Type& matrix = type(op, 1);
    if (matrix.dims.size() != 2) return faults_.add(op, name(op, 1) + " is no matrix", "products take two dimensions");
    if (matrix.sparse && sparse_source(m_, op.operands[1]).input == nullptr) {
      return faults_.add(op, name(op, 1) + " is not a matrix of the bundle");
    }
    if (!matrix.sparse && matrix.cuts.empty() && Layout(m_, matrix).is_cut(1)) {
      return faults_.add(op, name(op, 1) + " is a dense matrix cut along its columns", "dense matrices are cut by rows",
                         "exchange its dimensions");
    }
    const size_t in = op.code == OpCode::mxv ? 0 : 1;
    std::vector<DimId> columns = type(op, 0).dims;  // after the matrix's dimension
    if (!columns.empty()) columns.erase(columns.begin());
    if (!product_columns(op, columns)) return;
    expect_dims(op, op.operands[0], with_columns(matrix.dims[in], columns), "the vector");
    expect_dims(op, op.results[0], with_columns(matrix.dims[1 - in], columns), "the result");
    product_functions(op, matrix);
  }

  bool product_columns(const Op& op, const std::vector<DimId>& columns) {
    if (type(op, 0).sparse) {
      faults_.add(op, name(op, 0) + " is a sparse matrix", "a product multiplies vectors, or columns of a dense array");
      return false;
    }
    const bool by_rows =
        !type(op, 1).sparse && !m_.dim(type(op, 1).dims.at(0)).local && !m_.dim(type(op, 0).dims[0]).local;
    for (const DimId d : columns) {
      if (m_.dim(d).local || by_rows || !type(op, 0).cuts.empty()) continue;
      faults_.add(op, fmt::format("{} has columns over '{}', which is cut", name(op, 0), m_.dim(d).name),
                  "every worker multiplies all columns of its rows", "declare the dimension local");
      return false;
    }
    return true;
  }

  static std::vector<DimId> with_columns(DimId dim, const std::vector<DimId>& columns) {
    std::vector<DimId> dims{dim};
    dims.insert(dims.end(), columns.begin(), columns.end());
    return dims;
  }

  void expect_dims(const Op& op, ValueId id, const std::vector<DimId>& wanted, const char* what) {
    if (m_.type(id).dims == wanted) return;
    faults_.add(op, fmt::format("{} is over {}", value_text(m_, id), dims_text(m_.type(id).dims)),
                fmt::format("{} of this product is over {}", what, dims_text(wanted)));
  }

  void product_functions(const Op& op, const Type& matrix) {
    const ScalarFunction& multiply = m_.fn(op.fns[0]);
    const ScalarFunction& combine = m_.fn(op.fns[1]);
    if (!parameter_count(op, multiply, 2) || !parameter_count(op, combine, 2)) return;
    if (!fits_parameter(op, multiply, 0, type(op, 0).element, name(op, 0))) return;
    const ElementType& second = multiply.params[1].type;
    if (matrix.element.is(Scalar::null)) {
      const bool one = second.is_scalar() && (is_numeric(second.scalar()) || second.is(Scalar::boolean));
      if (!one) {
        return faults_.add(op,
                           fmt::format("parameter '{}' of {} is {}", multiply.params[1].name, multiply.name,
                                       print_element_type(m_, second)),
                           "an entry of a null matrix is the constant 1");
      }
    } else if (!fits_parameter(op, multiply, 1, matrix.element, name(op, 1))) {
      return;
    }
    if (!fits_parameter(op, combine, 0, multiply.result(), "the result of " + multiply.name)) return;
    gives(op, combine);
  }

  void by_group(const Op& op) {
    if (!no_list(op)) return;
    const OpGroup group = row(op.code).group;
    if (group == OpGroup::entries || group == OpGroup::join) return verify_fold(m_, op, faults_);
    if (group == OpGroup::linear) return verify_linear(m_, op, faults_);
    if (group == OpGroup::axis) return verify_axis(m_, op, faults_);
    if (group == OpGroup::shared) return verify_single(m_, op, faults_);
    verify_contract(m_, op, faults_);
  }

  // ---- lists and transitions

  void make_list(const Op& op) {
    Type wanted = type(op, 0);
    if (wanted.list > 0) return faults_.add(op, name(op, 0) + " is a list already");
    if (result(op).list < 1) return faults_.add(op, "its result is no list");
    wanted.list = result(op).list;
    expect(op, wanted, op.results[0], "the list of these arrays");
  }

  bool takes_list(const Op& op) {
    if (type(op, 0).list > 0) return true;
    faults_.add(op, name(op, 0) + " is not a list");
    return false;
  }

  void get(const Op& op) {
    if (!takes_list(op) || !is_single(op, op.operands[1], Scalar::i64, "the position in a list")) return;
    Type wanted = type(op, 0);
    wanted.list = 0;
    expect(op, wanted, op.results[0], "an array of the list");
  }

  void replace(const Op& op) {
    const bool put = op.code == OpCode::put;
    if (!takes_list(op)) return;
    if (put && !is_single(op, op.operands[1], Scalar::i64, "the position in a list")) return;
    Type item = type(op, 0);
    item.list = 0;
    expect(op, item, op.operands[put ? 2 : 1], "an array of the list");
    expect(op, type(op, 0), op.results[0], "the list");
  }

  void transition(const Op& op) {
    if (no_list(op)) expect(op, type(op, 0), op.results[0], "the moved value");
  }

  void relayout(const Op& op) {
    if (no_list(op)) verify_relayout(m_, op, faults_);
  }

  // ---- control

  void carried(const Op& op, size_t first_operand, size_t first_arg) {
    const Block& body = op.blocks[0];
    for (size_t k = 0; k < op.results.size(); ++k) {
      const Type& wanted = m_.type(body.args[first_arg + k]);
      const std::string what = "carried value " + value_text(m_, body.args[first_arg + k]);
      expect(op, wanted, op.operands[first_operand + k], what);
      expect(op, wanted, op.results[k], what);
      expect(body.ops.back(), wanted, body.ops.back().operands[k], what);
    }
  }

  void while_loop(const Op& op) {
    carried(op, 0, 0);
    (void)is_single(op, op.blocks[0].args[static_cast<size_t>(op.test)], Scalar::boolean, "a loop's test");
  }

  void for_loop(const Op& op) {
    carried(op, 2, 1);
    (void)is_single(op, op.operands[0], Scalar::i64, "a loop's bound");
    (void)is_single(op, op.operands[1], Scalar::i64, "a loop's bound");
    (void)is_single(op, op.blocks[0].args[0], Scalar::i64, "a loop's index");
  }

  void if_else(const Op& op) {
    (void)is_single(op, op.operands[0], Scalar::boolean, "a condition");
    handed_on(op);
  }

  void handed_on(const Op& op) {
    if (is_blocks(op)) return;  // verify_blocks
    for (const Block& b : op.blocks) {
      for (size_t k = 0; k < op.results.size(); ++k) {
        expect(b.ops.back(), m_.type(op.results[k]), b.ops.back().operands[k], value_text(m_, op.results[k]));
      }
    }
  }

  void output(const Op& op) { (void)no_list(op); }

  void nothing(const Op&) {}

  const Module& m_;
  Faults& faults_;
};

const std::array<TypeCheck::Check, operator_count> TypeCheck::checks{
#define IR_OP(code, name, level, group, counts, text, types, states, ranges, run, doc) &TypeCheck::types,
#include "libcore/ir/operators.def"
#undef IR_OP
};

}  // namespace

void verify_types(const Module& module, Faults& faults) { TypeCheck(module, faults).block(module.body); }

}  // namespace kasen
