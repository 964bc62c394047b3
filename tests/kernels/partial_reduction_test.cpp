// Reductions over some of an array's dimensions: generated kernels against the interpreter's, bit by bit.
#include <algorithm>

#include "tests/kernels/random_functions.h"

namespace kasen::test {
namespace {

constexpr DimId n_dim{0}, f_dim{1}, k_dim{2};

struct Setting {
  std::vector<DimId> from, over;
  std::int64_t n, f, k;
};

Type array_over(const ElementType& element, std::vector<DimId> dims) {
  Type type;
  type.element = element;
  type.dims = std::move(dims);
  return type;
}

Op reduction(Module& m, const Setting& s, const ElementType& element, ScalarOp by) {
  const FnId fn = m.add_function(reducer(by, element));
  std::vector<DimId> rest;
  std::copy_if(s.from.begin(), s.from.end(), std::back_inserter(rest),
               [&](DimId d) { return std::find(s.over.begin(), s.over.end(), d) == s.over.end(); });
  const bool shared = std::find(rest.begin(), rest.end(), n_dim) == rest.end();
  Op op;
  op.code = OpCode::reduce;
  op.fns = {fn};
  op.over = s.over;
  Type from = array_over(element, s.from);
  from.state = std::find(s.from.begin(), s.from.end(), n_dim) == s.from.end() ? State::cons() : State::part();
  Type to = array_over(element, rest);
  to.state = shared ? State::pre(fn) : State::part();
  op.operands = {m.add_value("in", from)};
  op.results = {m.add_value("out", to)};
  return op;
}

Op random_reduction(Random& random, Module& m, const Setting& s) {
  ElementType element = random_element(random);
  while (element.tuple) element = random_element(random);
  return reduction(m, s, element, random_reducer(random, element.scalar()));
}

std::int64_t elements(const Module& m, const Setting& s, const Type& type) {
  std::int64_t count = 1;
  for (const DimId d : type.dims) count *= d == n_dim ? s.n : m.dim(d).size;
  return count;
}

// A shared result is an accumulator; others are overwritten.
Array run(KernelSet& kernels, const Module& m, const Setting& s, Array& input) {
  const Op& op = m.body.ops[0];
  const Type& from = m.type(op.operands[0]);
  Array output(from.element, elements(m, s, m.type(op.results[0])));
  const Array identity = identity_of(m.fn(op.fns[0]));
  for (std::int64_t p = 0; p < output.element.planes(); ++p) {
    const std::int64_t size = scalar_bytes(output.element.plane_scalar(p));
    for (std::int64_t i = 0; i < output.count; ++i)
      std::memcpy(output.plane(p) + i * size, identity.plane(p), static_cast<size_t>(size));
  }
  const bool cut = from.dims[0] == n_dim;
  const std::int64_t rows = cut ? s.n : 1;
  const std::int64_t inner = elements(m, s, from) / std::max<std::int64_t>(rows, 1);
  const std::vector<View> in{view(input)}, out{view(output)};
  const std::int64_t middle = rows / 2 / reduction_block * reduction_block;
  for (const Range r : {Range{0, middle}, Range{middle, rows}}) {
    kernels.elementwise(ElementwiseCall{.op = &op, .inputs = in, .outputs = out, .range = r, .inner = inner});
  }
  return output;
}

class PartialReduction : public ::testing::TestWithParam<Setting> {};

TEST_P(PartialReduction, AgreesWithTheInterpreter) {
  const Setting& s = GetParam();
  Random random(7);
  for (int round = 0; round < 6; ++round) {
    Module m;
    m.level = 3;
    m.dims = {Dimension{"N", false, -1}, Dimension{"F", true, s.f}, Dimension{"K", true, s.k}};
    m.body.ops.push_back(random_reduction(random, m, s));
    const Type& from = m.type(m.body.ops[0].operands[0]);
    Array input = random_array(random, from.element, elements(m, s, from));
    const auto reference = make_interpreter_kernels();
    reference->prepare(m);
    const Array expected = run(*reference, m, s, input);
    for (const auto& [threads, reads] :
         {std::pair(1, Way::first), std::pair(2, Way::second), std::pair(3, Way::first)}) {
      KernelOptions options{.threads = threads, .ways = Ways()};
      (*options.ways)[Choice::reads] = reads;  // gathers, and loads one by one
      const auto kernels = testing::make_kernels(options);
      kernels->prepare(m);
      const Array got = run(*kernels, m, s, input);
      ASSERT_EQ(difference(expected, got, expected.count), "") << threads << " threads\n" << print_module(m);
      ASSERT_EQ(reference->accesses().read_bytes, kernels->accesses().read_bytes);
      ASSERT_EQ(reference->accesses().written_bytes, kernels->accesses().written_bytes);
    }
  }
}

// Without numbers that make every sum the same one: infinities and NaN.
TEST_P(PartialReduction, AddsInTheOrderOfTheInterpreter) {
  const Setting& s = GetParam();
  Random random(9);
  for (const Scalar scalar : {Scalar::f64, Scalar::f32}) {
    Module m;
    m.level = 3;
    m.dims = {Dimension{"N", false, -1}, Dimension{"F", true, s.f}, Dimension{"K", true, s.k}};
    m.body.ops.push_back(reduction(m, s, ElementType::of(scalar), ScalarOp::add));
    Array input = positive_array(random, ElementType::of(scalar), elements(m, s, m.type(m.body.ops[0].operands[0])));
    const auto reference = make_interpreter_kernels();
    reference->prepare(m);
    const Array expected = run(*reference, m, s, input);
    for (const int threads : {1, 2, 3}) {
      const auto kernels = testing::make_kernels({.threads = threads});
      kernels->prepare(m);
      const Array got = run(*kernels, m, s, input);
      ASSERT_EQ(difference(expected, got, expected.count), "") << threads << " threads\n" << print_module(m);
    }
  }
}

const std::vector<Setting> settings{
    {{n_dim, f_dim}, {f_dim}, 0, 3, 1},
    {{n_dim, f_dim}, {f_dim}, 1, 1, 1},
    {{n_dim, f_dim}, {f_dim}, 1000, 13, 1},
    {{n_dim, f_dim}, {f_dim}, 3, 9000, 1},
    {{n_dim, f_dim}, {f_dim}, 5, 4096, 1},
    {{n_dim, f_dim}, {n_dim}, 9000, 3, 1},
    {{n_dim, f_dim}, {n_dim}, 8192, 2, 1},
    {{n_dim, f_dim}, {n_dim}, 7, 600, 1},
    {{n_dim, f_dim}, {f_dim}, 5, 0, 1},
    {{n_dim, f_dim}, {f_dim}, 700, 8, 1},
    {{n_dim, f_dim}, {f_dim}, 700, 7, 1},
    {{n_dim, f_dim}, {f_dim}, 300, 27, 1},
    {{n_dim, f_dim}, {n_dim}, 3 * 4096 + 77, 40, 1},
    {{n_dim, f_dim}, {n_dim}, 40000, 1, 1},
    {{n_dim, f_dim}, {n_dim}, 1023, 9, 1},
    {{n_dim, f_dim}, {n_dim}, 1061, 133, 1},
    {{n_dim, f_dim}, {n_dim}, 4096 + 1030, 16, 1},
    {{n_dim, f_dim}, {n_dim}, 1100, 300, 1},
    {{n_dim, f_dim}, {f_dim}, 43, 4096, 1},
    {{n_dim, f_dim}, {f_dim}, 17, 4097, 1},
    {{n_dim, f_dim}, {f_dim}, 4099, 12, 1},
    {{n_dim, f_dim}, {f_dim}, 9001, 27, 1},
    {{n_dim, f_dim}, {n_dim}, 900, 213, 1},
    {{n_dim, f_dim}, {n_dim}, 0, 5, 1},
    {{n_dim, f_dim, k_dim}, {f_dim}, 300, 5, 8},
    {{n_dim, f_dim, k_dim}, {f_dim}, 40, 4100, 17},
    {{n_dim, f_dim, k_dim}, {f_dim}, 1030, 3, 2},
    {{n_dim, f_dim, k_dim}, {f_dim}, 100, 6, 1},
    {{n_dim, f_dim, k_dim}, {n_dim, f_dim}, 5000, 3, 5},
    {{n_dim, f_dim, k_dim}, {n_dim}, 5000, 3, 5},
    {{n_dim, f_dim, k_dim}, {f_dim}, 40, 5, 7},
    {{n_dim, f_dim, k_dim}, {f_dim}, 2, 5000, 3},
    {{n_dim, f_dim, k_dim}, {k_dim}, 40, 5, 7},
    {{n_dim, f_dim, k_dim}, {f_dim, k_dim}, 40, 5, 7},
    {{n_dim, f_dim, k_dim}, {n_dim, k_dim}, 3000, 3, 2},
    {{f_dim, k_dim}, {k_dim}, 1, 6, 11},
    {{f_dim, k_dim}, {k_dim}, 1, 700, 40},
    {{f_dim, k_dim}, {f_dim}, 1, 4100, 2},
};

INSTANTIATE_TEST_SUITE_P(Settings, PartialReduction, ::testing::ValuesIn(settings));

}  // namespace
}  // namespace kasen::test
