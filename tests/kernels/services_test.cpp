// What stands beside loops and products: the math library, dense products, moving elements, and what is refused.
#include "libcore/kernels/numbering.h"
#include "libcore/run/executor.h"
#include "tests/kernels/random_functions.h"

namespace kasen::test {
namespace {

const std::string header = "kir 1 level 2\nmodule t {\n  dim N\n  dim F local = 5\n";

Module parse(const std::string& text) { return parse_module(header + text + "}\n##end\n", "t.kir"); }

// The first operator of this code, and those behind it.
std::vector<const Op*> find_ops(const Module& m, OpCode code) {
  std::vector<const Op*> found;
  for (const Op& op : m.body.ops) {
    if (op.code == code) found.push_back(&op);
  }
  return found;
}

TEST(Library, WithinFourUlpOfTheCLibraryAndTheSameAtEveryPlace) {
  std::string text;
  for (const std::string type : {"f64", "f32"}) {
    for (const std::string fn : {"exp", "log", "log1p", "expm1", "erf", "tanh", "sin", "cos"}) {
      text += "  fn " + fn + "_" + type + "(x: " + type + ") -> " + type + " = " + fn + "(x)\n";
    }
    text += "  fn pow_" + type + "(x: " + type + ") -> " + type + " = abs(x) ^ (x / 7.0" +
            (type == "f32" ? "f32" : "") + ")\n";
  }
  int count = 0;
  for (const std::string type : {"f64", "f32"}) {
    text += "  %in" + type + " = input \"" + type + "\" : " + type + "[N] @part\n";
    for (const std::string fn : {"exp", "log", "log1p", "expm1", "erf", "tanh", "sin", "cos", "pow"}) {
      text += "  %v" + std::to_string(count++) + " = map[" + fn + "_" + type + "] %in" + type + " : " + type +
              "[N] @part\n";
    }
  }
  const Module m = parse(text);
  const auto reference = make_interpreter_kernels();
  const auto kernels = testing::make_kernels({.threads = 2});
  reference->prepare(m);
  kernels->prepare(m);
  Random random(5);
  for (const Op* op : find_ops(m, OpCode::map)) {
    const ElementType element = m.type(op->results[0]).element;
    const std::int64_t n = 20011;
    Array in = random_array(random, element, n), expected(element, n), got(element, n), moved(element, n);
    const auto call = [&](KernelSet& set, Array& out, Range range) {
      const std::vector<View> from{view(in)}, to{view(out)};
      set.elementwise(ElementwiseCall{.op = op, .inputs = from, .outputs = to, .range = range});
    };
    call(*reference, expected, {0, n});
    call(*kernels, got, {0, n});
    for (const Range r : {Range{0, 3}, Range{3, 4000}, Range{4000, 4001}, Range{4001, n}}) call(*kernels, moved, r);
    EXPECT_EQ(difference(expected, got, n, 4), "") << m.fn(op->fns[0]).name;
    EXPECT_EQ(difference(got, moved, n), "") << m.fn(op->fns[0]).name;
  }
}

TEST(Dense, ProductsAgreeWithTheInterpreter) {
  const Module m = parse(R"(
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mulf(x: f32, y: f32) -> f32 = x * y
  fn addf(x: f32, y: f32) -> f32 = x + y
  fn least(x: f64, y: f64) -> f64 = min(x, y)
  %A = input "A" : f64[N,F] @part
  %B = input "B" : f32[N,F] @part
  %x = input "x" : f64[N] @part
  %w = input "w" : f64[F] @cons
  %xf = input "xf" : f32[N] @part
  %wf = input "wf" : f32[F] @cons
  %a = mxv[mul, add] %x, %A : f64[F] @pre(add)
  %b = mxvt[mul, add] %w, %A : f64[N] @part
  %c = mxv[mulf, addf] %xf, %B : f32[F] @pre(addf)
  %d = mxvt[mulf, addf] %wf, %B : f32[N] @part
  %e = mxv[add, least] %x, %A : f64[F] @pre(least)
  %f = mxvt[add, least] %w, %A : f64[N] @part
)");
  const auto reference = make_interpreter_kernels();
  const auto one = testing::make_kernels({.threads = 1});
  const auto two = testing::make_kernels({.threads = 2});
  for (KernelSet* k : {reference.get(), static_cast<KernelSet*>(one.get()), static_cast<KernelSet*>(two.get())}) {
    k->prepare(m);
  }
  std::vector<const Op*> products = find_ops(m, OpCode::mxv);
  for (const Op* op : find_ops(m, OpCode::mxvt)) products.push_back(op);
  Random random(6);
  for (const Op* op : products) {
    const bool transposed = op->code == OpCode::mxvt;
    const bool exact = m.fn(op->fns[1]).name == "least";
    for (const std::int64_t rows : {0, 1, 7, 64, 1000, 9000}) {
      const std::int64_t cols = 5;
      const ElementType element = m.type(op->results[0]).element;
      Array a(element, rows * cols), x(element, transposed ? cols : rows);
      for (Array* array : {&a, &x}) {  // positive, so that sums in another order stay near
        for (std::int64_t i = 0; i < array->count; ++i) {
          const double v = 1.0 + static_cast<double>(below(random, 1000)) / 7;
          store_word(element.scalar(), array->plane(0) + i * scalar_bytes(element.scalar()), Word::real(v));
        }
      }
      const std::int64_t outputs = transposed ? rows : cols;
      Array expected(element, outputs), got(element, outputs), parallel(element, outputs);
      const auto call = [&](KernelSet& set, Array& out) {
        const std::vector<View> in{view(x), view(a)}, to{view(out)};
        set.dense_product(
            DenseProductCall{.op = op, .matrix = view(a), .inputs = in, .outputs = to, .rows = rows, .cols = cols});
      };
      call(*reference, expected);
      call(*one, got);
      call(*two, parallel);
      EXPECT_EQ(difference(expected, got, outputs, exact ? 0 : 2000), "") << rows;
      EXPECT_EQ(difference(got, parallel, outputs), "") << rows;
      EXPECT_EQ(reference->accesses().read_bytes, one->accesses().read_bytes);
      EXPECT_EQ(reference->accesses().written_bytes, one->accesses().written_bytes);
    }
  }
}

// Lists of elements of one array or of two, whose copies are messages or stand in another array: single elements, rows
// of some, and a run. Every third one that is left out breaks a list's runs, and an element that is in several lists
// takes up its copies in their order.
struct Lists {
  std::vector<std::vector<std::int32_t>> indices;
  std::vector<ElementList> elements;
  std::vector<Array> arrays;
  std::vector<std::vector<std::byte>> messages;
  std::vector<Mirrored> all;
};

ElementList make_elements(Random& random, std::int64_t count, int kind, std::vector<std::int32_t>& indices) {
  const std::int64_t usable = std::max<std::int64_t>(0, count - 5);
  if (kind == 2) return ElementList::run(std::min<std::int64_t>(2, usable), usable - std::min<std::int64_t>(2, usable));
  const std::int64_t inner = kind == 0 ? 1 : count > 1000 ? 100 : 3;
  for (std::int64_t i = 0; i < usable / inner; ++i) {
    if (below(random, 3) != 0) indices.push_back(static_cast<std::int32_t>(i));
  }
  return ElementList::of(indices, inner);
}

Lists make_lists(Random& random, std::vector<Array>& masters, const std::vector<Array>& copies, bool packed) {
  Lists lists;
  for (size_t a = 0; a < masters.size(); ++a) {
    for (int l = 0; l < 3; ++l) {
      lists.elements.push_back(make_elements(random, masters[a].count, l, lists.indices.emplace_back()));
      const ElementType& element = masters[a].element;
      lists.arrays.push_back(copy(copies[a]));
      const std::int64_t count = lists.elements.back().count;
      std::vector<std::byte>& message = lists.messages.emplace_back(static_cast<size_t>(count * element.bytes()));
      if (packed) to_message(element, view(lists.arrays.back()), 0, count, message.data());
    }
  }
  for (size_t k = 0; k < lists.elements.size(); ++k) {
    Mirrored list{view(masters[k / 3]), lists.elements[k], view(lists.arrays[k]), lists.elements[k].count == 0 ? 0 : 3,
                  packed};
    if (packed) list.copies = {lists.messages[k].data(), 0}, list.first = 0;
    lists.all.push_back(list);
  }
  return lists;
}

void expect_same_moves(KernelSet& reference, KernelSet& kernels, const Module& m, FnId fn, std::int64_t n,
                       size_t arrays, bool packed, Random& random) {
  const ElementType element = m.fn(fn).result();
  std::vector<Array> masters, again, copies;
  for (size_t a = 0; a < arrays; ++a) {
    masters.push_back(random_array(random, element, n));
    again.push_back(copy(masters[a]));
    copies.push_back(random_array(random, element, n));
  }
  Random same = random;
  Lists expected = make_lists(random, masters, copies, packed), got = make_lists(same, again, copies, packed);
  reference.combine(fn, expected.all);
  kernels.combine(fn, got.all);
  for (size_t a = 0; a < arrays; ++a) EXPECT_EQ(difference(masters[a], again[a], n), "") << packed << " " << n;
  reference.copy_masters(element, expected.all);
  kernels.copy_masters(element, got.all);
  EXPECT_EQ(expected.messages, got.messages);
  for (size_t k = 0; k < expected.arrays.size(); ++k) {
    EXPECT_EQ(difference(expected.arrays[k], got.arrays[k], n), "") << packed << " " << n;
  }
}

TEST(Movers, CopyMastersAndCombine) {
  Random random(7);
  Module m;
  m.level = 2;
  m.dims = {Dimension{"N", false, -1}};
  std::vector<FnId> reducers;
  for (const Scalar s : all_scalars) {
    for (const ElementType& element : {ElementType::of(s), ElementType::array(s, 3)}) {
      reducers.push_back(m.add_function(reducer(random_reducer(random, s), element)));
      Type type;
      type.element = element;
      type.dims = {DimId(0)};
      type.state = State::pre(reducers.back());
      m.add_value("v", type);
    }
  }
  const auto reference = make_interpreter_kernels();
  const auto kernels = testing::make_kernels({.threads = 2});
  reference->prepare(m);
  kernels->prepare(m);
  for (const FnId fn : reducers) {
    for (const std::int64_t n : {0, 1, 7, 64, 1000, 60000}) {
      for (const bool packed : {false, true}) {
        for (const size_t arrays : {1U, 5U}) expect_same_moves(*reference, *kernels, m, fn, n, arrays, packed, random);
      }
    }
  }
}

// In a loop eight rows run side by side, outside one by one: functions of the math library give the same bits.
TEST(Product, LibraryFunctionsAreThoseOfOneRow) {
  const std::string text = R"(
  fn soft(x: f64, w: f64) -> f64 = exp(x) * log(w + 3.0)
  fn add(x: f64, y: f64) -> f64 = x + y
  %G = input "G" : f64[N,N] sparse @part
  %s = input "s" : f64[N] @cons{G.rows}
  %m = mxv[soft, add] %s, %G : f64[N] @pre(add){G.cols}
  %k = literal 1 : i64 @cons
  for %i : i64 @cons in %k, %k () {
    %n = mxv[soft, add] %s, %G : f64[N] @pre(add){G.cols}
    yield
  }
)";
  const Module m = parse(text);
  Random random(12);
  const std::int64_t n = 9000;
  LocalMatrix matrix;
  matrix.outputs = matrix.inputs = n;
  matrix.element = ElementType::of(Scalar::f64);
  matrix.pointers.own().push_back(0);
  for (std::int64_t o = 0; o < n; ++o) {
    for (std::int64_t k = below(random, 20); k > 0; --k) {
      matrix.indices.own().push_back(static_cast<std::int32_t>(below(random, n)));
    }
    matrix.pointers.own().push_back(static_cast<std::int64_t>(matrix.indices.size()));
  }
  matrix.values = Array(matrix.element, matrix.entries());
  for (std::int64_t e = 0; e < matrix.entries(); ++e) matrix.values.as<double>()[e] = static_cast<double>(e % 11) / 7;
  Array vector(ElementType::of(Scalar::f64), n);
  for (std::int64_t i = 0; i < n; ++i) vector.as<double>()[i] = static_cast<double>(i % 100) / 37;
  std::vector<const Op*> products;
  for_each_op(m, [&](const Op& op, int, int) {
    if (op.code == OpCode::mxv) products.push_back(&op);
  });
  ASSERT_EQ(products.size(), 2U);
  const auto kernels = testing::make_kernels({.threads = 2});
  kernels->prepare(m);
  std::vector<Array> made;
  for (const Op* op : products) {
    made.emplace_back(ElementType::of(Scalar::f64), n);
    const std::vector<View> in{view(vector), View{}}, out{view(made.back())};
    kernels->take_matrix(*op, matrix);
    kernels->product(ProductCall{.op = op, .matrix = &matrix, .inputs = in, .outputs = out, .range = {0, n}});
  }
  EXPECT_EQ(difference(made[0], made[1], n), "");
}

// One region over a pattern against its operators one after another.
TEST(Epilogue, SameBitsAsTheOperatorsApart) {
  const std::string functions = R"(
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn add(x: f64, y: f64) -> f64 = x + y
  fn damp(x: f64, r: f64) -> f64 = 1.0 - r + r * x
  fn absdiff(a: f64, b: f64) -> f64 = abs(a - b)
  %G = input "G" : null[N,N] sparse @part
  %s = input "s" : f64[N] @cons{G.rows}
  %p = input "p" : f64[N] @part
  %r = param "r" = 0.85 : f64 @cons
)";
  const Module apart = parse(functions + R"(
  %m = mxv[mul, add] %s, %G : f64[N] @pre(add){G.cols}
  %n, %e = region iter_on_vec (%m, %r, %p) : f64[N] @part, f64 @pre(add) {
    %a = map[damp] %m, %r : f64[N] @part
    %b = map[absdiff] %p, %a : f64[N] @part
    %f = reduce[add] %b : f64 @pre(add)
    yield %a, %f
  }
)");
  const Module fused = parse(functions + R"(
  %n, %e = region product_epilogue (%s, %G, %r, %p) : f64[N] @part, f64 @pre(add) {
    %m = mxv[mul, add] %s, %G : f64[N] @pre(add){G.cols}
    %t = gather %m : f64[N] @part
    %a = map[damp] %t, %r : f64[N] @part
    %b = map[absdiff] %p, %a : f64[N] @part
    %f = reduce[add] %b : f64 @pre(add)
    yield %a, %f
  }
)");
  Random random(8);
  const std::int64_t n = 30000;
  LocalMatrix matrix;
  matrix.outputs = matrix.inputs = n;
  matrix.element = ElementType::of(Scalar::null);
  matrix.pointers.own().push_back(0);
  for (std::int64_t o = 0; o < n; ++o) {
    const std::int64_t length = o == 10000 ? 16 * reduction_block + 5 : below(random, 20);
    for (std::int64_t k = 0; k < length; ++k)
      matrix.indices.own().push_back(static_cast<std::int32_t>(below(random, n)));
    matrix.pointers.own().push_back(static_cast<std::int64_t>(matrix.indices.size()));
  }
  const ElementType f64 = ElementType::of(Scalar::f64);
  Array s(f64, n), p(f64, n), r(f64, 1);
  for (std::int64_t i = 0; i < n; ++i)
    s.as<double>()[i] = 1 + static_cast<double>(i) / 7, p.as<double>()[i] = 3.0 / static_cast<double>(i + 1);
  r.as<double>()[0] = 0.85;
  const auto separate = testing::make_kernels({.threads = 1});
  separate->prepare(apart);
  Array y(f64, n), expected(f64, n), total(f64, 1);
  {
    const std::vector<View> in{view(s), View{}}, out{view(y)};
    separate->product(ProductCall{
        .op = find_ops(apart, OpCode::mxv)[0], .matrix = &matrix, .inputs = in, .outputs = out, .range = {0, n}});
    const std::vector<View> vin{view(y), view(r), view(p)}, vout{view(expected), view(total)};
    separate->elementwise(
        ElementwiseCall{.op = find_ops(apart, OpCode::region)[0], .inputs = vin, .outputs = vout, .range = {0, n}});
  }
  for (const int threads : {1, 2}) {
    const auto kernels = testing::make_kernels({.threads = threads});
    kernels->prepare(fused);
    Array got(f64, n), sum(f64, 1);
    const std::vector<View> in{view(s), View{}, view(r), view(p)}, out{view(got), view(sum)};
    kernels->product(ProductCall{
        .op = find_ops(fused, OpCode::region)[0], .matrix = &matrix, .inputs = in, .outputs = out, .range = {0, n}});
    EXPECT_EQ(difference(expected, got, n), "") << threads;
    EXPECT_EQ(difference(total, sum, 1), "") << threads;
  }
}

