#include "tools/launch/mpirun_watch.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace kasen::tools {
namespace {

// Whether it has ended and only waits for its parent to read its status.
bool is_zombie(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(") ");  // a name may hold anything
  return name_end == std::string::npos || line.compare(name_end + 2, 1, "Z") == 0;
}

}  // namespace

std::vector<pid_t> living_children(pid_t parent) {
  std::vector<pid_t> living;
  std::error_code fault;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", parent);
  for (std::filesystem::directory_iterator at(tasks, fault), end; !fault && at != end; at.increment(fault)) {
    std::ifstream children(at->path() / "children");
    for (pid_t child = 0; children >> child;) {
      if (!is_zombie(child)) living.push_back(child);
    }
  }
  return living;
}

MpirunWatch::MpirunWatch(pid_t mpirun, std::chrono::seconds patience)
    : mpirun_(mpirun), patience_(patience), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void MpirunWatch::watch(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  bool had = false;
  Clock::time_point last = Clock::now();  // when it last had a process
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const std::vector<pid_t> children = living_children(mpirun_);
    if (!children.empty() && !over_) {
      had = true;
      last = Clock::now();
    } else if ((had || over_) && Clock::now() - last > patience_) {
      kill(mpirun_, SIGKILL);
      for (const pid_t child : children) kill(child, SIGKILL);  // ssh or srun, whose node does not answer
      return;
    }
    stopped_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
  }
}

}  // namespace kasen::tools
