#include "libopt/swap/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "libcore/base/error.h"
#include "libopt/swap/evaluate.h"

namespace kasen::swap {
namespace {

constexpr std::size_t most_best = 8;
constexpr double cannot_run = std::numeric_limits<double>::infinity();

Classes classes_within(const Sizes& sizes, double factor) {
  Classes classes;
  std::int64_t first = 0;
  int number = -1;
  for (std::size_t size = 0; size < sizes.count(); ++size) {
    if (number < 0 || static_cast<double>(sizes.bytes(size)) > factor * static_cast<double>(first)) {
      ++number;
      first = sizes.bytes(size);
    }
    classes.push_back(number);
  }
  return classes;
}

class Search {
 public:
  Search(const TaskGraph& graph, const SearchOptions& options)
      : graph_(graph),
        sizes_(graph),
        options_(options),
        pool_(options.threads, ThreadPool::Shortage::accept),
        evaluators_(graph, sizes_, options, pool_) {}

  Found run() {
    require_room(graph_, sizes_, options_.capacity);
    begin();
    int waited = 0;
    for (int generation = 1; generation <= options_.generations && waited < options_.patience; ++generation) {
      const double before = best_.seconds;
      breed(generation);
      select(generation);
      note();
      waited = best_.seconds < before ? 0 : waited + 1;
    }
    Found found = found_of(graph_, sizes_, best_, options_, std::move(course_));
    found.best = best_ones();
    return found;
  }

 private:
  // Random numbers of one individual of one generation: the same ones, whichever thread draws them.
  [[nodiscard]] Random random_of(int generation, std::size_t place) const {
    std::seed_seq seeds{options_.seed & 0xffffffffU, options_.seed >> 32, static_cast<std::uint64_t>(generation),
                        static_cast<std::uint64_t>(place)};
    return Random(seeds);
  }

  void begin() {
    const auto many = static_cast<std::size_t>(std::max(options_.population, 2));
    add_known();
    if (!options_.seeded) population_.erase(population_.begin(), population_.end() - 1);
    if (population_.size() > many) population_.resize(many);
    const std::size_t known = population_.size();
    population_.resize(many);
    share_out(pool_, static_cast<std::int64_t>(many), [&](int thread, std::int64_t piece) {
      const auto place = static_cast<std::size_t>(piece);
      if (place >= known) population_[place] = drawn(place);
      evaluate(population_[place], thread);
    });
    evaluated_ = static_cast<std::int64_t>(many);
    keep_best();
    note();
  }

  // If the first generation is random, one of them is there still: something has to run.
  void add_known() {
    population_ = options_.start;
    std::vector<Order> orders{program_order(graph_)};
    if (options_.orders && options_.seeded) {
      orders.push_back(depth_first(graph_));
      orders.push_back(least_live(graph_));
    }
    for (const Order& order : orders) {
      for (Allocation& allocation : first_allocations(graph_, sizes_, order, options_.capacity)) {
        population_.push_back({order, std::move(allocation), options_.plan, cannot_run});
        if (!options_.allocations) break;
      }
    }
    first_ = population_[options_.start.size()].allocation;
  }

  [[nodiscard]] Individual drawn(std::size_t place) const {
    Random random = random_of(0, place);
    Individual made{program_order(graph_), first_, changed(options_.plan, 0.5, random), cannot_run};
    if (options_.orders) made.order = mutated(graph_, made.order, 1, random);
    if (!options_.allocations) return made;
    made.allocation.classes = Classes(sizes_.count(), 0);
    made.allocation.classes = changed(std::move(made.allocation.classes), 0.5, random);
    made.allocation.counts = most_counts(graph_, sizes_, made.allocation.classes, made.order);
    made.allocation.counts = mutated(std::move(made.allocation.counts), 0.5, random);
    (void)settle(graph_, sizes_, made.order, options_.capacity, made.allocation);
    return made;
  }

