#include "tools/options/calibrate.h"

#include <fmt/format.h>

#include <vector>

#include "libcore/base/error.h"
#include "libopt/time/machine.h"
#include "tools/options/temporary_file.h"
#include "tools/system/files.h"
#include "tools/system/process.h"

namespace kasen::tools {
namespace {

bool is_network(const MachineKey& key) { return key.name.starts_with("network"); }

// The lines that kasen-run measures, or the built-in numbers with the reason.
std::string measured(std::vector<std::string> arguments, bool (*keys)(const MachineKey& key)) {
  const auto built_in = [&](const std::string& why) {
    return fmt::format("# not measured: {}; these are the built-in numbers\n", why) + machine_lines({}, keys);
  };
  if (keys == is_network && !command_exists("mpirun")) return built_in("mpirun is not in PATH");
  arguments.insert(arguments.begin(), tool_folder() + "/kasen-run");
  const TemporaryFile lines("kasen-profile");
  const Ended ended = run_process(arguments, lines.path());
  if (ended.signal != 0) return built_in(ended_by_signal("kasen-run", ended).diagnostics().front().what);
  if (ended.status != 0) return built_in(fmt::format("kasen-run ended with status {}", ended.status));
  return read_text(lines.path());
}

}  // namespace

std::string calibrated_profile() {
  return "# Measured by kasen measure --calibrate: generated kernels with all cores.\n" +
         measured({"--machine-profile"}, [](const MachineKey& key) { return !is_network(key); }) +
         "# Between two ranks on this machine.\n" + measured({"-n", "2", "--network-profile"}, is_network);
}

}  // namespace kasen::tools
