// YAML as every tool reads it. A text becomes values that know their positions and are read by type. Anything repeated,
// unknown, ambiguous or of another type is refused with file:line:column, the line and a caret.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/error.h"

namespace kasen::tools {

// The text that a position is in; values share it.
struct YamlSource {
  std::string file, text;
};

// A position in a source. Lines and columns count from 1.
struct YamlPlace {
  std::shared_ptr<const YamlSource> source;
  int line = 0, column = 0;

  // Throws UserError(status).
  [[noreturn]] void fault(std::string what, std::string why = {}, std::string remedy = {},
                          ExitStatus status = ExitStatus::configuration) const;
};

class YamlValue {
 public:
  enum class Kind : std::uint8_t { nothing, scalar, list, map };
  struct Entry;

  YamlValue() = default;
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is(Kind kind) const { return kind_ == kind; }
  [[nodiscard]] const YamlPlace& place() const { return place_; }
  // The key of the value, for messages: "workers"; for an item, that of its list.
  [[nodiscard]] const std::string& name() const { return name_; }

  // Each refuses a value of another type.
  [[nodiscard]] const std::string& text() const;  // any scalar, as it stands
  // Any scalar that the language reads. A text that looks like a number is one that all readers take alike.
  [[nodiscard]] const std::string& literal() const;
  [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::uint64_t whole_unsigned() const;
  [[nodiscard]] double real() const;  // finite
  [[nodiscard]] bool truth() const;   // true or false
  [[nodiscard]] const std::vector<YamlValue>& items() const;
  [[nodiscard]] const std::vector<Entry>& entries() const;
  // A list's items, or this value alone: `workers: 4` is `workers: [4]`.
  [[nodiscard]] std::vector<YamlValue> alternatives() const;

  [[noreturn]] void fault(std::string what, std::string why = {}, std::string remedy = {}) const {
    place_.fault(std::move(what), std::move(why), std::move(remedy));
  }
  [[noreturn]] void wrong_type(const std::string& expected) const;

 private:
  friend class YamlBuilder;
  void refuse_octal() const;
  void refuse_open_quote() const;

  Kind kind_ = Kind::nothing;
  bool quoted_ = false;
  YamlPlace place_;
  std::string name_, scalar_;
  std::vector<YamlValue> items_;
  std::vector<Entry> entries_;
};

struct YamlValue::Entry {
  std::string key;
  YamlPlace place;  // of the key
  YamlValue value;
};

// A map that is read by its keys. A key that nobody has asked for is unknown.
class YamlMap {
 public:
  // An empty value is a map without keys. `what` names the map in messages ("a configuration").
  YamlMap(const YamlValue& value, const std::string& what);
  // The value of a key, nullptr where the key is missing. From now on the name is a known one.
  [[nodiscard]] const YamlValue* find(const std::string& name);
  // Refuses keys that were never asked for, and suggests the nearest of those that were.
  void finish(const std::string& remedy = {}) const;

 private:
  const std::vector<YamlValue::Entry>* entries_ = nullptr;
  std::vector<std::string> known_;
};

// Parses one document. It refuses (configuration) text that is not YAML, a second document, repeated keys, keys that
// are no words, anchors, aliases and tags. It also refuses nesting beyond 32 levels, more than 100,000 values or 1 MiB.
// `file` is for messages.
[[nodiscard]] YamlValue parse_yaml(const std::string& text, const std::string& file);
// Parses a file; `-` is standard input.
[[nodiscard]] YamlValue read_yaml(const std::string& path);

// Text from a file as messages show it: without control characters, and not too long.
[[nodiscard]] std::string shown_text(const std::string& text);

}  // namespace kasen::tools
