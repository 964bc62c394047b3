// Kasen as a contestant: a program through the whole pipeline (plan, optimize, generate, execute) on one worker.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/parts.h"
#include "libcore/run/executor.h"
#include "libkernels/kernels.h"
#include "libopt/optimize/optimize.h"
#include "libopt/time/machine.h"

namespace kasen::bench {

class KasenRun {
 public:
  // With a mesh among the options, the parts are of any number of workers, and cut as the plan says.
  KasenRun(const std::string& program_file, std::vector<Part> parts, const KernelOptions& kernels,
           const OptimizeOptions& options = {}, const std::map<std::string, std::string>& defines = {});

  KasenRun(const std::string& program_file, Parts parts, const KernelOptions& kernels,
           const OptimizeOptions& options = {}, const std::map<std::string, std::string>& defines = {});

  // Runs it; returns its outputs. Afterwards seconds_per_iteration() is that of the outermost loop's iterations but the
  // first, which touches memory for the first time.
  const RunResult& run(const std::map<std::string, std::vector<Word>>& params);
  [[nodiscard]] double seconds_per_iteration() const;
  // Of all operators, in the last run.
  [[nodiscard]] double seconds() const;
  // The mean time of an execution of the operators that are `wanted`, of all that ran.
  [[nodiscard]] double seconds_per(const std::function<bool(const Op& op)>& wanted) const;
  [[nodiscard]] double seconds_per_product() const;  // or contraction
  // The time of one of its iterations as the model predicts it after a run, with the counts of that run.
  [[nodiscard]] double predicted_seconds_per_iteration(const MachineProfile& machine) const;
  [[nodiscard]] std::int64_t iterations() const { return static_cast<std::int64_t>(times_.size()); }

 private:
  int threads_;
  Module plan_;
  Parts parts_;  // a worker each, all in this process
  std::unique_ptr<GeneratedKernels> kernels_;
  RunResult result_;
  std::vector<double> times_;
};

// One part with dense f64 vectors over N.
[[nodiscard]] std::vector<Part> vectors_on_one_part(const std::map<std::string, const std::vector<double>*>& vectors);

}  // namespace kasen::bench
