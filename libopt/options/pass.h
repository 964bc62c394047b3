// One pass of the optimizer: a free function from a module to a better one. passes.def has a row for each, in the order
// in which they run; optimize.cpp runs, times and verifies them.
#pragma once

#include <span>
#include <string_view>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/options/options.h"

namespace kasen {

struct PassContext {
  LawChecker& laws;
  const OptimizeOptions& options;
};

// Returns whether the module was changed. A pass that is run on its own result changes nothing.
using PassFunction = bool (*)(Module& module, PassContext& context);

enum class PassWhen : std::uint8_t { always, fusing, moving, greedy, selected };

struct PassRow {
  std::string_view name;
  PassFunction run;
  PassWhen when;
  int from, to;            // the levels of a module on which it runs
  std::string_view steps;  // "1, 2": of KASEN's five (docs/passes.md), those that it does
  std::string_view doc;
  std::string_view why;  // it stands where it does
};

[[nodiscard]] std::span<const PassRow> pass_rows();

// Runs the passes behind the named one, for looking ahead: neither verified nor told.
void run_behind(std::string_view name, Module& module, PassContext& context);

// Throws UserError(usage) with a suggestion if no pass has this name, which `option` takes.
[[nodiscard]] const PassRow& find_pass(std::string_view name, std::string_view option);

}  // namespace kasen
