// Several products of one dense matrix in one pass, in both directions: against the interpreter, and the same bits on
// one, two and three threads. Sizes within one tile, of several tiles, and of several blocks.
#include <array>

#include "tests/kernels/support.h"

namespace kasen::test {
namespace {

Module region(const std::string& type, bool whole_columns) {
  const std::string t = type == "f64" ? "" : "f32";
  std::string text =
      "kir 1 level 3\nmodule t {\n  dim N\n  dim F" + std::string(whole_columns ? " local" : "") + " = 5\n";
  text +=
      "  fn mul(x: T, y: T) -> T = x * y\n  fn turned(x: T, y: T) -> T = y * x\n  fn add(x: T, y: T) -> T = x + y\n";
  text += R"(  %A = input "A" : T[N,F] @part
  %x = input "x" : T[N] @part
  %w = input "w" : T[F] @cons
  %v = input "v" : T[F] @cons
  %y = input "y" : T[N] @part
  %a, %b, %c, %d, %e = region mxm (%x, %A, %w, %v, %y) : T[F] @pre(add), T[N] @part, T[N] @part, T[F] @pre(add), T[N] @part {
    %a1 = mxv[mul, add] %x, %A : T[F] @pre(add)
    %b1 = mxvt[turned, add] %w, %A : T[N] @part
    %c1 = mxvt[mul, add] %v, %A : T[N] @part
    %d1 = mxv[turned, add] %y, %A : T[F] @pre(add)
    yield %a1, %b1, %c1, %d1, %b1
  }
}
##end
)";
  for (size_t at = text.find('T'); at != std::string::npos; at = text.find('T', at + 1)) {
    text.replace(at, 1, type);
  }
  return parse_module(text, "t.kir");
}

struct Data {
  std::int64_t rows, cols;
  Array matrix;
  std::vector<Array> inputs;
};

std::vector<Array> run(KernelSet& kernels, const Module& m, const Op& op, Data& data, std::int64_t columns = 1) {
  std::vector<Array> outputs;
  for (const ValueId id : op.results) {
    outputs.emplace_back(m.type(id).element, columns * (m.type(id).state.is_part() ? data.rows : data.cols));
  }
  std::vector<View> in, out;
  for (Array& a : data.inputs) in.push_back(view(a));
  for (Array& a : outputs) out.push_back(view(a));
  kernels.dense_product(DenseProductCall{
      .op = &op, .matrix = view(data.matrix), .inputs = in, .outputs = out, .rows = data.rows, .cols = data.cols});
  return outputs;
}

void compare(const Module& m, std::span<const std::array<std::int64_t, 2>> sizes) {
  const auto reference = make_interpreter_kernels();
  std::vector<std::unique_ptr<KernelSet>> sets;
  for (const int threads : {1, 2, 3}) sets.push_back(testing::make_kernels({.threads = threads}));
  reference->prepare(m);
  for (const auto& set : sets) set->prepare(m);
  const Op& op = m.body.ops.back();
  ASSERT_EQ(op.code, OpCode::region);
  const ElementType element = m.type(op.results[0]).element;
  Random random(6);
  for (const auto& [rows, cols] : sizes) {
    Data data{rows, cols, positive_array(random, element, rows * cols), {}};
    for (const ValueId id : op.operands) {
      const bool matrix = m.type(id).dims.size() == 2;
      data.inputs.push_back(matrix ? Array()
                                   : positive_array(random, element, m.type(id).state.is_part() ? rows : cols));
    }
    const std::vector<Array> expected = run(*reference, m, op, data), one = run(*sets[0], m, op, data);
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(difference(expected[k], one[k], one[k].count, 2000), "") << rows << " x " << cols << ", result " << k;
    }
    for (size_t s = 1; s < sets.size(); ++s) {
      const std::vector<Array> more = run(*sets[s], m, op, data);
      for (size_t k = 0; k < more.size(); ++k) {
        EXPECT_EQ(difference(one[k], more[k], one[k].count), "") << rows << " x " << cols << ", set " << s;
      }
    }
    EXPECT_EQ(reference->accesses().read_bytes, sets[0]->accesses().read_bytes);
    EXPECT_EQ(reference->accesses().written_bytes, sets[0]->accesses().written_bytes);
  }
}

constexpr std::array<std::array<std::int64_t, 2>, 12> shapes{{{0, 5},
                                                              {1, 1},
                                                              {7, 5},
                                                              {64, 0},
                                                              {64, 5},
                                                              {1000, 1},
                                                              {1000, 64},
                                                              {9000, 5},
                                                              {1100, 300},
                                                              {7, 1000},
                                                              {20, 4097},
                                                              {1, 9000}}};

TEST(DensePass, InBothDirectionsAgreesWithTheInterpreter) {
  for (const std::string type : {"f64", "f32"}) compare(region(type, true), shapes);
}

// Where a vector belongs to a dimension that is cut as well, it is counted: the accesses are compared.
TEST(DensePass, CountsVectorsOfACutDimension) { compare(region("f64", false), std::span(shapes).first(6)); }

