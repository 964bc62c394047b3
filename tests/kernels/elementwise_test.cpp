// Random maps, zipwiths and reductions, alone and fused, over every element type: generated kernels against the
// interpreter's, bit by bit, on one and on two threads.
#include "tests/kernels/random_functions.h"

namespace kasen::test {
namespace {

constexpr std::int64_t sizes[] = {0, 1, 7, 64, 1000, 5000, 10000};

Type vector_of(const ElementType& element, std::vector<DimId> dims) {
  Type type;
  type.element = element;
  type.dims = std::move(dims);
  type.state = State::part();
  return type;
}

Type shared_of(const ElementType& element) {
  Type type;
  type.element = element;
  type.state = State::cons();
  return type;
}

// Adds a region of random maps and reductions over the dimensions `dims` to the module's body.
void add_region(Random& random, Module& m, const std::vector<DimId>& dims,
                const std::vector<std::vector<DimId>>& broadcast) {
  Op region;
  region.code = OpCode::region;
  region.kind = RegionKind::iter_on_vec;
  Block block;
  std::vector<ValueId> known;
  const std::int64_t inputs = 1 + below(random, 4);
  for (std::int64_t i = 0; i < inputs; ++i) {
    Type type = vector_of(random_element(random), dims);
    if (i > 0 && below(random, 3) == 0) type = shared_of(type.element);
    if (i > 0 && !broadcast.empty() && below(random, 2) == 0) {
      type.dims = broadcast[static_cast<size_t>(below(random, static_cast<std::int64_t>(broadcast.size())))];
    }
    region.operands.push_back(m.add_value("in", type));
    known.push_back(region.operands.back());
  }
  std::vector<ValueId> outputs;
  const std::int64_t ops = 1 + below(random, 5);
  for (std::int64_t k = 0; k < ops; ++k) {
    Op op;
    op.code = OpCode::map;
    std::vector<ElementType> types;
    const std::int64_t arity = 1 + below(random, 3);
    for (std::int64_t a = 0; a < arity; ++a) {
      op.operands.push_back(a == 0
                                ? region.operands[0]
                                : known[static_cast<size_t>(below(random, static_cast<std::int64_t>(known.size())))]);
      types.push_back(m.type(op.operands.back()).element);
    }
    const ElementType element = random_element(random);
    op.fns.push_back(m.add_function(random_function(random, "f", types, element)));
    op.results.push_back(m.add_value("v", vector_of(element, dims)));
    known.push_back(op.results[0]);
    if (k + 1 == ops || below(random, 2) == 0) outputs.push_back(op.results[0]);
    const ValueId made = op.results[0];
    block.ops.push_back(std::move(op));
    if (below(random, 2) == 0 && !element.tuple) {
      Op reduce;
      reduce.code = OpCode::reduce;
      reduce.operands = {made};
      const FnId fn = m.add_function(reducer(random_reducer(random, element.scalar()), element));
      reduce.fns = {fn};
      Type type = shared_of(element);
      type.state = State::pre(fn);
      reduce.results = {m.add_value("total", type)};
      outputs.push_back(reduce.results[0]);
      block.ops.push_back(std::move(reduce));
    }
  }
  Op yield;
  yield.code = OpCode::yield;
  yield.operands = outputs;
  block.ops.push_back(std::move(yield));
  for (const ValueId id : outputs) region.results.push_back(m.add_value("out", m.type(id)));
  region.blocks.push_back(std::move(block));
  m.body.ops.push_back(std::move(region));
}

std::vector<Array> make_inputs(Random& random, const Module& m, const Op& op, std::int64_t n, std::int64_t f) {
  std::vector<Array> inputs;
  for (const ValueId id : op.operands) {
    std::int64_t count = 1;
    for (const DimId d : m.type(id).dims) count *= m.dim(d).local ? f : n;
    inputs.push_back(random_array(random, m.type(id).element, count));
  }
  return inputs;
}

std::vector<Array> run(KernelSet& kernels, const Module& m, const Op& op, std::vector<Array>& inputs, std::int64_t n,
                       std::int64_t inner) {
  std::vector<Array> outputs;
  const std::vector<Op>& ops = op.blocks[0].ops;
  for (const ValueId id : ops.back().operands) {
    const auto made =
        std::find_if(ops.begin(), ops.end(), [&](const Op& o) { return !o.results.empty() && o.results[0] == id; });
    outputs.push_back(made->code == OpCode::reduce ? identity_of(m.fn(made->fns[0]))
                                                   : Array(m.type(id).element, n * inner));
  }
  std::vector<View> in, out;
  for (Array& a : inputs) in.push_back(view(a));
  for (Array& a : outputs) out.push_back(view(a));
  // In two sub-ranges, as the executor may do around an exchange.
  const std::int64_t cut = n / 2 / reduction_block * reduction_block;
  for (const Range r : {Range{0, cut}, Range{cut, n}}) {
    kernels.elementwise(ElementwiseCall{.op = &op, .inputs = in, .outputs = out, .range = r, .inner = inner});
  }
  return outputs;
}

constexpr std::int64_t most_columns = 13;  // with as many rows as there are elements of vectors

void compare_all(Random& random, const Module& m, std::int64_t f) {
  const auto reference = make_interpreter_kernels();
  const auto one = testing::make_kernels({.threads = 1});
  const auto two = testing::make_kernels({.threads = 2});
  for (KernelSet* k : {reference.get(), static_cast<KernelSet*>(one.get()), static_cast<KernelSet*>(two.get())})
    k->prepare(m);
  for (const Op& op : m.body.ops) {
    for (const std::int64_t size : sizes) {
      const std::int64_t n = f > most_columns ? size / f + 1 : f > 1 ? (size + 5) / 6 : size;
      std::vector<Array> inputs = make_inputs(random, m, op, n, f);
      const std::vector<Array> expected = run(*reference, m, op, inputs, n, f);
      const std::vector<Array> got = run(*one, m, op, inputs, n, f);
      const std::vector<Array> parallel = run(*two, m, op, inputs, n, f);
      for (size_t k = 0; k < expected.size(); ++k) {
        ASSERT_EQ(difference(expected[k], got[k], expected[k].count), "") << "output " << k << " size " << n << "\n"
                                                                          << print_module(m);
        ASSERT_EQ(difference(got[k], parallel[k], got[k].count), "") << "two threads, output " << k << " size " << n;
      }
      ASSERT_EQ(reference->accesses().read_bytes, one->accesses().read_bytes);
      ASSERT_EQ(reference->accesses().written_bytes, one->accesses().written_bytes);
    }
  }
}

TEST(Elementwise, RandomRegions) {
  Random random(1);
  for (int round = 0; round < 12; ++round) {
    Module m;
    m.level = 3;
    m.dims = {Dimension{"N", false, -1}};
    constexpr DimId n(0);
    for (int i = 0; i < 8; ++i) add_region(random, m, {n}, {});
    ASSERT_NO_FATAL_FAILURE(compare_all(random, m, 1)) << "round " << round;
  }
}

TEST(Elementwise, BroadcastOverLocalDimensions) {
  Random random(2);
  for (const std::int64_t f : {2, 3, 8, 13, 16, 17, 31, 100, 1024, 1025}) {
    Module m;
    m.level = 3;
    m.dims = {Dimension{"N", false, -1}, Dimension{"F", true, f}};
    constexpr DimId n(0), features(1);
    for (int i = 0; i < 6; ++i) add_region(random, m, {n, features}, {{n}, {features}, {n, features}});
    ASSERT_NO_FATAL_FAILURE(compare_all(random, m, f)) << "F = " << f;
  }
}

}  // namespace
}  // namespace kasen::test