  [[nodiscard]] static PlanOptions changed(PlanOptions plan, double probability, Random& random) {
    constexpr std::array some{0, 1, 2, 4, 8, 16};
    if (draws(random, probability)) plan.threshold = some[draw(random, some.size())];
    if (draws(random, probability)) plan.reluctance = some[draw(random, some.size())];
    return plan;
  }
  [[nodiscard]] Classes changed(Classes classes, double probability, Random& random) const {
    if (!options_.any_class) return mutated(std::move(classes), probability, random);
    for (int& one : classes)
      if (draws(random, probability)) one = static_cast<int>(draw(random, classes.size()));
    return renumbered(classes);
  }

  void evaluate(Individual& individual, int thread) const {
    individual.seconds = evaluators_.of(thread).seconds(individual);
  }

  // Two parents have four children: each of their two new orders with each of their two new allocations.
  void breed(int generation) {
    const std::size_t parents = population_.size(), pairs = parents / 2;
    std::vector<std::size_t> mates(parents);
    for (std::size_t i = 0; i < parents; ++i) mates[i] = i;
    Random random = random_of(generation, parents * 4);
    for (std::size_t i = parents; i-- > 1;) std::swap(mates[i], mates[draw(random, i + 1)]);
    population_.resize(parents + pairs * 4);
    share_out(pool_, static_cast<std::int64_t>(pairs), [&](int thread, std::int64_t piece) {
      const auto pair = static_cast<std::size_t>(piece);
      Random own = random_of(generation, pair);
      cross(population_[mates[2 * pair]], population_[mates[2 * pair + 1]], own, thread,
            &population_[parents + 4 * pair]);
    });
    evaluated_ += static_cast<std::int64_t>(pairs * 4);
  }

  void cross(const Individual& a, const Individual& b, Random& random, int thread, Individual* children) const {
    const Order orders[2] = {child_order(a, b, random), child_order(b, a, random)};
    const std::size_t cut = sizes_.count() > 1 ? 1 + draw(random, sizes_.count() - 1) : 1;
    const Allocation allocations[2] = {child_allocation(a, b, cut, random), child_allocation(b, a, cut, random)};
    for (const Order& order : orders) {
      for (const Allocation& allocation : allocations) {
        const PlanOptions& plan = draws(random, 0.5) ? a.plan : b.plan;
        *children = {order, allocation, changed(plan, options_.mutation, random), cannot_run};
        if (options_.allocations) (void)settle(graph_, sizes_, order, options_.capacity, children->allocation);
        evaluate(*children++, thread);
      }
    }
  }

  [[nodiscard]] Order child_order(const Individual& a, const Individual& b, Random& random) const {
    if (!options_.orders) return a.order;
    const Order order = crossed(b.order, a.order, draw(random, a.order.size() + 1));
    return draws(random, 0.5) ? mutated(graph_, order, options_.mutation, random) : order;
  }

  [[nodiscard]] Allocation child_allocation(const Individual& a, const Individual& b, std::size_t cut,
                                            Random& random) const {
    if (!options_.allocations) return a.allocation;
    Allocation made;
    made.classes =
        options_.any_class ? renumbered(joined(a, b, cut)) : crossed(b.allocation.classes, a.allocation.classes, cut);
    made.classes = changed(std::move(made.classes), options_.mutation, random);
    made.counts = crossed(b.allocation, a.allocation, cut, made.classes);
    made.counts = mutated(std::move(made.counts), options_.mutation, random);
    return made;
  }

  static Classes joined(const Individual& a, const Individual& b, std::size_t cut) {
    Classes made = a.allocation.classes;
    std::copy_n(b.allocation.classes.begin(), cut, made.begin());
    return made;
  }

