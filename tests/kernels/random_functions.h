// Random scalar functions over every type and operator that has one right answer.
#pragma once

#include <string>
#include <vector>

#include "tests/kernels/support.h"

namespace kasen::test {

constexpr Scalar all_scalars[] = {Scalar::f64, Scalar::f32, Scalar::i64, Scalar::i32, Scalar::boolean};

class ExprMaker {
 public:
  ExprMaker(Random& random, const std::vector<ScalarParam>& params) : random_(random), params_(params) {}

  Expr scalar(Scalar want, int depth) {
    if (depth <= 0 || below(random_, 6) == 0) return leaf(want);
    if (below(random_, 6) == 0) {
      std::vector<Expr> args{scalar(Scalar::boolean, depth - 1), scalar(want, depth - 1), scalar(want, depth - 1)};
      return make_op(ScalarOp::select, std::move(args));
    }
    if (want == Scalar::boolean) return boolean(depth);
    if (below(random_, 5) == 0) return make_cast(want, scalar(all_scalars[below(random_, 5)], depth - 1));
    if (below(random_, 8) == 0) return loop(want, depth);
    constexpr ScalarOp both[] = {ScalarOp::add, ScalarOp::sub, ScalarOp::mul,       ScalarOp::min,
                                 ScalarOp::max, ScalarOp::mod, ScalarOp::floor_div, ScalarOp::add};
    constexpr ScalarOp one[] = {ScalarOp::neg, ScalarOp::abs, ScalarOp::floor, ScalarOp::ceil, ScalarOp::sqrt};
    if (below(random_, 4) == 0) return op(one[below(random_, is_float(want) ? 5 : 2)], {scalar(want, depth - 1)});
    if (is_float(want) && below(random_, 4) == 0) {
      return op(ScalarOp::div, {scalar(want, depth - 1), scalar(want, depth - 1)});
    }
    return op(both[below(random_, 8)], {scalar(want, depth - 1), scalar(want, depth - 1)});
  }

  Expr array(Scalar want, std::int64_t count, int depth) {
    const int number = next_++;
    open_.push_back(number);
    Expr body = scalar(want, depth);
    open_.pop_back();
    return make_loop(ScalarOp::build, number, count, std::move(body));
  }

 private:
  static Expr op(ScalarOp code, std::vector<Expr> args) { return make_op(code, std::move(args)); }

  Expr leaf(Scalar want) {
    std::vector<Expr> known;
    for (size_t i = 0; i < params_.size(); ++i) {
      const Expr param = make_param(static_cast<int>(i), params_[i].type);
      collect(known, param, want);
    }
    if (!known.empty() && below(random_, 5) != 0)
      return known[static_cast<size_t>(below(random_, static_cast<std::int64_t>(known.size())))];
    if (want == Scalar::i64 && !open_.empty()) return make_loop_var(open_.back());
    return make_literal(want, random_word(random_, want));
  }

  void collect(std::vector<Expr>& known, const Expr& e, Scalar want) {
    if (e.type.tuple) {
      for (size_t c = 0; c < e.type.components.size(); ++c)
        collect(known, make_component(e, static_cast<int>(c)), want);
    } else if (e.type.is_array() && e.type.scalar() == want) {
      Expr index = open_.empty() ? make_literal(Scalar::i64, Word::integer(below(random_, e.type.planes() + 2) - 1))
                                 : make_loop_var(open_.back());
      if (below(random_, 6) == 0) index = scalar(Scalar::i64, 1);  // a coordinate of each element's own
      known.push_back(make_element(e, std::move(index)));
    } else if (e.type.is(want)) {
      known.push_back(e);
    }
  }

  Expr boolean(int depth) {
    constexpr ScalarOp compare[] = {ScalarOp::eq, ScalarOp::ne, ScalarOp::lt, ScalarOp::le, ScalarOp::gt, ScalarOp::ge};
    const std::int64_t kind = below(random_, 5);
    if (kind == 0) return op(ScalarOp::logical_not, {scalar(Scalar::boolean, depth - 1)});
    if (kind == 1)
      return op(ScalarOp::logical_and, {scalar(Scalar::boolean, depth - 1), scalar(Scalar::boolean, depth - 1)});
    if (kind == 2)
      return op(ScalarOp::logical_or, {scalar(Scalar::boolean, depth - 1), scalar(Scalar::boolean, depth - 1)});
    const Scalar of = all_scalars[below(random_, 5)];
    return op(compare[below(random_, 6)], {scalar(of, depth - 1), scalar(of, depth - 1)});
  }

  Expr loop(Scalar want, int depth) {
    constexpr ScalarOp kinds[] = {ScalarOp::sum_over, ScalarOp::prod_over, ScalarOp::min_over, ScalarOp::max_over};
    const int number = next_++;
    open_.push_back(number);
    Expr body = scalar(want, depth - 1);
    open_.pop_back();
    return make_loop(kinds[below(random_, 4)], number, 1 + below(random_, 4), std::move(body));
  }

  Random& random_;
  const std::vector<ScalarParam>& params_;
  std::vector<int> open_;
  int next_ = 0;
};

// A function of random type over parameters of the given types.
inline ScalarFunction random_function(Random& random, const std::string& name, const std::vector<ElementType>& types,
                                      const ElementType& result, int depth = 3) {
  ScalarFunction fn;
  fn.name = name;
  for (size_t i = 0; i < types.size(); ++i) fn.params.push_back({"p" + std::to_string(i), types[i]});
  ExprMaker maker(random, fn.params);
  std::vector<Expr> parts;
  for (const Component& c : result.components) {
    parts.push_back(c.count > 0 ? maker.array(c.scalar, c.count, depth) : maker.scalar(c.scalar, depth));
  }
  fn.body = result.tuple ? make_tuple(std::move(parts)) : std::move(parts[0]);
  return fn;
}

inline ElementType random_element(Random& random) {
  const std::int64_t kind = below(random, 8);
  const auto any = [&] { return all_scalars[below(random, 5)]; };
  if (kind == 0) return ElementType::array(any(), 1 + below(random, 5));
  if (kind == 1) return ElementType{{{any(), no_dim, 0}, {any(), no_dim, 1 + below(random, 3)}}, true};
  return ElementType::of(any());
}

// Reducers with an identity that obey the laws exactly or nearly; the order of reductions is fixed anyway.
inline ScalarFunction reducer(ScalarOp op, const ElementType& element) {
  ScalarFunction fn;
  fn.name = "r";
  fn.params = {{"a", element}, {"b", element}};
  const Expr a = make_param(0, element), b = make_param(1, element);
  if (element.is_scalar()) {
    fn.body = make_op(op, {a, b});
  } else {
    fn.body = make_loop(ScalarOp::build, 0, element.planes(),
                        make_op(op, {make_element(a, make_loop_var(0)), make_element(b, make_loop_var(0))}));
  }
  return fn;
}

inline ScalarOp random_reducer(Random& random, Scalar scalar) {
  constexpr ScalarOp numbers[] = {ScalarOp::add, ScalarOp::mul, ScalarOp::min, ScalarOp::max};
  constexpr ScalarOp bools[] = {ScalarOp::logical_and, ScalarOp::logical_or};
  return scalar == Scalar::boolean ? bools[below(random, 2)] : numbers[below(random, 4)];
}

}  // namespace kasen::test
