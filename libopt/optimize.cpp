#include "libopt/optimize.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "libcore/error.h"
#include "libcore/suggest.h"
#include "libopt/pass.h"
#include "libopt/rewrite.h"

namespace kasen {

#define PASS(function, name, when, from, to, doc) bool pass_##function(Module& module, PassContext& context);
#include "libopt/passes.def"
#undef PASS

namespace {

constexpr std::array rows{
#define PASS(function, name, when, from, to, doc) PassRow{name, pass_##function, PassWhen::when, from, to, doc},
#include "libopt/passes.def"
#undef PASS
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The optimizer's own fault: says which pass broke which rule, and where.
void verify_after(const PassRow& pass, const Module& module, LawChecker& laws) {
  const std::vector<Diagnostic> faults = verify_module(module, laws);
  if (faults.empty()) return;
  throw InternalError(fmt::format("pass '{}' broke the module: {}", pass.name, format_diagnostic(faults.front())));
}

bool run_pass(const PassRow& pass, Module& module, PassContext& context) {
  const auto start = std::chrono::steady_clock::now();
  const bool changed = pass.run(module, context);
  if (changed) {
    compact_values(module);
    verify_after(pass, module, context.laws);
  }
  if (context.options.on_pass) context.options.on_pass(std::string(pass.name), seconds_since(start), changed);
  const std::string& wanted = context.options.print_after;
  if (context.options.on_print && (wanted == "all" || wanted == pass.name)) {
    context.options.on_print(std::string(pass.name), module);
  }
  return changed;
}

}  // namespace

std::span<const PassRow> pass_rows() { return rows; }

void require_pass_name(std::string_view name) {
  if (name.empty() || name == "all") return;
  std::vector<std::string> names;
  std::string listed;
  for (const PassRow& pass : rows) {
    if (pass.name == name) return;
    names.emplace_back(pass.name);
    listed += (listed.empty() ? " " : ", ") + names.back();
  }
  const std::string near = nearest_name(name, names);
  fail(ExitStatus::usage, fmt::format("no pass is called '{}'", name), "--print-after takes the name of a pass, or all",
       near.empty() ? "use one of" + listed : "did you mean '" + near + "'?");
}

Module optimize(Module module, LawChecker& laws, const OptimizeOptions& options) {
  require_pass_name(options.print_after);
  require_valid(module, laws);
  if (module.level >= 3) return module;
  PassContext context{laws, options};
  for (const PassRow& pass : rows) {
    const bool enabled = pass.when == PassWhen::always || options.strategy == Strategy::greedy;
    if (enabled && module.level >= pass.from && module.level <= pass.to) (void)run_pass(pass, module, context);
  }
  return module;
}

}  // namespace kasen
