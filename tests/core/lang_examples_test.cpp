// Every program of examples/ on small data, against plain loops written here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libcore/reference/interpreter.h"

namespace kasen {
namespace {

using Defines = std::map<std::string, std::string>;
using Outputs = std::map<std::string, Array>;
using Edges = std::vector<std::pair<int, int>>;

std::string example(const std::string& name) {
  std::ifstream file(EXAMPLES_DIR "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

Outputs run(const std::string& name, const WholeInputs& inputs, const Defines& defines = {}) {
  const Module module = compile_program(example(name), name, defines);
  TrialLawChecker laws;
  require_valid(module, laws);
  return interpret(module, inputs);
}

Array vector_of(const std::vector<double>& values) {
  Array a(ElementType::of(Scalar::f64), static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), a.as<double>());
  return a;
}

std::vector<double> reals(const Outputs& out, const std::string& name) {
  const Array& a = out.at(name);
  return {a.as<double>(), a.as<double>() + a.count};
}

std::vector<std::int64_t> integers(const Outputs& out, const std::string& name) {
  const Array& a = out.at(name);
  return {a.as<std::int64_t>(), a.as<std::int64_t>() + a.count};
}

Edges random_edges(int vertices, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::set<std::pair<int, int>> found;
  while (static_cast<int>(found.size()) < count) {
    const auto pick = [&] { return static_cast<int>(random() % static_cast<unsigned>(vertices)); };
    const int from = pick();
    found.emplace(from, pick());
  }
  return {found.begin(), found.end()};
}

WholeInputs graph(const std::string& dim, int vertices, const Edges& edges, const std::vector<double>& weights = {}) {
  WholeInputs inputs;
  inputs.dims[dim] = vertices;
  WholeMatrix& g = inputs.matrices["G"];
  for (const auto& [from, to] : edges) {
    g.rows.push_back(from);
    g.cols.push_back(to);
  }
  if (!weights.empty()) g.values = vector_of(weights);
  return inputs;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double relative) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], relative * (1 + std::abs(b[i]))) << i;
}

std::vector<double> plain_pagerank(int n, const Edges& edges, double r, double theta) {
  const auto size = static_cast<size_t>(n);
  std::vector<double> rank(size, 1.0), degree(size, 0.0);
  for (const auto& edge : edges) degree[static_cast<size_t>(edge.first)] += 1;
  for (double change = theta + 1; change > theta;) {
    std::vector<double> next(size, 1 - r);
    for (const auto& [from, to] : edges) {
      next[static_cast<size_t>(to)] += r * rank[static_cast<size_t>(from)] / degree[static_cast<size_t>(from)];
    }
    change = 0;
    for (size_t i = 0; i < size; ++i) change += std::abs(next[i] - rank[i]);
    rank = std::move(next);
  }
  return rank;
}

TEST(Examples, PageRankInItsThreeForms) {
  const Edges edges = random_edges(60, 240, 1);
  const std::vector<double> expected = plain_pagerank(60, edges, 0.85, 1e-6);
  for (const std::string name : {"pagerank.ks", "pagerank-primitives.ks", "pagerank-i32.ks"}) {
    SCOPED_TRACE(name);
    expect_near(reals(run(name, graph("N", 60, edges)), "pr"), expected, 1e-12);
  }
}

std::vector<std::int64_t> plain_levels(int n, const Edges& edges, int source) {
  std::vector<std::int64_t> level(static_cast<size_t>(n), -1);
  std::queue<int> queue;
  queue.push(source);
  level[static_cast<size_t>(source)] = 0;
  while (!queue.empty()) {
    const int v = queue.front();
    queue.pop();
    for (const auto& [from, to] : edges) {
      if (from != v || level[static_cast<size_t>(to)] >= 0) continue;
      level[static_cast<size_t>(to)] = level[static_cast<size_t>(v)] + 1;
      queue.push(to);
    }
  }
  return level;
}

TEST(Examples, BreadthFirstSearch) {
  const Edges edges = random_edges(50, 70, 2);
  EXPECT_EQ(integers(run("bfs.ks", graph("V", 50, edges), {{"source", "7"}}), "level"), plain_levels(50, edges, 7));
}

TEST(Examples, ShortestPaths) {
  const Edges edges = random_edges(40, 90, 3);
  std::vector<double> weights;
  for (size_t i = 0; i < edges.size(); ++i) weights.push_back(0.5 + static_cast<double>(i * 7 % 10));
  std::vector<double> expected(40, std::numeric_limits<double>::infinity());
  expected[0] = 0;
  for (int round = 0; round < 40; ++round) {
    for (size_t e = 0; e < edges.size(); ++e) {
      double& to = expected[static_cast<size_t>(edges[e].second)];
      to = std::min(to, expected[static_cast<size_t>(edges[e].first)] + weights[e]);
    }
  }
  EXPECT_TRUE(std::any_of(expected.begin(), expected.end(), [](double d) { return std::isinf(d); }));
  const Outputs found = run("sssp.ks", graph("V", 40, edges, weights));
  EXPECT_EQ(reals(found, "distance"), expected);
  EXPECT_EQ(found.at("negative_cycle").as<std::uint8_t>()[0], 0);
}

