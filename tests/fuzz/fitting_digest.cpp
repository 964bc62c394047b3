#include "tests/fuzz/fitting_digest.h"

#include <nlohmann/json.hpp>

#include "libcomm/data/base/digest.h"
#include "libcore/base/nesting.h"

namespace kasen::fuzz {

std::string with_fitting_digest(std::string_view text) {
  using Json = nlohmann::ordered_json;
  if (nests_deeper(text, deepest_json)) return std::string(text);  // this reader's stack has an end, too
  Json whole = Json::parse(text, nullptr, false);
  if (!whole.is_object() || !whole.contains("content")) return std::string(text);
  try {
    whole["digest"] = digest_of(whole["content"].dump());
    return whole.dump();
  } catch (const Json::exception&) {  // not UTF-8
    return std::string(text);
  }
}

}  // namespace kasen::fuzz
