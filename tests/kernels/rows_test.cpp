// Regions of rows: against the interpreter, to the bit where no product adds, and the same bits on one, two and three
// threads. Sizes within one block, of several blocks and of several shares; rows of one element and of many blocks.
#include <mutex>
#include <set>
#include <utility>

#include "libcore/ir/regions.h"
#include "libcore/rows/row_region.h"
#include "tests/kernels/support.h"

namespace kasen::test {
namespace {

Module rows_module(const std::string& type, std::int64_t cols, const std::string& region) {
  std::string text = "kir 1 level 3\nmodule t {\n  dim N\n  dim F local = " + std::to_string(cols) + R"(
  dim K local = 3
  dim I local = 1
  fn mul(x: T, y: T) -> T = x * y
  fn add(x: T, y: T) -> T = x + y
  fn sub(x: T, y: T) -> T = x - y
  fn most(x: T, y: T) -> T = max(x, y)
  fn shifted(x: T, y: T) -> T = exp((x - y) / T(100))
  fn ratio(x: T, y: T) -> T = x / y
  fn square(x: T) -> T = x * x
  fn pair(x: T, y: T) -> (T, T) = tuple(x, y)
  fn weighed(e: T, a: T, b: T) -> T = e * a - b
  fn own(e: T, a: T) -> T = e
  fn join(a: (T, T), b: (T, T)) -> (T, T) = tuple(a.0 + b.0, max(a.1, b.1))
  %A = input "A" : T[N,F] @part
  %B = input "B" : T[N,F] @part
  %y = input "y" : T[N] @part
  %v = input "v" : T[F] @cons
  %C = input "C" : T[F,K] @cons
  %X = input "X" : T[N,F] sparse @part
  %zero = literal 0 : i64 @cons
)" + region + "}\n##end\n";
  for (size_t at = text.find('T'); at != std::string::npos; at = text.find('T', at + 1)) {
    if (std::isalpha(static_cast<unsigned char>(text[at + 1])) == 0) text.replace(at, 1, type);
  }
  return parse_module(text, "t.kir");
}

const std::string softmax = R"(  %r = region rows (%A) : T[N,F] @part {
    %m = reduce[most; over F] %A : T[N] @part
    %e = map[shifted] %A, %m : T[N,F] @part
    %t = reduce[add; over F] %e : T[N] @part
    %q = map[ratio] %e, %t : T[N,F] @part
    yield %q
  }
)";

// Two matrices, vectors of rows and of columns, results of every kind, one of them twice, and a slice of a made row.
const std::string totals =
    R"(  %r, %s, %c, %f, %c2, %p, %z = region rows (%A, %B, %y, %v, %zero) : T[N,F] @part, T[N] @part, T[F] @pre(add), T @pre(most), T[F] @pre(add), (T, T) @pre(join), T[N,F] @part {
    %d = map[mul] %A, %B : T[N,F] @part
    %e = map[sub] %d, %y : T[N,F] @part
    %g = map[add] %e, %v : T[N,F] @part
    %s1 = reduce[add; over F] %g : T[N] @part
    %w = map[ratio] %y, %s1 : T[N] @part
    %h = map[mul] %g, %w : T[N,F] @part
    %c1 = reduce[add; over N] %h : T[F] @pre(add)
    %f1 = reduce[most] %h : T @pre(most)
    %i = range[I of F] %h, %zero : T[N,I] @part
    %j = reduce[add; over I] %i : T[N] @part
    %k = map[pair] %j, %w : (T, T)[N] @part
    %p1 = reduce[join] %k : (T, T) @pre(join)
    yield %h, %w, %c1, %f1, %c1, %p1, %h
  }
)";

// Products with a matrix that is made inside, of a vector and of columns, in both directions.
const std::string products =
    R"(  %q, %g, %h, %t = region rows (%A, %y, %v, %C) : T[N,K] @part, T[F] @pre(add), T[F,K] @pre(add), T @pre(add) {
    %m = map[ratio] %A, %y : T[N,F] @part
    %u = mxvt[mul, add] %v, %m : T[N] @part
    %q1 = mxvt[mul, add] %C, %m : T[N,K] @part
    %g1 = mxv[mul, add] %u, %m : T[F] @pre(add)
    %h1 = mxv[mul, add] %q1, %m : T[F,K] @pre(add)
    %l = map[square] %u : T[N] @part
    %t1 = reduce[add] %l : T @pre(add)
    yield %q1, %g1, %h1, %t1
  }
)";

