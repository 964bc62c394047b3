// One pass of the optimizer: a free function that improves a module. passes.def has a row for each pass, in the order
// in which they run. optimize.cpp runs, times and verifies them.
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

// Returns whether it changed the module. A pass that runs on its own result changes nothing.
using PassFunction = bool (*)(Module& module, PassContext& context);

enum class PassWhen : std::uint8_t {
  always,
  simplifying,
  fusing,
  moving,
  hoisting,
  meshing,
  spreading,
  swapping,
  scheduling
};

struct PassRow {
  std::string_view name;
  PassFunction run;
  PassWhen when;
  int from, to;            // the levels of a module on which it runs
  std::string_view steps;  // "1, 2": the steps that it does, of KASEN's five (docs/passes.md)
  std::string_view doc;
  std::string_view why;  // the reason for its position
};

[[nodiscard]] std::span<const PassRow> pass_rows();

// Runs the passes behind the named one to look ahead. They are neither verified nor reported.
void run_behind(std::string_view name, Module& module, PassContext& context);

// Throws UserError(usage) with a suggestion if no pass has this name. `option` is the option that takes the name.
[[nodiscard]] const PassRow& find_pass(std::string_view name, std::string_view option);

}  // namespace kasen
