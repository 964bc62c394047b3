#include "libopt/packing/packing.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "libcore/base/error.h"
#include "libopt/packing/ascent.h"
#include "libopt/packing/greedy.h"
#include "libopt/packing/problem.h"
#include "libopt/packing/search.h"

namespace kasen::packing {
namespace {

// The best packing of one part, and what is known of the least one. In bytes outwards, in units inwards.
class Solver {
 public:
  explicit Solver(const Problem& problem)
      : problem_(problem), best_(place_greedily(problem)), size_(pool_size(problem, best_)), bound_(problem.bound) {}

  [[nodiscard]] std::int64_t size() const { return size_ * problem_.unit; }
  [[nodiscard]] std::int64_t bound() const { return bound_ * problem_.unit; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Offsets& offsets() const { return best_; }

  // Packs the part into so many bytes, or less, or proves that nothing can. Takes its steps off `left`.
  Verdict fit(std::int64_t bytes, std::int64_t steps, std::int64_t& left) {
    const std::int64_t capacity = bytes / problem_.unit;
    if (size_ <= capacity) return Verdict::found;
    if (capacity < bound_) return Verdict::none;
    if (problem_.size() > most_searched) {
      left -= std::min(steps, left);
      return Verdict::unknown;
    }
    const std::int64_t price = 1 + problem_.size() / 1000;
    const Verdict verdict =
        spend(steps / 4 * 3, left, price, [&](std::int64_t& some) { return ascend(capacity, some); });
    if (verdict != Verdict::unknown) return verdict;
    return spend(steps / 4, left, search_price(), [&](std::int64_t& some) { return search(capacity, some); });
  }

 private:
  static constexpr int most_searched = 10'000;  // items; a search calls itself for each

  // A placement of Search takes about so many times as long as one of Ascent.
  [[nodiscard]] std::int64_t search_price() const { return 8 + problem_.size() / 8; }

  template <class Method>
  static Verdict spend(std::int64_t steps, std::int64_t& left, std::int64_t price, const Method& method) {
    const std::int64_t given = std::min(steps, left) / price;
    if (given == 0) {
      left -= std::min(steps, left);
      return Verdict::unknown;
    }
    std::int64_t rest = given;
    const Verdict verdict = method(rest);
    left -= (given - rest) * price;
    return verdict;
  }

  Verdict ascend(std::int64_t capacity, std::int64_t& steps) {
    if (!ascent_) ascent_.emplace(problem_);
    return learn(capacity, ascent_->run(capacity, steps), ascent_->offsets());
  }

  Verdict search(std::int64_t capacity, std::int64_t& steps) {
    if (!search_) search_.emplace(problem_);
    return learn(capacity, search_->run(capacity, steps), search_->offsets());
  }

  Verdict learn(std::int64_t capacity, Verdict verdict, const Offsets& offsets) {
    if (verdict == Verdict::none) bound_ = std::max(bound_, capacity + 1);
    if (verdict == Verdict::found) take(offsets);
    return verdict;
  }

  void take(Offsets offsets) {
    settle(problem_, offsets);
    size_ = pool_size(problem_, offsets);
    best_ = std::move(offsets);
  }

  const Problem& problem_;
  Offsets best_;
  std::int64_t size_, bound_;
  std::optional<Ascent> ascent_;
  std::optional<Search> search_;
};

// All parts share one pool: that of the largest.
class Pool {
 public:
  Pool(const std::vector<Problem>& parts, std::int64_t steps) : left_(steps) {
    solvers_.reserve(parts.size());
    for (const Problem& part : parts) solvers_.emplace_back(part);
  }

  [[nodiscard]] std::int64_t size() const { return most(&Solver::size); }
  [[nodiscard]] std::int64_t bound() const { return most(&Solver::bound); }
  [[nodiscard]] std::int64_t left() const { return left_; }

  // Until they fit, with ever more steps.
  void fit(std::int64_t capacity) {
    for (std::int64_t steps = first_steps; left_ >= least_steps && size() > capacity; steps *= growth) {
      if (try_to_fit(capacity, steps) == Verdict::none) return;
    }
  }

  // Tries the bound, then bisects up to the best known size; again with more steps.
  void minimize() {
    for (std::int64_t steps = first_steps; left_ >= least_steps && size() > bound(); steps *= growth) {
      std::int64_t low = bound(), target = low;
      do {
        if (try_to_fit(target, steps) != Verdict::found) low = target + 1;
        low = std::max(low, bound());
        target = low + (size() - low) / 2;
      } while (left_ >= least_steps && size() - low > size() / resolution);
    }
  }

  void write(std::vector<std::int64_t>& offsets) const {
    for (const Solver& solver : solvers_) {
      const Problem& part = solver.problem();
      for (std::size_t i = 0; i < part.buffers.size(); ++i) offsets[part.buffers[i]] = solver.offsets()[i] * part.unit;
    }
  }

 private:
  static constexpr std::int64_t first_steps = 10'000, growth = 4, resolution = 2000;
  static constexpr std::int64_t least_steps = 64;  // with fewer a search hardly begins

  [[nodiscard]] std::int64_t most(std::int64_t (Solver::*measure)() const) const {
    std::int64_t most = 0;
    for (const Solver& solver : solvers_) most = std::max(most, (solver.*measure)());
    return most;
  }

  Verdict try_to_fit(std::int64_t capacity, std::int64_t steps) {
    Verdict all = Verdict::found;
    for (Solver& solver : solvers_) {
      const Verdict verdict = solver.fit(capacity, steps, left_);
      if (verdict == Verdict::none) return verdict;
      if (verdict == Verdict::unknown) all = verdict;
    }
    return all;
  }

  std::vector<Solver> solvers_;
  std::int64_t left_;
};

}  // namespace

Packing pack(const std::vector<Buffer>& buffers, const Options& options) {
  const std::vector<Problem> parts = parts_of(buffers);
  Pool pool(parts, options.steps);
  options.capacity >= 0 ? pool.fit(options.capacity) : pool.minimize();
  Packing packing{std::vector<std::int64_t>(buffers.size(), 0), pool.size(), pool.bound(), options.steps - pool.left()};
  pool.write(packing.offsets);
  return packing;
}

}  // namespace kasen::packing
