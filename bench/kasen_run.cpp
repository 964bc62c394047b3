#include "bench/kasen_run.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "bench/parts.h"
#include "libcore/analysis/boxes.h"
#include "libcore/boxes/box_parts.h"
#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/run_report.h"
#include "libopt/time/times.h"

namespace kasen::bench {
namespace {

std::string read_text(const std::string& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) throw std::runtime_error("cannot read " + file);
  return text.str();
}

Module make_plan(const std::string& file, const OptimizeOptions& options,
                 const std::map<std::string, std::string>& defines) {
  TrialLawChecker laws;
  return optimize(compile_program(read_text(file), file, defines), laws, options);
}

Parts boxes_of(const Module& plan, const std::vector<Part>& parts) {
  const int workers = mesh_workers(plan);
  BoxParts boxes(plan, workers, 0, workers);
  for (const Part& part : parts) boxes.add(part);
  return std::make_shared<std::vector<Part>>(boxes.finish());
}

}  // namespace

KasenRun::KasenRun(const std::string& program_file, Parts parts, const KernelOptions& kernels,
                   const OptimizeOptions& options, const std::map<std::string, std::string>& defines)
    : threads_(kernels.threads),
      plan_(make_plan(program_file, options, defines)),
      parts_(plan_.mesh.empty() ? std::move(parts) : boxes_of(plan_, *parts)),
      kernels_(make_generated_kernels(kernels)) {}

KasenRun::KasenRun(const std::string& program_file, std::vector<Part> parts, const KernelOptions& kernels,
                   const OptimizeOptions& options, const std::map<std::string, std::string>& defines)
    : KasenRun(program_file, std::make_shared<std::vector<Part>>(std::move(parts)), kernels, options, defines) {}

const RunResult& KasenRun::run(const std::map<std::string, std::vector<Word>>& params) {
  const auto transport = make_simulated_transport(static_cast<int>(parts_->size()));
  RunOptions options;
  options.params = params;
  times_.clear();
  options.on_iteration = [&](const Iteration& iteration) { times_.push_back(iteration.seconds); };
  result_ = execute(plan_, *parts_, *transport, *kernels_, options);
  return result_;
}

double KasenRun::seconds_per_iteration() const {
  if (times_.size() < 2) throw std::runtime_error("too few iterations to time");
  return (times_.back() - times_.front()) / static_cast<double>(times_.size() - 1);
}

double KasenRun::seconds() const {
  return std::accumulate(result_.ops.begin(), result_.ops.end(), 0.0,
                         [](double sum, const OpCount& count) { return sum + count.seconds; });
}

double KasenRun::seconds_per_product() const {
  return seconds_per([](const Op& op) {
    const OpGroup group = row(op.code).group;
    return group == OpGroup::product || group == OpGroup::contraction;
  });
}

double KasenRun::seconds_per(const std::function<bool(const Op& op)>& wanted) const {
  double seconds = 0;
  std::int64_t executions = 0;
  for_each_op(plan_, [&](const Op& op, int number, int) {
    if (!wanted(op)) return;
    const OpCount& count = result_.ops.at(static_cast<std::size_t>(number));
    seconds += count.seconds;
    executions += count.executions;
  });
  if (executions == 0) throw std::runtime_error("no operator to time");
  return seconds / static_cast<double>(executions);
}

double KasenRun::predicted_seconds_per_iteration(const MachineProfile& machine) const {
  RunReport report = make_run_report(plan_, result_);
  report.threads = threads_;
  return iteration_time(plan_, sizes_from_parts(plan_, *parts_), report, machine).sum();
}

std::vector<Part> vectors_on_one_part(const std::map<std::string, const std::vector<double>*>& vectors) {
  Part part;
  for (const auto& [name, values] : vectors) {
    const auto size = static_cast<std::int64_t>(values->size());
    part.dims["N"] = whole_dim(size);
    PartArray& array = part.arrays[name];
    array = {{"N"}, Array(ElementType::of(Scalar::f64), size)};
    std::copy(values->begin(), values->end(), array.data.as<double>());
  }
  std::vector<Part> parts;
  parts.push_back(std::move(part));
  return parts;
}

}  // namespace kasen::bench
