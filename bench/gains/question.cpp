// What the optimizer gains: the same program with the same kernels, buffer pool and stores, planned as it stands
// (--strategy none --sync lazy) and optimized.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

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
const OptimizeOptions optimized{.epilogue = true, .epilogue_by_size = true};

Question compare(const std::string& name, const std::string& unit, const Run& kasen, const Run& plain) {
  const double expected = plain().check, got = kasen().check;
  if (!(std::fabs(got - expected) <= 1e-9 * std::fabs(expected))) {
    throw std::runtime_error(fmt::format("{}: optimized gives {}, not {}", name, got, expected));
  }
  return {name, unit, 1e3, {{"kasen", [kasen] { return kasen().seconds; }}, {"none-lazy", [plain] {
                                                                               return plain().seconds;
                                                                             }}}};
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
  return both("gains-multinomial", "multinomial.ks", in_classes(5), threads,
              {{"steps", {Word::integer(3)}}, {"inner_steps", {Word::integer(5)}}}, {{"classes", "5"}});
}

Question l2svm(int threads) {
  return both("gains-l2svm", "l2svm.ks", in_two_classes(), threads,
              {{"steps", {Word::integer(6)}}, {"tolerance", {Word::real(0)}}});
}

// Steps of five multiplications with the information matrix each.
Question glm(int threads) {
  return both("gains-glm", "glm.ks", in_two_classes(), threads,
              {{"steps", {Word::integer(3)}}, {"inner_steps", {Word::integer(5)}}, {"tolerance", {Word::real(0)}}});
}

// Lloyd's steps in matrix form, ten of them.
Question kmeans_matrix(int threads) {
  constexpr std::int64_t centres = 5;
  DenseSamples samples = dense_samples();
  samples.part.dims["K"] = whole_dim(centres, true);
  return both("gains-kmeans-matrix", "kmeans-matrix.ks",
              labelled(std::move(samples), [](double reported) { return reported; }), threads,
              {{"steps", {Word::integer(10)}}, {"tolerance", {Word::real(-1)}}}, {{"k", "5"}});
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
  for (const auto question : {multinomial, l2svm, glm, kmeans_matrix})
    made.emplace_back([=] { return question(settings.threads); });
  for (const int workers : {1, 16}) made.emplace_back([=] { return lbfgs(workers, settings.threads); });
  for (const int workers : {1, 16}) made.emplace_back([=] { return pagerank(settings, workers); });
  return made;
}

}  // namespace kasen::bench
