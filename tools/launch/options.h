// The options of kasen-run, read once and checked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcomm/data/results/results.h"
#include "libcore/kernels/numbering.h"
#include "libcore/system/level.h"
#include "libopt/time/machine.h"
#include "tools/common/tool.h"
#include "tools/machine/byte_option.h"
#include "tools/options/words.h"

namespace kasen::tools {

// The part of a result that the interpreter computes again.
struct VerifyChoice {
  enum class How : std::uint8_t {
    nothing,
    sample,     // so many elements of each output; all, if nothing less gives them and the work is bounded
    automatic,  // a sample, where it costs next to nothing
    all,        // everything, whatever it costs
  };
  How how = How::nothing;
  std::int64_t elements = 0;
};

// What a run does with the forms that a bundle keeps (libcomm/data/bundle/forms.h).
enum class FormUse : std::uint8_t { use, keep, none };

struct RunSettings {
  std::string plan, bundle, output, stats, trace;
  std::string plan_name;  // what messages call the plan
  ResultFormat format = result_formats.front().format;
  KernelChoice kernels = KernelChoice::generated;
  Level target = Level::native;
  WithinGroups masters = WithinGroups::ordered;
  FormUse forms = FormUse::use;
  bool make_forms = false;  // and nothing else
  bool refuse_nan = false;
  std::int64_t memory = 0;  // bytes of a process; 0: all that is available
  std::string spill;        // the folder for arrays that it has no room for; empty: that of temporary files
  double timeout = 0;       // seconds without progress that end the run; 0: no limit
  bool check_messages = false;
  int workers = 0;                  // 0: the bundle's or the mesh's
  int ranks = 0;                    // 0: this process alone, without MPI
  std::vector<std::string> mpirun;  // options for it
  int threads = 0;                  // 0: a rank's share of the processors that it may use
  int top = 0;                      // prints the largest elements of vector results
  bool json = false;                // reports in JSON
  int show = 0;                     // prints so many rows of each output; 0: none
  std::string code_cache;           // a folder; empty: none
  std::optional<MachineProfile> machine;
  std::string checkpoint;  // a folder; empty: none
  bool resume = false;
  std::int64_t every = 0;    // iterations of an outermost loop; 0: every_seconds decides
  double every_seconds = 0;  // 0: `every` decides
  int keep = 2;              // checkpoints
  VerifyChoice verify;
  std::string program;  // the plan's program at level 1, which is computed again in its place; empty: the plan itself
  std::map<std::string, std::string> params;
};

void declare_run_options(Tool& tool);
// Options that `kasen go` takes, too, and hands on: checkpoints, checks and limits of a run.
void declare_lasting_options(Tool& tool);
void read_lasting_options(const po::variables_map& values, RunSettings& settings);  // settings.bundle is set
// UserError(usage): this processor cannot run such code.
void require_target(Level target);
// The given ones of these options, but for one of this name, as arguments of kasen-run.
[[nodiscard]] std::vector<std::string> lasting_arguments(const po::variables_map& values, const std::string& but);

// The file that an option names, or "". UserError(usage): standard output, where mpirun loses data.
[[nodiscard]] std::string file_option(const po::variables_map& values, const std::string& name);

[[nodiscard]] RunSettings read_run_options(const po::variables_map& values);
// The words of --mpirun. UserError(usage): there is no -n, or they are wrong.
[[nodiscard]] std::vector<std::string> mpirun_option(const po::variables_map& values);

}  // namespace kasen::tools
