#include "libopt/options/options.h"

namespace kasen {
namespace {

template <class Value, std::size_t n>
std::string_view name_in(const std::array<std::pair<std::string_view, Value>, n>& names, Value value,
                         std::string_view other) {
  for (const auto& [name, named] : names) {
    if (named == value) return name;
  }
  return other;
}

}  // namespace

OptimizeOptions quiet(OptimizeOptions options) {
  options.notes = nullptr;
  options.print_after.clear();
  options.on_print = nullptr;
  options.on_pass = nullptr;
  return options;
}

std::string_view strategy_name(Strategy strategy) { return name_in(strategy_names, strategy, "mpskip"); }

std::string_view sync_name(SyncMode mode) { return name_in(sync_names, mode, ""); }

}  // namespace kasen
