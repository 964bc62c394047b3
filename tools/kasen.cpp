// kasen: dispatches `kasen plan ...` to the tool kasen-plan beside it; `kasen verify`, `kasen go` and help are here.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "libcomm/data/bundle.h"
#include "libcomm/data/checkpoint.h"
#include "libcore/module.h"
#include "libopt/prover/prover.h"
#include "tools/common/files.h"
#include "tools/common/tool.h"
#include "tools/common/version.h"
#include "tools/go.h"

using namespace kasen;
using namespace kasen::tools;

namespace {

struct Command {
  std::string_view name, summary;
};
constexpr std::array<Command, 8> commands{{
    {"plan", "a program (*.ks) to IR"},
    {"partition", "data files to a bundle for some number of workers"},
    {"fuse", "IR to an optimized plan"},
    {"run", "a plan on a bundle, over threads and MPI ranks"},
    {"measure", "what a plan reads, writes, allocates and sends, before it runs"},
    {"go", "all of these in one command"},
    {"verify", "checks IR files, bundles and checkpoints"},
    {"generate", "graphs of any size, to try things on"},
}};

void print_usage() {
  std::string text = fmt::format(
      "kasen {}: array programs, measured before they run, fused, and run over MPI\n\n"
      "Usage: kasen COMMAND ...      (kasen COMMAND --help tells more)\n\n",
      version);
  for (const Command& c : commands) text += fmt::format("  {:<10} {}\n", c.name, c.summary);
  text += "\nExample:\n  kasen go examples/pagerank.ks G=datasets/cnr-2000.txt.xz --workers 4 -n 2\n";
  write_standard_output(text);
}

// Replaces this process by the tool that stands beside it.
int dispatch(const std::string& command, char** argv) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string path = (self.parent_path() / ("kasen-" + command)).string();
  execv(path.c_str(), argv);
  tell("kasen: error: cannot start '{}'; {}; build the tools first (scripts/setup)\n", path, std::strerror(errno));
  return static_cast<int>(ExitStatus::missing_input);
}

// A checkpoint, or all of a run's folder. False: one is not right.
bool verify_saved(const std::vector<std::string>& folders) {
  bool right = true;
  for (const std::string& folder : folders) {
    try {
      write_standard_output(fmt::format("{}: right ({})\n", folder, verify_checkpoint(folder)));
    } catch (const UserError& error) {
      right = false;
      tell("{}: {}\n", folder, error.what());
    }
  }
  return right;
}

// As a run reads it: each file against its digest, its structure and its content, and what parts say of each other.
std::string verified_bundle(const std::string& folder) {
  const BundleInfo info = read_bundle_info(folder);
  (void)read_parts(folder, 0, info.workers);
  return fmt::format("{}: right (a bundle of {} part{})\n", folder, info.workers, info.workers == 1 ? "" : "s");
}

ExitStatus verify(const po::variables_map& values) {
  bool right = true;
  Prover laws;
  for (const std::string& file : values["file"].as<std::vector<std::string>>()) {
    try {
      if (std::filesystem::is_directory(file)) {
        const std::vector<std::string> saved = is_checkpoint(file) ? std::vector{file} : checkpoints_in(file);
        if (saved.empty()) {
          write_standard_output(verified_bundle(file));
        } else {
          right = verify_saved(saved) && right;
        }
        continue;
      }
      const Module module = parse_module(read_text(file), shown_name(file));
      require_valid(module, laws);
      write_standard_output(fmt::format("{}: right (level {})\n", shown_name(file), module.level));
    } catch (const UserError& error) {
      if (error.status() != ExitStatus::bad_input) throw;
      right = false;
      for (const Diagnostic& d : error.diagnostics()) {
        tell("{}{}\n", d.where.file.empty() ? file + ": " : "", format_diagnostic(d, colour_wanted(STDERR_FILENO)));
      }
    }
  }
  return right ? ExitStatus::done : ExitStatus::check_failed;
}

int verify_main(int argc, char** argv) {
  Tool tool{.info = {"kasen verify",
                     "checks IR files by every rule of their level, and all that bundles and checkpoints hold",
                     "FILE.kir|BUNDLE|CHECKPOINTS...", "kasen verify plan.kir fused.kir"}};
  tool.hidden.add_options()("file", po::value<std::vector<std::string>>()->default_value({"-"}, "-"));
  tool.positional.add("file", -1);
  tool.reads = {"file"};
  return run_tool(argc, argv, tool, verify);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "--help";
  try {
    if (command == "--help" || command == "-h" || command == "help") {
      print_usage();
      return argc > 1 ? 0 : static_cast<int>(ExitStatus::usage);
    }
    if (command == "--version") {
      write_standard_output(fmt::format("kasen {}\n", version));
      return 0;
    }
  } catch (const UserError& error) {
    tell("kasen: {}\n", error.what());
    return static_cast<int>(error.status());
  }
  if (command == "verify") return verify_main(argc - 1, argv + 1);
  if (command == "go") return go_main(argc - 1, argv + 1);
  for (const Command& c : commands) {
    if (c.name == command) return dispatch(command, argv + 1);
  }
  tell("kasen: error: unknown command '{}'; see 'kasen --help'\n", command);
  return static_cast<int>(ExitStatus::usage);
}
