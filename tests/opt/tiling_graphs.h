// Tiling graphs for tests: of small programs, of random programs, of NAE-3SAT instances, and of nothing in particular;
// and the search that tries all.
#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "libopt/tiling/solve/search.h"

namespace kasen::tiling::testing {

// A program over square matrices of n x n, with the paper's costs. Layouts are rows, columns and, with a budget, a copy
// on each worker, which takes n x n elements.
class ProgramGraph {
 public:
  explicit ProgramGraph(double elements = 1, bool has_copies = false)
      : elements_(elements), layouts_{{"rows", 0}, {"columns", 0}} {
    if (has_copies) layouts_.push_back({"copies", elements});
  }

  VariableId array(const std::string& name = {}) { return graph.add(Variable{name, layouts_}); }

  // A map moves each operand that is not laid out as the result.
  VariableId map(const std::vector<VariableId>& operands, const std::string& name = {}) {
    const VariableId result = array(name);
    for (const VariableId operand : operands) {
      graph.add(Factor{{operand, result}, costs(layouts_.size(), [&](std::size_t in, std::size_t out) {
                         return in == out || in == 2 ? 0 : elements_;
                       })});
    }
    return result;
  }

  // Rows become columns.
  VariableId transpose(VariableId operand, const std::string& name = {}) {
    const VariableId result = array(name);
    graph.add(
        Factor{{operand, result},
               costs(layouts_.size(),
                     [](std::size_t in, std::size_t out) { return (in == 2 ? 2 : 1 - in) == out ? 0 : forbidden; }),
               true});
    return result;
  }

  // Form a reads the whole of y, form b updates the whole of the result; on p workers.
  VariableId dot(VariableId x, VariableId y, double p) {
    const VariableId result = array(), form = graph.add(Variable{"form", {{"a"}, {"b"}}});
    const auto add = [&](VariableId array, auto cost) {
      std::vector<double> all;
      for (std::size_t f = 0; f < 2; ++f) {
        for (std::size_t layout = 0; layout < layouts_.size(); ++layout) all.push_back(cost(f, layout) * elements_);
      }
      graph.add(Factor{{form, array}, all});
    };
    add(x, [](std::size_t f, std::size_t layout) { return layout == f || layout == 2 ? 0.0 : 1.0; });
    if (y != x) {
      add(y, [&](std::size_t f, std::size_t layout) { return layout == 2 ? 0 : f == 0 ? p : layout == 0 ? 0.0 : 1.0; });
    }
    add(result, [&](std::size_t f, std::size_t layout) { return f == 1 ? p : layout == 0 ? 0.0 : 1.0; });
    return result;
  }

  Graph graph;

 private:
  template <class Cost>
  static std::vector<double> costs(std::size_t layouts, Cost cost) {
    std::vector<double> all;
    for (std::size_t in = 0; in < layouts; ++in) {
      for (std::size_t out = 0; out < layouts; ++out) all.push_back(cost(in, out));
    }
    return all;
  }

  double elements_;
  std::vector<Choice> layouts_;
};

// The least and the largest cost of all assignments within a budget, by trying each.
class BruteForce {
 public:
  BruteForce(const Graph& graph, double budget) : graph_(graph), budget_(budget), at_(graph.size(), 0) {
    last_of_.resize(graph.size());
    for (const Factor& factor : graph.factors()) {
      last_of_[*std::max_element(factor.variables.begin(), factor.variables.end())].push_back(&factor);
    }
    visit(VariableId(0), 0, 0);
  }

  double least = forbidden, most = -forbidden;  // as they are, if nothing is allowed

 private:
  void visit(VariableId id, double cost, double memory) {
    if (cost == forbidden || memory > budget_) return;
    if (!at_.contains(id)) {
      least = std::min(least, cost);
      most = std::max(most, cost);
      return;
    }
    for (at_[id] = 0; at_[id] < graph_[id].choices.size(); ++at_[id]) {
      double sum = cost;
      for (const Factor* factor : last_of_[id]) sum += graph_.cost(*factor, at_);
      visit(VariableId(id + 1), sum, memory + graph_[id].choices[at_[id]].memory);
    }
  }