std::int64_t elements_of(const Module& m, ValueId id, std::int64_t rows) {
  std::int64_t count = 1;
  for (const DimId d : m.type(id).dims) count *= m.dim(d).local ? m.dim(d).size : rows;
  return count;
}

// Checks that each row is entered and left once.
class CheckedGate : public RowGate {
 public:
  void enter(std::int64_t begin, std::int64_t end) override {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(entered_.emplace(begin, end).second);
  }
  void leave(std::int64_t begin, std::int64_t end) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(entered_.count({begin, end}), 1u);
    left_ += end - begin;
  }
  [[nodiscard]] std::int64_t left() const { return left_; }

 private:
  std::mutex mutex_;
  std::set<std::pair<std::int64_t, std::int64_t>> entered_;
  std::int64_t left_ = 0;
};

std::vector<Array> run_rows_of(KernelSet& kernels, const Module& m, std::int64_t rows, const std::vector<Array>& given,
                               bool gated = false, bool in_place = false, const LocalMatrix* matrix = nullptr) {
  const Op& op = m.body.ops.back();
  std::vector<Array> inputs, outputs;
  for (const Array& a : given) inputs.push_back(a.count == 0 ? Array() : copy(a));
  for (const ValueId v : op.results) {
    const Type& type = m.type(v);
    const std::int64_t count = elements_of(m, v, rows);
    Array made(type.element, count);
    if (type.state.is_pre()) {
      const auto words = reducer_identity(m.fn(type.state.reducer)).value();
      for (std::int64_t p = 0; p < type.element.planes(); ++p) {
        const Scalar s = type.element.plane_scalar(p);
        for (std::int64_t e = 0; e < count; ++e) {
          store_word(s, made.plane(p) + e * scalar_bytes(s), words[static_cast<size_t>(p)]);
        }
      }
    }
    outputs.push_back(std::move(made));
  }
  std::vector<View> in, out;
  for (Array& a : inputs) in.push_back(view(a));
  for (Array& a : outputs) out.push_back(view(a));
  if (in_place) out[0] = in[0];
  CheckedGate gate;
  kernels.rows(RowsCall{&op, in, out, rows, gated ? &gate : nullptr, matrix});
  if (gated) {
    EXPECT_EQ(gate.left(), rows);
  }
  if (in_place) outputs[0] = copy(inputs[0]);
  return outputs;
}

// `within`: units in the last place between the two kernel sets.
void compare_rows(const std::string& type, const std::string& region, std::int64_t cols, double within) {
  const Module m = rows_module(type, cols, region);
  const auto reference = make_interpreter_kernels();
  std::vector<std::unique_ptr<KernelSet>> sets;
  for (const int threads : {1, 2, 3}) sets.push_back(testing::make_kernels({.threads = threads}));
  reference->prepare(m);
  for (const auto& set : sets) set->prepare(m);
  const Op& op = m.body.ops.back();
  ASSERT_EQ(op.kind, RegionKind::rows);
  Random random(8);
  for (const std::int64_t rows : {0, 1, 7, 8, 40, 700, 3990, 12345}) {
    if (rows * cols > 400'000) continue;  // the interpreter takes long
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
    std::vector<Array> inputs;
    for (const ValueId v : op.operands) {
      if (m.type(v).element.is(Scalar::i64)) {
        inputs.emplace_back(m.type(v).element, 1);
        store_word(Scalar::i64, inputs.back().plane(0), Word::integer(0));
      } else {
        inputs.push_back(positive_array(random, m.type(v).element, elements_of(m, v, rows)));
      }
    }
    const std::vector<Array> expected = run_rows_of(*reference, m, rows, inputs);
    const std::vector<Array> one = run_rows_of(*sets[0], m, rows, inputs);
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(difference(expected[k], one[k], one[k].count, within), "") << "result " << k;
    }
    for (size_t s = 0; s < sets.size(); ++s) {
      const std::vector<Array> more = run_rows_of(*sets[s], m, rows, inputs, s != 1);
      for (size_t k = 0; k < more.size(); ++k) {
        EXPECT_EQ(difference(one[k], more[k], one[k].count), "") << "set " << s << ", result " << k;
      }
    }
    EXPECT_EQ(2 * reference->accesses().read_bytes, sets[0]->accesses().read_bytes);
    EXPECT_EQ(2 * reference->accesses().written_bytes, sets[0]->accesses().written_bytes);
  }
}

