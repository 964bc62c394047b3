// The operator table of scalar_operators.def, and look-ups in it.
#include <algorithm>
#include <array>

#include "libcore/scalar/scalar.h"
#include "libcore/scalar/scalar_work.h"

namespace kasen {
namespace {

constexpr std::array operators{
#define SCALAR_OP(enumerator, name, symbol, arity, precedence, result, work, doc) \
  ScalarOpRow{ScalarOp::enumerator, name, symbol, arity, precedence, ResultRule::result, doc},
#include "libcore/scalar/scalar_operators.def"
#undef SCALAR_OP
};

constexpr std::array works{
#define SCALAR_OP(enumerator, name, symbol, arity, precedence, result, work, doc) ScalarWork::work,
#include "libcore/scalar/scalar_operators.def"
#undef SCALAR_OP
};

const ScalarOpRow* find(auto matches) {
  const auto it = std::find_if(operators.begin(), operators.end(), matches);
  return it == operators.end() ? nullptr : &*it;
}

}  // namespace

std::span<const ScalarOpRow> scalar_op_rows() { return operators; }
const ScalarOpRow& row(ScalarOp op) { return operators[static_cast<size_t>(op)]; }

ScalarWork work_of(ScalarOp op, Scalar operand) {
  const ScalarWork work = works.at(static_cast<size_t>(op));
  if (work != ScalarWork::arithmetic) return work;
  return is_float(operand) ? ScalarWork::plain : ScalarWork::compound;
}

const ScalarOpRow* find_scalar_op(std::string_view name, int arity) {
  return find([&](const ScalarOpRow& r) {
    const bool callable = r.result != ResultRule::special || r.op == ScalarOp::select;
    return callable && r.name == name && r.arity == arity;
  });
}

const ScalarOpRow* find_scalar_symbol(std::string_view symbol, int arity) {
  return find([&](const ScalarOpRow& r) { return !r.symbol.empty() && r.symbol == symbol && r.arity == arity; });
}

bool binds_right(const ScalarOpRow& row) { return row.op == ScalarOp::pow; }

}  // namespace kasen
