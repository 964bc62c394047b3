// Dictionaries as JSON, in manifests and files of their own; private to them.
#pragma once

#include <functional>

#include "libcomm/data/dictionary.h"
#include "libcomm/data/json_fields.h"

namespace kasen {

// {"X": [{"column": 2, "name": "protocol", "words": ["icmp", "tcp"]}]}, in lists: looking for keys takes time.
[[nodiscard]] JsonFields::Json dictionary_json(const Dictionary& dictionary);
// `refuse` throws. Manifests of bundles had {"X": {"2": ["icmp", "tcp"]}} before.
[[nodiscard]] Dictionary dictionary_of(const JsonFields::Json& json,
                                       const std::function<void(const std::string& why)>& refuse);

}  // namespace kasen
