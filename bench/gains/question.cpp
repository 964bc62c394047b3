// What the optimizer gains: the same program with the same kernels, buffer pool and stores, planned as it stands
// (--strategy none --sync lazy) and optimized (--strategy cost). The six programs of Boehm et al. (VLDB 2018, Tables 4
// and 5) are planned by the other selectors, too.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/als/ratings.h"
#include "bench/blackscholes/blackscholes.h"
#include "bench/dense_samples.h"
#include "bench/kasen_run.h"
#include "bench/kmeans/kmeans.h"
#include "bench/numbers.h"
#include "bench/samples.h"
#include "libcomm/data/read/readers.h"

namespace kasen::bench {
namespace {

struct Timed {
  double check = 0;  // a number that both plans must give, but for rounding
  double seconds = 0;
};
using Run = std::function<Timed()>;

const OptimizeOptions as_it_stands{.strategy = Strategy::none, .sync = SyncMode::lazy};
OptimizeOptions optimized_by(Strategy strategy) {
  return {.strategy = strategy, .epilogue = true, .epilogue_by_size = true};
}
const OptimizeOptions optimized = optimized_by(Strategy::cost);

// The plan as it stands is the last one; all others have to give its number.
Question compare(const std::string& name, const std::string& unit,
                 const std::vector<std::pair<std::string, Run>>& runs) {
  Question question{name, unit, 1e3, {}};
  const double expected = runs.back().second().check;
  for (const auto& [plan, run] : runs) {
    const double got = run().check;
    if (!(std::fabs(got - expected) <= 1e-9 * std::fabs(expected))) {
      throw std::runtime_error(fmt::format("{}: {} gives {}, not {}", name, plan, got, expected));
    }
    question.contestants.push_back({plan, [run = run] { return run().seconds; }});
  }
  return question;
}

Question compare(const std::string& name, const std::string& unit, const Run& kasen, const Run& plain) {
  return compare(name, unit, {{"kasen", kasen}, {"none-lazy", plain}});
}

// The first output's sum of squares is what is checked.
Run program(const std::string& file, const Parts& parts, int threads, const OptimizeOptions& options,
            std::map<std::string, std::vector<Word>> params, const std::map<std::string, std::string>& defines) {
  OptimizeOptions fitted = options;  // as `kasen go` fits to its bundle
  fitted.sizes = [parts](const Module& module) { return sizes_from_parts(module, *parts); };
  auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/examples/" + file, parts, KernelOptions{.threads = threads},
                                        fitted, defines);
  return [run, params = std::move(params)] {
    Timed timed;
    for (const OutputPart& part : run->run(params).outputs.at(0).parts) {
      for (std::int64_t i = 0; i < part.data.count; ++i) timed.check += std::pow(part.data.as<double>()[i], 2);
    }
    timed.seconds = run->seconds_per_iteration();
    return timed;
  };
}

Question both(const std::string& name, const std::string& file, const Parts& parts, int threads,
              const std::map<std::string, std::vector<Word>>& params,
              const std::map<std::string, std::string>& defines = {}) {
  return compare(name, "ms/iteration", program(file, parts, threads, optimized, params, defines),
                 program(file, parts, threads, as_it_stands, params, defines));
}

// By every selector.
Question selected(const std::string& name, const std::string& file, const Parts& parts, int threads,
                  const std::map<std::string, std::vector<Word>>& params,
                  const std::map<std::string, std::string>& defines = {}) {
  std::vector<std::pair<std::string, Run>> runs;
  for (const auto& [plan, strategy] :
       {std::pair{"kasen", Strategy::cost}, std::pair{"greedy", Strategy::greedy},
        std::pair{"fuse-all", Strategy::fuse_all}, std::pair{"fuse-no-redundancy", Strategy::fuse_no_redundancy}}) {
    runs.emplace_back(plan, program(file, parts, threads, optimized_by(strategy), params, defines));
  }
  runs.emplace_back("none-lazy", program(file, parts, threads, as_it_stands, params, defines));
  return compare(name, "ms/iteration", runs);
}

Parts links(const std::string& file, int workers) {
  ReadOptions options;
  options.element = ElementType::of(Scalar::null);
  const RawMatrix raw = read_matrix(file, options);
  const std::int64_t n = std::max(raw.row_count, raw.col_count);
  return partitioned({"G", "N", "N", n, n, raw.entries.rows(), raw.entries.cols(), {}}, {}, workers);
}

Question kmeans(std::int64_t k, int threads) {
  constexpr std::int64_t points = 1'000'000;
  const auto run = [&](const OptimizeOptions& options) {
    return [lloyd = kasen_kmeans(points, k, threads, options)] {
      const Clustering made = lloyd();
      return Timed{made.inertia, made.seconds_per_iteration};
    };
  };
  return compare(fmt::format("gains-kmeans-{}", k), "ms/iteration", run(optimized), run(as_it_stands));
}

Question black_scholes(int threads) {
  const Parts options = make_options(10'000'000);
  const auto run = [&](const OptimizeOptions& chosen) {
    return [pricing = kasen_pricing(options, threads, chosen)] {
      const Prices made = pricing();
      return Timed{made.call + made.put, made.seconds_per_pass};
    };
  };
  return compare("gains-options", "ms/pass", run(optimized), run(as_it_stands));
}

Question lbfgs(int workers, int threads) {
  constexpr std::int64_t rows = 300'000, cols = 300'000;
  const Parts parts = partitioned(make_samples(rows, cols), {make_labels("label", rows)}, workers);
  return both(fmt::format("gains-lbfgs-{}", workers), "lbfgs.ks", parts, threads, {{"turns", {Word::integer(6)}}});
}

// Five classes: Newton's steps of five multiplications with the Hessian each.
Question multinomial(int threads) {
  return selected("gains-multinomial", "multinomial.ks", in_classes(5), threads,
                  {{"steps", {Word::integer(3)}}, {"inner_steps", {Word::integer(5)}}}, {{"classes", "5"}});
}

Question l2svm(int threads) {
  return selected("gains-l2svm", "l2svm.ks", in_two_classes(), threads,
                  {{"steps", {Word::integer(6)}}, {"tolerance", {Word::real(0)}}});
}

// Steps of five multiplications with the information matrix each.
Question glm(int threads) {
  return selected("gains-glm", "glm.ks", in_two_classes(), threads,
                  {{"steps", {Word::integer(3)}}, {"inner_steps", {Word::integer(5)}}, {"tolerance", {Word::real(0)}}});
}

// Lloyd's steps in matrix form, ten of them.
Question kmeans_matrix(int threads) {
  constexpr std::int64_t centres = 5;
  DenseSamples samples = dense_samples();
  samples.part.dims["K"] = whole_dim(centres, true);
  return selected("gains-kmeans-matrix", "kmeans-matrix.ks",
                  labelled(std::move(samples), [](double reported) { return reported; }), threads,
                  {{"steps", {Word::integer(10)}}, {"tolerance", {Word::real(-1)}}}, {{"k", "5"}});
}

// Rounds of five steps on either side.
Question als(int threads) {
  constexpr std::int64_t factors = 20;
  SparseInput ratings = read_ratings({"made", "", 2'000'000});
  return selected("gains-als", "als.ks", partitioned(std::move(ratings), {}, 1, {{"K", factors}}), threads,
                  {{"rounds", {Word::integer(3)}},
                   {"inner_steps", {Word::integer(5)}},
                   {"tolerance", {Word::real(-1)}},
                   {"inner_tolerance", {Word::real(0)}}});
}

Question autoencoder(int threads) {
  constexpr std::int64_t many = 50, few = 2;
  DenseSamples samples = dense_samples({.rows = 200'000, .features = 50});
  auto parts = std::make_shared<std::vector<Part>>();
  parts->push_back(std::move(samples.part));
  for (const auto& [dim, size] : {std::pair{"H", many}, std::pair{"M", few}, std::pair{"G", many}})
    parts->back().dims[dim] = whole_dim(size, true);
  return selected("gains-autoencoder", "autoencoder.ks", parts, threads, {{"steps", {Word::integer(4)}}},
                  {{"many", "50"}, {"few", "2"}});
}

Question pagerank(const Settings& settings, int workers) {
  return both(fmt::format("gains-rank-{}", workers), "pagerank.ks", links(settings.graph, workers), settings.threads,
              {{"theta", {Word::real(1)}}});
}

}  // namespace

Questions gains_questions(const Settings& settings) {
  Questions made;
  made.emplace_back([=] { return black_scholes(settings.threads); });
  for (const std::int64_t k : {10, 20}) made.emplace_back([=] { return kmeans(k, settings.threads); });
  for (const auto question : {multinomial, l2svm, glm, kmeans_matrix, als, autoencoder})
    made.emplace_back([=] { return question(settings.threads); });
  for (const int workers : {1, 16}) made.emplace_back([=] { return lbfgs(workers, settings.threads); });
  for (const int workers : {1, 16}) made.emplace_back([=] { return pagerank(settings, workers); });
  return made;
}

}  // namespace kasen::bench
