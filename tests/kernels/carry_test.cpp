// Carries of a scan combined into elements (KernelSet::carry): bit by bit as the plain kernels do, for lines one behind
// another and side by side, on one thread and on several. What stands beside the elements stays as it is.
#include "tests/kernels/support.h"

namespace kasen::test {
namespace {

Module scans() {
  return parse_module(R"(kir 1 level 2
module t {
  dim F local = 5
  fn add(x: f64, y: f64) -> f64 = x + y
  fn least(x: f32, y: f32) -> f32 = min(x, y)
  fn sum(x: i64, y: i64) -> i64 = x + y
  fn most(x: i32, y: i32) -> i32 = max(x, y)
  fn either(x: bool, y: bool) -> bool = x || y
  fn next(a: (f64, f64), b: (f64, f64)) -> (f64, f64) = tuple(a.0 * b.0, a.1 * b.0 + b.1)
  fn both(a: (f32, i64), b: (f32, i64)) -> (f32, i64) = tuple(max(a.0, b.0), a.1 + b.1)
  fn plus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] = [$0 in 3: a[$0] + b[$0]]
  %a = input "a" : f64[F] @cons
  %b = input "b" : f32[F] @cons
  %c = input "c" : i64[F] @cons
  %d = input "d" : i32[F] @cons
  %e = input "e" : bool[F] @cons
  %f = input "f" : (f64, f64)[F] @cons
  %g = input "g" : (f32, i64)[F] @cons
  %h = input "h" : [f64; 3][F] @cons
  %s1 = scan[add; over F] %a : f64[F] @cons
  %s2 = scan[least; over F] %b : f32[F] @cons
  %s3 = scan[sum; over F] %c : i64[F] @cons
  %s4 = scan[most; over F] %d : i32[F] @cons
  %s5 = scan[either; over F] %e : bool[F] @cons
  %s6 = scan[next; over F] %f : (f64, f64)[F] @cons
  %s7 = scan[both; over F] %g : (f32, i64)[F] @cons
  %s8 = scan[plus; over F] %h : [f64; 3][F] @cons
}
##end
)",
                      "t.kir");
}

TEST(Carry, AsThePlainKernels) {
  const Module m = scans();
  const auto reference = make_interpreter_kernels();
  const auto one = testing::make_kernels({.threads = 1});
  const auto three = testing::make_kernels({.threads = 3});
  for (KernelSet* k : {reference.get(), static_cast<KernelSet*>(one.get()), static_cast<KernelSet*>(three.get())}) {
    k->prepare(m);
  }
  Random random(11);
  for (const Op& op : m.body.ops) {
    if (op.code != OpCode::scan) continue;
    const ElementType& element = m.fn(op.fns[0]).result();
    for (const AxisLines lines : {AxisLines{1, 1, 1},
                                  {1, 7, 1},
                                  {1, 40001, 1},
                                  {3, 11, 1},
                                  {5000, 9, 1},
                                  {1, 5, 2},
                                  {2, 3, 7},
                                  {1, 1, 8},
                                  {4, 6, 9},
                                  {2, 900, 17},
                                  {1, 2, 30001},
                                  {0, 3, 2},
                                  {2, 0, 3}}) {
      SCOPED_TRACE(::testing::Message() << m.fn(op.fns[0]).name << ": " << lines.outer << " x " << lines.length << " x "
                                        << lines.inner);
      const std::int64_t count = lines.lines() * lines.length;
      Array carries = random_array(random, element, lines.lines());
      Array expected = random_array(random, element, count + 3), alone = copy(expected), many = copy(expected);
      reference->carry({op.fns[0], view(carries), view(expected), lines});
      one->carry({op.fns[0], view(carries), view(alone), lines});
      three->carry({op.fns[0], view(carries), view(many), lines});
      EXPECT_EQ(difference(expected, alone, count + 3), "");
      EXPECT_EQ(difference(expected, many, count + 3), "");
    }
  }
}

// Of another worker's elements: a line's parts, scanned and carried one after another, are the scan of the line.
TEST(Carry, PartsAreTheWholeLine) {
  const Module m = scans();
  const auto kernels = testing::make_kernels({.threads = 2});
  kernels->prepare(m);
  const Op& op = *std::find_if(m.body.ops.begin(), m.body.ops.end(),
                               [&](const Op& o) { return o.code == OpCode::scan && m.fn(o.fns[0]).name == "sum"; });
  Array x(ElementType::of(Scalar::i64), 1000);
  for (std::int64_t i = 0; i < x.count; ++i) x.as<std::int64_t>()[i] = i % 13 - 5;
  Array made = copy(x), total(x.element, 1);
  std::int64_t sum = 0, at = 0;
  for (const std::int64_t part : {1, 499, 0, 8, 492}) {
    Array some(x.element, part);
    std::int64_t own = 0;
    for (std::int64_t i = 0; i < part; ++i) some.as<std::int64_t>()[i] = own += x.as<std::int64_t>()[at + i];
    total.as<std::int64_t>()[0] = sum;
    kernels->carry({op.fns[0], view(total), view(some), {1, part, 1}});
    for (std::int64_t i = 0; i < part; ++i) made.as<std::int64_t>()[at + i] = some.as<std::int64_t>()[i];
    sum += own;
    at += part;
  }
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < x.count; ++i) {
    EXPECT_EQ(made.as<std::int64_t>()[i], before += x.as<std::int64_t>()[i]) << i;
  }
}

}  // namespace
}  // namespace kasen::test
