// The built-in pages of help: topics (tools/topics), exit statuses and state rules (docs/errors). They are Markdown of
// a few forms: paragraphs, lists of `- `, headings, and blocks of commands or of a file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kasen::tools {

struct Page {
  std::string_view name;   // "checkpoints", "65", "rule-14"
  std::string_view title;  // its first line
  std::string_view tools;  // the tools of a topic, "run, go"; empty for an error
  std::string_view text;   // the rest
  bool topic;
};

[[nodiscard]] std::span<const Page> pages();  // made from the files when Kasen is built
// Null if there is none. "rule-4" is rule-04, and a number that is no exit status is that of a rule.
[[nodiscard]] const Page* find_page(std::string_view name);
[[nodiscard]] std::vector<std::string> page_names();
// Names of the topics of this tool ("run").
[[nodiscard]] std::vector<std::string> topics_of(std::string_view tool);
// The page as text for a terminal.
[[nodiscard]] std::string page_text(const Page& page, size_t width);

}  // namespace kasen::tools
