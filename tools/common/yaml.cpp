#include "tools/common/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/base/suggest.h"
#include "libcore/base/utf8.h"

namespace kasen::tools {
namespace {

constexpr size_t longest_line = 200, longest_text = 60;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// The source from the beginning of a position's line.
std::string_view line_on(const YamlPlace& place) {
  std::string_view text = place.source->text;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  for (int line = 1; line < place.line; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text;
}

// The line of a position, as a terminal may show it; none where the caret would be far to the right.
std::string line_of(const YamlPlace& place) {
  if (place.source == nullptr || place.line < 1 || place.column > static_cast<int>(longest_line)) return {};
  const std::string_view rest = line_on(place);
  std::string line(rest.substr(0, std::min(rest.find('\n'), longest_line)));
  if (!line.empty() && line.back() == '\r') line.pop_back();
  for (size_t i = 0; i < line.size();) {
    const Utf8Character character = utf8_at(line, i);
    if (character.bytes == 0 || (is_control(line[i]) && line[i] != '\t')) line[i] = '?';
    i += std::max<size_t>(character.bytes, 1);
  }
  return line;
}

const char* kind_name(YamlValue::Kind kind) {
  switch (kind) {
    case YamlValue::Kind::nothing:
      return "nothing";
    case YamlValue::Kind::scalar:
      return "one value";
    case YamlValue::Kind::list:
      return "a list";
    case YamlValue::Kind::map:
      return "a map";
  }
  throw InternalError("a kind of YAML value outside the table");
}

// 1e6 is 1000000 to people who write YAML, but not every reader takes it for an integer.
template <class T>
bool read_number(const std::string& text, T& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string shown_text(const std::string& text) {
  std::string shown = text.substr(0, longest_text);
  std::replace_if(shown.begin(), shown.end(), is_control, '?');
  return text.size() > longest_text ? shown + "..." : shown;
}

void YamlPlace::fault(std::string what, std::string why, std::string remedy, ExitStatus status) const {
  Diagnostic diagnostic;
  diagnostic.where = {source != nullptr ? source->file : std::string(), line, column};
  diagnostic.what = std::move(what);
  diagnostic.why = std::move(why);
  diagnostic.remedy = std::move(remedy);
  diagnostic.source_line = line_of(*this);
  throw UserError(status, std::move(diagnostic));
}

void YamlValue::wrong_type(const std::string& expected) const {
  const std::string found = kind_ != Kind::scalar ? kind_name(kind_)
                            : quoted_             ? fmt::format("the text \"{}\"", shown_text(scalar_))
                                                  : fmt::format("'{}'", shown_text(scalar_));
  const std::string subject = name_.empty() ? "this" : fmt::format("'{}'", shown_text(name_));
  fault(fmt::format("{} is {}, here is {}", subject, expected, found));
}

// Some readers of YAML read 010 as 8, others as 10.
void YamlValue::refuse_octal() const {
  const std::string digits = scalar_.substr(scalar_.starts_with('-') ? 1 : 0);
  if (digits.size() < 2 || digits[0] != '0' || digits[1] < '0' || digits[1] > '9') return;
  fault(fmt::format("'{}' begins with 0", shown_text(scalar_)), "to some readers of YAML that is an octal number",
        "leave out the leading zeros");
}

// yaml-cpp accepts a text with an unclosed quote, as one that ends with the file.
void YamlValue::refuse_open_quote() const {
  std::string_view rest = line_on(place_);
  rest.remove_prefix(std::min(rest.size(), static_cast<size_t>(place_.column - 1)));
  const char quote = rest.empty() ? '\0' : rest[0];
  if (quote != '"' && quote != '\'') return;  // a block of lines
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == quote && quote == '\'' && i + 1 < rest.size() && rest[i + 1] == quote) {
      ++i;
    } else if (rest[i] == quote) {
      return;
    } else if (rest[i] == '\\' && quote == '"') {
      ++i;
    }
  }
  fault("this is not YAML", fmt::format("the quote {} that begins here is never closed", quote));
}

const std::string& YamlValue::text() const {
  if (kind_ != Kind::scalar) wrong_type("one value");
  return scalar_;
}

const std::string& YamlValue::literal() const {
  double number = 0;
  if (kind_ == Kind::scalar && !quoted_ && read_number(scalar_, number)) refuse_octal();
  return text();
}

std::int64_t YamlValue::whole(std::int64_t least, std::int64_t most) const {
  std::int64_t number = 0;
  if (kind_ == Kind::scalar && !quoted_) refuse_octal();
  if (kind_ != Kind::scalar || quoted_ || !read_number(scalar_, number)) wrong_type("an integer");
  if (number >= least && number <= most) return number;
  fault(fmt::format("'{}' is {}", shown_text(name_), number), fmt::format("it is {} to {}", least, most));
}

std::uint64_t YamlValue::whole_unsigned() const {
  std::uint64_t number = 0;
  if (kind_ == Kind::scalar && !quoted_) refuse_octal();
  if (kind_ != Kind::scalar || quoted_ || !read_number(scalar_, number)) wrong_type("an integer of 0 or more");
  return number;
}

double YamlValue::real() const {
  double number = 0;
  if (kind_ == Kind::scalar && !quoted_) refuse_octal();
  if (kind_ != Kind::scalar || quoted_ || !read_number(scalar_, number) || !std::isfinite(number))
    wrong_type("a number");
  return number;
}

bool YamlValue::truth() const {
  if (kind_ != Kind::scalar || quoted_ || (scalar_ != "true" && scalar_ != "false")) wrong_type("true or false");
  return scalar_ == "true";
}

const std::vector<YamlValue>& YamlValue::items() const {
  if (kind_ != Kind::list) wrong_type("a list");
  return items_;
}

const std::vector<YamlValue::Entry>& YamlValue::entries() const {
  if (kind_ != Kind::map) wrong_type("a map");
  return entries_;
}

std::vector<YamlValue> YamlValue::alternatives() const {
  if (kind_ == Kind::list && items_.empty())
    fault(fmt::format("'{}' is an empty list", shown_text(name_)), "there is nothing to try",
          "name a value or several, or leave the key out");
  return kind_ == Kind::list ? items_ : std::vector{*this};
}

YamlMap::YamlMap(const YamlValue& value, const std::string& what) {
  if (value.is(YamlValue::Kind::nothing)) return;
  if (!value.is(YamlValue::Kind::map)) value.fault(fmt::format("{} is a map of names to values", what));
  entries_ = &value.entries();
}

const YamlValue* YamlMap::find(const std::string& name) {
  known_.push_back(name);
  if (entries_ == nullptr) return nullptr;
  const auto found = std::find_if(entries_->begin(), entries_->end(), [&](const auto& e) { return e.key == name; });
  return found != entries_->end() ? &found->value : nullptr;
}

void YamlMap::finish(const std::string& remedy) const {
  if (entries_ == nullptr) return;
  const std::set<std::string> known(known_.begin(), known_.end());
  for (const YamlValue::Entry& entry : *entries_) {
    if (known.contains(entry.key)) continue;
    const std::string near = nearest_name(entry.key.substr(0, longest_text), known_);
    entry.place.fault(fmt::format("unknown key '{}'", shown_text(entry.key)), "it is none of the known names",
                      near.empty() ? remedy : fmt::format("did you mean '{}'?", near));
  }
}

}  // namespace kasen::tools