// Of numbers, many of them 0, infinite or NaN, whatever the library leaves out.
template <class T>
Array hostile_array(Random& random, const ElementType& element, std::int64_t count, int one_of) {
  constexpr T strange[] = {0, -T{0}, std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN()};
  Array array(element, count);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto k = static_cast<size_t>(random() % static_cast<unsigned>(5 * one_of));
    array.as<T>()[i] = k < 5 ? strange[k] : static_cast<T>(k % 7) - 3;
  }
  return array;
}

template <class T>
std::string kinds(const Array& array) {
  std::string text;
  for (std::int64_t i = 0; i < array.count; ++i) {
    const T value = array.as<T>()[i];
    text += std::isnan(value) ? "n" : std::isinf(value) ? (value > 0 ? "+" : "-") : ".";
  }
  return text;
}

Module products(const std::string& type, int columns, bool region) {
  const std::string k = columns > 1 ? ",K" : "";
  std::string text = "kir 1 level 3\nmodule t {\n  dim N\n  dim F local\n";
  if (columns > 1) text += "  dim K local = " + std::to_string(columns) + "\n";
  text += "  fn mul(x: T, y: T) -> T = x * y\n  fn add(x: T, y: T) -> T = x + y\n  %A = input \"A\" : T[N,F] @part\n";
  text += "  %x = input \"x\" : T[N" + k + "] @part\n  %w = input \"w\" : T[F" + k + "] @cons\n";
  const std::string along = "mxv[mul, add] %x, %A : T[F" + k + "] @pre(add)\n";
  const std::string across = "mxvt[mul, add] %w, %A : T[N" + k + "] @part\n";
  if (region) {
    text += "  %a, %b = region mxm (%x, %A, %w) : T[F" + k + "] @pre(add), T[N" + k + "] @part {\n    %a1 = " + along +
            "    %b1 = " + across + "    yield %a1, %b1\n  }\n";
  } else {
    text += "  %a = " + along + "  %b = " + across;
  }
  text += "}\n##end\n";
  for (size_t at = text.find('T'); at != std::string::npos; at = text.find('T', at + 1)) text.replace(at, 1, type);
  return parse_module(text, "t.kir");
}

constexpr std::array<std::array<std::int64_t, 2>, 7> small_shapes{
    {{1, 1}, {7, 5}, {64, 5}, {300, 1}, {1100, 6}, {7, 100}, {3, 4097}}};

// What is not a number is none in every kernel, and the same infinity.
template <class T>
void compare_hostile(const std::string& type, int columns, bool region) {
  const Module m = products(type, columns, region);
  const std::unique_ptr<KernelSet> reference = make_interpreter_kernels(),
                                   generated = testing::make_kernels({.threads = 2});
  reference->prepare(m);
  generated->prepare(m);
  Random random(7);
  for (const Op& op : m.body.ops) {
    if (op.code == OpCode::input) continue;
    for (const auto& [rows, cols] : small_shapes) {
      for (const int one_of : {4, 60, 5000}) {
        const ElementType element = m.type(op.results[0]).element;
        Data data{rows, cols, hostile_array<T>(random, element, rows * cols, one_of), {}};
        for (const ValueId id : op.operands) {
          const bool matrix = m.value(id).name == "A";
          const std::int64_t count = columns * (m.type(id).state.is_part() ? rows : cols);
          data.inputs.push_back(matrix ? Array() : hostile_array<T>(random, element, count, one_of));
        }
        const std::vector<Array> expected = run(*reference, m, op, data, columns),
                                 made = run(*generated, m, op, data, columns);
        for (size_t k = 0; k < expected.size(); ++k) {
          ASSERT_EQ(kinds<T>(expected[k]), kinds<T>(made[k])) << rows << " x " << cols << " x " << columns;
        }
      }
    }
  }
}

TEST(DensePass, ZeroTimesInfinityIsNoNumber) {
  for (const int columns : {1, 2, 5}) {
    for (const bool region : {false, true}) {
      compare_hostile<double>("f64", columns, region && columns == 1);
      compare_hostile<float>("f32", columns, region && columns == 1);
    }
  }
}

// Products that are large enough to be cut by rows and columns: rows, columns of the matrix, columns of the others.
constexpr std::array<std::array<std::int64_t, 3>, 4> large_shapes{
    {{300, 250, 260}, {1600, 40, 300}, {30, 3000, 300}, {17000, 4, 300}}};

// By the definition, in f64: A B, or A' B.
template <class T>
Array by_definition(const Data& data, const Array& other, std::int64_t columns, bool turned) {
  const std::int64_t rows = turned ? data.cols : data.rows, steps = turned ? data.rows : data.cols;
  std::vector<double> sums(static_cast<size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t s = 0; s < steps; ++s) {
      const double a = data.matrix.as<T>()[turned ? s * data.cols + i : i * data.cols + s];
      const T* const b = other.as<T>() + s * columns;
      for (std::int64_t k = 0; k < columns; ++k) sums[static_cast<size_t>(i * columns + k)] += a * b[k];
    }
  }
  Array result(data.matrix.element, rows * columns);
  std::transform(sums.begin(), sums.end(), result.as<T>(), [](double sum) { return static_cast<T>(sum); });
  return result;
}

