#include "libcore/lang/calls/contract.h"

#include <algorithm>
#include <array>
#include <utility>

#include "libcore/ir/contraction.h"
#include "libcore/ir/products.h"

namespace kasen::lang {
namespace {

bool stands_twice(std::string labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) != labels.end();
}

bool is_commutative(const ScalarFunction& fn) {
  constexpr std::array operators{ScalarOp::add, ScalarOp::mul, ScalarOp::min, ScalarOp::max};
  return fn.params[0].type == fn.params[1].type &&
         std::any_of(operators.begin(), operators.end(), [&](ScalarOp op) { return is_plain_operator(fn, op); });
}

}  // namespace

bool Contractions::are_names(const std::string& labels, const Dims& dims) {
  std::vector<DimId> named;
  for (const char label : labels) named.push_back(dims.at(label));
  std::sort(named.begin(), named.end());
  return !stands_twice(labels) && std::adjacent_find(named.begin(), named.end()) == named.end();
}

// By value: the module, which holds the type, grows here.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
FnId Contractions::first_of(const ElementType& type) {
  return builder_.add_function({"first", {{"x", type}, {"y", ElementType::of(Scalar::i64)}}, make_param(0, type)});
}

Labelled Contractions::emit(std::vector<FnId> fns, const Labelled& a, const Labelled& b, const std::string& result,
                            const Dims& dims, Mark mark, const std::string& hint) {
  Type type{module_.fn(fns.back()).result()};
  for (const char label : result) type.dims.push_back(dims.at(label));
  const std::string labels = labels_text({{a.labels, b.labels}, result});
  const ValueId made =
      builder_.emit({.code = OpCode::contract, .operands = {a.array, b.array}, .fns = std::move(fns), .name = labels},
                    mark, hint, type);
  return {made, result};
}

Labelled Contractions::arranged(const Labelled& array, const std::string& wanted, const Dims& dims, Mark mark,
                                const std::string& hint) {
  if (array.labels == wanted) return array;
  const bool turned = wanted.size() == 2 && array.labels == std::string{wanted[1], wanted[0]};
  const auto local = [&](char label) { return module_.dim(dims.at(label)).local; };
  if (turned && (local(wanted[0]) || local(wanted[1]))) {
    Type type = module_.type(array.array);
    std::swap(type.dims[0], type.dims[1]);
    return {builder_.emit({.code = OpCode::transpose, .operands = {array.array}}, mark, hint, type), wanted};
  }
  const ElementType element = module_.type(array.array).element;
  const Labelled nothing{values_.constant(literal_term(Scalar::i64, Word::integer(0)), "t", mark), ""};
  return emit({first_of(element)}, array, nothing, wanted, dims, mark, hint);
}

Labelled Contractions::combined(FnId z, const Labelled& a, const Labelled& b, const std::string& result,
                                const Dims& dims, Mark mark, const std::string& hint) {
  return emit({z}, a, b, result, dims, mark, hint);
}

bool Contractions::is_named_product(const Labelled& a, const Labelled& b, const std::string& kept) const {
  return is_matrix_product(a, b, kept) || is_matrix_product(b, a, kept);
}

// A product of a dense matrix, as names say it (docs/ir.md, mxv and mxvt).
bool Contractions::is_matrix_product(const Labelled& vector, const Labelled& matrix, const std::string& kept) const {
  const std::string& m = matrix.labels;
  if (m.size() != 2 || vector.labels.empty() || stands_twice(m) || stands_twice(vector.labels)) return false;
  const char summed = vector.labels[0];
  if (!has_label(m, summed) || has_label(kept, summed)) return false;
  const char row = m[0] == summed ? m[1] : m[0];
  const std::string columns = vector.labels.substr(1);
  const bool apart = has_label(kept, row) && !has_label(columns, row) &&
                     std::all_of(columns.begin(), columns.end(), [&](char label) { return has_label(kept, label); });
  const std::vector<DimId>&rows = module_.type(matrix.array).dims, &of = module_.type(vector.array).dims;
  const auto local = [&](DimId dim) { return module_.dim(dim).local; };
  if (!apart || (local(rows[0]) && !local(rows[1]))) return false;
  return (!local(rows[0]) && !local(of[0])) || std::all_of(of.begin() + 1, of.end(), local);
}

Labelled Contractions::summed(FnId z, FnId r, const Labelled& a, const Labelled& b, const std::string& kept,
                              const Dims& dims, Mark mark, const std::string& hint) {
  const bool second = is_matrix_product(a, b, kept);
  if (!second && !is_matrix_product(b, a, kept)) return emit({z, r}, a, b, kept, dims, mark, hint);
  const Labelled &vector = second ? a : b, &matrix = second ? b : a;
  if (!second && !is_commutative(module_.fn(z))) z = builder_.add_function(with_exchanged_parameters(module_.fn(z)));
  const bool by_rows = matrix.labels[1] == vector.labels[0];
  const std::string result = matrix.labels[by_rows ? 0 : 1] + vector.labels.substr(1);
  Type type{module_.fn(r).result()};
  for (const char label : result) type.dims.push_back(dims.at(label));
  const ValueId made = builder_.emit(
      {.code = by_rows ? OpCode::mxvt : OpCode::mxv, .operands = {vector.array, matrix.array}, .fns = {z, r}}, mark,
      hint, type);
  return {made, result};
}

Labelled Contractions::reduced(FnId r, const Labelled& array, const std::string& kept, const Dims& dims, Mark mark,
                               const std::string& hint) {
  if (!are_names(array.labels, dims)) {
    const ElementType element = module_.type(array.array).element;
    const Labelled nothing{values_.constant(literal_term(Scalar::i64, Word::integer(0)), "t", mark), ""};
    return emit({first_of(element), r}, array, nothing, kept, dims, mark, hint);
  }
  Labelled made;
  std::vector<DimId> over;
  for (const char label : array.labels) {
    if (has_label(kept, label)) {
      made.labels += label;
    } else {
      over.push_back(dims.at(label));
    }
  }
  if (over.empty()) return array;  // all of it has been summed
  if (made.labels.empty()) over.clear();
  made.array = values_.reduce(r, array.array, over, mark, hint);
  return made;
}

}  // namespace kasen::lang
