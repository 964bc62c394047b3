#include "tools/common/pages.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/wrap.h"

namespace kasen::tools {
namespace {

// Turns lines of Markdown into lines of a terminal.
class Renderer {
 public:
  explicit Renderer(size_t width) : width_(width) {}

  void line(std::string_view line) {
    if (line.starts_with("```")) return fence(line.substr(3));
    if (in_block_) {
      text_ += line.empty() ? "\n" : fmt::format("    {}\n", line);
      return;
    }
    const bool item = line.starts_with("- "), heading = line.starts_with("## ");
    if (line.empty() || item || heading) end_paragraph();
    if (heading) {
      text_ += fmt::format("{}:\n", line.substr(3));
    } else if (line.empty()) {
      if (!text_.ends_with("\n\n")) text_ += '\n';
    } else {
      paragraph_ += fmt::format("{}{}", paragraph_.empty() ? "" : " ", line);
    }
  }

  std::string text() {
    end_paragraph();
    return std::move(text_);
  }

 private:
  // A fence of ```kir bad.kir begins a file of this name.
  void fence(std::string_view info) {
    end_paragraph();
    in_block_ = !in_block_;
    const size_t blank = info.find(' ');
    if (blank != std::string_view::npos) text_ += fmt::format("  {}:\n", info.substr(blank + 1));
  }

  void end_paragraph() {
    if (paragraph_.empty()) return;
    std::erase(paragraph_, '`');
    const size_t indent = paragraph_.starts_with("- ") ? 2 : 0;
    text_ += wrapped(paragraph_, width_, indent, 0) + '\n';
    paragraph_.clear();
  }

  size_t width_;
  bool in_block_ = false;
  std::string paragraph_, text_;
};

}  // namespace

const Page* find_page(std::string_view given) {
  const auto named = [](const std::string& name) -> const Page* {
    const auto all = pages();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Page& page) { return page.name == name; });
    return found == all.end() ? nullptr : &*found;
  };
  std::string name(given);
  if (const Page* page = named(name)) return page;
  if (name.starts_with("rule-")) name.erase(0, 5);
  return named((name.size() == 1 ? "rule-0" : "rule-") + name);
}

std::vector<std::string> page_names() {
  std::vector<std::string> names;
  for (const Page& page : pages()) names.emplace_back(page.name);
  return names;
}

std::vector<std::string> topics_of(std::string_view tool) {
  std::vector<std::string> names;
  for (const Page& page : pages()) {
    for (std::string_view rest = page.tools; !rest.empty();) {
      const size_t comma = std::min(rest.find(", "), rest.size());
      if (rest.substr(0, comma) == tool) names.emplace_back(page.name);
      rest.remove_prefix(std::min(comma + 2, rest.size()));
    }
  }
  return names;
}

std::string page_text(const Page& page, size_t width) {
  Renderer renderer(width);
  for (std::string_view rest = page.text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    renderer.line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fmt::format("{}\n\n{}", page.title, renderer.text());
}

}  // namespace kasen::tools
