// The options that made a plan, as the text in its `planned "..."` line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "libopt/options/options.h"

namespace kasen {

// Two ways of planning. They differ in the strategy if it was chosen by cost or given up, and in the moves if these
// were given up. Notes, sizes, the machine and printing are no part of them.
struct PlanRecord {
  OptimizeOptions asked, made;
};

// Returns "strategy=cost:greedy sync=hybrid split=on epilogue=off moves=on": `asked:made` where the two differ.
[[nodiscard]] std::string record_text(const PlanRecord& record);

// Returns nothing for a text that record_text does not make.
[[nodiscard]] std::optional<PlanRecord> read_record(std::string_view text);

}  // namespace kasen
