// Models fitted to their end, beside scikit-learn where it has the method: both minimise the same number over the same
// samples, and come to the same.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <stdexcept>

#include "bench/dense_samples.h"
#include "bench/driver.h"
#include "bench/kasen_run.h"
#include "bench/peer.h"

namespace kasen::bench {
namespace {

struct Model {
  std::string name, program, objective;  // the output that is minimised
  std::map<std::string, std::vector<Word>> params;
  std::map<std::string, std::string> defines;
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
  const auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/examples/" + model.program, parts,
                                              KernelOptions{.threads = settings.threads}, options, model.defines);
  return [run, model] {
    const auto start = std::chrono::steady_clock::now();
    const RunResult& result = run->run(model.params);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return Fit{taken.count(), objective_of(result, model.objective)};
  };
}

// Each stops by a rule of its own, near enough to the least there is.
Question beside_scikit(const Model& model, const Parts& parts, const Settings& settings) {
  Question made{"fits-" + model.name, "s", 1, {}, {}};
  const std::function<Fit()> ours = kasen_fit(model, parts, settings);
  made.contestants.push_back({"kasen", [ours] { return ours().seconds; }});
  const auto peer = python_peer("fits/scikit.py", {model.name, std::to_string(DenseSamples::rows)}, settings.threads);
  if (!peer->missing().empty()) {
    made.missing.push_back({"scikit-learn", peer->missing()});
    return made;
  }
  const double got = ours().objective, theirs = peer->measure().at(1);
  if (!(std::fabs(got - theirs) <= 1e-6 * std::fabs(theirs))) {
    throw std::runtime_error(fmt::format("{}: {} is least, not {}", made.name, got, theirs));
  }
  made.contestants.push_back({"scikit-learn", [peer] { return peer->measure().at(0); }});
  return made;
}

Word real(double value) { return Word::real(value); }

}  // namespace

Questions fits_questions(const Settings& settings) {
  const Model l2svm{"l2svm", "l2svm.ks", "objective", {{"intercept", {real(0)}}, {"tolerance", {real(1e-5)}}}, {}};
  const Model multinomial{"multinomial",
                          "multinomial.ks",
                          "loss",
                          {{"intercept", {real(0)}}, {"tolerance", {real(1e-5)}}},
                          {{"classes", "5"}}};
  const Model kmeans{
      "kmeans", "kmeans-matrix.ks", "wcss", {{"steps", {Word::integer(10)}}, {"tolerance", {real(-1)}}}, {{"k", "5"}}};
  Questions made;
  made.emplace_back([=] { return beside_scikit(l2svm, in_two_classes(), settings); });
  made.emplace_back([=] { return beside_scikit(multinomial, in_classes(5), settings); });
  made.emplace_back([=] { return beside_scikit(kmeans, in_classes(5), settings); });
  return made;
}

}  // namespace kasen::bench
