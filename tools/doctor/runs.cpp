// Checks that start other tools: libraries, generated kernels, MPI.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "libcore/system/processors.h"
#include "libopt/time/run_report.h"
#include "tools/doctor/checks.h"
#include "tools/doctor/timed_process.h"
#include "tools/system/files.h"
#include "tools/system/process.h"

namespace kasen::tools {
namespace {

std::string tool(const std::string& name) { return tool_folder() + "/kasen-" + name; }

// The last line of a process's output, where one is to be shown.
std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

std::string end_of(const TimedResult& result) {
  if (result.late) return "no end after some time (--patience)";
  const std::string how =
      result.signal != 0 ? fmt::format("ended by signal {}", result.signal) : fmt::format("status {}", result.status);
  const std::string said = last_line(result.output);
  return said.empty() ? how : fmt::format("{}: {}", how, said);
}

// Makes a plan and a bundle of three nonzeros; returns "" or the failure.
std::string prepare(const Patient& patient) {
  const std::string& folder = patient.folder;
  write_text(folder + "/sum.ks", "dim N\ninput G : null[N, N]\none : f64[N] = 1\noutput rows = G @ one\n");
  write_text(folder + "/links.txt", "1 2\n2 3\n1 3\n");
  const std::vector<std::vector<std::string>> steps{
      {tool("plan"), folder + "/sum.ks", "-o", folder + "/plan.kir"},
      {tool("fuse"), folder + "/plan.kir", "-o", folder + "/fused.kir"},
      {tool("partition"), "--program", folder + "/plan.kir", "G=" + folder + "/links.txt", "--workers", "2", "-o",
       folder + "/bundle", "--replace"},
  };
  for (const auto& step : steps) {
    if (const TimedResult result = run_for(step, patient.patience); result.status != 0 || result.late)
      return fmt::format("{}: {}", step[0], end_of(result));
  }
  return "";
}

// Runs the plan; returns "" or the failure.
std::string run_plan(const Patient& patient, const std::vector<std::string>& more) {
  if (std::string fault = prepare(patient); !fault.empty()) return fault;
  const std::string& folder = patient.folder;
  const std::string result_file = folder + "/rows.csv";
  std::vector<std::string> line{
      tool("run"), folder + "/fused.kir", "--bundle", folder + "/bundle", "--format", "csv", "-o", result_file};
  line.insert(line.end(), more.begin(), more.end());
  const TimedResult result = run_for(line, patient.patience);
  if (result.late || result.status != 0) return end_of(result);
  const std::string rows = read_text(result_file), right = "1,2\n2,1\n3,0\n";
  return rows.ends_with(right) ? "" : "the result is wrong: " + rows;
}

}  // namespace

Finding check_libraries(const Patient& patient) {
  const TimedResult result = run_for({tool("run"), "--libraries"}, patient.patience);
  if (result.status != 0 || result.late) {
    return {Verdict::broken, "kasen-run does not start: " + end_of(result),
            "ldd shows what it lacks; build it again (scripts/setup), or install what it was built with"};
  }
  std::istringstream lines(result.output);
  std::string what, differ;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, built, running;
    words >> name >> built >> running;
    what += fmt::format("{}{} {}", what.empty() ? "" : ", ", name, running);
    if (built != running) differ += fmt::format("; {} was {} when Kasen was built", name, built);
  }
  if (differ.empty()) return {Verdict::ok, what, ""};
  return {Verdict::better, what + differ, "build again with the libraries that are there now (scripts/setup)"};
}

Finding check_kernels(const Patient& patient) {
  const std::string counters = patient.folder + "/run.json";
  const std::string fault = run_plan(patient, {"--code-cache", "none", "--stats", counters});
  if (fault.empty()) {
    const RunReport run = read_run_report(read_text(counters), counters);
    std::string what = "compiled, run, and right; for " + run.processor;
    for (const MadeChoice& made : run.choices) what += fmt::format("; {}: {}", made.choice, choice_text(made));
    return {Verdict::ok, what, ""};
  }
  return {Verdict::broken, fault, "--kernels interpreter runs without a compiler, slowly; build again (scripts/setup)"};
}

