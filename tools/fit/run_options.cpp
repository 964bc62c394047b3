#include "tools/fit/run_options.h"

#include "tools/common/choice.h"
#include "tools/fit/work.h"
#include "tools/options/words.h"
#include "tools/system/files.h"

namespace kasen::tools {

void declare_run_options_of_models(Tool& tool) {
  tool.under("Run");
  tool.options.add_options()("workers", po::value<int>()->default_value(1)->value_name("P"),
                             "parts; with -n alone one a rank")("ranks,n", po::value<int>()->value_name("R"),
                                                                "MPI ranks (without it: one process, no MPI)")(
      "threads", po::value<int>()->default_value(0)->value_name("T"), "threads of each rank, see kasen run")(
      "dir", po::value<std::string>()->value_name("DIR"), "keeps the program, its plan and its report in this folder");
}

void add_run_options(const po::variables_map& values, std::vector<std::string>& arguments) {
  if (!values["workers"].defaulted())
    arguments.insert(arguments.end(), {"--workers", std::to_string(bounded(values, "workers", 1, most_workers))});
  if (values.count("ranks") > 0)
    arguments.insert(arguments.end(), {"-n", std::to_string(bounded(values, "ranks", 1, most_workers))});
  arguments.insert(arguments.end(), {"--threads", std::to_string(bounded(values, "threads", 0, most_threads))});
}

int run_with_steps(int argc, char** argv, Tool& tool, const std::function<ExitStatus(const po::variables_map&)>& body) {
  int failed = 0;
  const int own = run_tool(argc, argv, tool, [&](const po::variables_map& values) {
    try {
      return body(values);
    } catch (const GoFailed& step) {
      tell("{}", step.messages);
      failed = step.status;
      return ExitStatus::done;
    }
  });
  return failed != 0 ? failed : own;
}

}  // namespace kasen::tools
