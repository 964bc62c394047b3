#include "libcore/lang/terms/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kasen::lang {
namespace {

// Each of them converts to those behind it, and no whole number becomes another one but by rounding.
int width(Scalar scalar) {
  constexpr std::array order{Scalar::boolean, Scalar::id, Scalar::i32, Scalar::i64, Scalar::f32, Scalar::f64};
  const auto* const found = std::find(order.begin(), order.end(), scalar);
  return found == order.end() ? -1 : static_cast<int>(found - order.begin());
}

Scalar scalar_of(const Operand& operand) { return operand.term->type().scalar(); }

// A number as it is written takes the type of the other side, if it can.
bool gives_way(const Operand& operand, Scalar to) {
  const Term& term = *operand.term;
  return term.literal && is_numeric(scalar_of(operand)) && is_numeric(to) &&
         (is_integer(scalar_of(operand)) || is_float(to) || term.whole);
}

bool differ(const Operand& a, const Operand& b) {
  const Scalar one = scalar_of(a), other = scalar_of(b);
  if (one == other || width(one) < 0 || width(other) < 0 || (a.term->literal && b.term->literal)) return false;
  return !gives_way(a, other) && !gives_way(b, one);
}

const Op* maker(const Builder& builder, const Term& term) {
  const bool value = term.bare() && term.leaves.size() == 1 && term.leaves[0] >= 0;
  return value ? builder.made_by(term.leaves[0]) : nullptr;
}

// How the narrower side gets the wider type. What began as a whole number of the program may as well begin otherwise.
std::string conversion(const Builder& builder, const Operand& from, Scalar to) {
  if (from.node->kind != NodeKind::name) {
    return fmt::format("convert the {} side: {}(x)", scalar_name(scalar_of(from)), scalar_name(to));
  }
  std::string remedy = fmt::format("write {}({})", scalar_name(to), from.node->text);
  const Op* const op = maker(builder, *from.term);
  if (op == nullptr || !is_float(to) || !is_integer(scalar_of(from))) return remedy;
  if (op->code == OpCode::literal) remedy += fmt::format(", or begin with {} = 1.0", from.node->text);
  if (op->code == OpCode::fill) remedy += ", or begin with fill(0.0, ...)";
  return remedy;
}

std::string counts(const Builder& builder, const Op& product, std::string_view number) {
  const std::string& x = builder.base_name(product.operands.at(0));
  const std::string& matrix = builder.base_name(product.operands.at(1));
  if (x == "t" || matrix == "t") return fmt::format("G @ {}(x)", number);  // they have no names in the program
  return fmt::format("{}{} @ {}({})", matrix, product.code == OpCode::mxv ? "'" : "", number, x);
}

// `to`: the type of the numbers beside it.
[[noreturn]] void refuse_bool(const SourceText& source, const Builder& builder, Mark mark, const std::string& what,
                              const Operand& operand, Scalar to) {
  const std::string_view number = scalar_name(is_numeric(to) ? to : Scalar::i64);
  const std::string name = operand.node->kind == NodeKind::name ? operand.node->text : "m";
  const Op* const op = maker(builder, *operand.term);
  if (op != nullptr && (op->code == OpCode::mxv || op->code == OpCode::mxvt)) {
    source.fail(mark, what, fmt::format("'{}' is a product of bools, which is 'or': true where any of them is", name),
                fmt::format("write {} for how many are", counts(builder, *op, number)));
  }
  if (op != nullptr || operand.node->kind != NodeKind::name) {
    source.fail(mark, what, "a bool is no number",
                fmt::format("write {}({}), which is 1 where it is true", number, name));
  }
  source.fail(
      mark, what, "a bool is no number, and the product of bools is 'or'",
      fmt::format("write {0}({1}), which is 1 where it is true; of a product G @ m, which counts nothing, write "
                  "G @ {0}(m)",
                  number, name));
}

}  // namespace

void refuse_mixed(const SourceText& source, const Builder& builder, Mark mark, std::string_view sign,
                  const std::vector<Operand>& operands, bool numbers) {
  const auto scalar = [](const Operand& o) { return o.term->type().is_scalar(); };
  if (operands.empty() || !std::all_of(operands.begin(), operands.end(), scalar)) return;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const Operand &a = operands[0], &b = operands[i];
    if (!differ(a, b)) continue;
    const std::string what =
        fmt::format("'{}' of {} and {}", sign, scalar_name(scalar_of(a)), scalar_name(scalar_of(b)));
    const Operand& narrow = width(scalar_of(a)) < width(scalar_of(b)) ? a : b;
    const Operand& wide = &narrow == &a ? b : a;
    if (scalar_of(narrow) == Scalar::boolean) refuse_bool(source, builder, mark, what, narrow, scalar_of(wide));
    source.fail(mark, what, "both sides must have one type; nothing is converted silently",
                conversion(builder, narrow, scalar_of(wide)));
  }
  const bool truth = scalar_of(operands[0]) == Scalar::boolean;
  if (numbers && truth) {
    refuse_bool(source, builder, mark, fmt::format("'{}' does not take bool", sign), operands[0], Scalar::i64);
  }
}

}  // namespace kasen::lang
