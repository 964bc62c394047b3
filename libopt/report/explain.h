// Explains a plan by the user's source lines: each transition, split, moved statement, region and buffer. It states the
// rule and law by which each stands there, its cost, and the cost of the runner-up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/json/text.h"
#include "libcore/laws/laws.h"
#include "libopt/cost/sizes.h"
#include "libopt/sync/plan_notes.h"
#include "libopt/time/price.h"

namespace kasen {

// A number of an explanation: of bytes, by the sizes of data.
struct Amount {
  std::string name;                   // "network_bytes"
  std::string formula;                // "8 S"
  std::optional<std::int64_t> value;  // nothing: sizes are not known
};

// One thing that is explained, as a line of text, and what is said of it.
struct Explained {
  std::string what;
  std::vector<Explained> notes{};
  std::vector<Amount> amounts{};
  std::optional<Price> price{};     // of the whole plan, if it were made in this way
  std::optional<Location> where{};  // of the statement that it is of, in sections by line
  std::string source{};             // the statement
};

struct ExplainedSection {
  std::string key;    // "transitions"
  std::string title;  // "Transitions"
  std::vector<Explained> items;
  bool by_line = false;  // the items stand under the user's lines
  int depth = 1;         // of items that do not
  std::optional<Explained> closing{};
};

struct Explanation {
  std::string program;
  int level = 0;
  std::string origin;  // of the sizes; empty: there are none
  std::vector<ExplainedSection> sections;
  bool knows_alternatives = true;  // false: what other modes and strategies cost is not known
};

// Explains a module of level 2 or 3. If `sizes` is null, there are formulas alone. `notes` holds the whole plan's cost
// in other modes, which is known only where the plan is made, or made again (replan.h). It may be null.
[[nodiscard]] Explanation explanation_of(const Module& plan, const Sizes* sizes, const PlanNotes* notes,
                                         const MachineProfile& machine, LawChecker& laws);
// It ends with a line end.
[[nodiscard]] std::string explanation_text(const Explanation& explanation);
// Without the frame of a report.
[[nodiscard]] Json explanation_json(const Explanation& explanation);

// Both steps at once.
[[nodiscard]] std::string explain_text(const Module& plan, const Sizes* sizes, const PlanNotes* notes,
                                       const MachineProfile& machine, LawChecker& laws);

}  // namespace kasen
