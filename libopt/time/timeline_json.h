// The timeline of a run in its counters (docs/cost.md has the keys).
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "libcore/data/run_timeline.h"

namespace kasen {

[[nodiscard]] nlohmann::ordered_json timeline_as_json(const RunTimeline& timeline);
// `fault` throws. `operators`: how many the plan has.
[[nodiscard]] RunTimeline read_timeline(const nlohmann::ordered_json& json, std::size_t operators,
                                        const std::function<void(const std::string&)>& fault);

}  // namespace kasen
