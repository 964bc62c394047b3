// kasen-plan: turns a program's text into level 1 IR.
#include "libcore/ir/module.h"
#include "libcore/lang/lang.h"
#include "libopt/prover/prover.h"
#include "libopt/prover/verdicts.h"
#include "tools/common/tool.h"
#include "tools/step/step.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

ExitStatus plan(const ToolInfo& info, const po::variables_map& values) {
  const auto& program = values["program"].as<std::string>();
  const std::map<std::string, std::string> defines = name_values(values, "define");
  Module module;
  with_value("define", [&] { module = compile_program(read_text(program), shown_name(program), defines, read_text); });
  Prover laws;
  require_valid(module, laws);
  record_reducer_laws(module, laws);
  if (values.count("no-history") == 0) module.history.push_back(history_line(info));
  write_text(values["output"].as<std::string>(), print_module(module));
  return ExitStatus::done;
}

}  // namespace

int plan_main(int argc, char** argv) {
  Tool tool{.info = {"kasen-plan", "turns a program into IR (level 1)", "[PROGRAM.ks] [-D NAME=VALUE]... [-o PLAN.kir]",
                     "kasen plan examples/pagerank.ks -D theta=1e-8 > plan.kir"}};
  tool.options.add_options()("define,D", po::value<std::vector<std::string>>()->value_name("NAME=VALUE"),
                             "sets a const, the default of a param, or a dimension's size")(
      "output,o", po::value<std::string>()->default_value("-")->value_name("FILE"), "the output file of the IR")(
      "no-history", "leaves out the line that states how the file was made");
  tool.hidden.add_options()("program", po::value<std::string>()->default_value("-")->value_name("PROGRAM.ks"));
  tool.positional.add("program", 1);
  tool.reads = {"program"};
  tool.writes = {"output"};
  return run_tool(argc, argv, tool, [&](const po::variables_map& values) { return plan(tool.info, values); });
}

}  // namespace kasen::tools
