// Programs planned over meshes of workers: examples, and random programs of dense arrays of rank 0 to 3, square ones
// among them, with loops, branches, products and reductions. Every plan gives the interpreter's values and costs what
// was predicted.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "libcore/ir/contraction.h"
#include "libcore/kernels/box_parts.h"
#include "libopt/cost/rules.h"
#include "libopt/cost/work.h"
#include "tests/core/mesh_parts.h"
#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

using Mesh = std::vector<std::int64_t>;
const Mesh meshes[] = {{1}, {3}, {2, 2}, {1, 4}, {3, 2}, {2, 2, 2}};

// Random layouts of about half of the inputs and outputs.
std::vector<LayoutHint> some_layouts(const Module& program, const Mesh& mesh, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<LayoutHint> hints;
  for (const Op& op : program.body.ops) {
    if ((op.code != OpCode::input && op.code != OpCode::output) || random() % 2 == 0) continue;
    const std::vector<DimId>& dims = program.type(op.code == OpCode::input ? op.results[0] : op.operands[0]).dims;
    LayoutHint& hint = hints.emplace_back(LayoutHint{op.name, {}});
    for (const DimId dim : dims) hint.cuts.emplace_back(program.dim(dim).name, "");
    for (size_t axis = 0; axis < mesh.size(); ++axis) {
      const size_t at = random() % (dims.size() + 1);
      if (at < dims.size() && !program.dim(dims[at]).local) hint.cuts[at].second += static_cast<char>('a' + axis);
    }
  }
  return hints;
}

// `seed`: of the layouts; 0: `asked`.
Module plan_over(const Module& program, const Mesh& mesh, std::uint64_t seed = 0,
                 const std::vector<LayoutHint>& asked = {}) {
  OptimizeOptions options;
  options.layouts = asked;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    options.mesh.push_back({std::string(1, static_cast<char>('a' + axis)), mesh[axis]});
  }
  if (seed > 0) options.layouts = some_layouts(program, mesh, seed);
  constexpr TileSearch searches[] = {TileSearch::none, TileSearch::exact, TileSearch::worst, TileSearch::greedy,
                                     TileSearch::mincost};
  options.tile = searches[seed % 5];
  constexpr Strategy strategies[] = {Strategy::greedy, Strategy::none, Strategy::cost, Strategy::fuse_all};
  options.strategy = strategies[seed % 4];
  if (seed % 7 == 3) options.tile_costs = TileCosts::paper;
  if (seed % 3 == 1) options.copy_bytes = static_cast<std::int64_t>(seed % 1000);
  TrialLawChecker laws;
  return optimize(program, laws, options);
}

struct Data {
  std::vector<Part> parts;  // of another number of workers than the mesh has
  std::map<std::string, Array> wanted;
};

Data data_of(const Module& program, std::int64_t size, std::uint64_t seed) {
  Data data;
  data.parts = testing::split(testing::random_data(program, 1 + static_cast<int>(seed % 3), size, 0, seed));
  data.wanted = interpret(program, whole_inputs(data.parts));
  return data;
}

Module sized(Module module, const std::vector<Part>& parts) {
  for (Dimension& dim : module.dims) {
    if (const auto it = parts.at(0).dims.find(dim.name); it != parts[0].dims.end()) dim.size = it->second.size;
  }
  return module;
}

int count_regions(const Module& module) {
  int regions = 0;
  for_each_op(module, [&](const Op& op, int, int) { regions += op.code == OpCode::region ? 1 : 0; });
  return regions;
}

