// row_chain regions: against the interpreter, and the same bits on one, two and three threads. Sizes within one chunk
// and one block, of several of both, and of blocks of a reduction.
#include <array>

#include "libkernels/run/plan_kernels.h"
#include "tests/kernels/support.h"

namespace kasen::test {
namespace {

// `region` with T for the element type; the last operator of the module. `cols`: the matrix's, if the plan knows them.
Module chain_module(const std::string& type, const std::string& region, bool whole_columns = true,
                    std::int64_t cols = 0) {
  std::string text = "kir 1 level 3\nmodule t {\n  dim N\n  dim F" + std::string(whole_columns ? " local" : "");
  text += cols > 0 ? " = " + std::to_string(cols) + "\n" : "\n";
  text += R"(  fn mul(x: T, y: T) -> T = x * y
  fn turned(x: T, y: T) -> T = y * x
  fn add(x: T, y: T) -> T = x + y
  fn least(x: T, y: T) -> T = min(x, y)
  fn slope(p: T, y: T, s: T) -> T = s * (y + exp(-p / T(100000)))
  fn square(x: T) -> T = x * x
  fn pair(x: T, y: T) -> (T, i64) = tuple(x + y, 1)
  fn join(a: (T, i64), b: (T, i64)) -> (T, i64) = tuple(a.0 + b.0, a.1 + b.1)
  %A = input "A" : T[N,F] @part
  %y = input "y" : T[N] @part
  %u = input "u" : T[N] @part
  %w = input "w" : T[F] @cons
  %v = input "v" : T[F] @cons
  %s = literal 1.25LIT : T @cons
)" + region +
          "}\n##end\n";
  const auto replace = [&](const std::string& what, const std::string& with) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
      text.replace(at, what.size(), with);
    }
  };
  replace("LIT", type == "f32" ? "f32" : "");
  replace("T", type);
  return parse_module(text, "t.kir");
}

const std::string bare_chain = R"(  %g = region row_chain (%w, %A) : T[F] @pre(add) {
    %p = mxvt[mul, add] %w, %A : T[N] @part
    %z = mxv[mul, add] %p, %A : T[F] @pre(add)
    yield %z
  }
)";

const std::string chain_with_work =
    R"(  %g, %e, %loss, %least, %q = region row_chain (%w, %A, %y, %s) : T[F] @pre(add), T[N] @part, T @pre(add), T @pre(least), T[N] @part {
    %p = mxvt[turned, add] %w, %A : T[N] @part
    %d = map[slope] %p, %y, %s : T[N] @part
    %z = mxv[mul, add] %d, %A : T[F] @pre(add)
    %l = map[square] %d : T[N] @part
    %t = reduce[add] %l : T @pre(add)
    %m = reduce[least] %p : T @pre(least)
    %o = map[add] %l, %p : T[N] @part
    yield %z, %d, %t, %m, %o
  }
)";

// Several of each, one with a vector from outside; results handed on twice; no product meets what is reduced.
const std::string several_chains =
    R"(  %a, %b, %c, %a2, %p2, %p3, %k, %y2 = region row_chain (%w, %A, %v, %u, %y) : T[F] @pre(add), T[F] @pre(add), T[F] @pre(add), T[F] @pre(add), T[N] @part, T[N] @part, (T, i64) @pre(join), T[N] @part {
    %p = mxvt[mul, add] %w, %A : T[N] @part
    %q = mxvt[mul, add] %v, %A : T[N] @part
    %za = mxv[turned, add] %q, %A : T[F] @pre(add)
    %zb = mxv[mul, add] %u, %A : T[F] @pre(add)
    %d = map[add] %p, %y : T[N] @part
    %zc = mxv[mul, add] %d, %A : T[F] @pre(add)
    %n = map[pair] %q, %u : (T, i64)[N] @part
    %t = reduce[join] %n : (T, i64) @pre(join)
    %f = map[square] %y : T[N] @part
    yield %za, %zb, %zc, %za, %p, %p, %t, %f
  }
)";

// As many products as do not all meet a tile together: five of one direction, six of the other.
const std::string many_chains =
    R"(  %a, %b, %c, %d, %e, %f = region row_chain (%w, %A, %v, %u, %y) : T[F] @pre(add), T[F] @pre(add), T[F] @pre(add), T[F] @pre(add), T[F] @pre(add), T[F] @pre(add) {
    %p1 = mxvt[mul, add] %w, %A : T[N] @part
    %p2 = mxvt[mul, add] %v, %A : T[N] @part
    %p3 = mxvt[turned, add] %w, %A : T[N] @part
    %p4 = mxvt[turned, add] %v, %A : T[N] @part
    %p5 = mxvt[mul, add] %w, %A : T[N] @part
    %d1 = map[add] %p1, %y : T[N] @part
    %d2 = map[add] %p2, %u : T[N] @part
    %d3 = map[mul] %p3, %u : T[N] @part
    %z1 = mxv[mul, add] %d1, %A : T[F] @pre(add)
    %z2 = mxv[mul, add] %p5, %A : T[F] @pre(add)
    %z3 = mxv[mul, add] %d2, %A : T[F] @pre(add)
    %z4 = mxv[turned, add] %u, %A : T[F] @pre(add)
    %z5 = mxv[mul, add] %d3, %A : T[F] @pre(add)
    %z6 = mxv[mul, add] %p4, %A : T[F] @pre(add)
    yield %z1, %z2, %z3, %z4, %z5, %z6
  }
)";

