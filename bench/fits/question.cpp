// Models fitted to their end, beside scikit-learn where it has the method: both minimise the same number over the same
// samples, and come to the same.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <stdexcept>

#include "bench/dense_samples.h"
#include "bench/driver.h"
#include "bench/endtoend/endtoend.h"
#include "bench/kasen_run.h"
#include "bench/logistic/by_hand.h"
#include "bench/peer.h"

namespace kasen::bench {
namespace {

struct Model {
  std::string name, program, objective;  // the output that is minimised
  std::int64_t rows;
  std::map<std::string, std::vector<Word>> params;
  std::map<std::string, std::string> defines;
  std::int64_t features = 10;
};

struct Fit {
  double seconds = 0, objective = 0;
};

double objective_of(const RunResult& result, const std::string& name) {
  for (const Output& output : result.outputs) {
    if (output.name == name) return output.parts.at(0).data.as<double>()[0];
  }
  throw std::runtime_error("no output " + name);
}

// With the kernels' generation, without reading data.
std::function<Fit()> kasen_fit(const Model& model, const Parts& parts, const Settings& settings) {
  OptimizeOptions options;
  options.sizes = [parts](const Module& module) { return sizes_from_parts(module, *parts); };
  const auto run = std::make_shared<KasenRun>(model.program, parts, KernelOptions{.threads = settings.threads}, options,
                                              model.defines);
  return [run, model] {
    const auto start = std::chrono::steady_clock::now();
    const RunResult& result = run->run(model.params);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return Fit{taken.count(), objective_of(result, model.objective)};
  };
}

void require_least(const std::string& name, double got, double expected) {
  if (!(std::fabs(got - expected) <= 1e-6 * std::fabs(expected)))
    throw std::runtime_error(fmt::format("{}: {} is least, not {}", name, got, expected));
}

// Each stops by a rule of its own, near enough to the least there is.
Question beside_scikit(const Model& model, const Parts& parts, const Settings& settings) {
  const std::string columns = model.features == 10 ? "" : fmt::format("-{}", model.features);
  Question made{"fits-" + model.name + columns, "s", 1, {}, {}};
  const std::function<Fit()> ours = kasen_fit(model, parts, settings);
  made.contestants.push_back({"kasen", [ours] { return ours().seconds; }});
  const auto peer = python_peer(
      "fits/scikit.py", {model.name, std::to_string(model.rows), std::to_string(model.features)}, settings.threads);
  if (!peer->missing().empty()) {
    made.missing.push_back({"scikit-learn", peer->missing()});
    return made;
  }
  require_least(made.name, ours().objective, peer->measure().at(1));
  made.contestants.push_back({"scikit-learn", [peer] { return peer->measure().at(0); }});
  return made;
}

// Both end by the same rule: SciPy's, whose L-BFGS scikit-learn calls.
Question sparse_logistic(const Settings& settings) {
  constexpr std::int64_t rows = 300'000, cols = 30'000;
  const WorkFolder folder;
  const std::string program = folder.file("logistic-lbfgs.ks");
  write_sparse_program(KASEN_SOURCE_ROOT "/examples/logistic-lbfgs.ks", program);
  SparseInput x = make_samples(rows, cols);
  x.row_dim = "N";
  x.col_dim = "F";
  VectorInput y = predictable_labels("y", x);
  y.dim = "N";
  const auto by_hand = std::make_shared<HandSamples>(hand_samples(x, y.values, settings.threads));
  Question made = beside_scikit({"logistic-sparse", program, "loss", rows, {{"intercept", {Word::real(0)}}}, {}},
                                partitioned(std::move(x), {std::move(y)}, 1), settings);
  const auto fit = [by_hand, threads = settings.threads] {
    const auto start = std::chrono::steady_clock::now();
    const double loss = fit_by_lbfgs(*by_hand, {}, threads);
    return Fit{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), loss};
  };
  made.contestants.push_back({"openmp", [fit] { return fit().seconds; }});
  return made;
}

std::string example(const std::string& name) { return KASEN_SOURCE_ROOT "/examples/" + name; }

Word real(double value) { return Word::real(value); }

}  // namespace

Questions fits_questions(const Settings& settings) {
  constexpr std::int64_t rows = SampleShape{}.rows;
  const Model logistic{"logistic", example("logistic-lbfgs.ks"), "loss", rows, {{"intercept", {real(0)}}}, {}};
  const Model l2svm{
      "l2svm", example("l2svm.ks"), "objective", rows, {{"intercept", {real(0)}}, {"tolerance", {real(1e-5)}}}, {}};
  const Model multinomial{"multinomial",
                          example("multinomial.ks"),
                          "loss",
                          rows,
                          {{"intercept", {real(0)}}, {"tolerance", {real(1e-5)}}},
                          {{"classes", "5"}}};
  Model kmeans{"kmeans",
               example("kmeans-matrix.ks"),
               "wcss",
               rows,
               {{"steps", {Word::integer(10)}}, {"tolerance", {real(-1)}}},
               {{"k", "5"}}};
  Model wide_kmeans = kmeans;
  wide_kmeans.rows = rows / 5;
  wide_kmeans.features = 50;
  Questions made;
  made.emplace_back([=] { return beside_scikit(logistic, in_two_classes(), settings); });
  made.emplace_back([=] { return sparse_logistic(settings); });
  made.emplace_back([=] { return beside_scikit(l2svm, in_two_classes(), settings); });
  made.emplace_back([=] { return beside_scikit(multinomial, in_classes(5), settings); });
  for (const Model& model : {kmeans, wide_kmeans})
    made.emplace_back([=] { return beside_scikit(model, in_classes(5, {model.rows, model.features}), settings); });
  return made;
}

}  // namespace kasen::bench