// What lies behind the masters of a mixed region: pre-reduced slaves of a pushdown map are handed on.
TEST(Slaves, OnlyWhatIsKeptThereRuns) {
  const Module m = parse(R"(
  fn add(x: f64, y: f64) -> f64 = x + y
  fn shift(x: f64) -> f64 = x + 1.0
  fn half(x: f64) -> f64 = x / 2.0
  law pushdown(shift, add) operand 0 by "built-in"
  law exchange(half, add) operand 0 by "built-in"
  %G = input "G" : null[N,N] sparse @part
  %a = input "a" : f64[N] @pre(add){G.cols}
  %b = input "b" : f64[N] @part
  %x, %y, %z, %t = region iter_on_vec (%a, %b) : f64[N] @pre(add){G.cols}, f64[N] @pre(add){G.cols}, f64[N] @part, f64 @pre(add) {
    %h = map[half] %a : f64[N] @pre(add){G.cols}
    %s = map[shift] %h : f64[N] @pre(add){G.cols}
    %c = map[half] %b : f64[N] @part
    %r = reduce[add] %s : f64 @pre(add)
    yield %h, %s, %c, %r
  }
)");
  const auto reference = make_interpreter_kernels();
  const auto kernels = testing::make_kernels({.threads = 2});
  reference->prepare(m);
  kernels->prepare(m);
  const Op* op = find_ops(m, OpCode::region)[0];
  Random random(9);
  const std::int64_t masters = 9001, n = 20000;
  const ElementType f64 = ElementType::of(Scalar::f64);
  Array a = random_array(random, f64, n), b = random_array(random, f64, n);
  std::vector<std::vector<Array>> made;
  for (KernelSet* set : {reference.get(), static_cast<KernelSet*>(kernels.get())}) {
    std::vector<Array> out;
    for (const std::int64_t count : {n, n, n, std::int64_t{1}}) out.emplace_back(f64, count);
    const std::vector<View> in{view(a), view(b)};
    std::vector<View> to;
    for (Array& array : out) to.push_back(view(array));
    set->elementwise(ElementwiseCall{.op = op, .inputs = in, .outputs = to, .range = {0, masters}});
    set->elementwise(ElementwiseCall{.op = op, .inputs = in, .outputs = to, .range = {masters, n}, .slaves = true});
    made.push_back(std::move(out));
  }
  for (size_t k = 0; k < 4; ++k) EXPECT_EQ(difference(made[0][k], made[1][k], made[0][k].count), "") << k;
  EXPECT_EQ(made[1][2].as<double>()[masters], 0.0);
  EXPECT_EQ(reference->accesses().read_bytes, kernels->accesses().read_bytes);
  EXPECT_EQ(reference->accesses().written_bytes, kernels->accesses().written_bytes);
}

TEST(Refused, BeforeTheRunWithTheStatementsPlace) {
  const Module m = parse(R"(
  fn first(x: f64, y: f64) -> f64 = x
  %a = input "a" : f64[N] @part
  %r = reduce[first] %a : f64 @pre(first) at 7:3
)");
  try {
    testing::make_kernels({.threads = 1})->prepare(m);
    FAIL() << "prepared a reduction without an identity";
  } catch (const UserError& e) {
    EXPECT_EQ(e.status(), ExitStatus::bad_input);
    EXPECT_EQ(e.diagnostics()[0].where.line, 7);
    EXPECT_NE(e.diagnostics()[0].what.find("first"), std::string::npos);
  }
}

}  // namespace
}  // namespace kasen::test
