// Products over random sparse matrices: any multiplier, reducer and element type, alone and several at once, rows from
// empty to longer than many segments; against the interpreter, bit by bit, on one and on two threads, operands whole
// and in blocks.
#include "tests/kernels/random_functions.h"

namespace kasen::test {
namespace {

// The first of two calls takes this share of the rows: all masters, where a matrix has any.
constexpr std::int64_t first_call = 5;

LocalMatrix random_matrix(Random& random, const ElementType& element, std::int64_t outputs, std::int64_t inputs,
                          std::int64_t giant) {
  LocalMatrix m;
  m.outputs = outputs;
  m.inputs = inputs;
  m.element = element;
  m.masters = below(random, 2) * (outputs / first_call);
  m.pointers.own().push_back(0);
  for (std::int64_t o = 0; o < outputs; ++o) {
    std::int64_t length = inputs == 0 ? 0 : below(random, 4) == 0 ? 0 : below(random, 12);
    if (o == outputs / 3 && inputs > 0) length = giant;
    const auto begin = std::ssize(m.indices);
    for (std::int64_t k = 0; k < length; ++k)
      m.indices.own().push_back(static_cast<std::int32_t>(below(random, inputs)));
    if (below(random, 8) > 0) std::sort(m.indices.own().begin() + begin, m.indices.own().end());
    m.pointers.own().push_back(static_cast<std::int64_t>(m.indices.size()));
  }
  m.values = random_array(random, element, element.is(Scalar::null) ? 0 : m.pointers.back());
  return m;
}

Type typed(const ElementType& element, std::vector<DimId> dims, bool sparse) {
  Type type;
  type.element = element;
  type.dims = std::move(dims);
  type.sparse = sparse;
  type.state = State::part();
  return type;
}

ElementType product_element(Random& random) {
  if (below(random, 4) == 0) return ElementType::array(all_scalars[below(random, 5)], 1 + below(random, 4));
  return ElementType::of(all_scalars[below(random, 5)]);
}

Op random_product(Random& random, Module& m, ValueId matrix) {
  const ElementType stored = m.type(matrix).element;
  const ElementType vector = product_element(random), result = product_element(random);
  const ElementType entry = stored.is(Scalar::null) ? ElementType::of(all_scalars[below(random, 4)]) : stored;
  Op op;
  op.code = OpCode::mxv;
  op.operands = {m.add_value("x", typed(vector, {DimId(0)}, false)), matrix};
  op.fns = {m.add_function(random_function(random, "z", {vector, entry}, result, 2)),
            m.add_function(reducer(random_reducer(random, result.scalar()), result))};
  op.results = {m.add_value("y", typed(result, {DimId(0)}, false))};
  return op;
}

Op random_mxm(Random& random, Module& m, ValueId matrix) {
  Op region;
  region.code = OpCode::region;
  region.kind = RegionKind::mxm;
  region.blocks.emplace_back();
  Op yield;
  yield.code = OpCode::yield;
  for (std::int64_t k = 0; k < 3; ++k) {
    Op op = random_product(random, m, matrix);
    region.operands.push_back(op.operands[0]);
    if (k == 0) region.operands.push_back(matrix);
    yield.operands.push_back(op.results[0]);
    region.blocks[0].ops.push_back(std::move(op));
  }
  yield.operands.push_back(yield.operands[1]);  // one of them twice
  for (const ValueId id : yield.operands) region.results.push_back(m.add_value("out", m.type(id)));
  region.blocks[0].ops.push_back(std::move(yield));
  return region;
}

std::vector<Array> run(KernelSet& kernels, const Module& m, const Op& op, const LocalMatrix& matrix,
                       std::vector<Array>& inputs) {
  std::vector<Array> outputs;
  for (const ValueId id : op.results) outputs.emplace_back(m.type(id).element, matrix.outputs);
  std::vector<View> in, out;
  for (Array& a : inputs) in.push_back(view(a));
  for (Array& a : outputs) out.push_back(view(a));
  kernels.take_matrix(op, matrix);
  // The second call ends in the midst of a window.
  const std::int64_t cut = matrix.outputs / first_call, rest = std::max(cut, matrix.outputs - 50);
  for (const Range r : {Range{0, cut}, Range{cut, rest}, Range{rest, matrix.outputs}}) {
    kernels.product(ProductCall{.op = &op, .matrix = &matrix, .inputs = in, .outputs = out, .range = r});
  }
  return outputs;
}

void compare(Random& random, const Module& m, std::int64_t outputs, std::int64_t giant) {
  const auto reference = make_interpreter_kernels();
  const auto one = testing::make_kernels({.threads = 1});
  const auto two = testing::make_kernels({.threads = 2});
  const auto in_blocks = testing::make_kernels({.threads = 1, .operand_blocks = 3});
  const auto two_in_blocks = testing::make_kernels({.threads = 2, .operand_blocks = 5});
  for (KernelSet* k : {reference.get(), static_cast<KernelSet*>(one.get()), static_cast<KernelSet*>(two.get()),
                       static_cast<KernelSet*>(in_blocks.get()), static_cast<KernelSet*>(two_in_blocks.get())}) {
    k->prepare(m);
  }
  const bool looped = m.body.ops[0].code == OpCode::for_loop;
  std::vector<std::unique_ptr<LocalMatrix>> matrices;  // they live as long as what was prepared
  for (const Op& op : looped ? m.body.ops[0].blocks[0].ops : m.body.ops) {
    const std::int64_t inputs_count = outputs + 3;
    std::vector<Array> inputs;
    LocalMatrix& matrix = *matrices.emplace_back(std::make_unique<LocalMatrix>());
    for (const ValueId id : op.operands) {
      const Type& type = m.type(id);
      if (type.sparse) matrix = random_matrix(random, type.element, outputs, inputs_count, giant);
      inputs.push_back(type.sparse ? Array() : random_array(random, type.element, inputs_count));
    }
    const std::vector<Array> expected = run(*reference, m, op, matrix, inputs);
    const std::vector<Array> got = run(*one, m, op, matrix, inputs);  // in a loop: with its rows sorted
    const std::vector<Array> parallel = run(*two, m, op, matrix, inputs);
    const std::vector<Array> blocks = run(*in_blocks, m, op, matrix, inputs);
    const std::vector<Array> parallel_blocks = run(*two_in_blocks, m, op, matrix, inputs);
    for (size_t k = 0; k < expected.size(); ++k) {
      ASSERT_EQ(difference(expected[k], got[k], outputs), "") << "output " << k << "\n" << print_module(m);
      ASSERT_EQ(difference(got[k], parallel[k], outputs), "") << "two threads, output " << k;
      ASSERT_EQ(difference(got[k], blocks[k], outputs), "") << "blocks, output " << k << "\n" << print_module(m);
      ASSERT_EQ(difference(got[k], parallel_blocks[k], outputs), "") << "blocks on two threads, output " << k;
    }
    ASSERT_EQ(reference->accesses().read_bytes, one->accesses().read_bytes);
    ASSERT_EQ(reference->accesses().written_bytes, one->accesses().written_bytes);
  }
}

Module products_over(Random& random, int count, bool looped) {
  Module m;
  m.level = 3;
  m.dims = {Dimension{"N", false, -1}};
  for (int k = 0; k < count; ++k) {
    const bool null = below(random, 3) == 0;
    const ElementType stored = null ? ElementType::of(Scalar::null) : product_element(random);
    const ValueId matrix = m.add_value("G", typed(stored, {DimId(0), DimId(0)}, true));
    m.body.ops.push_back(k % 3 == 2 ? random_mxm(random, m, matrix) : random_product(random, m, matrix));
  }
  if (looped) {
    Op loop;
    loop.code = OpCode::for_loop;
    const Type number = typed(ElementType::of(Scalar::i64), {}, false);
    loop.operands = {m.add_value("from", number), m.add_value("to", number)};
    loop.blocks.push_back(std::move(m.body));
    loop.blocks[0].args = {m.add_value("i", number)};
    m.body = Block{};
    m.body.ops.push_back(std::move(loop));
  }
  return m;
}

TEST(Product, RandomSemirings) {
  Random random(3);
  for (const bool looped : {false, true}) {
    for (const std::int64_t outputs : {0, 1, 7, 64, 1000, 5000, 9000}) {
      const Module m = products_over(random, 12, looped);
      ASSERT_NO_FATAL_FAILURE(compare(random, m, outputs, 20)) << outputs << (looped ? " in a loop" : "");
    }
  }
}

TEST(Product, ARowOfManySegmentsIsSharedAmongThreads) {
  Random random(4);
  for (const bool looped : {false, true}) {
    const Module m = products_over(random, 4, looped);
    ASSERT_NO_FATAL_FAILURE(compare(random, m, 40, 5000));
    ASSERT_NO_FATAL_FAILURE(compare(random, m, 9, 16 * reduction_block + 77));
    ASSERT_NO_FATAL_FAILURE(compare(random, m, 6000, 16 * reduction_block + 77));
  }
}

}  // namespace
}  // namespace kasen::test
