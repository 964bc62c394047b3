// The optimizer: the passes of passes.def in order, each verified, timed and named when it breaks a rule.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libcore/laws.h"
#include "libcore/module.h"

namespace kasen {

enum class Strategy : std::uint8_t { none, greedy };
enum class SyncMode : std::uint8_t { lazy, eager, hybrid };

struct OptimizeOptions {
  Strategy strategy = Strategy::greedy;
  SyncMode sync = SyncMode::hybrid;
  bool split = true;        // a + b*x runs as its two lawful halves where that avoids a gather (lazy)
  std::string print_after;  // name of a pass, or "all"
  std::function<void(const std::string& pass, const Module& module)> on_print;
  std::function<void(const std::string& pass, double seconds, bool changed)> on_pass;
};

// A level 1 module to a level 3 plan. Throws UserError for a program that breaks a rule, InternalError naming the pass
// that broke one.
[[nodiscard]] Module optimize(Module module, LawChecker& laws, const OptimizeOptions& options);

}  // namespace kasen