struct ChainCase {
  std::int64_t rows, cols;
  std::vector<Array> inputs;  // of the region's operands
  Array matrix;
};

std::int64_t elements_of(const Module& m, ValueId id, std::int64_t rows, std::int64_t cols) {
  const Type& type = m.type(id);
  if (type.dims.empty()) return 1;
  return type.state.is_part() ? rows : cols;
}

ChainCase make_case(Random& random, const Module& m, std::int64_t rows, std::int64_t cols) {
  const Op& op = m.body.ops.back();
  const ElementType element = m.type(op.blocks[0].ops[0].results[0]).element;
  ChainCase made{rows, cols, {}, positive_array(random, element, rows * cols)};
  for (const ValueId id : op.operands) {
    const bool matrix = m.type(id).dims.size() == 2;
    made.inputs.push_back(matrix ? Array() : positive_array(random, element, elements_of(m, id, rows, cols)));
  }
  return made;
}

// `over`: result r stands where operand over[r] does, if that is not negative.
std::vector<Array> run_chain(KernelSet& kernels, const Module& m, const ChainCase& with,
                             const std::vector<int>& over = {}) {
  const Op& op = m.body.ops.back();
  std::vector<Array> inputs, outputs;
  for (const Array& a : with.inputs) inputs.push_back(copy(a));
  Array matrix = copy(with.matrix);
  for (size_t r = 0; r < op.results.size(); ++r) {
    const Type& type = m.type(op.results[r]);
    const bool reduced = type.dims.empty();
    outputs.push_back(reduced ? identity_of(m.fn(type.state.reducer))
                              : Array(type.element, elements_of(m, op.results[r], with.rows, with.cols)));
  }
  std::vector<View> in, out;
  for (Array& a : inputs) in.push_back(view(a));
  for (Array& a : outputs) out.push_back(view(a));
  for (size_t r = 0; r < over.size(); ++r) {
    if (over[r] >= 0) out[r] = in[static_cast<size_t>(over[r])];
  }
  kernels.dense_product(DenseProductCall{
      .op = &op, .matrix = view(matrix), .inputs = in, .outputs = out, .rows = with.rows, .cols = with.cols});
  for (size_t r = 0; r < over.size(); ++r) {
    if (over[r] >= 0) outputs[r] = copy(inputs[static_cast<size_t>(over[r])]);
  }
  return outputs;
}

constexpr std::array<std::array<std::int64_t, 2>, 16> chain_sizes{{{0, 5},
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
                                                                   {1, 9000},
                                                                   {32767, 2},
                                                                   {32768, 1},
                                                                   {33001, 3},
                                                                   {36864, 2}}};

void compare_chain(const Module& m, std::span<const std::array<std::int64_t, 2>> sizes) {
  const auto reference = make_interpreter_kernels();
  std::vector<std::unique_ptr<KernelSet>> sets;
  for (const int threads : {1, 2, 3}) sets.push_back(testing::make_kernels({.threads = threads}));
  reference->prepare(m);
  for (const auto& set : sets) set->prepare(m);
  ASSERT_EQ(m.body.ops.back().kind, RegionKind::row_chain);
  Random random(8);
  for (const auto& [rows, cols] : sizes) {
    const ChainCase data = make_case(random, m, rows, cols);
    const std::vector<Array> expected = run_chain(*reference, m, data), one = run_chain(*sets[0], m, data);
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(difference(expected[k], one[k], one[k].count, 2000), "") << rows << " x " << cols << ", result " << k;
    }
    for (size_t s = 1; s < sets.size(); ++s) {
      const std::vector<Array> more = run_chain(*sets[s], m, data);
      for (size_t k = 0; k < more.size(); ++k) {
        EXPECT_EQ(difference(one[k], more[k], one[k].count), "") << rows << " x " << cols << ", set " << s;
      }
    }
    EXPECT_EQ(reference->accesses().read_bytes, sets[0]->accesses().read_bytes);
    EXPECT_EQ(reference->accesses().written_bytes, sets[0]->accesses().written_bytes);
  }
}

TEST(RowChain, AgreesWithTheInterpreter) {
  for (const std::string type : {"f64", "f32"}) {
    for (const std::string& region : {bare_chain, chain_with_work, several_chains, many_chains}) {
      SCOPED_TRACE(type + "\n" + region);
      compare_chain(chain_module(type, region), chain_sizes);
    }
  }
}

