// The search for an order and an allocation whose swap plan takes the least time: the genetic algorithm of Huang's
// thesis, section 4.4. It is seeded, ends by counts, and gives equal results with any number of threads. Beside random
// individuals, the first generation has orders and allocations that are known to be good.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libopt/swap/simulate.h"

namespace kasen::swap {

// What the population was like behind a generation; 0 is the first.
struct Generation {
  std::int64_t evaluated = 0;  // swap plans so far
  double best = 0, mean = 0, worst = 0;
};

// Beside the thesis's order and allocation, what is chosen to leave is searched, too.
struct Individual {
  Order order;
  Allocation allocation;
  PlanOptions plan;    // its threshold and reluctance differ
  double seconds = 0;  // of an iteration; infinite: it cannot run
  friend bool operator==(const Individual&, const Individual&) = default;
};

struct SearchOptions {
  std::int64_t capacity = 0;  // bytes of the faster memory
  Links links;
  PlanOptions plan;  // of the first generation
  std::uint64_t seed = 1;
  int population = 144;
  int generations = 100;  // at most
  int patience = 15;      // generations without a better one
  double mutation = 0.1;
  int threads = 1;
  bool orders = true;                                            // else all run the program's order ("no-schedule")
  bool allocations = true;                                       // else all have the first allocation ("no-allocation")
  bool any_class = false;                                        // sizes share classes in any way
  std::vector<Individual> start;                                 // of the first generation, beside the others
  bool seeded = true;                                            // else the first generation is random alone
  std::function<void(int generation, const Generation&)> watch;  // called behind each, if there is one
};

struct Found {
  SwapPlan plan;
  Timeline timeline;
  std::vector<Individual> best;  // different ones, the best first
  std::vector<Generation> course;
  std::string turns = "generations";  // what the elements of the course are
};

// Throws UserError(limit) with the least capacity if no allocation fits.
[[nodiscard]] Found search(const TaskGraph& graph, const SearchOptions& options);

// What searches share: the plan of the best one; UserError(limit) with the least capacity if no allocation fits; an
// allocation reduced to what fits, with what is left given away, or false if the least does not fit.
[[nodiscard]] Found found_of(const TaskGraph& graph, const Sizes& sizes, const Individual& best,
                             const SearchOptions& options, std::vector<Generation> course);
void require_room(const TaskGraph& graph, const Sizes& sizes, std::int64_t capacity);
[[nodiscard]] bool settle(const TaskGraph& graph, const Sizes& sizes, const Order& order, std::int64_t capacity,
                          Allocation& allocation);

// Allocations to begin with for an order: each size by itself, sizes within a factor of two together, and all of them
// together; each class with as many objects as the order needs at once, reduced to what fits. Only those that fit;
// behind them the one that fits where any does.
[[nodiscard]] std::vector<Allocation> first_allocations(const TaskGraph& graph, const Sizes& sizes, const Order& order,
                                                        std::int64_t capacity);

}  // namespace kasen::swap