  const Graph& graph_;
  const double budget_;
  Assignment at_;
  IdMap<VariableId, std::vector<const Factor*>> last_of_;  // by variable: the factors without later ones
};

inline std::size_t below(std::mt19937& random, std::size_t n) { return random() % n; }

// Half of the operands are among the last eight values, half among all before.
inline Graph random_program(std::uint32_t seed, int operators, bool has_copies = false) {
  std::mt19937 random(seed);
  ProgramGraph program(1 << 20, has_copies);
  std::vector<VariableId> values;
  for (int i = 0; i < 3; ++i) values.push_back(program.array());
  const auto value = [&] {
    const std::size_t recent = std::min<std::size_t>(values.size(), 8);
    return below(random, 2) == 0 ? values[values.size() - 1 - below(random, recent)]
                                 : values[below(random, values.size())];
  };
  for (int i = 0; i < operators; ++i) {
    const VariableId a = value(), b = value();
    const std::size_t kind = below(random, 10);
    values.push_back(kind < 3             ? program.transpose(a)
                     : kind < 5           ? program.dot(a, b, 8)
                     : kind < 6 || a == b ? program.map({a})
                                          : program.map({a, b}));
  }
  return std::move(program.graph);
}

// Three literals of each clause: the variable's number from 1, negative if negated.
using Clause = std::array<int, 3>;

// The paper's appendix A: a clause costs 2 if its literals are not all equal, else 6.
inline Graph not_all_equal(int variables, const std::vector<Clause>& clauses) {
  ProgramGraph program;
  std::vector<std::array<VariableId, 2>> literals;  // by variable: itself, negated
  for (int v = 0; v < variables; ++v) {
    const VariableId array = program.array();
    literals.push_back({array, program.transpose(array)});
  }
  const auto literal = [&](int of, bool swapped) {
    return literals[static_cast<std::size_t>(std::abs(of) - 1)][(of < 0) != swapped ? 1 : 0];
  };
  for (const Clause& clause : clauses) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        if (i != j) program.map({literal(clause[i], true), literal(clause[j], false)});
      }
    }
  }
  return std::move(program.graph);
}

inline std::vector<Clause> random_clauses(std::uint32_t seed, int variables, int count, bool is_planted) {
  std::mt19937 random(seed);
  std::vector<bool> planted;
  for (int v = 0; v < variables; ++v) planted.push_back(below(random, 2) == 0);
  std::vector<Clause> clauses;
  while (static_cast<int>(clauses.size()) < count) {
    Clause clause{};
    int holds = 0;
    for (int& literal : clause) {
      const int v = static_cast<int>(below(random, static_cast<std::size_t>(variables)));
      literal = below(random, 2) == 0 ? v + 1 : -v - 1;
      if (planted[static_cast<std::size_t>(v)] == (literal > 0)) ++holds;
    }
    const auto same = [](int a, int b) { return std::abs(a) == std::abs(b); };
    if (same(clause[0], clause[1]) || same(clause[0], clause[2]) || same(clause[1], clause[2])) continue;
    if (!is_planted || (holds > 0 && holds < 3)) clauses.push_back(clause);
  }
  return clauses;
}

// A factor that joins the choices of one variable with those of the other one by one, and forbids all else.
inline Factor random_view(std::mt19937& random, VariableId a, VariableId b, std::size_t a_choices,
                          std::size_t b_choices) {
  Factor factor{{a, b}, std::vector<double>(a_choices * b_choices, forbidden), true};
  const std::size_t shift = below(random, b_choices);
  for (std::size_t c = 0; c < a_choices; ++c) factor.costs[c * b_choices + (c + shift) % b_choices] = 0;
  return factor;
}

// Up to 12 variables of 2 to 4 choices with at most `most` assignments, factors of 1 to 3 variables. One entry in
// `forbids` is forbidden.
inline Graph random_graph(std::mt19937& random, std::size_t most, std::size_t forbids) {
  Graph graph;
  std::vector<std::size_t> counts;
  const std::size_t variables = 1 + below(random, 12);
  for (std::size_t all = 1; counts.size() < variables;) {
    const std::size_t count = 2 + below(random, 3);
    if ((all *= count) > most) break;
    counts.push_back(count);
    Variable variable;
    for (std::size_t c = 0; c < count; ++c) variable.choices.push_back({"", static_cast<double>(below(random, 4))});
    graph.add(std::move(variable));
  }
  const std::size_t factors = below(random, 2 * counts.size() + 1);
  for (std::size_t f = 0; f < factors; ++f) {
    std::vector<VariableId> all;
    for (const VariableId id : graph.ids()) all.push_back(id);
    std::shuffle(all.begin(), all.end(), random);
    all.resize(std::min(all.size(), 1 + below(random, 3)));
    const auto count = [&](std::size_t i) { return counts[static_cast<std::size_t>(all[i])]; };
    if (all.size() == 2 && below(random, 3) == 0) {
      graph.add(random_view(random, all[0], all[1], count(0), count(1)));
      continue;
    }
    std::size_t entries = 1;
    for (std::size_t i = 0; i < all.size(); ++i) entries *= count(i);
    Factor factor{all, {}};
    for (std::size_t i = 0; i < entries; ++i) {
      factor.costs.push_back(below(random, forbids) == 0 ? forbidden : static_cast<double>(below(random, 8)));
    }
    graph.add(std::move(factor));
  }
  return graph;
}

}  // namespace kasen::tiling::testing