// A plan without a mesh runs over any number of workers.
void run_over(const Module& program, const Mesh& mesh, const Data& data, bool generated, std::uint64_t layouts) {
  const Module module = plan_over(program, mesh, layouts);
  SCOPED_TRACE(print_module(module));
  const int workers = mesh.empty() ? 3 : mesh_workers(module);
  BoxParts boxes(module, workers, 0, workers);
  for (const Part& part : data.parts) boxes.add(part);
  const std::vector<Part> parts = boxes.finish();
  const auto transport = make_simulated_transport(workers);
  const auto kernels = generated ? testing::make_kernels({.threads = 2}) : nullptr;
  const auto interpreter = make_interpreter_kernels();
  const RunResult result = execute(module, parts, *transport, generated ? *kernels : *interpreter, {});
  Module with_sizes = sized(module, parts);
  with_sizes.mesh = mesh_of(module, workers);
  for (const Output& output : result.outputs) {
    const Array got = testing::joined_from_mesh(with_sizes, output);
    const double tolerance = output.type.element.is(Scalar::f32) ? 1e-5 : 1e-9;  // sums of f32 round at 6e-8
    testing::expect_same(output.name, output.type.element, testing::words_of(got),
                         testing::words_of(data.wanted.at(output.name)), tolerance);
  }
  expect_counts(module, parts, result, generated ? "generated" : "interpreter");
}

void run_over_meshes(const Module& program, std::int64_t size, std::uint64_t seed) {
  const Data data = data_of(program, size, seed);
  for (const Mesh& mesh : meshes) {
    run_over(program, mesh, data, seed % 4 == 0, seed % 3 == 0 ? 0 : seed);
    if (::testing::Test::HasFailure()) return;
  }
}