// A chain whose last links go back and are negative: around them paths shrink for ever, without them they do not. All
// rounds are needed: no path is the shortest before the last one.
TEST(Examples, ShortestPathsEndAroundANegativeCycle) {
  for (const bool cycle : {false, true}) {
    Edges edges;
    std::vector<double> weights;
    for (int v = 0; v + 1 < 12; ++v) {
      edges.emplace_back(v, v + 1);
      weights.push_back(v == 10 ? -3 : 1);
    }
    edges.emplace_back(11, 9);
    weights.push_back(cycle ? 1 : 3);
    const Outputs found = run("sssp.ks", graph("V", 12, edges, weights));
    EXPECT_EQ(found.at("negative_cycle").as<std::uint8_t>()[0], cycle ? 1 : 0);
    if (!cycle) {
      EXPECT_EQ(reals(found, "distance").back(), 7);
    }
    const Module of_library =
        compile_program("dim N\ninput G : f64[N, N]\noutput d = shortest_paths(G, 0)\n", "p.ks", {});
    const std::vector<double> d = reals(interpret(of_library, graph("N", 12, edges, weights)), "d");
    if (cycle) {
      EXPECT_TRUE(std::all_of(d.begin(), d.end(), [](double x) { return std::isnan(x); }));
    } else {
      EXPECT_EQ(d, reals(found, "distance"));
    }
  }
}

TEST(Examples, Components) {
  const Edges edges = random_edges(60, 40, 4);
  std::vector<std::int64_t> expected(60);
  for (size_t i = 0; i < 60; ++i) expected[i] = static_cast<std::int64_t>(i);
  for (int round = 0; round < 60; ++round) {
    for (const auto& [a, b] : edges) {
      const std::int64_t least = std::min(expected[static_cast<size_t>(a)], expected[static_cast<size_t>(b)]);
      expected[static_cast<size_t>(a)] = expected[static_cast<size_t>(b)] = least;
    }
  }
  EXPECT_EQ(integers(run("components.ks", graph("V", 60, edges)), "component"), expected);
}

TEST(Examples, HubsAndAuthorities) {
  const Edges edges = random_edges(30, 120, 5);
  std::vector<double> hub(30, 1.0), authority(30, 0.0);
  const auto scaled = [](std::vector<double> v) {
    double square = 0;
    for (const double x : v) square += x * x;
    for (double& x : v) x /= std::sqrt(square);
    return v;
  };
  for (int iteration = 0; iteration < 20; ++iteration) {
    std::vector<double> a(30, 0.0), h(30, 0.0);
    for (const auto& [from, to] : edges) a[static_cast<size_t>(to)] += hub[static_cast<size_t>(from)];
    authority = scaled(a);
    for (const auto& [from, to] : edges) h[static_cast<size_t>(from)] += authority[static_cast<size_t>(to)];
    hub = scaled(h);
  }
  const Outputs out = run("hits.ks", graph("N", 30, edges));
  expect_near(reals(out, "hub"), hub, 1e-12);
  expect_near(reals(out, "authority"), authority, 1e-12);
}

TEST(Examples, BlackScholes) {
  const std::vector<double> spot{100, 42, 7, 55.5}, strike{95, 50, 7, 20};
  WholeInputs inputs;
  inputs.dims["N"] = 4;
  inputs.arrays["spot"] = vector_of(spot);
  inputs.arrays["strike"] = vector_of(strike);
  const double rate = 0.02, volatility = 0.3;
  const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  std::vector<double> call, put;
  for (size_t i = 0; i < 4; ++i) {
    const double d1 = (std::log(spot[i] / strike[i]) + rate + volatility * volatility / 2) / volatility;
    const double d2 = d1 - volatility;
    const double present = strike[i] * std::exp(-rate);
    call.push_back(spot[i] * normal(d1) - present * normal(d2));
    put.push_back(present * normal(-d2) - spot[i] * normal(-d1));
  }
  const Outputs out = run("blackscholes.ks", inputs);
  expect_near(reals(out, "call"), call, 1e-11);
  expect_near(reals(out, "put"), put, 1e-11);
}