template <class T>
void compare_large(const std::string& type, bool hostile) {
  Random random(9);
  for (const auto& [rows, cols, columns] : large_shapes) {
    const Module m = products(type, static_cast<int>(columns), false);
    std::vector<std::unique_ptr<KernelSet>> sets;
    for (const int threads : {1, 2, 3}) sets.push_back(testing::make_kernels({.threads = threads}));
    for (const auto& set : sets) set->prepare(m);
    for (const Op& op : m.body.ops) {
      if (op.code == OpCode::input) continue;
      const ElementType element = m.type(op.results[0]).element;
      const auto made = [&](std::int64_t count) {
        return hostile ? hostile_array<T>(random, element, count, 5000) : positive_array(random, element, count);
      };
      Data data{rows, cols, made(rows * cols), {}};
      for (const ValueId id : op.operands) {
        const bool matrix = m.value(id).name == "A";
        data.inputs.push_back(matrix ? Array() : made(columns * (m.type(id).state.is_part() ? rows : cols)));
      }
      const auto other =
          std::find_if(data.inputs.begin(), data.inputs.end(), [](const Array& a) { return a.count > 0; });
      const Array expected = by_definition<T>(data, *other, columns, op.code == OpCode::mxv);
      const std::vector<Array> one = run(*sets[0], m, op, data, columns);
      ASSERT_EQ(kinds<T>(expected), kinds<T>(one[0])) << rows << " x " << cols << " x " << columns;
      if (!hostile) {
        ASSERT_EQ(difference(expected, one[0], one[0].count, 20000), "") << rows << " x " << cols;
      }
      for (const auto& set : sets)
        ASSERT_EQ(difference(one[0], run(*set, m, op, data, columns)[0], one[0].count), "") << rows << " x " << cols;
    }
  }
}

TEST(DensePass, LargeProductsAreCutByRowsAndColumns) {
  for (const bool hostile : {false, true}) {
    compare_large<double>("f64", hostile);
    compare_large<float>("f32", hostile);
  }
}

// The product of a matrix's transpose with `other`, as many columns as it has.
Array across(KernelSet& kernels, const Op& op, Array& matrix, Array& other, std::int64_t rows, std::int64_t cols) {
  Array result(matrix.element, cols * cols);
  const std::vector<View> in{view(other), View()}, out{view(result)};
  kernels.dense_product(
      DenseProductCall{.op = &op, .matrix = view(matrix), .inputs = in, .outputs = out, .rows = rows, .cols = cols});
  return result;
}

template <class T>
void compare_squares(const std::string& type) {
  Random random(8);
  for (const int cols : {2, 5, 50}) {
    const Module m = products(type, cols, false);
    const auto product = [](const Op& op) { return op.code == OpCode::mxv; };
    const Op& op = *std::find_if(m.body.ops.begin(), m.body.ops.end(), product);
    const auto one = testing::make_kernels({.threads = 1}), two = testing::make_kernels({.threads = 2});
    one->prepare(m);
    two->prepare(m);
    for (const std::int64_t rows : {1, 7, 1100, 3000}) {
      for (const int one_of : {4, 5000, 1 << 20}) {
        Array matrix = hostile_array<T>(random, m.type(op.results[0]).element, rows * cols, one_of);
        Array copy(matrix.element, matrix.count);
        std::copy_n(matrix.bytes.data(), matrix.bytes.size(), copy.bytes.data());
        const Array itself = across(*one, op, matrix, matrix, rows, cols);
        const Array other = across(*one, op, matrix, copy, rows, cols);
        const Array again = across(*two, op, matrix, matrix, rows, cols);
        ASSERT_EQ(kinds<T>(itself), kinds<T>(other)) << rows << " x " << cols;
        ASSERT_EQ(difference(other, itself, itself.count, 2000), "") << rows << " x " << cols;
        ASSERT_EQ(difference(itself, again, itself.count), "") << rows << " x " << cols;
        for (std::int64_t i = 0; i < cols; ++i) {
          for (std::int64_t j = 0; j < i; ++j) {
            const T below = itself.as<T>()[i * cols + j], above = itself.as<T>()[j * cols + i];
            ASSERT_TRUE(below == above || (std::isnan(below) && std::isnan(above))) << i << ", " << j;
          }
        }
      }
    }
  }
}

// X'X is computed by halves, and is what a product with a copy of X is.
TEST(DensePass, AMatrixWithItselfIsComputedByHalves) {
  compare_squares<double>("f64");
  compare_squares<float>("f32");
}

}  // namespace
}  // namespace kasen::test
