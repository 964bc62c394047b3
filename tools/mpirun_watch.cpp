#include "tools/mpirun_watch.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace kasen::tools {
namespace {

// Whether it has ended and only waits to be asked for its status.
bool is_zombie(const std::string& process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(") ");  // a name may hold anything
  return name_end == std::string::npos || line.compare(name_end + 2, 1, "Z") == 0;
}

}  // namespace

int living_children(pid_t parent) {
  int living = 0;
  std::error_code fault;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", parent);
  for (std::filesystem::directory_iterator at(tasks, fault), end; !fault && at != end; at.increment(fault)) {
    std::ifstream children(at->path() / "children");
    for (std::string child; children >> child;) living += is_zombie(child) ? 0 : 1;
  }
  return living;
}

MpirunWatch::MpirunWatch(pid_t mpirun, std::chrono::seconds patience)
    : mpirun_(mpirun), patience_(patience), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void MpirunWatch::watch(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  bool had = false;
  Clock::time_point last = Clock::now();  // when it had one
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (living_children(mpirun_) > 0) {
      had = true;
      last = Clock::now();
    } else if (had && Clock::now() - last > patience_) {
      kill(mpirun_, SIGKILL);
      return;
    }
    stopped_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
  }
}

}  // namespace kasen::tools