TEST(Examples, KMeansFindsSeparateClusters) {
  constexpr int points = 90;
  WholeInputs inputs;
  inputs.dims["N"] = points;
  Array x(ElementType::array(Scalar::f64, 2), points);
  std::mt19937 random(6);
  for (int i = 0; i < points; ++i) {  // three heaps, in thirds
    const int heap = i / 30;
    const auto noise = [&] { return static_cast<double>(random() % 1000) / 1000.0; };
    x.as<double>(0)[i] = 10.0 * heap + noise();
    x.as<double>(1)[i] = (heap == 1 ? 20.0 : 0.0) + noise();
  }
  double expected = 0;
  for (int heap = 0; heap < 3; ++heap) {
    for (const std::int64_t axis : {0, 1}) {
      const double* v = x.as<double>(axis) + 30 * heap;
      double mean = 0;
      for (int i = 0; i < 30; ++i) mean += v[i] / 30;
      for (int i = 0; i < 30; ++i) expected += (v[i] - mean) * (v[i] - mean);
    }
  }
  inputs.arrays["X"] = std::move(x);
  const Outputs out = run("kmeans.ks", inputs);
  const std::vector<std::int64_t> cluster = integers(out, "cluster");
  for (int i = 0; i < points; ++i) EXPECT_EQ(cluster[static_cast<size_t>(i)], i / 30) << i;
  EXPECT_NEAR(reals(out, "inertia")[0], expected, 1e-9);
}

// Samples of two classes that a plane nearly separates.
WholeInputs samples(std::vector<double>& labels, const std::string& label_name) {
  constexpr int rows = 80, cols = 5;
  WholeInputs inputs;
  inputs.dims["H"] = rows;
  inputs.dims["W"] = cols;
  WholeMatrix& x = inputs.matrices["X"];
  std::mt19937 random(8);
  std::vector<double> values;
  for (int i = 0; i < rows; ++i) {
    double score = 0;
    for (int j = 0; j < cols; ++j) {
      if (random() % 3 == 0) continue;
      const double v = static_cast<double>(random() % 2001) / 1000.0 - 1.0;
      x.rows.push_back(i);
      x.cols.push_back(j);
      values.push_back(v);
      score += v * (j - 1.5);
    }
    const double noise = static_cast<double>(random() % 1000) / 1000.0 - 0.5;
    labels.push_back(score + noise > 0 ? 1 : -1);
  }
  x.values = vector_of(values);
  inputs.arrays[label_name] = vector_of(labels);
  return inputs;
}

std::vector<double> gradient(const WholeInputs& inputs, const std::vector<double>& labels,
                             const std::vector<double>& w) {
  const WholeMatrix& x = inputs.matrices.at("X");
  std::vector<double> z(labels.size(), 0.0), g(w.size(), 0.0);
  for (size_t k = 0; k < x.rows.size(); ++k) {
    z[static_cast<size_t>(x.rows[k])] += x.values.as<double>()[k] * w[static_cast<size_t>(x.cols[k])];
  }
  for (size_t k = 0; k < x.rows.size(); ++k) {
    const auto i = static_cast<size_t>(x.rows[k]);
    const double e = 1 / (1 + std::exp(-z[i])) - (labels[i] > 0 ? 1.0 : 0.0);
    g[static_cast<size_t>(x.cols[k])] += x.values.as<double>()[k] * e;
  }
  return g;
}

double length(const std::vector<double>& v) {
  double square = 0;
  for (const double x : v) square += x * x;
  return std::sqrt(square);
}

TEST(Examples, LogisticRegressionDescends) {
  std::vector<double> labels;
  const WholeInputs inputs = samples(labels, "y");
  std::vector<double> w(5, 0.0);
  for (int iteration = 0; iteration < 100; ++iteration) {
    const std::vector<double> g = gradient(inputs, labels, w);
    for (size_t j = 0; j < w.size(); ++j) w[j] -= 0.1 / 80 * g[j];
  }
  const Outputs out = run("logistic.ks", inputs);
  expect_near(reals(out, "w"), w, 1e-12);
  EXPECT_GT(integers(out, "right")[0], 60);
}

TEST(Examples, LbfgsReachesTheMinimum) {
  std::vector<double> labels;
  const WholeInputs inputs = samples(labels, "label");
  const double start = length(gradient(inputs, labels, std::vector<double>(5, 0.0)));
  const std::vector<double> w = reals(run("lbfgs.ks", inputs, {{"turns", "60"}}), "w");
  EXPECT_LT(length(gradient(inputs, labels, w)), 1e-6 * start);
}

TEST(Examples, Chain) {
  const std::vector<double> x{1, -2, 0.5}, y{3, 0.25, -4};
  WholeInputs inputs;
  inputs.dims["N"] = 3;
  inputs.arrays["x"] = vector_of(x);
  inputs.arrays["y"] = vector_of(y);
  std::vector<double> w;
  for (size_t i = 0; i < 3; ++i) {
    const double u = std::max(2.0 * x[i] + y[i], 0.0);
    w.push_back(std::sqrt(std::abs(u * u - y[i])) / (1 + u));
  }
  const Outputs out = run("chain.ks", inputs);
  expect_near(reals(out, "w"), w, 1e-15);
  EXPECT_DOUBLE_EQ(reals(out, "total")[0], w[0] + w[1] + w[2]);
  EXPECT_EQ(reals(out, "largest")[0], *std::max_element(w.begin(), w.end()));
}

}  // namespace
}  // namespace kasen
