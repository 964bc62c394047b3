// JSON changed at random in its structure: a value becomes another one, goes, or comes twice.
#pragma once

#include <iterator>
#include <nlohmann/json.hpp>

#include "libcomm/data/base/digest.h"
#include "tests/support/mutate.h"

namespace kasen::testing {

using Json = nlohmann::ordered_json;

// All values inside, at any depth.
inline void values_in(Json& value, std::vector<Json*>& found) {
  for (Json& inner : value) {
    found.push_back(&inner);
    if (inner.is_structured()) values_in(inner, found);
  }
}

inline Json odd_value(Mutator& mutator) {
  const std::vector<Json> odd{-1,
                              0,
                              1,
                              2,
                              1e300,
                              0.5,
                              "",
                              "x",
                              "../x",
                              nullptr,
                              true,
                              Json::array(),
                              Json::object(),
                              std::uint64_t{1} << 63,
                              std::int64_t{1} << 40,
                              std::string(300, 'n')};
  return odd[mutator.below(odd.size())];
}

inline void change_json(Json& json, Mutator& mutator) {
  std::vector<Json*> values;
  values_in(json, values);
  if (values.empty()) return;
  Json& at = *values[mutator.below(values.size())];
  const size_t how = mutator.below(6);
  if (how == 0) {
    at = odd_value(mutator);
  } else if (how == 1) {
    at = Json(*values[mutator.below(values.size())]);
  } else if (how == 2 && at.is_number_integer()) {
    at = at.get<std::int64_t>() + (mutator.below(2) == 0 ? 1 : -1);
  } else if (at.is_structured() && !at.empty()) {
    const auto inner = std::next(at.begin(), static_cast<std::ptrdiff_t>(mutator.below(at.size())));
    if (how == 3)
      at.erase(inner);
    else if (at.is_array() && how == 4)
      at.push_back(Json(*inner));
    else if (at.is_array())
      std::swap(at[0], at[at.size() - 1]);
  } else {
    Json& other = *values[mutator.below(values.size())];
    if (other.is_structured()) {
      at = Json(other);  // `at` may lie within it
    } else {
      std::swap(at, other);
    }
  }
}

// A manifest with one to three such changes of its content, and the digest that fits.
inline std::string changed_manifest(const Json& whole, Mutator& mutator) {
  Json changed = whole;
  for (size_t left = 1 + mutator.below(3); left > 0; --left) change_json(changed["content"], mutator);
  changed["digest"] = digest_of(changed["content"].dump());
  return changed.dump();
}

}  // namespace kasen::testing