TEST(Rows, AgreeWithTheInterpreter) {
  for (const std::string type : {"f64", "f32"}) {
    for (const std::int64_t cols : {1, 5, 8, 16, 100, 133}) {
      compare_rows(type, softmax, cols, 4);  // exp is the library's there
      compare_rows(type, totals, cols, 0);
    }
    compare_rows(type, totals, 9000, 0);  // eight rows are more than a block
  }
}

TEST(Rows, MultiplyMatricesThatTheyMake) {
  for (const std::string type : {"f64", "f32"}) {
    for (const std::int64_t cols : {1, 7, 64}) compare_rows(type, products, cols, 4000);
  }
}

// Results that lie where an operand was: what all operators read of a block is read before it is written.
TEST(Rows, WriteWhereAnOperandWas) {
  for (const std::string& region : {softmax, totals}) {
    const Module m = rows_module("f64", 100, region);
    const Op& op = m.body.ops.back();
    ASSERT_EQ(may_write_over(op, op.operands[0]), true);
    const auto generated = testing::make_kernels({.threads = 3});
    const auto reference = make_interpreter_kernels();
    Random random(9);
    std::vector<Array> inputs;
    for (const ValueId v : op.operands) {
      const bool index = m.type(v).element.is(Scalar::i64);
      inputs.push_back(index ? Array(m.type(v).element, 1)
                             : positive_array(random, m.type(v).element, elements_of(m, v, 3000)));
      if (index) store_word(Scalar::i64, inputs.back().plane(0), Word::integer(0));
    }
    for (KernelSet* kernels : {static_cast<KernelSet*>(generated.get()), reference.get()}) {
      kernels->prepare(m);
      const std::vector<Array> apart = run_rows_of(*kernels, m, 3000, inputs);
      const std::vector<Array> within = run_rows_of(*kernels, m, 3000, inputs, false, true);
      for (size_t k = 0; k < apart.size(); ++k) EXPECT_EQ(difference(apart[k], within[k], apart[k].count), "") << k;
    }
  }
}

// A matrix of `rows` with entries of all lengths of rows: none, few, and many in one of them.
LocalMatrix sparse_matrix(Random& random, std::int64_t rows, std::int64_t cols, const ElementType& element) {
  LocalMatrix m;
  m.outputs = m.masters = rows;
  m.inputs = cols;
  m.element = element;
  m.pointers.own().assign(1, 0);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t some = row == rows / 2 ? 30'000 : row % 5 == 0 ? 0 : row % 7;
    for (std::int64_t k = 0; k < some; ++k) m.indices.own().push_back(static_cast<std::int32_t>((row + 3 * k) % cols));
    m.pointers.own().push_back(std::ssize(m.indices.own()));
  }
  m.values = positive_array(random, element, m.entries());
  return m;
}

// There and back, with columns, totals of folds, and a map between.
const std::string sparse_work =
    R"(  %p, %g, %H, %s, %c, %o = region rows (%X, %v, %C, %y) : T[N] @part, T[F] @pre(add), T[F,K] @pre(add), T[N] @part, T[F] @pre(most), T[N] @part {
    %p1 = mxvt[mul, add] %v, %X : T[N] @part
    %q1 = mxvt[mul, add] %C, %X : T[N,K] @part
    %r1 = map[mul] %p1, %y : T[N] @part
    %g1 = mxv[mul, add] %r1, %X : T[F] @pre(add)
    %h1 = mxv[mul, add] %q1, %X : T[F,K] @pre(add)
    %s1 = fold_rows[weighed, add] %X, %r1, %v rows 1 : T[N] @part
    %c1 = fold_cols[weighed, most] %X, %s1, %v rows 1 : T[F] @pre(most)
    %o1 = fold_rows[own, add] %X, %v rows 0 : T[N] @part
    yield %p1, %g1, %h1, %s1, %c1, %o1
  }
)";

