#include "libopt/swap/evaluate.h"

namespace kasen::swap {

Evaluator::Evaluator(const TaskGraph& graph, const Sizes& sizes, const SearchOptions& options)
    : sizes_(sizes), options_(options), maker_(graph, sizes), simulator_(graph, options.links) {}

double Evaluator::seconds(const Individual& individual, double limit) {
  constexpr double cannot_run = std::numeric_limits<double>::infinity();
  if (memory(sizes_, individual.allocation) > options_.capacity) return cannot_run;
  if (!maker_.make(individual.order, individual.allocation, individual.plan, plan_)) return cannot_run;
  return simulator_.seconds(plan_, limit);
}

}  // namespace kasen::swap
