// Modules that nobody vouches for, run on small random data: on simulated workers for a bounded number of steps and, if
// they end within that, in the plain interpreter.
#pragma once

#include <cmath>
#include <optional>
#include <set>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "tests/opt/random_data.h"

namespace kasen::testing {

struct RunBounds {
  int steps = 1000;
  std::uint64_t seed = 1;
};

struct BoundedRun {
  bool ended = false;   // else it was refused, or went on
  std::string refusal;  // the executor's
  std::map<std::string, Type> types;
  std::map<std::string, std::vector<Word>> made, wanted;  // whole outputs: the executor's, the interpreter's
  std::set<std::string> wrong;                            // differ, and not by rounding
};

// Dimensions that the program leaves open get up to this many indices and more.
inline constexpr std::int64_t open_size = 9, most_elements = 4096;

// None of its values has many elements.
inline bool is_small(const Module& module) {
  try {
    for (const Value& value : module.values) {
      std::int64_t elements = std::max<std::int64_t>(1, value.type.list);
      for (const DimId d : value.type.dims)
        elements = checked_mul(elements, module.dim(d).size < 0 ? 2 * open_size : module.dim(d).size, "size");
      if (checked_mul(elements, value.type.element.planes(), "size") > most_elements) return false;
    }
    for (const Dimension& dim : module.dims)
      if (dim.size > most_elements) return false;
  } catch (const UserError&) {
    return false;
  }
  return true;
}

// Whole numbers, of which any sum is exact, and ids that exist.
inline TestData exact_data(const Module& module, int workers, std::uint64_t seed) {
  TestData data = random_data(module, workers, open_size, 30, seed);
  std::mt19937_64 random(seed);
  for (auto& [name, array] : data.arrays) {
    const std::int64_t planes = array.element.planes();
    for (size_t k = 0; k < array.words.size(); ++k) {
      const std::int64_t plane = static_cast<std::int64_t>(k) % planes;
      const auto v = static_cast<std::int64_t>(random() % 5) + 1;
      const Scalar s = array.element.plane_scalar(plane);
      array.words[k] =
          is_float(s) ? Word::real(static_cast<double>(v)) : Word::integer(s == Scalar::boolean ? v % 2 : v);
      for (const Component& c : array.element.components)
        if (s == Scalar::id && c.scalar == Scalar::id)
          array.words[k] = Word::integer(v % std::max<std::int64_t>(1, data.dims.at(module.dim(c.id_of).name).size));
    }
  }
  return data;
}

// Sums may be added in another order.
inline bool close_numbers(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= 1e-6 * std::max({1.0, std::fabs(a), std::fabs(b)});
}

inline bool same_words(const ElementType& element, const std::vector<Word>& a, const std::vector<Word>& b) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k) {
    const Scalar s = element.plane_scalar(static_cast<std::int64_t>(k) % element.planes());
    if (is_float(s) ? !close_numbers(a[k].f, b[k].f) : a[k].i != b[k].i) return false;
  }
  return true;
}

class StepLimit : public RunObserver {
 public:
  explicit StepLimit(int steps) : left_(steps) {}
  void began(RunPhase, int, const Place&, const OpCount&) override {
    if (--left_ < 0) throw UserError(ExitStatus::limit, Diagnostic{{}, "it goes on", {}, {}, {}, -1});
  }
  void ended(RunPhase, int, const OpCount&) override {}

 private:
  int left_;
};

// The outputs that become others if floating-point data and parameters are off in their last bits, each in its own way:
// the times that a loop runs, say, if a small difference ends it. Such a number says nothing about a plan, which may
// add in another order.
inline std::set<std::string> left_to_rounding(Module program, TestData data,
                                              const std::map<std::string, std::vector<Word>>& wanted) {
  std::mt19937_64 random;
  const auto nudge = [&random](const ElementType& element, std::vector<Word>& words) {
    for (size_t k = 0; k < words.size(); ++k) {
      const Scalar s = element.plane_scalar(static_cast<std::int64_t>(k) % element.planes());
      const double bits = static_cast<double>(random() % 3) + 1;
      if (is_float(s)) words[k].f *= 1 + bits * (s == Scalar::f32 ? 0x1p-21 : 0x1p-48);
    }
  };
  std::set<std::string> found;
  for (int turn = 0; turn < 4; ++turn) {
    for (auto& [name, array] : data.arrays) nudge(array.element, array.words);
    for (auto& [name, matrix] : data.matrices) nudge(matrix.element, matrix.values);
    for (Op& op : program.body.ops)
      if (op.code == OpCode::param) nudge(program.type(op.results[0]).element, op.literal);
    for (const auto& [name, array] : interpret(program, whole_inputs(split(data)))) {
      const auto it = wanted.find(name);
      if (it != wanted.end() && !same_words(array.element, words_of(array), it->second)) found.insert(name);
    }
  }
  return found;
}

// The interpreter runs `program`, of which the module is a plan.
inline BoundedRun run_bounded(const Module& module, const Module& program, int workers, const RunBounds& bounds) {
  const TestData data = exact_data(program, workers, bounds.seed);
  const std::vector<Part> parts = split(data);
  BoundedRun run;
  StepLimit limit(bounds.steps);
  RunOptions options;
  options.observer = &limit;
  RunResult result;
  try {
    result = run_simulated(module, parts, options);
  } catch (const UserError& error) {
    run.refusal = error.what();
    return run;
  }
  for (const Output& output : result.outputs) {
    run.types[output.name] = output.type;
    run.made[output.name] = whole_words(module, output, parts);
  }
  for (const auto& [name, array] : interpret(program, whole_inputs(parts))) run.wanted[name] = words_of(array);
  run.ended = true;
  for (const auto& [name, made] : run.made)
    if (!same_words(run.types.at(name).element, made, run.wanted.at(name))) run.wrong.insert(name);
  if (run.wrong.empty()) return run;
  for (const std::string& name : left_to_rounding(program, data, run.wanted)) run.wrong.erase(name);
  return run;
}

inline BoundedRun run_bounded(const Module& module, int workers, const RunBounds& bounds) {
  return run_bounded(module, module, workers, bounds);
}

}  // namespace kasen::testing
