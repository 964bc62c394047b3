#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bench/semirings/semirings.h"

namespace kasen::bench {
namespace {

// Between 0 and 1 by the entry's number, so that values neither grow nor vanish in ten passes of ten entries a row.
double weight(std::int64_t k) { return static_cast<double>(k * 7919 % 1021 + 1) / 8192; }

template <class T>
auto pass(T identity, T (*multiply)(T x, T entry), T (*reduce)(T a, T b)) {
  return [=](const Graph& graph, const std::vector<double>& x) {
    std::vector<T> y(x.size(), identity);
    for (size_t k = 0; k < graph.from.size(); ++k) {
      T& sum = y[static_cast<size_t>(graph.to[k])];
      const T entry = static_cast<T>(weight(static_cast<std::int64_t>(k)));
      sum = reduce(sum, multiply(static_cast<T>(x[static_cast<size_t>(graph.from[k])]), entry));
    }
    return std::vector<double>(y.begin(), y.end());
  };
}

void check(const std::string& name, const std::vector<double>& expected, const std::vector<double>& got) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == got[i] || std::fabs(expected[i] - got[i]) <= 1e-5 * std::fabs(expected[i])) continue;
    throw std::runtime_error(fmt::format("{}: element {} is {}, not {}", name, i, got[i], expected[i]));
  }
}

std::vector<double> after_passes(const Graph& graph, const SemiringCase& semiring, double start) {
  std::vector<double> x(static_cast<size_t>(graph.vertices), start);
  for (std::int64_t k = 0; k < semiring_passes; ++k) x = semiring.pass(graph, x);
  return x;
}

}  // namespace

std::vector<SemiringCase> semiring_cases() {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const auto of = [](Scalar scalar) { return ElementType::of(scalar); };
  const auto f64 = [](Array& values, std::int64_t k) { values.as<double>()[k] = weight(k); };
  return {
      {"plus_times", of(Scalar::f64), f64,
       pass<double>(
           0, [](double x, double e) { return x * e; }, [](double a, double b) { return a + b; })},
      {"plus_null",
       of(Scalar::null),
       {},
       pass<double>(
           0, [](double x, double) { return x; }, [](double a, double b) { return a + b; })},
      {"min_plus", of(Scalar::f64), f64,
       pass<double>(
           inf, [](double x, double e) { return x + e; }, [](double a, double b) { return std::min(a, b); }),
       0},
      {"or_and", of(Scalar::boolean), [](Array& values, std::int64_t k) { values.as<bool>()[k] = true; },
       pass<double>(
           0, [](double x, double) { return x; }, [](double a, double b) { return std::max(a, b); })},
      {"min_first",
       of(Scalar::null),
       {},
       pass<double>(
           0x1p63, [](double x, double) { return x; }, [](double a, double b) { return std::min(a, b); }),
       7},
      {"max_times", of(Scalar::f32),
       [](Array& values, std::int64_t k) { values.as<float>()[k] = static_cast<float>(weight(k)); },
       pass<float>(
           -std::numeric_limits<float>::infinity(), [](float x, float e) { return x * e; },
           [](float a, float b) { return std::max(a, b); })},
  };
}

Question semirings_question(const Settings& settings) {
  const Graph graph = read_graph(settings.graph);
  Question question{"semirings", "ns/entry", 1e9, {}};
  const auto entries = static_cast<double>(graph.from.size());
  for (const SemiringCase& semiring : semiring_cases()) {
    const auto run = kasen_semiring(graph, semiring, semiring.name, settings.threads, true);
    check(semiring.name, after_passes(graph, semiring, semiring.start), run().vectors.at(0));
    // plus_times is what the others are compared with.
    question.contestants.push_back({semiring.name == "plus_times" ? "kasen" : semiring.name,
                                    [run, entries] { return run().seconds_per_pass / entries; }});
  }
  return question;
}

Question mxm_question(const Settings& settings) {
  const Graph graph = read_graph(settings.graph);
  const SemiringCase plus_times = semiring_cases().front();
  Question question{"mxm", "ms/pass", 1e3, {}};
  for (const bool fused : {true, false}) {
    const auto run = kasen_semiring(graph, plus_times, "four", settings.threads, fused);
    const SemiringResult result = run();
    for (size_t v = 0; v < 4; ++v)
      check("four", after_passes(graph, plus_times, static_cast<double>(v + 1)), result.vectors.at(v));
    question.contestants.push_back({fused ? "kasen" : "kasen-apart", [run] { return run().seconds_per_pass; }});
  }
  return question;
}

}  // namespace kasen::bench