  // By the softmax of how much longer each takes than the best (equation 4.1): who has the largest sum of that and of a
  // number of Gumbel's distribution survives, which draws as softmax does, without drawing anybody twice. The best one
  // always survives.
  void select(int generation) {
    keep_best();
    const std::size_t many = static_cast<std::size_t>(std::max(options_.population, 2));
    Random random = random_of(generation, population_.size() * 4 + 1);
    std::vector<std::pair<double, std::size_t>> keys;
    for (std::size_t i = 0; i < population_.size(); ++i) {
      const double uniform = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
      const double normed = (best_.seconds - population_[i].seconds) / std::max(best_.seconds, 1e-300);
      keys.emplace_back(
          i == best_place_ ? std::numeric_limits<double>::lowest() : -(normed - std::log(-std::log(uniform))), i);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<Individual> survivors;
    for (std::size_t i = 0; i < many; ++i) survivors.push_back(std::move(population_[keys[i].second]));
    population_ = std::move(survivors);
  }

  void keep_best() {
    const auto best = std::min_element(population_.begin(), population_.end(),
                                       [](const Individual& a, const Individual& b) { return a.seconds < b.seconds; });
    best_ = *best;
    best_place_ = static_cast<std::size_t>(best - population_.begin());
  }

  // Survivors of different times.
  [[nodiscard]] std::vector<Individual> best_ones() const {
    std::vector<Individual> all = population_;
    std::stable_sort(all.begin(), all.end(),
                     [](const Individual& a, const Individual& b) { return a.seconds < b.seconds; });
    std::vector<Individual> some;
    for (Individual& one : all)
      if (one.seconds < cannot_run && some.size() < most_best && (some.empty() || some.back().seconds < one.seconds))
        some.push_back(std::move(one));
    return some;
  }

  void note() {
    Generation made{evaluated_, best_.seconds, 0, 0};
    std::int64_t run = 0;
    for (const Individual& one : population_) {
      if (one.seconds == cannot_run) continue;
      made.mean += one.seconds;
      made.worst = std::max(made.worst, one.seconds);
      ++run;
    }
    if (run > 0) made.mean /= static_cast<double>(run);
    course_.push_back(made);
    if (options_.watch) options_.watch(static_cast<int>(course_.size()) - 1, made);
  }

  const TaskGraph& graph_;
  Sizes sizes_;
  const SearchOptions& options_;
  ThreadPool pool_;
  Evaluators evaluators_;
  Allocation first_;
  std::vector<Individual> population_;
  Individual best_;
  std::size_t best_place_ = 0;
  std::int64_t evaluated_ = 0;
  std::vector<Generation> course_;
};

}  // namespace

Found search(const TaskGraph& graph, const SearchOptions& options) { return Search(graph, options).run(); }

Found found_of(const TaskGraph& graph, const Sizes& sizes, const Individual& best, const SearchOptions& options,
               std::vector<Generation> course) {
  Found found;
  if (!make_plan(graph, sizes, best.order, best.allocation, best.plan, found.plan))
    throw InternalError("the best of a search cannot run");
  found.timeline = simulate(graph, found.plan, options.links);
  found.course = std::move(course);
  return found;
}

void require_room(const TaskGraph& graph, const Sizes& sizes, std::int64_t capacity) {
  const std::int64_t least = memory(sizes, least_allocation(graph, sizes));
  if (least <= capacity) return;
  fail(ExitStatus::limit, fmt::format("'{}' does not run in {} bytes", graph.name, capacity),
       "its pool needs an object for each tensor that one operator touches",
       fmt::format("the least that it runs in is {} bytes", least));
}

bool settle(const TaskGraph& graph, const Sizes& sizes, const Order& order, std::int64_t capacity,
            Allocation& allocation) {
  if (!fit(sizes, allocation, least_counts(graph, sizes, allocation.classes), capacity)) return false;
  fill(sizes, allocation, most_counts(graph, sizes, allocation.classes, order), capacity);
  return true;
}

std::vector<Allocation> first_allocations(const TaskGraph& graph, const Sizes& sizes, const Order& order,
                                          std::int64_t capacity) {
  std::vector<Allocation> all;
  for (const double factor : {1.0, 2.0, 8.0, std::numeric_limits<double>::infinity()}) {
    Allocation made;
    made.classes = classes_within(sizes, factor);
    made.counts = most_counts(graph, sizes, made.classes, order);
    if (settle(graph, sizes, order, capacity, made) && (all.empty() || !(all.back() == made))) all.push_back(made);
  }
  Allocation least = least_allocation(graph, sizes);  // the one that fits where no other does
  if (settle(graph, sizes, order, capacity, least)) all.push_back(std::move(least));
  return all;
}

}  // namespace kasen::swap
