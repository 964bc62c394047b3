#include "tools/launch/mpirun_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/system/beside.h"
#include "tools/launch/mpi_names.h"
#include "tools/system/process.h"

namespace kasen::tools {
namespace {

// Measured with Open MPI 4.1: its session's folder holds 8.1 MiB and 4 KiB a rank; each rank maps a segment of 4 MiB.
constexpr std::int64_t mebibyte = 1 << 20, session_bytes = 9 * mebibyte, session_bytes_of_rank = 16 << 10,
                       segment_bytes = 4 * mebibyte;
constexpr double shown_unit = 1 << 20;

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

bool set(const char* name) { return std::getenv(name) != nullptr; }

std::string first_set(std::initializer_list<const char*> names, const std::string& otherwise) {
  for (const char* name : names) {
    if (std::string text = variable(name); !text.empty()) return text;
  }
  return otherwise;
}

// Sets it unless the user has set it.
void parameter(const std::string& name, const std::string& value) { setenv(name.c_str(), value.c_str(), 0); }

std::int64_t free_bytes(const std::string& folder) {
  struct statvfs info {};
  if (statvfs(folder.c_str(), &info) != 0) return 0;
  const auto blocks = geteuid() == 0 ? info.f_bfree : info.f_bavail;
  return static_cast<std::int64_t>(blocks) * static_cast<std::int64_t>(info.f_frsize);
}

// Whether so many bytes have room there, tried with files: a count of free blocks does not show what a quota refuses.
// The files are no larger than Open MPI's own, since a shell may limit their size.
bool has_room(const JobFolder& folder, std::int64_t bytes) {
  std::vector<std::string> names;
  bool room = true;
  for (; room && bytes > 0; bytes -= segment_bytes) {
    const std::string& name = names.emplace_back(fmt::format("{}/room-{}", folder.path(), names.size()));
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    room = file >= 0 && posix_fallocate(file, 0, std::min(bytes, segment_bytes)) == 0;
    if (file >= 0) close(file);
  }
  for (const std::string& name : names) unlink(name.c_str());
  return room;
}

[[noreturn]] void fail_full(const std::string& folder, std::int64_t bytes, const std::string& remedy) {
  fail(ExitStatus::limit,
       fmt::format("'{}' has no room for mpirun: {:.1f} MiB are needed, {:.1f} MiB free", folder,
                   static_cast<double>(bytes) / shown_unit, static_cast<double>(free_bytes(folder)) / shown_unit),
       "it keeps its session there while a job runs", remedy);
}

bool names_hosts(const std::string& file, bool any_line) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#') continue;
    if (any_line || line.find("hostfile") != std::string::npos) return true;
  }
  return false;
}

// Settings of the machine and of the user, where Open MPI looks for them.
bool configured_hosts() {
  std::vector<std::string> folders{"/etc/openmpi"};
  if (set("OPAL_PREFIX")) folders.push_back(variable("OPAL_PREFIX") + "/etc");
  if (const std::string mpirun = path_of_command("mpirun"); !mpirun.empty())
    folders.push_back(std::filesystem::path(mpirun).parent_path().parent_path() / "etc");
  for (const std::string& folder : folders) {
    for (const char* file : {"/openmpi-default-hostfile", "/prte-default-hostfile"}) {
      if (names_hosts(folder + file, true)) return true;
    }
    if (names_hosts(folder + "/openmpi-mca-params.conf", false)) return true;
  }
  return names_hosts(variable("HOME") + "/.openmpi/mca-params.conf", false);
}

// "": it does not exist, or mpirun does not take a path with such characters; then mpirun listens as usual.
std::string loopback_library() {
  std::string path = file_beside_program("kasen-loopback.so");
  return path.find_first_of(": ") == std::string::npos ? path : "";
}

}  // namespace

bool ranks_stay_here() {
  const std::string nodes = variable("SLURM_JOB_NODELIST");
  if (set("SLURM_JOB_ID") && (nodes.empty() || nodes != variable("SLURMD_NODENAME"))) return false;
  for (const char* name : {"PBS_NODEFILE", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE", "LOADL_STEP_ID", "COBALT_NODEFILE",
                           "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "OMPI_MCA_hostfile"}) {
    if (set(name)) return false;
  }
  return !configured_hosts();
}

MpirunPlace::MpirunPlace(int ranks)
    : here_(ranks_stay_here()),
      session_above_(first_set({session_here_parameter, session_parameter}, temporary_folder())),
      segments_above_(first_set({segments_parameter}, shared_memory_folder)) {
  for (const std::string& above : {session_above_, segments_above_}) remove_left_job_folders(above);
  const std::string remedy = "set TMPDIR to another folder, or run without -n";
  const std::int64_t session = session_bytes + session_bytes_of_rank * ranks, segments = segment_bytes * ranks;
  session_.emplace(session_above_, remedy);
  if (!has_room(*session_, session)) fail_full(session_above_, session, "make room, " + remedy);
  if (access(segments_above_.c_str(), W_OK | X_OK) != 0 || free_bytes(segments_above_) < segments)
    segments_above_ = session_above_;
  if (free_bytes(segments_above_) < segments + (segments_above_ == session_above_ ? session : 0))
    fail_full(session_above_, session + segments, "make room there or in /dev/shm, " + remedy);
  if (!here_) {
    session_.reset();
    return;
  }
  segments_.emplace(segments_above_, remedy);
  if (!set(session_here_parameter) && !set(session_there_parameter))
    setenv(session_parameter, session_->path().c_str(), 1);  // below the folder that the user names
  for (const char* name :
       {segments_parameter, "OMPI_MCA_osc_sm_backing_directory", "OMPI_MCA_osc_rdma_backing_directory"})
    parameter(name, segments_->path());
  // Ranks of one machine exchange through memory: none of them listens on a network.
  parameter("OMPI_MCA_pml", "ob1");
  parameter("OMPI_MCA_btl", through_memory);
  // Where ranks find their mpirun. PRRTE itself takes no network for that of the machine alone.
  if (has_prrte)
    parameter("PMIX_MCA_ptl_base_if_include", "127.0.0.0/8");
  else if (!set("OMPI_MCA_oob_tcp_if_exclude"))
    parameter("OMPI_MCA_oob_tcp_if_include", "127.0.0.0/8");
  if (const std::string library = loopback_library(); !library.empty()) {
    preloaded_before_ = variable("LD_PRELOAD");
    setenv("LD_PRELOAD", (library + (preloaded_before_.empty() ? "" : ':' + preloaded_before_)).c_str(), 1);
  }
}

std::string MpirunPlace::full_folder() const {
  if (free_bytes(session_above_) < (session_ ? mebibyte : session_bytes)) return session_above_;
  return free_bytes(segments_above_) < mebibyte ? segments_above_ : "";
}

}  // namespace kasen::tools