class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    text_ = "dim N, M, K\ndim F local = 3\n";
    input("A", "NM"), input("B", "MK"), input("Y", "NK"), input("u", "N"), input("v", "M"), input("X", "NF");
    input("c", "F"), input("T", "NMK"), input("S", "NN");
    // Other element types, in several planes: outputs may get layouts of their own, too.
    text_ +=
        "input W : dense f32[N, M], I : dense i64[N, M], P : [f64; 3][N]\n"
        "dim E = N[::2], Mid = N[1:-1], Back = M[-1:0:-2], D = N + N, Q3 = M + Back + M, NM = N * M, MK = M * K, NF = "
        "N * F\n"
        "dim H local = K[1:4], MM = M + M\n"
        "fn norm3(p) = [j in 3: p[j] * p[j]]\nfn norm(p) = sum(j in 3: p[j] * p[j])\nfn pair(a, b) = (a, b)\n"
        "fn both(a, b) = (max(a.0, b.0), a.1 + b.1)\n"
        "y1 = map(pair, W, I)\ny2 = reduce(both, y1, over M)\ny3 = reduce(both, y1, over N)\n"
        "y4 = reduce(both, y1)\ny5 = max(W, over N)\ny6 = sum(I, over M)\ny7 = map(norm, P)\ny8 = A > 0.5\n";
    // Contractions of each element type: copied in another order, summed, with a label of all three, compared by parts.
    text_ +=
        "J = i32(I)\nQ = map(pair, A, I)\n"
        "y9 = [o in M, n in N: W[n, o]]\ny10 = [o in M, b in M: sum(n in N: I[n, o] * I[n, b])]\n"
        "y11 = [b in M, o in M: any(n in N: y8[n, o] && y8[n, b])]\ny12 = [n in N, a in N: P[n][0] * P[a][1]]\n"
        "y13 = [o in M, b in M: max(n in N: abs(f64(y1[n, o].0) - A[n, b]))]\n"
        "y14 = [b in M, n in N: sum(o in M: abs(Q[n, o].0 - A[n, b]) * f64(Q[n, o].1))]\n"
        "y15 = [o in M, n in N: y1[n, o]]\ny16 = [o in M, b in M: min(n in N: J[n, o] + J[n, b])]\n"
        "y17 = [n in N, a in N: max(n, a)]\ny18 = [b in M, n in N: sum(o in M: W[n, o] * W[n, b])]\n";
    // Products in sums: onto inputs, results, and one another; squares onto arrays that are not symmetric; in a loop.
    text_ +=
        "input R : dense f64[M, M]\n"
        "y19 = [o in M, b in M: sum(n in N: A[n, o] * A[n, b]) + R[o, b]]\n"
        "y20 = y10 + [o in M, b in M: sum(n in N: I[n, o] * (I[n, b] + 1))]\n"
        "y21 = max(y13, [o in M, b in M: max(n in N: A[n, o] + A[n, b])])\n"
        "y22 = y11 || [b in M, o in M: any(n in N: y8[n, o] || y8[n, b])]\n"
        "y23 = [b in M, n in N: sum(o in M: W[n, b] * W[n, o])] + y18\n"
        "y24 = [o in M, n in N: sum(b in M: R[o, b] * A[n, b])] + [o in M, n in N: sum(b in M: R[b, o] * A[n, b])]\n"
        "y25 = R * 1.0\nfor i in 0..3 {\n  y25 = y25 + [o in M, b in M: sum(n in N: A[n, b] * A[n, o])]\n}\n"
        "y26 = A @ v + u + 2.0 * A @ v\n";
    // Along one axis: scans of several planes, of a function that does not commute; sorts; takes that meet by names.
    text_ +=
        "fn affine(a, b) = (a.0 * b.0, a.1 * b.0 + b.1)\n"
        "y27 = cumsum(I, over N)\ny28 = scan(both, y1, over M)\ny29 = sort(W, over M)\ny30 = argsort(A, over N)\n"
        "y31 = take(I, y30)\ny32 = take(u, y30)\ny33 = take(P, argsort(u))\ny34 = cummax(J, over M)\n"
        "y35 = scan(affine, map(pair, 0.5 * A, A), over N)\ny36 = argsort(I, over M)\ny37 = take(v, y36)\n"
        "y38 = sort(u)\ny39 = take(y1, i64(y36), over M)\n";
    text_ += "input k1 : i64[N]\nq1 = abs(k1) % size(N)\n";
    const int which = below(3);
    const int made = which == 0 ? rearrange() : which == 1 ? group() : 39;
    for (int i = 1; i <= made; ++i) outputs_ += ", y" + std::to_string(i);
    text_ += "s0 = tanh(sum(u) * 0.1)\nj = index(N)\ng = if f64(j) < 3.0 then u else 0.5 * u\n";
    known_.push_back({"s0", ""});
    known_.push_back({"g", "N"});
    for (int i = 0; i < 9; ++i) statement();
    std::string list;
    for (const Known& x : known_) {
      if (x.name.size() > 1 && x.name != "s0") list += (list.empty() ? "" : ", ") + x.name;
    }
    return text_ + "output s0" + outputs_ + (list.empty() ? "" : ", " + list) + "\n";
  }

 private:
  struct Known {
    std::string name, dims;
  };

  // To derived dimensions: along each axis, of several planes, out of places that others cut, and back.
  int rearrange() {
    text_ +=
        "y40 = slice(A, E)\ny41 = slice(y1, Back)\ny42 = slice(slice(I, E), Back)\ny43 = concat(P, map(norm3, P), D)\n"
        "y44 = concat(W, slice(W, Back), W, Q3)\ny45 = reshape(W, NM)\ny46 = reshape(reshape(T, MK), [M, K])\n"
        "y47 = reshape(2.0 * y45, [N, M])\ny48 = reshape(X, NF)\ny49 = slice(T, H)\ny50 = concat(v, v, MM) * 2.0\n"
        "y51 = slice(A, Mid + 1) - slice(A, Mid - 1)\n";
    return 51;
  }

  // By keys: over one dimension and both, along dimensions of the array and another, of single values, in a loop.
  int group() {
    text_ +=
        "input k2 : dense i32[N, M]\nq2 = abs(k1) % size(M)\nq3 = i32(abs(i64(k2)) % size(N))\n"
        "q4 = abs(I) % size(M)\nq5 = abs(I) % size(K)\n"
        "y40 = sum(A, by q1 in N)\ny41 = sum(X, by q2 in M, over N)\n"
        "y42 = max(I, by q3 in N)\ny43 = sum(1, by q1 in N)\ny44 = mean(f64(W), by q5 in K, over N)\n"
        "y45 = reduce(both, y1, by q3 in N, over N)\ny46 = sum(1.5, over N, by q5 in K)\ny47 = any(y8, by q4 in M)\n"
        "y48 = min(u, by argsort(u))\ny49 = u * 1.0\nfor i in 0..3 {\n  y49 = 0.5 * sum(y49 + u, by q1 in N)\n}\n";
    return 49;
  }

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  const Known& any() { return known_[static_cast<size_t>(below(static_cast<int>(known_.size())))]; }

  void input(const char* name, const std::string& dims) {
    std::string list;
    for (const char d : dims) list += (list.empty() ? "" : ", ") + std::string(1, d);
    text_ += std::string("input ") + name + " : " + (dims.size() > 1 ? "dense " : "") + "f64[" + list + "]\n";
    known_.push_back({name, dims});
  }

  // A known array over some of these dimensions, in their order.
  Known under(const std::string& dims) {
    for (int tries = 0; tries < 20; ++tries) {
      const Known& x = any();
      size_t at = 0;
      const bool fits = std::all_of(x.dims.begin(), x.dims.end(), [&](char d) {
        at = dims.find(d, at);
        return at++ != std::string::npos;
      });
      if (fits) return x;
    }
    return {"s0", ""};
  }

  std::string element_wise(const Known& x) {
    const Known y = under(x.dims);
    constexpr const char* forms[] = {"%x + %y", "%x * %y", "max(%x, 0.5 * %y)", "0.25 * %x - %y", "abs(%x - %y)"};
    std::string text = forms[below(5)];
    text.replace(text.find("%x"), 2, x.name);
    text.replace(text.find("%y"), 2, y.name);
    return "tanh(" + text + ")";
  }

  void define(const std::string& dims, const std::string& text) {
    const std::string name = "z" + std::to_string(number_++);
    text_ += name + " = " + text + "\n";
    known_.push_back({name, dims});
  }

  void statement() {
    switch (below(10)) {
      case 9:
        return along();
      case 6:
      case 7:
        return notation();
      case 0:
        return reduction();
      case 1:
        return product();
      case 2:
      case 8:
        return sum_of_products();
      case 3:
        return carried();
      default: {
        const Known x = any();
        return define(x.dims, element_wise(x));
      }
    }
  }

  void reduction() {
    const Known x = any();
    if (x.dims.empty()) return;
    const std::string fn = below(3) == 0 ? "max" : "sum";
    const bool square = std::count(x.dims.begin(), x.dims.end(), x.dims[0]) > 1;
    if (below(3) == 0 || square) return define("", "tanh(" + fn + "(" + x.name + ") * 0.1)");
    const auto at = static_cast<size_t>(below(static_cast<int>(x.dims.size())));
    std::string rest = x.dims;
    rest.erase(at, 1);
    define(rest, "tanh(" + fn + "(" + x.name + ", over " + x.dims[at] + ") * 0.1)");
  }

  // Places come from inputs: others differ in their last bits from plan to plan, and with them the order.
  void along() {
    const Known x = any(), y = under(x.dims);
    const bool square = !x.dims.empty() && std::count(x.dims.begin(), x.dims.end(), x.dims[0]) > 1;
    if (x.dims.empty() || square) return;
    const char d = x.dims[static_cast<size_t>(below(static_cast<int>(x.dims.size())))];
    const std::string over = std::string(", over ") + d + ")";
    const bool places = y.name.size() == 1 && y.dims.find(d) != std::string::npos;
    if (places && below(2) == 0) return define(x.dims, "take(" + x.name + ", argsort(" + y.name + over + over);
    if (x.dims.find('N') != std::string::npos && below(3) == 0)
      return define(x.dims, "tanh(0.1 * sum(" + x.name + ", by q1 in N))");
    constexpr const char* forms[] = {"cumsum(", "cummin(", "sort(", "scan(max, "};
    define(x.dims, "tanh(" + (forms[below(4)] + x.name) + over + " * 0.1)");
  }

  void product() {
    const Known p = some_product();
    if (!p.name.empty()) define(p.dims, "tanh((" + p.name + ") * 0.1)");
  }

  // Products that are added to an array of their dimensions, or to one another.
  void sum_of_products() {
    const Known p = some_product();
    if (p.name.empty()) return;
    std::string text = p.name;
    for (int tries = 0; tries < 40; ++tries) {
      const Known other = below(3) == 0 ? some_product() : any();
      if (other.name.empty() || other.dims != p.dims) continue;
      text = below(2) == 0 ? text + " + " + other.name : other.name + " + " + text;
      if (below(2) == 0) break;
    }
    const std::string name = "z" + std::to_string(number_++);
    text_ += name + " = " + text + "\n";
    define(p.dims, "tanh(" + name + " * 0.1)");
  }

  // Its text in place of a name; none if the arrays allow none.
  Known some_product() {
    for (int tries = 0; tries < 40; ++tries) {
      const Known m = any(), y = any();
      if (m.dims.size() != 2 || y.dims.empty() || m.dims[0] == 'F') continue;
      const bool transposed = below(2) == 0;
      if (y.dims[0] != m.dims[transposed ? 0 : 1]) continue;
      const std::string dims = m.dims[transposed ? 1 : 0] + y.dims.substr(1);
      if (y.dims[0] == 'F' && dims.find_first_of("NMK", 1) != std::string::npos) continue;
      const bool repeats = std::count(dims.begin() + 1, dims.end(), dims[0]) > 0;
      if ((repeats && dims.size() > 2) || dims.size() > 3) continue;
      return {m.name + (transposed ? "' @ " : " @ ") + y.name, dims};
    }
    return {};
  }

  // `A[n, m2]`, with one of two variables of each dimension, and the variables that it uses.
  std::string element(const Known& x, std::string& used) {
    std::string text;
    for (const char d : x.dims) {
      const char variable = std::string(below(3) == 0 ? "abde" : "nopq")[std::string("NMKF").find(d)];
      if (used.find(variable) == std::string::npos) used += variable;
      text += (text.empty() ? "" : ", ") + std::string(1, variable);
    }
    return x.dims.empty() ? x.name : x.name + '[' + text + ']';
  }
  static char dim_of(char variable) { return "NMKFNMKF"[std::string("abdenopq").find(variable)]; }
  static std::string variables(const std::string& list) {
    std::string text;
    for (const char v : list) text += (text.empty() ? "" : ", ") + std::string(1, v) + " in " + dim_of(v);
    return text;
  }

  // Index notation: products of two or three factors, other functions of two arrays, diagonals, single values.
  void notation() {
    std::string used;
    const std::string x = element(any(), used), y = element(any(), used), z = element(any(), used);
    if (used.empty() || used.size() > 4) return;
    std::shuffle(used.begin(), used.end(), random_);
    const auto kept = static_cast<size_t>(below(std::min<int>(4, static_cast<int>(used.size()) + 1)));
    const std::string result = used.substr(0, kept), summed = used.substr(kept);
    constexpr const char* bodies[] = {"x * y", "0.5 * x * y", "x * y * z", "abs(x - y)", "x * tanh(y)", "x + y"};
    const int which = below(6);
    std::string text, reduced = which == 5 ? "max" : which == 3 && below(2) == 0 ? "min" : "sum";
    for (const char* c = bodies[which]; *c != 0; ++c) {
      const bool letter = (c[1] < 'a' || c[1] > 'z') && (c == bodies[which] || c[-1] < 'a' || c[-1] > 'z');
      text += letter && *c == 'x' ? x : letter && *c == 'y' ? y : letter && *c == 'z' ? z : std::string(1, *c);
    }
    for (const char v : summed) {  // each variable stands in what is summed
      if (text.find(std::string("[") + v) == std::string::npos && text.find(std::string(", ") + v) == std::string::npos)
        return;
    }
    if (!summed.empty()) text = "tanh(" + reduced + "(" + variables(summed) + ": " + text + ") * 0.1)";
    if (!result.empty()) text = "[" + variables(result) + ": " + text + "]";
    std::string dims;
    for (const char v : result) dims += dim_of(v);
    define(dims, text);
  }

  // A loop, or a branch, that changes a value.
  void carried() {
    const Known x = any();
    const std::string name = "z" + std::to_string(number_++);
    const Known z{name, x.dims};
    text_ += name + " = " + x.name + " * 1.0\n";
    if (below(2) == 0) {
      text_ += "for i in 0..2 {\n  " + name + " = " + element_wise(z) + "\n}\n";
    } else {
      text_ +=
          "if s0 > 0 {\n  " + name + " = " + element_wise(z) + "\n} else {\n  " + name + " = 0.5 * " + name + "\n}\n";
    }
    known_.push_back(z);
  }

  std::mt19937_64 random_;
  std::string text_, outputs_;
  std::vector<Known> known_;
  int number_ = 1;
};

