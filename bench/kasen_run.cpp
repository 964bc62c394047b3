#include "bench/kasen_run.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "libcore/lang.h"
#include "libcore/laws.h"

namespace kasen::bench {
namespace {

std::string read_text(const std::string& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) throw std::runtime_error("cannot read " + file);
  return text.str();
}

Module make_plan(const std::string& file, const OptimizeOptions& options) {
  TrialLawChecker laws;
  return optimize(compile_program(read_text(file), file, {}), laws, options);
}

}  // namespace

KasenRun::KasenRun(const std::string& program_file, std::vector<Part> parts, int threads,
                   const OptimizeOptions& options)
    : plan_(make_plan(program_file, options)),
      parts_(std::move(parts)),
      kernels_(make_generated_kernels({.threads = threads})) {}

const RunResult& KasenRun::run(const std::map<std::string, std::vector<Word>>& params) {
  const auto transport = make_simulated_transport(1);
  RunOptions options;
  options.params = params;
  times_.clear();
  options.on_turn = [&](const Turn& turn) { times_.push_back(turn.seconds); };
  result_ = execute(plan_, parts_, *transport, *kernels_, options);
  return result_;
}

double KasenRun::seconds_per_turn() const {
  if (times_.size() < 2) throw std::runtime_error("too few turns to time");
  return (times_.back() - times_.front()) / static_cast<double>(times_.size() - 1);
}

}  // namespace kasen::bench
