// kasen-run: runs a plan on a bundle. With `-n R` it starts mpirun; alone it is one process that never starts MPI;
// under mpirun or srun it is one of the ranks.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "libcomm/data/hdf5/file.h"
#include "libcomm/data/hdf5/version.h"
#include "libcomm/exchange/mpi_version.h"
#include "libcore/system/processors.h"
#include "libcore/system/temporaries.h"
#include "libkernels/make/kernel_maker.h"
#include "tools/common/choice.h"
#include "tools/common/tool.h"
#include "tools/launch/launch.h"
#include "tools/launch/options.h"
#include "tools/launch/signals.h"
#include "tools/launch/start_limit.h"
#include "tools/run/checkpoint.h"
#include "tools/run/cluster.h"
#include "tools/run/job.h"
#include "tools/run/machine.h"
#include "tools/run/network.h"
#include "tools/system/files.h"
#include "tools/system/last_words.h"
#include "tools/system/verbosity.h"

using namespace kasen;
using namespace kasen::tools;

namespace {

// A rank reports its error and ends the whole job with its status.
[[noreturn]] void fail_job(Cluster& cluster, const JobOutput& output, const UserError& error) {
  tell_of_job(output, message_of("kasen-run", error));
  remove_temporaries();
  cluster.abort(error.status());
  std::abort();  // the compiler does not see that a virtual function never returns
}

// A launcher reports for all of its ranks; a bare mpirun or srun does not know --timeout.
void leave_unstarted() {
  write_message(
      "kasen-run: error: this rank did not start in time (--timeout); MPI waits for another rank, or for a resource; "
      "see 'kasen doctor --only mpi', and whether there is room in $TMPDIR and /dev/shm\n");
  remove_temporaries();
  _exit(static_cast<int>(ExitStatus::limit));
}

// The launcher then knows that mpirun could start a rank.
void tell_begun() { write_message(fmt::format("{}\n", begun_mark)); }

ExitStatus run_rank(int argc, char** argv, const RunSettings& settings, bool launched) {
  if (launched) mark_last_words(error_mark);
  if (launched) tell_begun();
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // no rank outlives a killed mpirun
  start_examiner();                  // before MPI, which should not be forked
  if (!settings.checkpoint.empty()) remember_stop_signals();
  StartLimit start(launched ? 0 : settings.timeout, [](const std::stop_token&) { leave_unstarted(); });
  const std::unique_ptr<Cluster> cluster = make_mpi_cluster(argc, argv);
  const JobOutput output{.launched = launched, .progress = false, .watched = [&] {
                           start.over();
                           if (launched && cluster->rank() == 0) write_message(fmt::format("{}\n", watched_mark));
                         }};
  if (launched && cluster->rank() == 0) write_message(fmt::format("{}\n", ready_mark));  // MPI waited for all of them
  try {
    require_target(settings.target);
    run_job(settings, *cluster, output);
  } catch (const Stopped& stopped) {  // on all ranks
    if (cluster->rank() == 0) tell_of_job(output, stopped.text, stopped_mark);
    return ExitStatus::resumable;
  } catch (const JobFailed& failed) {  // on all ranks: each leaves by itself
    if (cluster->rank() == 0) tell_of_job(output, failed.text);
    return failed.status;
  } catch (const UserError& error) {
    fail_job(*cluster, output, error);
  } catch (const std::bad_alloc&) {
    fail_job(*cluster, output, plain_error(no_memory(), ExitStatus::limit));
  } catch (const std::exception& error) {
    if (errno == ENOMEM) fail_job(*cluster, output, plain_error(no_memory(), ExitStatus::limit));
    fail_job(*cluster, output,
             plain_error(fmt::format("{}; this is a bug of Kasen", error.what()), ExitStatus::internal));
  }
  return ExitStatus::done;
}

ExitStatus run_alone(const RunSettings& settings) {
  start_examiner();
  if (!settings.checkpoint.empty()) remember_stop_signals();
  const JobOutput output{.launched = false, .progress = true};
  try {
    run_job(settings, *make_single_process(), output);
  } catch (const Stopped& stopped) {
    tell_of_job(output, stopped.text);
    return ExitStatus::resumable;
  }
  return ExitStatus::done;
}

// Under mpirun or srun, this process is one of the ranks. Else it launches them; `status` gets the job's status.
ExitStatus profile_network(int argc, char** argv, const po::variables_map& values, int& status) {
  if (!started_by_mpi()) {
    RunSettings settings;
    settings.ranks = values.count("ranks") > 0 ? values["ranks"].as<int>() : 2;
    settings.mpirun = mpirun_option(values);
    status = launch_ranks(settings, {argv + 1, argv + argc});
    return ExitStatus::done;
  }
  if (values.count("as-rank") > 0) tell_begun();
  const std::unique_ptr<Cluster> cluster = make_mpi_cluster(argc, argv);
  const JobOutput output{.launched = values.count("as-rank") > 0, .progress = false};
  try {
    const std::string profile = network_profile(*cluster);
    if (cluster->rank() == 0) write_text("-", profile);
  } catch (const UserError& error) {
    fail_job(*cluster, output, error);
  }
  return ExitStatus::done;
}

ExitStatus tell_libraries() {
  std::string text;
  for (const auto& [name, versions] :
       {std::pair{"LLVM", llvm_versions()}, {"HDF5", hdf5_versions()}, {"MPI", mpi_versions()}}) {
    text += fmt::format("{} {} {}\n", name, versions.built, versions.running);
  }
  write_text("-", text);
  return ExitStatus::done;
}

ExitStatus profile_machine(const po::variables_map& values) {
  const int threads = values["threads"].as<int>();
  write_text("-", machine_profile(threads > 0 ? threads : usable_threads()));
  return ExitStatus::done;
}

ExitStatus write_code(const po::variables_map& values) {
  RunSettings settings;
  settings.plan = values["plan"].as<std::string>();
  settings.plan_name = shown_name(settings.plan);
  settings.target = choose(values, "target", levels);
  write_kernels(settings, file_option(values, "emit-kernels"));
  return ExitStatus::done;
}

// The result of an earlier run where this one's would go. A run that fails leaves it, and it does not show that.
class EarlierResult {
 public:
  void look(const std::string& path) {
    path_ = path;
    was_ = facts();
  }
  void tell(int status) const {
    const bool begun = status != 0 && status != static_cast<int>(ExitStatus::usage) &&
                       status != static_cast<int>(ExitStatus::cannot_create);
    if (begun && was_ && was_ == facts()) note("note: '{}' is as it was before: this run has not written it\n", path_);
  }