void run_random(std::uint64_t seed) {
  const std::string text = RandomProgram(seed).write();
  SCOPED_TRACE(::testing::Message() << "seed " << seed << '\n' << text);
  try {
    run_over_meshes(compile(text), seed % 5 == 0 ? 2 : 7, seed);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(MeshPlans, RandomProgramsEqualTheInterpreter) {
  for (std::uint64_t seed = 1; seed <= 45 && !::testing::Test::HasFailure(); ++seed) run_random(seed);
}

// One operator that the default layout lacks, and nothing else that asks for a mesh.
TEST(MeshPlans, OneOperatorAloneRunsWithAndWithoutAMesh) {
  for (const char* const text :
       {"slice(u, E)", "slice(A, Back)", "slice(u, In - 1) * 2.0", "[i in In: u[i + 1] - u[i - 1]]", "concat(u, u, D)",
        "concat(A, 2.0 * A, D)", "reshape(A, NM)", "reshape(2.0 * reshape(A, NM), [N, M])", "slice(concat(v, u, S), N)",
        "sort(u)", "cumsum(A, over N)", "take(u, argsort(u))", "sum(u, by argsort(u) in N)"}) {
    SCOPED_TRACE(text);
    const Module program =
        compile(std::string("dim N, M, E = N[::2], Back = M[-1:0:-2], In = N[1:-1], D = N + N, S = M + N, NM = N * M\n"
                            "input A : dense f64[N, M], u : f64[N], v : f64[M]\noutput y = ") +
                text + ", t = sum(u) + sum(v) + sum(A)\n");
    const Data data = data_of(program, 7, 3);
    for (const Mesh& mesh : {Mesh{}, Mesh{1}, Mesh{3}, Mesh{2, 2}}) {
      for (const std::uint64_t layouts : {0, 2, 5})
        run_over(program, mesh, data, layouts == 2, mesh.empty() ? 0 : layouts);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(LongMeshPlans, RandomProgramsEqualTheInterpreter) {
  for (std::uint64_t seed = 1; seed <= 2000 && !::testing::Test::HasFailure(); ++seed) run_random(seed * 7919);
}

class MeshExamples : public ::testing::TestWithParam<const char*> {};

TEST_P(MeshExamples, EqualTheInterpreter) {
  std::ifstream file(std::string(EXAMPLES_DIR) + "/" + GetParam() + ".ks");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  run_over_meshes(compile(text), 12, 4);
}

INSTANTIATE_TEST_SUITE_P(Dense, MeshExamples,
                         ::testing::Values("autoencoder", "blackscholes", "chain", "glm", "kmeans", "kmeans-matrix",
                                           "l2svm", "logistic-lbfgs"));

// A value inside a region that is NaN is named, also if nothing behind it is.
TEST(MeshPlans, TheFirstNanIsThatOfThePlanThatFusesNothing) {
  const Module program = compile(
      "dim N, M\ninput A : dense f64[N, M], u : f64[N]\nB = A * A\nC = sqrt(-1.0 - B)\nD = if C > 0.0 then B else A\n"
      "output s = sum(D * u), D");
  const std::vector<Part> data = testing::split(testing::random_data(program, 1, 7, 0, 3));
  for (const Mesh& mesh : meshes) {
    for (const std::uint64_t seed : {0, 1}) {  // greedy, none
      const Module module = plan_over(program, mesh, seed);
      EXPECT_EQ(count_regions(module) > 0, seed == 0);
      BoxParts boxes(module, mesh_workers(module), 0, mesh_workers(module));
      for (const Part& part : data) boxes.add(part);
      const std::vector<Part> parts = boxes.finish();
      RunOptions options;
      options.refuse_nan = true;
      try {
        (void)execute(module, parts, *make_simulated_transport(mesh_workers(module)), *make_interpreter_kernels(),
                      options);
        ADD_FAILURE() << "no NaN was found";
      } catch (const UserError& e) {
        EXPECT_EQ(e.diagnostics().at(0).where.line, 4) << e.what();
      }
    }
  }
}

// One worker has all of an input, wherever the plan sends it: nothing is copied, and each reader gets the input itself.
TEST(MeshPlans, OneWorkerReadsInputsWhereTheyLie) {
  const Module program = compile(
      "dim N\ninput A : dense f64[N, N], b : f64[N]\nd = [i in N: A[i, i]]\nx = b / d\n"
      "for i in 0..3 {\n  x = x + (b - A @ x) / d\n}\noutput x");
  const Data data = data_of(program, 9, 1);
  for (const Mesh& mesh : {Mesh{1}, Mesh{2}, Mesh{1, 1}}) run_over(program, mesh, data, true, 0);
  const Module module = plan_over(program, {1});
  int sent = 0;
  for_each_op(module, [&](const Op& op, int, int) { sent += stands_in_input(module, op) ? 1 : 0; });
  EXPECT_EQ(sent, 1);
  const CostReport report = measure(module);
  for (const auto& [sizes, factor] : report.actual.written.terms())
    EXPECT_LT(sizes.size(), 2U) << "a matrix is written";
}

// Form (c) of DESIGN: on a square mesh, blocks of both operands move, and less than all of one of them.
TEST(MeshPlans, ProductsMoveBlocks) {
  const Module program = compile("dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B");
  const Module module = plan_over(program, {2, 2});
  const CostReport report = measure(module);
  EXPECT_EQ(report.actual.network.text(SymbolNames(module)), "8 K M + 8 K N");
}

// Workers that hold all of both factors compute all terms; any other cut divides them.
TEST(MeshPlans, TermsOfProductsAreCounted) {
  const Module program = compile("dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B");
  const Polynomial::Bindings sizes{{{SymbolKind::size, "N", {}, -1}, 6},   {{SymbolKind::size, "K", {}, -1}, 10},
                                   {{SymbolKind::size, "M", {}, -1}, 15},  {{SymbolKind::whole, "N", {}, -1}, 6},
                                   {{SymbolKind::whole, "K", {}, -1}, 10}, {{SymbolKind::whole, "M", {}, -1}, 15}};
  const auto terms = [&](const Mesh& mesh, const std::vector<LayoutHint>& layouts) {
    const Module module = plan_over(program, mesh, 0, layouts);
    const CostContext context = cost_context(module);
    std::int64_t sum = 0;
    for (const Op& op : module.body.ops) {
      if (!is_contraction(module, op)) continue;
      sum += work_of(context, op).operations.at(static_cast<size_t>(ScalarWork::term)).value(sizes);
    }
    return sum;
  };
  const auto layout = [](const char* name, const char* rows, const char* row_axes, const char* cols,
                         const char* col_axes) {
    return LayoutHint{name, {{rows, row_axes}, {cols, col_axes}}};
  };
  for (const Mesh& mesh : meshes) EXPECT_EQ(terms(mesh, {}), 900);
  const LayoutHint a = layout("A", "N", "", "K", ""), b = layout("B", "K", "", "M", "");
  EXPECT_EQ(terms({4}, {a, b, layout("C", "N", "", "M", "")}), 4 * 900);
  EXPECT_EQ(terms({2, 3}, {layout("A", "N", "a", "K", ""), b, layout("C", "N", "a", "M", "")}), 3 * 900);
}

// What products contribute is added up where it is made: two of them send what one sends.
TEST(MeshPlans, SumsOfProductsAreGatheredOnce) {
  const auto network = [](const std::string& sum) {
    const Module program = compile(
        "dim N, K, M\ninput A : dense f64[K, N], B : dense f64[K, M], D : dense f64[K, N], E : dense f64[K, M]\n"
        "output S = " +
        sum);
    const Module module = plan_over(program, {4});
    return measure(module).actual.network.text(SymbolNames(module));
  };
  EXPECT_EQ(network("A' @ B"), "24 M N");
  EXPECT_EQ(network("A' @ B + D' @ E"), network("A' @ B"));
  EXPECT_EQ(network("A' @ B - D' @ E"), "48 M N");
}

}  // namespace
}  // namespace kasen
