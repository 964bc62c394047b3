// The verifier against the executor: plans whose buffers or states were edited are either refused, or they still run
// and compute what their program says. States and buffers never change the meaning, so that the program is the oracle.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"

namespace kasen {
namespace {

using testing::TestData;

bool close(const ElementType& element, const std::vector<Word>& a, const std::vector<Word>& b) {
  if (a.size() != b.size()) return false;
  const auto planes = static_cast<size_t>(element.planes());
  for (size_t i = 0; i < a.size(); ++i) {
    if (!is_float(element.plane_scalar(static_cast<std::int64_t>(i % planes)))) {
      if (a[i].i != b[i].i) return false;
      continue;
    }
    const bool both_nan = std::isnan(a[i].f) && std::isnan(b[i].f);
    const double scale = std::max({1.0, std::fabs(a[i].f), std::fabs(b[i].f)});
    if (!both_nan && a[i].f != b[i].f && !(std::fabs(a[i].f - b[i].f) <= 1e-9 * scale)) return false;
  }
  return true;
}

class Edits {
 public:
  explicit Edits(const std::string& name)
      : program_(example(name)), data_(testing::random_data(program_, 3, 20, 50, 11)) {
    parts_ = testing::split(data_);
    wanted_ = interpret(program_, whole_inputs(parts_));
  }

  void all_of(Strategy strategy, SyncMode sync) {
    const Module right = plan(program_, strategy, sync);
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 250; ++trial) {
      Module edited = right;
      const std::string what = edit(edited, random);
      if (!what.empty()) judge(edited, what);
    }
  }

  int accepted = 0, refused = 0;

 private:
  // One value gets another buffer, or another state.
  static std::string edit(Module& m, std::mt19937_64& random) {
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    Value& value = m.values[ValueId(below(m.values.size()))];
    if (random() % 2 == 0) {
      if (value.buffer == no_buffer) return {};
      value.buffer = static_cast<BufferId>(below(m.buffers.size()));
      return "%" + value.name + " in ~b" + std::to_string(value.buffer);
    }
    const Value& other = m.values[ValueId(below(m.values.size()))];
    const std::vector<State> states{State::part(), State::cons(), other.type.state,
                                    State::cons(other.type.state.slaves)};
    const State& state = states[below(states.size())];
    if (value.type.state == state) return {};
    value.type.state = state;
    return "%" + value.name + " with another state";
  }

  void judge(const Module& edited, const std::string& what) {
    if (!verify_module(edited, laws_).empty()) {
      ++refused;
      return;
    }
    ++accepted;
    RunOptions options;
    int iterations = 0;
    options.on_iteration = [&](const Iteration&) {
      if (++iterations > 500) throw std::runtime_error("it does not end");
    };
    try {
      const RunResult result = testing::run_simulated(edited, parts_, options);
      for (const Output& output : result.outputs) {
        const bool same = close(output.type.element, testing::whole_words(edited, output, parts_),
                                testing::words_of(wanted_.at(output.name)));
        EXPECT_TRUE(same) << what << " was accepted, but " << output.name << " is wrong\n" << print_module(edited);
      }
    } catch (const std::exception& fault) {
      ADD_FAILURE() << what << " was accepted, but: " << fault.what() << "\n" << print_module(edited);
    }
  }

  TrialLawChecker laws_;  // remembers what it tried
  Module program_;
  TestData data_;
  std::vector<Part> parts_;
  std::map<std::string, Array> wanted_;
};

class EditedPlans : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Examples, EditedPlans,
                         ::testing::Values("bfs", "chain", "components", "hits", "kmeans", "lbfgs", "logistic",
                                           "pagerank", "sssp"));

TEST_P(EditedPlans, AreRefusedOrStillRight) {
  Edits edits(std::string(GetParam()) + ".ks");
  edits.all_of(Strategy::greedy, SyncMode::hybrid);
  edits.all_of(Strategy::greedy, SyncMode::lazy);
  edits.all_of(Strategy::none, SyncMode::eager);
  EXPECT_GT(edits.refused, 100);
  EXPECT_GT(edits.accepted, 5);
}

}  // namespace
}  // namespace kasen
