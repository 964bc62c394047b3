// The manifest of a checkpoint, as it is and with a digest that fits.
#include "libcomm/data/checkpoint/manifest.h"
#include "libcore/base/error.h"
#include "tests/fuzz/fitting_digest.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/kinds.h"

namespace kasen::fuzz {

void fuzz_checkpoint(std::string_view content) {
  try {
    (void)parse_checkpoint(std::string(content), "manifest.json");
  } catch (const UserError&) {
  }
  const std::string text = checkpoint_text(parse_checkpoint(with_fitting_digest(content), "manifest.json"));
  require(checkpoint_text(parse_checkpoint(text, "manifest.json")) == text,
          "a manifest that is written reads back as it is", text);
}

}  // namespace kasen::fuzz