// To the bit: nonzeros are met in one order, and shares follow from the matrix alone.
TEST(Rows, GoOverSparseRowsAsTheInterpreterDoes) {
  for (const std::string type : {"f64", "f32"}) {
    const Module m = rows_module(type, 50, sparse_work);
    const auto reference = make_interpreter_kernels();
    reference->prepare(m);
    std::vector<std::unique_ptr<KernelSet>> sets;
    for (const int threads : {1, 2, 3}) sets.push_back(testing::make_kernels({.threads = threads}));
    for (const auto& set : sets) set->prepare(m);
    for (const std::int64_t rows : {0, 1, 9, 600, 20'000}) {
      SCOPED_TRACE(std::to_string(rows) + " rows of " + type);
      Random random(8);
      const Op& op = m.body.ops.back();
      const LocalMatrix matrix = sparse_matrix(random, rows, 50, m.type(op.operands[0]).element);
      std::vector<Array> inputs;
      for (const ValueId v : op.operands) {
        const bool sparse = m.type(v).sparse;
        inputs.push_back(sparse ? Array() : positive_array(random, m.type(v).element, elements_of(m, v, rows)));
      }
      const std::vector<Array> expected = run_rows_of(*reference, m, rows, inputs, false, false, &matrix);
      for (size_t s = 0; s < sets.size(); ++s) {
        const std::vector<Array> made = run_rows_of(*sets[s], m, rows, inputs, false, false, &matrix);
        for (size_t k = 0; k < made.size(); ++k)
          EXPECT_EQ(difference(expected[k], made[k], made[k].count), "") << "set " << s << ", result " << k;
      }
      EXPECT_EQ(reference->accesses().read_bytes, sets[0]->accesses().read_bytes);
      EXPECT_EQ(reference->accesses().written_bytes, sets[0]->accesses().written_bytes);
    }
  }
}

// A block of several rows has nonzeros for half of its memory at most; a long row is a block of its own.
TEST(Rows, BlocksHaveFewNonzeros) {
  const Module m = rows_module("f64", 50, sparse_work);
  Random random(8);
  const LocalMatrix matrix = sparse_matrix(random, 20'000, 50, ElementType::of(Scalar::f64));
  const RowBlocks blocks = row_blocks(row_sizes(m, m.body.ops.back()), 20'000, matrix.entries());
  EXPECT_EQ(blocks.entries, (1 << 17) / 12);
  const std::int64_t* const pointers = matrix.pointers.data();
  bool some_long = false;
  for (std::int64_t first = 0, end = 0; first < 20'000; first = end) {
    end = block_end(blocks, first, 20'000, pointers);
    ASSERT_GT(end, first);
    ASSERT_LE(end - first, blocks.rows);
    some_long = some_long || pointers[end] - pointers[first] > blocks.entries;
    EXPECT_TRUE(end - first == 1 || pointers[end] - pointers[first] <= blocks.entries) << first;
  }
  EXPECT_TRUE(some_long);
}

// Shares are so many that the totals were combined, and each has several blocks.
TEST(Rows, GoBlockByBlockAndShareByShare) {
  const Module m = rows_module("f64", 100, totals);
  const RowBlocks blocks = row_blocks(row_sizes(m, m.body.ops.back()), 12345);
  EXPECT_GT(blocks.shares, 16);
  EXPECT_GT(blocks.share_rows, blocks.rows);
  EXPECT_EQ(blocks.rows % 8, 0);
}

// A step on one of 100,000 blocks of 64 rows: whole rows have the elements of all blocks, and the step reads one.
TEST(Rows, ViewOneOfManyBlocksAtOnce) {
  const Module m = parse_module(R"(kir 1 level 3
module t {
  dim B local = 100000
  dim N
  dim F local = 10
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn add(x: f64, y: f64) -> f64 = x + y
  %X = input "X" : f64[B,N,F] @part
  %w = input "w" : f64[F] @cons
  %b = literal 99 : i64 @cons
  %g = region rows (%X, %b, %w) : f64[F] @pre(add) {
    %A = at[B] %X, %b : f64[N,F] @part
    %r = mxvt[mul, add] %w, %A : f64[N] @part
    %t = mxv[mul, add] %r, %A : f64[F] @pre(add)
    yield %t
  }
}
##end
)",
                                "t.kir");
  const RowBlocks blocks = row_blocks(row_sizes(m, m.body.ops.back()), 64);
  EXPECT_EQ(blocks.shares, 1);
  EXPECT_GE(blocks.rows, 64);
}

}  // namespace
}  // namespace kasen::test
