// The options of kasen go: its own, and those that it hands on to the tools.
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "tools/common/params.h"
#include "tools/common/tool.h"
#include "tools/go/go.h"
#include "tools/launch/options.h"
#include "tools/options/cell_options.h"
#include "tools/options/mesh_option.h"
#include "tools/options/result_format.h"
#include "tools/options/words.h"

namespace kasen::tools {
namespace {

using Arguments = std::vector<std::string>;

void declare_program(Tool& tool) {
  tool.under("Program and data");
  tool.options.add_options()("define,D", po::value<Arguments>()->value_name("NAME=VALUE"),
                             "sets a const, a param's default, a dimension's size")(
      "param", po::value<Arguments>()->value_name("NAME=VALUE"), "sets a param for this run")(
      "dim", po::value<Arguments>()->value_name("N=SIZE"), "see kasen partition")(
      "columns", po::value<Arguments>()->value_name("NAME=COLS"), "see kasen partition")(
      "words", po::value<Arguments>()->value_name("NAME=COLS"), "see kasen partition")(
      "dictionary", po::value<std::string>()->value_name("FILE"), "see kasen partition")(
      "repeats", po::value<std::string>()->value_name("WHAT"), "see kasen partition (--missing, --rest, too)");
  declare_cell_options(tool.hidden);
  tool.hidden.add_options()("one-hot", po::value<Arguments>()->value_name("NAME=COLS"), "see kasen partition");
  takes(tool, "repeats", repeats_words);
  takes(tool, "rest", rest_words);
}

void declare_plan(Tool& tool) {
  tool.under("Plan");
  tool.options.add_options()("method", po::value<std::string>()->default_value("auto")->value_name("NAME"),
                             "block, hybrid-cut, ml or auto")(
      "theta", po::value<int>()->default_value(100)->value_name("T"), "see kasen partition")(
      "compress", po::value<std::string>()->default_value("none")->value_name("WHAT"),
      "see kasen partition; auto or none")(
      "sync", po::value<std::string>()->default_value("hybrid")->value_name("MODE"), "lazy, eager, hybrid or auto")(
      "strategy", po::value<std::string>()->default_value("auto")->value_name("NAME"), "see kasen fuse")(
      "epilogue", po::value<std::string>()->default_value("auto")->value_name("WHEN"), "see kasen fuse")(
      "swap", "with --memory of a worker's buffers: see kasen fuse")(
      "observed", po::value<std::string>()->value_name("FILE"), "see kasen fuse");
  declare_mesh_option(tool, true);
  tool.options.add_options()("spread", po::value<std::string>()->value_name("NAME"),
                             "with --mesh: places block operators, see kasen fuse")(
      "grid", po::value<Arguments>()->value_name("X=4x1"), "with --spread: blocks along an input's axes");
  takes(tool, "method", method_words);
  takes(tool, "compress", compress_words);
  takes(tool, "sync", sync_words);
  takes(tool, "strategy", strategy_choices);
  takes(tool, "epilogue", epilogue_words);
}

void declare_run(Tool& tool) {
  tool.under("Run");
  tool.options.add_options()("workers", po::value<int>()->default_value(1)->value_name("P"),
                             "parts; with -n alone one a rank")("ranks,n", po::value<int>()->value_name("R"),
                                                                "MPI ranks (without it: one process, no MPI)")(
      "mpirun", po::value<std::string>()->value_name("'OPTIONS'"), "more options for mpirun, see kasen run")(
      "threads", po::value<int>()->default_value(0)->value_name("T"), "threads of each rank, see kasen run")(
      "kernels", po::value<std::string>()->default_value("generated")->value_name("NAME"), "generated or interpreter")(
      "trace", po::value<std::string>()->value_name("FILE"), "writes the times of all steps, as Chrome trace events");
  takes(tool, "kernels", kernel_words);
  declare_lasting_options(tool);
}

// Copies of this process would write the same files, and wait for one another.
void require_no_copies() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const size = std::getenv(name);
    if (size != nullptr && std::atoi(size) > 1)
      fail(ExitStatus::usage, fmt::format("{} copies of kasen go, by mpirun or srun", size),
           "it starts the ranks of the run itself", "start it alone, with -n 2 (and --mpirun 'OPTIONS')");
  }
}

}  // namespace

void declare_go_options(Tool& tool) {
  declare_program(tool);
  declare_plan(tool);
  declare_run(tool);
  tool.under("Results");
  tool.options.add_options()("dir", po::value<std::string>()->value_name("DIR"),
                             "the output folder (default: PROGRAM.run)")(
      "no-wait", "ends with status 75 where another kasen go works there")(
      "no-report", "makes no tables of costs, no pictures and no page")(
      "output,o", po::value<std::string>()->value_name("FILE"), "the result file (DIR/result and the format's ending)");
  declare_format(tool);
  tool.options.add_options()("top", po::value<int>()->default_value(0)->value_name("K"),
                             "prints the K largest elements of vector results")(
      "show", po::value<int>()->default_value(default_rows)->value_name("N"),
      "prints N rows of each output, see kasen run");
  tool.hidden.add_options()("program", po::value<std::string>()->value_name("PROGRAM.ks"))(
      "data", po::value<Arguments>()->value_name("NAME=DATA"));
  tool.positional.add("program", 1).add("data", -1);
  tool.reads = {"program", "data", "dictionary", "observed"};
  tool.writes = {"output", "trace"};
}

po::variables_map with_parts_for_ranks(po::variables_map values) {
  require_no_copies();
  if (values.count("ranks") == 0 || !values["workers"].defaulted()) return values;
  const int ranks = bounded(values, "ranks", 1, most_workers);
  values.erase("workers");
  values.emplace("workers", po::variable_value(boost::any(ranks), true));
  return values;
}

void check_params(const po::variables_map& values, const Module& program) {
  const std::map<std::string, std::string> defined = name_values(values, "define");
  with_value("param", [&] {
    for (const auto& [name, value] : name_values(values, "param")) {
      check_param(program, name, value);
      if (defined.contains(name))
        fail(ExitStatus::usage, fmt::format("-D {0}={1} and --param {0}={2}", name, defined.at(name), value),
             "the run takes that of --param, so -D would change nothing", "leave out one of them");
    }
  });
}

}  // namespace kasen::tools
