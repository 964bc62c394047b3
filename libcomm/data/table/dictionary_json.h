// Dictionaries as JSON, in manifests and files of their own; private to them.
#pragma once

#include <functional>

#include "libcomm/data/base/json_fields.h"
#include "libcomm/data/table/dictionary.h"

namespace kasen {

// {"X": [{"column": 2, "name": "protocol", "words": ["icmp", "tcp"]}]}, in lists: a search for keys takes time.
[[nodiscard]] JsonFields::Json dictionary_json(const Dictionary& dictionary);
// `refuse` throws. Older manifests of bundles have {"X": {"2": ["icmp", "tcp"]}}.
[[nodiscard]] Dictionary dictionary_of(const JsonFields::Json& json,
                                       const std::function<void(const std::string& why)>& refuse);

// {"F": ["age", "height"]}.
[[nodiscard]] JsonFields::Json dim_names_json(const DimNames& names);
[[nodiscard]] DimNames dim_names_of(const JsonFields::Json& json,
                                    const std::function<void(const std::string& why)>& refuse);

}  // namespace kasen
