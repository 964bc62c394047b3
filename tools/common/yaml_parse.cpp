// Turns YAML's text into values through yaml-cpp's events. So limits hold before anything grows, and repeated keys are
// found, which yaml-cpp's own tree accepts silently.
#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <sstream>

#include "libcore/base/error.h"
#include "libcore/base/utf8.h"
#include "tools/common/yaml.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

constexpr size_t most_bytes = size_t{1} << 20, most_values = 100'000, deepest = 32;

// yaml-cpp replaces bytes that are not UTF-8 by another letter, and so would name other files.
void check_utf8(const std::shared_ptr<const YamlSource>& source) {
  YamlPlace place{source, 1, 1};
  const std::string& text = source->text;
  for (size_t i = 0; i < text.size();) {
    const Utf8Character character = utf8_at(text, i);
    if (character.bytes == 0) place.fault("this is not YAML", "it is not UTF-8 from here on", "save it as UTF-8");
    i += character.bytes;
    place.column += static_cast<int>(character.bytes);  // as the library counts
    if (character.code == '\n') place = {source, place.line + 1, 1};
  }
}

// Names a tab in the indentation of the faulty line, or of the one before it: the library reports such a tab as a map
// that has no end, or as a value of a map at another place. Within brackets, tabs indent.
void refuse_tab(const std::shared_ptr<const YamlSource>& source, const YAML::Exception& error) {
  std::istringstream lines(source->text);
  std::string line;
  YamlPlace tab{source, 0, 0};
  bool at_mark = false;
  for (int i = 0; i <= error.mark.line && std::getline(lines, line); ++i) {
    const std::string indentation = line.substr(0, line.find_first_not_of(" \t"));
    const size_t at = indentation.find('\t');
    if (at == std::string::npos || i + 1 < error.mark.line || tab.line > 0) continue;
    tab = {source, i + 1, static_cast<int>(at) + 1};
    at_mark = i == error.mark.line && error.mark.column <= static_cast<int>(indentation.size());
  }
  const bool of_blocks = error.msg == YAML::ErrorMsg::MAP_VALUE || error.msg == YAML::ErrorMsg::MAP_KEY ||
                         error.msg == YAML::ErrorMsg::BLOCK_ENTRY || error.msg == YAML::ErrorMsg::END_OF_MAP ||
                         error.msg == YAML::ErrorMsg::END_OF_SEQ;
  if (tab.line == 0 || (!at_mark && !of_blocks)) return;
  tab.fault("this is not YAML", tab.column == 1 ? "the line begins with a tab" : "the line is indented by a tab",
            "write spaces: tabs indent nothing there");
}

}  // namespace

class YamlBuilder : public YAML::EventHandler {
 public:
  explicit YamlBuilder(std::shared_ptr<const YamlSource> source) : source_(std::move(source)) {
    root_.place_ = {source_, 0, 0};  // of a file that holds nothing
  }

  [[nodiscard]] YamlValue take() { return std::move(root_); }
  [[nodiscard]] YamlPlace place(const YAML::Mark& mark) const { return {source_, mark.line + 1, mark.column + 1}; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) place(mark).fault("a second document", "a file holds one", "remove the line ---");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(value(YamlValue::Kind::nothing, mark, "?", anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { refuse_anchor(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    YamlValue made = value(YamlValue::Kind::scalar, mark, tag, anchor);
    made.quoted_ = tag == "!";
    made.scalar_ = text;
    if (made.quoted_) made.refuse_open_quote();
    add(std::move(made));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    begin(value(YamlValue::Kind::list, mark, tag, anchor));
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    begin(value(YamlValue::Kind::map, mark, tag, anchor));
  }
  void OnMapEnd() override { end(); }

 private:
  // A list or a map that has not ended yet.
  struct Open {
    YamlValue value;
    std::set<std::string> keys;
    std::optional<YamlValue> key;  // it waits for its value
  };

  [[noreturn]] void refuse_anchor(const YAML::Mark& mark) const {
    place(mark).fault("an anchor or alias", "each value stands where it is used", "write the value out");
  }

  YamlValue value(YamlValue::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) refuse_anchor(mark);
    if (tag != "?" && tag != "!" && !tag.empty())
      place(mark).fault(fmt::format("the tag '{}'", shown_text(tag)), "values have no tags here", "leave it out");
    if (++values_ > most_values)
      place(mark).fault(fmt::format("more than {} values", most_values), "a configuration is expected here",
                        "name fewer");
    YamlValue made;
    made.kind_ = kind;
    made.place_ = place(mark);
    if (!open_.empty()) made.name_ = open_.back().key ? open_.back().key->scalar_ : open_.back().value.name_;
    return made;
  }

  void begin(YamlValue made) {
    if (open_.size() >= deepest) made.fault(fmt::format("nested deeper than {} levels", deepest));
    if (expects_key()) refuse_key(made);
    open_.push_back({std::move(made), {}, {}});
  }

  void end() {
    YamlValue made = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(made));
  }

  [[nodiscard]] bool expects_key() const {
    return !open_.empty() && open_.back().value.is(YamlValue::Kind::map) && !open_.back().key;
  }
  [[noreturn]] static void refuse_key(const YamlValue& made) { made.fault("a key is one word"); }

  void add(YamlValue made) {
    if (open_.empty()) {
      root_ = std::move(made);
      return;
    }
    Open& open = open_.back();
    if (open.value.is(YamlValue::Kind::list)) {
      open.value.items_.push_back(std::move(made));
    } else if (open.key) {
      if (made.is(YamlValue::Kind::nothing)) made.place_ = open.key->place_;  // else the position of the next event
      open.value.entries_.push_back({open.key->scalar_, open.key->place_, std::move(made)});
      open.key.reset();
    } else {
      if (!made.is(YamlValue::Kind::scalar)) refuse_key(made);
      if (!open.keys.insert(made.scalar_).second)
        made.fault(fmt::format("key '{}' stands twice", shown_text(made.scalar_)), "the first would be lost",
                   "keep one of them");
      open.key = std::move(made);
    }
  }

  std::shared_ptr<const YamlSource> source_;
  int documents_ = 0;
  size_t values_ = 0;
  std::vector<Open> open_;
  YamlValue root_;
};

YamlValue parse_yaml(const std::string& text, const std::string& file) {
  const auto source = std::make_shared<const YamlSource>(YamlSource{file, text});
  const YamlPlace whole{source, 0, 0};
  if (text.size() > most_bytes)
    whole.fault(fmt::format("more than {} MiB", most_bytes >> 20), "a configuration is expected here",
                "check the name");
  if (text.find('\0') != std::string::npos) whole.fault("this is not YAML", "it holds a byte 0");
  check_utf8(source);
  YamlBuilder builder(source);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    refuse_tab(source, error);
    builder.place(error.mark).fault("this is not YAML", error.msg);
  }
  return builder.take();
}

YamlValue read_yaml(const std::string& path) { return parse_yaml(read_text(path), shown_name(path)); }

}  // namespace kasen::tools