 private:
  using Facts = std::array<std::int64_t, 4>;
  [[nodiscard]] std::optional<Facts> facts() const {
    struct stat info {};
    if (path_.empty() || stat(path_.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    return Facts{static_cast<std::int64_t>(info.st_ino), info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  }

  std::string path_;
  std::optional<Facts> was_;
};

}  // namespace

int main(int argc, char** argv) {
  Tool tool{.info = {"kasen-run", "runs a plan on a bundle and writes the results to a file",
                     "[FUSED.kir] --bundle BUNDLE [-n R] [-o RESULT.h5]",
                     "kasen run -n 2 fused.kir --bundle web-16 -o ranks.h5 --top 10"}};
  declare_run_options(tool);
  tool.hidden.add_options()("as-rank", "this process is a rank that kasen-run -n has started")(
      "libraries", "prints versions: name, when Kasen was built, now");
  int status = 0;
  EarlierResult earlier;
  const int own = run_tool(argc, argv, tool, [&](const po::variables_map& values) {
    if (values.count("libraries") > 0) return tell_libraries();
    if (values.count("machine-profile") > 0) return profile_machine(values);
    if (values.count("network-profile") > 0) return profile_network(argc, argv, values, status);
    if (values.count("emit-kernels") > 0) return write_code(values);
    const RunSettings settings = read_run_options(values);
    if (values.count("as-rank") > 0) return run_rank(argc, argv, settings, true);
    if (!started_by_mpi()) earlier.look(settings.output);
    if (settings.ranks > 0 && !started_by_mpi()) {
      status = launch_ranks(settings, {argv + 1, argv + argc});
      return ExitStatus::done;
    }
    if (started_by_mpi()) return run_rank(argc, argv, settings, false);
    require_target(settings.target);
    return run_alone(settings);
  });
  const int ended = status != 0 ? status : own;
  earlier.tell(ended);
  return ended;
}