// Code for a known number of columns gives the same bits as code for any number. Of narrow rows, by elements and
// transposed, whole vectors and remainders; of wider ones, several blocks of vectors.
TEST(RowChain, GivesTheSameBitsForAKnownWidth) {
  Random random(11);
  for (const std::string type : {"f64", "f32"}) {
    for (const std::string& region : {bare_chain, many_chains}) {
      const Module any = chain_module(type, region);
      const auto expecting = testing::make_kernels({.threads = 1}), getting = testing::make_kernels({.threads = 2});
      expecting->prepare(any);
      for (const std::int64_t cols : {1, 7, 10, 16, 50, 100}) {
        const Module known = chain_module(type, region, true, cols);
        getting->prepare(known);
        for (const std::int64_t rows : {0, 5, 24, 1003}) {
          const ChainCase data = make_case(random, any, rows, cols);
          const std::vector<Array> expected = run_chain(*expecting, any, data), got = run_chain(*getting, known, data);
          for (size_t k = 0; k < expected.size(); ++k) {
            EXPECT_EQ(difference(expected[k], got[k], expected[k].count), "")
                << type << ", " << rows << " x " << cols << ", result " << k;
          }
        }
      }
    }
  }
}

// The Gram matrix of one region takes its rows a lane each; a region behind it reads the same matrix as it lies.
TEST(RowChain, ReadsAMatrixThatAnotherRegionTakesInLanesAsItLies) {
  const std::string gram = R"(  %G = region row_chain (%A, %y) : T[F,F] @pre(add), T[F] @pre(add) {
    %h = mxv[mul, add] %A, %A : T[F,F] @pre(add)
    %b = mxv[mul, add] %y, %A : T[F] @pre(add)
    yield %h, %b
  }
)";
  std::string named = gram;
  named.replace(named.find("%G ="), 4, "%G, %B =");
  const Module m = chain_module("f64", named + bare_chain, true, 30);
  const PlanKernels plan = make_plan_kernels(m, {});
  EXPECT_TRUE(plan.chains.at(&m.body.ops.back()).loads.empty());
}

// Where a vector belongs to a dimension that is cut as well, it is counted: the accesses are compared.
TEST(RowChain, CountsVectorsOfACutDimension) {
  for (const std::string& region : {bare_chain, chain_with_work, several_chains}) {
    compare_chain(chain_module("f64", region, false), std::span(chain_sizes).first(6));
  }
}

// Element i is read before it is written, also by what waits for a whole block, whatever the sizes.
TEST(RowChain, WritesWhereAnOperandOfItsVectorWorkWas) {
  const Module m = chain_module("f64", chain_with_work);
  ASSERT_EQ(m.type(m.body.ops.back().operands[2]).state.is_part(), true);  // y
  Random random(9);
  for (const int threads : {1, 3}) {
    const auto generated = testing::make_kernels({.threads = threads});
    const auto reference = make_interpreter_kernels();
    for (KernelSet* kernels : {static_cast<KernelSet*>(generated.get()), reference.get()}) {
      kernels->prepare(m);
      for (const auto& [rows, cols] : chain_sizes) {
        const ChainCase data = make_case(random, m, rows, cols);
        const std::vector<Array> apart = run_chain(*kernels, m, data);
        for (const std::vector<int>& over : {std::vector{-1, 2}, std::vector{-1, -1, -1, -1, 2}}) {
          const std::vector<Array> within = run_chain(*kernels, m, data, over);
          for (size_t k = 0; k < apart.size(); ++k) {
            EXPECT_EQ(difference(apart[k], within[k], apart[k].count), "") << rows << " x " << cols << ", result " << k;
          }
        }
      }
    }
  }
}

// The accumulators take up what they hold: once the identity, once a total.
TEST(RowChain, ReducesOntoWhatIsThere) {
  const Module m = chain_module("f64", chain_with_work);
  const auto kernels = testing::make_kernels({.threads = 2});
  const auto reference = make_interpreter_kernels();
  Random random(10);
  for (const std::int64_t rows : {100, 33000}) {
    const ChainCase data = make_case(random, m, rows, 4);
    std::vector<double> totals;
    for (KernelSet* set : {static_cast<KernelSet*>(kernels.get()), reference.get()}) {
      set->prepare(m);
      const Op& op = m.body.ops.back();
      const std::vector<Array> once = run_chain(*set, m, data);
      std::vector<Array> inputs, outputs;
      for (const Array& a : data.inputs) inputs.push_back(copy(a));
      for (const Array& a : once) outputs.push_back(copy(a));
      Array matrix = copy(data.matrix);
      std::vector<View> in, out;
      for (Array& a : inputs) in.push_back(view(a));
      for (Array& a : outputs) out.push_back(view(a));
      set->dense_product(
          DenseProductCall{.op = &op, .matrix = view(matrix), .inputs = in, .outputs = out, .rows = rows, .cols = 4});
      const double first = once[2].as<double>()[0], second = outputs[2].as<double>()[0];
      EXPECT_NEAR(second, 2 * first, 1e-12 * second);
      EXPECT_EQ(outputs[3].as<double>()[0], once[3].as<double>()[0]);  // the least stays
      totals.push_back(second);
    }
    EXPECT_NEAR(totals[0], totals[1], 1e-12 * totals[0]);
  }
}

}  // namespace
}  // namespace kasen::test
