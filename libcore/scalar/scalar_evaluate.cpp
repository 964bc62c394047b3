// The meaning of scalar functions on concrete values, and values in memory and as text.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/scalar/loops.h"
#include "libcore/scalar/scalar.h"

namespace kasen {
namespace {

using Loops = std::array<std::int64_t, 64>;

struct Evaluator {
  std::span<const std::span<const Word>> args;
  Loops loops{};

  std::int64_t& loop(int number) {
    if (number < 0 || number >= static_cast<int>(loops.size())) throw InternalError("evaluate: too many nested loops");
    return loops[static_cast<size_t>(number)];
  }

  Word scalar(const Expr& e) {
    Word w{};
    eval(e, std::span(&w, 1));
    return w;
  }

  void over(const Expr& e, std::span<Word> out) {
    const Scalar s = e.args[0].type.scalar();
    if (e.op == ScalarOp::build) {
      for (std::int64_t j = 0; j < e.count; ++j) {
        loop(e.index) = j;
        out[static_cast<size_t>(j)] = scalar(e.args[0]);
      }
      return;
    }
    const auto [step, unit, extremum] = loop_step(e.op);
    Word total = is_float(s) ? Word::real(static_cast<double>(unit)) : Word::integer(unit);
    for (std::int64_t j = 0; j < e.count; ++j) {
      loop(e.index) = j;
      const Word next = scalar(e.args[0]);
      total = extremum && j == 0 ? next : evaluate_op(step, s, std::array{total, next});
    }
    out[0] = total;
  }

  void wide(const Expr& e, std::span<Word> out) {
    std::vector<Word> words(static_cast<size_t>(e.args[0].type.planes()));
    eval(e.args[0], words);
    if (e.op == ScalarOp::component) {
      const auto first = static_cast<size_t>(e.args[0].type.first_plane(e.index));
      std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
      return;
    }
    const std::int64_t last = e.args[0].type.planes() - 1;
    out[0] = words[static_cast<size_t>(std::clamp<std::int64_t>(scalar(e.args[1]).i, 0, last))];
  }

  void plain(const Expr& e, std::span<Word> out) {
    std::array<Word, 3> words{};
    for (size_t i = 0; i < e.args.size(); ++i) words[i] = scalar(e.args[i]);
    out[0] = evaluate_op(e.op, e.args[0].type.scalar(), std::span(words.data(), e.args.size()));
  }

  void eval(const Expr& e, std::span<Word> out) {
    switch (e.op) {
      case ScalarOp::constant:
        out[0] = e.literal;
        return;
      case ScalarOp::param:
        std::copy_n(args[static_cast<size_t>(e.index)].begin(), out.size(), out.begin());
        return;
      case ScalarOp::loop_var:
        out[0] = Word::integer(loop(e.index));
        return;
      case ScalarOp::select:
        eval(e.args[scalar(e.args[0]).i != 0 ? 1 : 2], out);
        return;
      case ScalarOp::cast:
        out[0] = convert(e.args[0].type.scalar(), e.type.scalar(), scalar(e.args[0]));
        return;
      case ScalarOp::make_tuple:
        tuple(e, out);
        return;
      case ScalarOp::component:
      case ScalarOp::element:
        wide(e, out);
        return;
      case ScalarOp::sum_over:
      case ScalarOp::prod_over:
      case ScalarOp::min_over:
      case ScalarOp::max_over:
      case ScalarOp::build:
        over(e, out);
        return;
      default:
        plain(e, out);
    }
  }

  void tuple(const Expr& e, std::span<Word> out) {
    size_t at = 0;
    for (const Expr& arg : e.args) {
      const auto planes = static_cast<size_t>(arg.type.planes());
      eval(arg, out.subspan(at, planes));
      at += planes;
    }
  }
};

template <class T>
void store_as(std::byte* address, T value) {
  std::memcpy(address, &value, sizeof(T));
}

template <class T>
T load_as(const std::byte* address) {
  T value{};
  std::memcpy(&value, address, sizeof(T));
  return value;
}

std::string real_text(double value, bool single) {
  if (std::isnan(value)) return single ? "nanf32" : "nan";
  if (std::isinf(value)) return std::string(value < 0 ? "-inf" : "inf") + (single ? "f32" : "");
  std::array<char, 64> buffer{};
  const auto end = single ? std::to_chars(buffer.begin(), buffer.end(), static_cast<float>(value)).ptr
                          : std::to_chars(buffer.begin(), buffer.end(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return single ? text + "f32" : text;
}

}  // namespace

void evaluate(const ScalarFunction& fn, std::span<const std::span<const Word>> args, std::span<Word> out) {
  Evaluator evaluator{args};
  evaluator.eval(fn.body, out);
}

Word load_word(Scalar scalar, const std::byte* address) {
  switch (scalar) {
    case Scalar::f64:
      return Word::real(load_as<double>(address));
    case Scalar::f32:
      return Word::real(load_as<float>(address));
    case Scalar::i32:
      return Word::integer(load_as<std::int32_t>(address));
    case Scalar::boolean:
      return Word::integer(load_as<std::uint8_t>(address) != 0);
    case Scalar::null:
      return Word::integer(1);
    default:
      return Word::integer(load_as<std::int64_t>(address));
  }
}

void store_word(Scalar scalar, std::byte* address, Word value) {
  switch (scalar) {
    case Scalar::f64:
      store_as(address, value.f);
      return;
    case Scalar::f32:
      store_as(address, static_cast<float>(value.f));
      return;
    case Scalar::i32:
      store_as(address, static_cast<std::int32_t>(value.i));
      return;
    case Scalar::boolean:
      store_as(address, static_cast<std::uint8_t>(value.i != 0));
      return;
    case Scalar::null:
      return;
    default:
      store_as(address, value.i);
  }
}

std::string literal_text(Scalar scalar, Word value) {
  switch (scalar) {
    case Scalar::f64:
      return real_text(value.f, false);
    case Scalar::f32:
      return real_text(value.f, true);
    case Scalar::boolean:
      return value.i != 0 ? "true" : "false";
    case Scalar::i32:
      return std::to_string(value.i) + "i32";
    default:
      return std::to_string(value.i);
  }
}

}  // namespace kasen
