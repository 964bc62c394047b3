// The times of orders and allocations, one after another: what searches do most.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "libcore/system/threads.h"
#include "libopt/swap/search.h"

namespace kasen::swap {

// Of one thread. It keeps the memory that plans take.
class Evaluator {
 public:
  Evaluator(const TaskGraph& graph, const Sizes& sizes, const SearchOptions& options);

  // Infinite: it cannot run, or takes longer than the limit.
  [[nodiscard]] double seconds(const Individual& individual, double limit = std::numeric_limits<double>::infinity());

  // Of the last one whose time is finite.
  [[nodiscard]] const SwapPlan& plan() const { return plan_; }
  [[nodiscard]] const Timeline& timeline() const { return simulator_.timeline(); }

 private:
  const Sizes& sizes_;
  const SearchOptions& options_;
  PlanMaker maker_;
  Simulator simulator_;
  SwapPlan plan_;
};

// One for each thread of a pool.
class Evaluators {
 public:
  Evaluators(const TaskGraph& graph, const Sizes& sizes, const SearchOptions& options, const ThreadPool& pool) {
    for (int i = 0; i < pool.threads(); ++i) all_.push_back(std::make_unique<Evaluator>(graph, sizes, options));
  }
  [[nodiscard]] Evaluator& of(int thread) const { return *all_[static_cast<std::size_t>(thread)]; }

 private:
  std::vector<std::unique_ptr<Evaluator>> all_;
};

}  // namespace kasen::swap