Finding check_mpi(const Patient& patient) {
  if (!command_exists("mpirun")) {
    return {Verdict::broken, "mpirun is not in PATH: runs have one process",
            "install Open MPI (Debian: openmpi-bin), or load its module, and check PATH"};
  }
  const TimedResult version = run_for({"mpirun", "--version"}, patient.patience);
  const std::string name = version.output.substr(0, version.output.find('\n'));
  if (name.find("Open MPI") == std::string::npos) {
    return {Verdict::broken, fmt::format("mpirun is not of Open MPI: '{}'", name),
            "put the mpirun that Kasen was built with first in PATH"};
  }
  const std::string fault = run_plan(patient, {"-n", "2"});
  if (fault.empty()) return {Verdict::ok, name + ": two ranks ran, and were right", ""};
  return {Verdict::broken, fmt::format("{}: two ranks do not run ({})", name, fault),
          "try 'mpirun -n 2 hostname'; a firewall or a wrong network shows in 'mpirun --mca btl ^tcp -n 2 hostname'"};
}

Finding check_root(const Patient& /*patient*/) {
  if (geteuid() != 0) return {Verdict::ok, "not root", ""};
  const bool set =
      std::getenv("OMPI_ALLOW_RUN_AS_ROOT") != nullptr && std::getenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") != nullptr;
  if (set) return {Verdict::ok, "root, and Open MPI is set to allow it", ""};
  return {Verdict::better, "root: kasen run -n makes Open MPI allow it, a bare mpirun refuses",
          "run as another user, or: export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
}

Finding check_bindings(const Patient& patient) {
  if (!command_exists("mpirun")) return {Verdict::ok, "no mpirun to ask", ""};
  std::vector<std::string> line{"mpirun", "-n", "2", "--oversubscribe", "--report-bindings", "true"};
  if (geteuid() == 0) line.insert(line.begin() + 1, "--allow-run-as-root");
  const TimedResult result = run_for(line, patient.patience);
  if (result.late || result.status != 0) return {Verdict::ok, "mpirun does not report it (" + end_of(result) + ")", ""};
  std::istringstream lines(result.output);
  int bound = 0, most = 0;
  for (std::string text; std::getline(lines, text);) {
    const size_t at = text.find(" bound to ");
    if (at == std::string::npos || text.find("not bound") != std::string::npos) continue;
    int cores = 0;
    for (size_t core = text.find("core ", at); core != std::string::npos; core = text.find("core ", core + 1)) ++cores;
    ++bound;
    most = std::max(most, cores);
  }
  if (bound == 0) return {Verdict::ok, "a bare mpirun binds ranks to nothing, as kasen run -n", ""};
  const std::string what =
      fmt::format("a bare mpirun binds each of two ranks to {} core{}", most, most == 1 ? "" : "s");
  if (most * 2 >= allowed_processors()) return {Verdict::ok, what + "; kasen run -n binds to nothing", ""};
  return {Verdict::better, what + ", so that a rank starts no more threads than that",
          "kasen run -n, which binds to nothing; or mpirun --bind-to none, or --map-by slot:PE=THREADS"};
}

Finding check_job(const Patient& /*patient*/) {
  const auto variable = [](const char* name) -> std::string {
    const char* text = std::getenv(name);
    return text == nullptr ? "" : text;
  };
  const std::string job = variable("SLURM_JOB_ID");
  if (job.empty()) return {Verdict::ok, "not in a batch job of Slurm", ""};
  std::string what = "Slurm job " + job;
  for (const auto& [name, shown] : {std::pair{"SLURM_JOB_NUM_NODES", "nodes"},
                                    {"SLURM_NTASKS", "tasks"},
                                    {"SLURM_CPUS_PER_TASK", "processors a task"},
                                    {"SLURM_MEM_PER_NODE", "MiB a node"}}) {
    if (const std::string value = variable(name); !value.empty()) what += fmt::format(", {} {}", value, shown);
  }
  const int wanted = std::atoi(variable("SLURM_CPUS_PER_TASK").c_str()), allowed = allowed_processors();
  if (wanted > allowed) {
    return {Verdict::better, fmt::format("{}; this step has {}", what, allowed),
            "srun --cpus-per-task=$SLURM_CPUS_PER_TASK (srun does not take it over by itself)"};
  }
  if (!command_exists("srun")) return {Verdict::better, what + "; srun is not in PATH", "load Slurm's module"};
  return {Verdict::ok, what, ""};
}

}  // namespace kasen::tools
