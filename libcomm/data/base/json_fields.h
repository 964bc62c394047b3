// Reads a manifest's fields with their types and ranges.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/element_text.h"
#include "libcomm/data/base/stored_name.h"
#include "libcore/base/error.h"
#include "libcore/base/nesting.h"

namespace kasen {

// Any mismatch is an error of the manifest: UserError(bad_input).
struct JsonFields {
  using Json = nlohmann::ordered_json;

  std::string file, of, remedy;  // of: "a bundle"

  [[noreturn]] void refuse(const std::string& why) const {
    fail(ExitStatus::bad_input, fmt::format("'{}' is no manifest of {}", file, of), why, remedy);
  }
  void require(bool good, const std::string& why) const {
    if (!good) refuse(why);
  }
  const Json& at(const Json& from, const char* key) const {
    require(from.is_object() && from.contains(key), fmt::format("'{}' is missing", key));
    return from[key];
  }
  std::int64_t number(const Json& value, const char* key, std::int64_t most) const {
    const bool whole =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t(most));
    require(whole && value.get<std::int64_t>() >= 0 && value.get<std::int64_t>() <= most,
            fmt::format("'{}' is out of range", key));
    return value.get<std::int64_t>();
  }
  std::int64_t integer(const Json& from, const char* key, std::int64_t most) const {
    return number(at(from, key), key, most);
  }
  bool boolean(const Json& from, const char* key) const {
    require(at(from, key).is_boolean(), fmt::format("'{}' is not true or false", key));
    return from[key].get<bool>();
  }
  std::string text(const Json& from, const char* key) const {
    require(at(from, key).is_string(), fmt::format("'{}' is no text", key));
    return from[key].get<std::string>();
  }
  const Json& list(const Json& from, const char* key) const {
    require(at(from, key).is_array(), fmt::format("'{}' is no list", key));
    return from[key];
  }
  std::vector<std::string> texts(const Json& value, const char* key) const {
    require(value.is_array(), fmt::format("'{}' is no list", key));
    std::vector<std::string> result;
    for (const Json& item : value) {
      require(item.is_string(), fmt::format("'{}' is no list of texts", key));
      result.push_back(item.get<std::string>());
    }
    return result;
  }
  std::vector<std::int64_t> by_worker(const Json& from, const char* key, int workers, std::int64_t most) const {
    std::vector<std::int64_t> result;
    for (const Json& item : list(from, key)) result.push_back(number(item, key, most));
    require(std::cmp_equal(result.size(), workers), fmt::format("'{}' does not have one number a worker", key));
    return result;
  }
  // Names become paths inside HDF5 files.
  std::string name(const Json& from) const {
    std::string name = text(from, "name");
    require(is_stored_name(name), "a name that no program can have");
    return name;
  }
  ElementType element(const Json& from, const std::vector<std::string>& dims) const {
    const auto parsed = parse_element(text(from, "element"), dims);
    require(parsed.has_value(), "an element type that does not exist");
    return *parsed;
  }
  // Returns the content of a text {version_key: ..., "digest": ..., "content": ...}, after a check of its digest.
  const Json& content(const Json& whole) const {
    const std::string digest = text(whole, "digest");
    const Json& content = at(whole, "content");
    try {
      require(digest_of(content.dump()) == digest, "it was altered: its digest does not fit its content");
    } catch (const Json::exception&) {
      refuse("it is not UTF-8");
    }
    return content;
  }
  // Parses the whole text and its version, which must be one that this program knows.
  Json parse(const std::string& text, const char* version_key, int oldest, int newest, std::int64_t& version) const {
    require(!nests_deeper(text, deepest_json), "it is nested too deeply");
    Json whole = Json::parse(text, nullptr, false);
    require(!whole.is_discarded() && whole.is_object(), "it is not JSON, or cut off");
    version = integer(whole, version_key, std::numeric_limits<std::int64_t>::max());
    if (version > newest)
      fail(ExitStatus::bad_input, fmt::format("'{}' has format version {}", file, version),
           fmt::format("this program reads up to version {}", newest), "use a newer Kasen, or " + remedy);
    require(version >= oldest, "its version does not exist");
    return whole;
  }
};

}  // namespace kasen
