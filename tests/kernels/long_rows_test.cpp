// Sums of the nonzeros of long rows, several rows at a time: against the interpreter, bit by bit, whatever the threads,
// the number of rows, and the lengths of those that stand together.
#include <algorithm>

#include "tests/kernels/support.h"

namespace kasen::test {
namespace {

Module sums_of(const std::string& type) {
  std::string text = R"(kir 1 level 3
module t {
  dim N
  dim F local = 50
  fn own(e: T, a: T) -> T = e
  fn add(x: T, y: T) -> T = x + y
  %v = input "v" : T[F] @cons
  %X = input "X" : T[N,F] sparse @part
  %s = fold_rows[own, add] %X, %v rows 0 : T[N] @part
}
##end
)";
  for (size_t at = text.find(" T"); at != std::string::npos; at = text.find(" T", at + 1)) {
    if (std::isalpha(static_cast<unsigned char>(text[at + 2])) == 0) text.replace(at + 1, 1, type);
  }
  return parse_module(text, "t.kir");
}

LocalMatrix matrix_of(Random& random, const ElementType& element, const std::vector<std::int64_t>& lengths) {
  LocalMatrix m;
  m.outputs = m.masters = std::ssize(lengths);
  m.inputs = 50;
  m.element = element;
  m.pointers.own().assign(1, 0);
  for (const std::int64_t length : lengths) {
    for (std::int64_t k = 0; k < length; ++k) m.indices.own().push_back(static_cast<std::int32_t>(k % m.inputs));
    m.pointers.own().push_back(std::ssize(m.indices.own()));
  }
  m.values = positive_array(random, element, m.entries());
  return m;
}

Array sums(KernelSet& kernels, const Module& m, const LocalMatrix& matrix, Array& vector) {
  const Op& op = m.body.ops.back();
  Array made(matrix.element, matrix.outputs);
  const std::vector<View> in = op.operands[0] == m.body.ops[0].results[0] ? std::vector<View>{view(vector), View{}}
                                                                          : std::vector<View>{View{}, view(vector)};
  const std::vector<View> out{view(made)};
  kernels.take_matrix(op, matrix);
  const std::int64_t cut = matrix.outputs / 3;
  for (const Range r : {Range{0, cut}, Range{cut, matrix.outputs}})
    kernels.product(ProductCall{.op = &op, .matrix = &matrix, .inputs = in, .outputs = out, .range = r});
  return made;
}

TEST(LongRows, AreSummedInTheirOrder) {
  const std::vector<std::vector<std::int64_t>> all{
      {},
      {70},
      {64, 64, 64, 64, 64},
      {4096, 4096, 4097, 8192, 8193, 5000, 12'288, 4095},
      {9000, 0, 100, 1, 30'000, 64, 4096},
      {200, 300, 1, 2, 0, 0, 20'000, 7, 9, 65, 66, 67, 68, 69},
      std::vector<std::int64_t>(40, 10'001),
  };
  for (const std::string type : {"f64", "f32"}) {
    const Module m = sums_of(type);
    const auto reference = make_interpreter_kernels();
    reference->prepare(m);
    Random random(5);
    for (const std::vector<std::int64_t>& lengths : all) {
      const ElementType element = m.type(m.body.ops[0].results[0]).element;
      const LocalMatrix matrix = matrix_of(random, element, lengths);
      Array vector = random_array(random, element, matrix.inputs);
      const Array expected = sums(*reference, m, matrix, vector);
      for (const int threads : {1, 2, 3}) {
        const auto kernels = testing::make_kernels({.threads = threads});
        kernels->prepare(m);
        const Array got = sums(*kernels, m, matrix, vector);
        EXPECT_EQ(difference(expected, got, expected.count), "") << lengths.size() << " rows of " << type;
      }
    }
  }
}

}  // namespace
}  // namespace kasen::test
