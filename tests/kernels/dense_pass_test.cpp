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

std::vector<Array> run(KernelSet& kernels, const Module& m, const Op& op, Data& data) {
  std::vector<Array> outputs;
  for (const ValueId id : op.results) {
    outputs.emplace_back(m.type(id).element, m.type(id).state.is_part() ? data.rows : data.cols);
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

}  // namespace
}  // namespace kasen::test
