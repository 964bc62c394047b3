// The pages of help that are built in: topics (tools/topics), exit statuses and state rules (docs/errors). They are
// Markdown of a few forms: paragraphs, lists of `- `, headings, and blocks of commands or of a file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kasen::tools {

struct Page {
  std::string_view name;   // "checkpoints", "65", "rule-14"
  std::string_view title;  // its first line
  std::string_view tools;  // of a topic: "run, go", the tools that it is of; of errors nothing
  std::string_view text;   // all that follows
  bool topic;
};

[[nodiscard]] std::span<const Page> pages();  // made from the files when Kasen is built
// Null: there is none. "rule-4" is rule-04, and a number that no exit status has is a rule's.
[[nodiscard]] const Page* find_page(std::string_view name);
[[nodiscard]] std::vector<std::string> page_names();
// Names of the topics that are of this tool ("run").
[[nodiscard]] std::vector<std::string> topics_of(std::string_view tool);
// For a terminal.
[[nodiscard]] std::string page_text(const Page& page, size_t width);

}  // namespace kasen::tools
