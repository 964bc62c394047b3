// The content of a bundle, as `kasen partition --stats` tells it, in JSON.
#pragma once

#include <vector>

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/bundle/forms.h"
#include "libcore/json/text.h"

namespace kasen::tools {

[[nodiscard]] Json bundle_report(const BundleInfo& info, const std::vector<KeptForm>& forms);

}  // namespace kasen::tools
