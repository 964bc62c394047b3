// The manifest of a bundle, as it is and with a digest that fits.
#include "libcomm/data/bundle/manifest.h"
#include "libcore/base/error.h"
#include "tests/fuzz/fitting_digest.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/kinds.h"

namespace kasen::fuzz {

void fuzz_manifest(std::string_view content) {
  try {
    (void)parse_manifest(std::string(content), "manifest.json");
  } catch (const UserError&) {
  }
  Manifest manifest = parse_manifest(with_fitting_digest(content), "manifest.json");
  (void)bundle_text(manifest.info);
  if (manifest.version != bundle_version) return;  // the form of today alone is written
  const std::string text = manifest_text(manifest);
  Manifest again = parse_manifest(text, "manifest.json");
  require(manifest_text(again) == text, "a manifest that is written reads back as it is", text);
}

}  // namespace kasen::fuzz
