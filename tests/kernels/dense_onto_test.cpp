// Products of a dense matrix that are reduced onto what their result holds: what the product alone gives, reduced with
// that, by the interpreter and by generated kernels, and the same bits on one, two and three threads. Sizes of one
// block and of several, squares onto arrays that are not symmetric, and semirings that no library has.
#include <fmt/format.h>

#include <array>

#include "tests/kernels/support.h"

namespace kasen::test {
namespace {

// %a and %b are products alone, %c and %d onto an array; in both directions.
Module products(const std::string& type, std::int64_t columns, bool least) {
  const std::string k = columns > 1 ? ",K" : "";
  std::string text = "kir 1 level 3\nmodule t {\n  dim N\n  dim F local\n";
  if (columns > 1) text += "  dim K local = " + std::to_string(columns) + "\n";
  text += least ? "  fn times(x: T, y: T) -> T = x + y\n  fn sum(x: T, y: T) -> T = min(x, y)\n"
                : "  fn times(x: T, y: T) -> T = x * y\n  fn sum(x: T, y: T) -> T = x + y\n";
  text += "  %A = input \"A\" : T[N,F] @part\n  %x = input \"x\" : T[N" + k + "] @part\n  %w = input \"w\" : T[F" + k +
          "] @cons\n  %p = input \"p\" : T[F" + k + "] @cons\n  %q = input \"q\" : T[N" + k + "] @part\n";
  for (const bool onto : {false, true}) {
    text += std::string(onto ? "  %c" : "  %a") + " = mxv[times, sum] %x, %A" + (onto ? ", %p" : "") + " : T[F" + k +
            "] @pre(sum)\n";
    text += std::string(onto ? "  %d" : "  %b") + " = mxvt[times, sum] %w, %A" + (onto ? ", %q" : "") + " : T[N" + k +
            "] @part\n";
  }
  text += "}\n##end\n";
  for (size_t at = text.find('T'); at != std::string::npos; at = text.find('T', at + 1)) text.replace(at, 1, type);
  return parse_module(text, "t.kir");
}

struct Case {
  std::int64_t rows, cols, columns;
};

// The product's result in an array that holds `held` before.
Array run(KernelSet& kernels, const Op& op, const Case& sizes, Array& matrix, Array& operand, const Array& held) {
  Array result = copy(held);
  const std::vector<View> in{view(operand), View(), View()}, out{view(result)};
  kernels.dense_product(DenseProductCall{.op = &op,
                                         .matrix = view(matrix),
                                         .inputs = std::span(in).first(op.operands.size()),
                                         .outputs = out,
                                         .rows = sizes.rows,
                                         .cols = sizes.cols});
  return result;
}

template <class T>
Array reduced(const Array& held, const Array& product, bool least) {
  Array result = copy(held);
  for (std::int64_t i = 0; i < result.count; ++i) {
    T& x = result.as<T>()[i];
    x = least ? std::min(x, product.as<T>()[i]) : x + product.as<T>()[i];
  }
  return result;
}

// With `itself`, the operand is the matrix: X'X, which libraries compute by halves.
template <class T>
void compare(const std::string& type, const Case& sizes, bool least, bool itself) {
  SCOPED_TRACE(fmt::format("{} {} x {} x {}{}", type, sizes.rows, sizes.cols, sizes.columns, itself ? ", itself" : ""));
  const Module m = products(type, sizes.columns, least);
  std::vector<std::unique_ptr<KernelSet>> sets;
  for (const int threads : {1, 2, 3}) sets.push_back(testing::make_kernels({.threads = threads}));
  sets.push_back(make_interpreter_kernels());
  for (const auto& set : sets) set->prepare(m);
  Random random(11);
  const std::size_t inputs = 5;
  for (const bool transposed : {false, true}) {
    if (itself && transposed) continue;
    const Op &alone = m.body.ops[inputs + (transposed ? 1 : 0)], &onto = m.body.ops[inputs + (transposed ? 3 : 2)];
    const ElementType element = m.type(alone.results[0]).element;
    Array matrix = positive_array(random, element, sizes.rows * sizes.cols);
    Array other = positive_array(random, element, sizes.columns * (transposed ? sizes.cols : sizes.rows));
    Array& operand = itself ? matrix : other;
    const Array held = positive_array(random, element, sizes.columns * (transposed ? sizes.rows : sizes.cols));
    const Array product = run(*sets[0], alone, sizes, matrix, operand, held);
    const Array expected = reduced<T>(held, product, least);
    const Array one = run(*sets[0], onto, sizes, matrix, operand, held);
    ASSERT_EQ(difference(expected, one, one.count, least ? 0 : 2000), "") << transposed;
    for (std::size_t s = 1; s < 3; ++s) {
      ASSERT_EQ(difference(one, run(*sets[s], onto, sizes, matrix, operand, held), one.count), "") << transposed;
    }
    const Array plain = run(*sets[3], onto, sizes, matrix, operand, held);
    ASSERT_EQ(difference(plain, one, one.count, least ? 0 : 2000), "") << transposed;
  }
}

constexpr std::array<Case, 10> cases{{{0, 5, 3},
                                      {7, 0, 2},
                                      {1, 1, 1},
                                      {64, 5, 1},
                                      {300, 7, 9},
                                      {1100, 6, 5},
                                      {5000, 3, 17},
                                      {20, 4097, 1},
                                      {1600, 40, 60},
                                      {9, 700, 20}}};

TEST(DenseOnto, ProductsAreAddedToWhatIsThere) {
  for (const Case& sizes : cases) {
    compare<double>("f64", sizes, false, false);
    compare<float>("f32", sizes, false, false);
  }
}

TEST(DenseOnto, SquaresAreAddedAboveAndBelow) {
  for (const std::int64_t cols : {2, 5, 50}) {
    for (const std::int64_t rows : {1, 7, 1100, 3000}) {
      compare<double>("f64", {rows, cols, cols}, false, true);
      compare<float>("f32", {rows, cols, cols}, false, true);
    }
  }
}

TEST(DenseOnto, OtherSemirings) {
  for (const Case& sizes : std::span(cases).first(8)) {
    compare<double>("f64", sizes, true, false);
    compare<float>("f32", sizes, true, false);
  }
}

}  // namespace
}  // namespace kasen::test
