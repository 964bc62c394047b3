// L-BFGS by hand, as examples/logistic-lbfgs.ks has it: a whole step is tried, and halved where the loss has not fallen
// far enough.
#include <algorithm>
#include <cmath>
#include <deque>

#include "bench/logistic/by_hand.h"

namespace kasen::bench {
namespace {

using Numbers = std::vector<double>;
constexpr std::size_t history = 10;

double dot(const Numbers& a, const Numbers& b, int threads) {
  double sum = 0;
  const auto count = static_cast<std::int64_t>(a.size());
  const double *x = a.data(), *y = b.data();
#pragma omp parallel for simd schedule(static) reduction(+ : sum) num_threads(threads)
  for (std::int64_t i = 0; i < count; ++i) sum += x[i] * y[i];
  return sum;
}

void add(Numbers& to, double factor, const Numbers& what, int threads) {
  const auto count = static_cast<std::int64_t>(to.size());
  double* x = to.data();
  const double* y = what.data();
#pragma omp parallel for simd schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < count; ++i) x[i] += factor * y[i];
}

struct Pair {
  Numbers s, d;  // changes of the weights and of the gradient
  double rho, alpha = 0;
};

class Fit {
 public:
  Fit(HandSamples& samples, const FitOptions& options, int threads)
      : samples_(samples),
        options_(options),
        threads_(threads),
        scores_(static_cast<std::size_t>(samples.rows)),
        along_(scores_.size()),
        gradient_(samples.w.size()) {}

  double to_the_end() {
    std::fill(samples_.w.begin(), samples_.w.end(), 0);
    double loss = surprises(0), fell = HUGE_VAL;
    set_gradient();
    gamma_ = 1 / std::sqrt(dot(gradient_, gradient_, threads_));
    for (std::int64_t step = 0;
         step < options_.steps && largest() > options_.tolerance && fell > options_.progress * std::max(loss, 1.0);
         ++step) {
      const double now = one_step(loss);
      fell = loss - now;
      loss = now;
    }
    return loss;
  }

 private:
  [[nodiscard]] double largest() const {
    double most = 0;
    for (const double g : gradient_) most = std::max(most, std::fabs(g));
    return most;
  }

  // Leaves the residuals of the scores minus `far` times `along` in e; returns the sum of the losses.
  double surprises(double far) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(threads_)
    for (std::int64_t i = 0; i < samples_.rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double sign = samples_.target[at] > 0 ? 1 : -1, margin = sign * (scores_[at] - far * along_[at]);
      const double e = std::exp(-std::fabs(margin));
      sum += std::max(0.0, -margin) + std::log1p(e);
      samples_.e[at] = -sign * (margin > 0 ? e : 1) / (1 + e);
    }
    return sum;
  }

  void set_gradient() {
#pragma omp parallel for schedule(dynamic, 1024) num_threads(threads_)
    for (std::int64_t j = 0; j < samples_.cols; ++j) {
      const auto at = static_cast<std::size_t>(j);
      gradient_[at] = samples_.by_col.times(samples_.e.data(), j) + options_.lambda * samples_.w[at];
    }
  }

  [[nodiscard]] Numbers direction() {
    Numbers q = gradient_;
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
      pair->alpha = pair->rho * dot(pair->s, q, threads_);
      add(q, -pair->alpha, pair->d, threads_);
    }
    for (double& number : q) number *= gamma_;
    for (const Pair& pair : pairs_) add(q, pair.alpha - pair.rho * dot(pair.d, q, threads_), pair.s, threads_);
    return q;
  }

  double one_step(double loss) {
    const Numbers q = direction();
    const double slope = dot(gradient_, q, threads_);
    const double ww = dot(samples_.w, samples_.w, threads_), wq = dot(samples_.w, q, threads_),
                 qq = dot(q, q, threads_);
#pragma omp parallel for schedule(dynamic, 1024) num_threads(threads_)
    for (std::int64_t i = 0; i < samples_.rows; ++i) {
      along_[static_cast<std::size_t>(i)] = samples_.by_row.times(q.data(), i);
    }
    const auto trial = [&](double far) {
      return surprises(far) + options_.lambda / 2 * (ww - 2 * far * wq + far * far * qq);
    };
    double far = 1, now = trial(far);
    while (far > 1e-12 && !(now <= loss - 1e-4 * far * slope)) {
      far /= 2;
      now = trial(far);
    }
    add(scores_, -far, along_, threads_);
    Pair pair{q, gradient_, 0};
    for (double& number : pair.s) number *= -far;
    add(samples_.w, 1, pair.s, threads_);
    set_gradient();
    for (std::size_t j = 0; j < gradient_.size(); ++j) pair.d[j] = gradient_[j] - pair.d[j];
    const double sd = dot(pair.s, pair.d, threads_);
    if (sd > 0) {
      pair.rho = 1 / sd;
      gamma_ = sd / dot(pair.d, pair.d, threads_);
      pairs_.push_back(std::move(pair));
      if (pairs_.size() > history) pairs_.pop_front();
    }
    return now;
  }

  HandSamples& samples_;
  const FitOptions& options_;
  int threads_;
  Numbers scores_, along_, gradient_;
  std::deque<Pair> pairs_;
  double gamma_ = 1;
};

}  // namespace

double fit_by_lbfgs(HandSamples& samples, const FitOptions& options, int threads) {
  return Fit(samples, options, threads).to_the_end();
}

}  // namespace kasen::bench
