// IR of any level: what parses is printed and reads back as it is; what the verifier accepts runs on simulated workers
// and in the plain interpreter without a crash.
#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/kinds.h"
#include "tests/support/bounded_run.h"

namespace kasen::fuzz {

void fuzz_ir(std::string_view content) {
  const Module module = parse_module(content, "module.kir");
  const std::string text = print_module(module);
  require(print_module(parse_module(text, "printed.kir")) == text, "IR that is written reads back as it is", text);
  TrialLawChecker laws(64);
  const auto faults = verify_module(module, laws);
  if (!faults.empty() || !testing::is_small(module)) return;
  (void)testing::run_bounded(module, 2, {.steps = 300, .seed = 1});
}

}  // namespace kasen::fuzz
