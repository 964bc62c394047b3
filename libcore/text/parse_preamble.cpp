// Parses the lines above `module` in the text of a module.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/printable.h"
#include "libcore/base/text_kind.h"
#include "libcore/text/parse.h"

namespace kasen::text {
namespace {

constexpr std::int64_t newest_version = 2;
constexpr std::int64_t highest_level = 4;

class PreambleReader {
 public:
  PreambleReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Preamble read() {
    version(next_line());
    for (;;) {
      const size_t start = place_;
      const int line = line_;
      if (place_ >= text_.size()) return finish(start, line);
      const std::string_view content = next_line();
      if (content.starts_with("##end")) return finish(start, line);
      if (content.starts_with("## ")) {
        result_.history.push_back(printable(content.substr(3)));
      } else if (content.starts_with("source \"") && content.ends_with('"') && content.size() >= 9) {
        result_.source_name = printable(unquoted(content.substr(8, content.size() - 9)));
      } else if (content.starts_with('|')) {
        result_.source.push_back(printable(content.substr(content.starts_with("| ") ? 2 : 1)));
      } else if (!content.empty() && !content.starts_with('#')) {
        return finish(start, line);
      }
    }
  }

 private:
  [[noreturn]] void fault(std::string what, std::string why, std::string remedy) const {
    fail(ExitStatus::bad_input, std::move(what), std::move(why), std::move(remedy), Location{file_, 1, 1});
  }

  void version(std::string_view line) {
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos)
      fault("there is no IR", "the input is empty", "read the messages of the tool before this one, or name a file");
    const SourceText source{line, file_};
    Lexer lexer(source, rules);
    if (!lexer.accept("kir")) {
      const TextKind kind = text_kind(text_);
      const std::string why(kind_text(kind));
      fault("this is not Kasen IR", why.empty() ? "it does not begin with 'kir'" : why,
            kind == TextKind::program ? "make a plan of it: kasen plan PROGRAM.ks > plan.kir"
                                      : "give the output of kasen plan or fuse");
    }
    const std::int64_t number = parse_integer(lexer, "a version");
    if (number > newest_version || number < 1) {
      fault(fmt::format("Kasen IR version {}", number), fmt::format("this tool reads versions 1 to {}", newest_version),
            number > newest_version ? "use a newer Kasen, or plan the program again" : "plan the program again");
    }
    result_.version = static_cast<int>(number);
    lexer.expect("level");
    const std::int64_t level = parse_integer(lexer, "a level");
    if (level < 1 || level > highest_level)
      fault(fmt::format("no level {}", level), "levels are 1, 2, 3 and 4", "plan the program again");
    result_.level = static_cast<int>(level);
  }

  std::string_view next_line() {
    const size_t stop = std::min(text_.find('\n', place_), text_.size());
    std::string_view line = text_.substr(place_, stop - place_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    place_ = stop + 1;
    ++line_;
    return line;
  }

  Preamble finish(size_t rest, int line) {
    result_.rest = std::min(rest, text_.size());
    result_.rest_line = line;
    return std::move(result_);
  }

  std::string_view text_;
  const std::string& file_;
  size_t place_ = 0;
  int line_ = 1;
  Preamble result_;
};

}  // namespace

Preamble read_preamble(std::string_view text, const std::string& file) { return PreambleReader(text, file).read(); }

std::string unquoted(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

}  // namespace kasen::text
