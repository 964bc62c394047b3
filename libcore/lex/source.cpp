#include "libcore/lex/source.h"

#include <algorithm>
#include <utility>

namespace kasen {

std::vector<std::string_view> SourceText::lines() const {
  std::vector<std::string_view> found;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    found.push_back(line);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return found;
}

int SourceText::section(Mark mark) const {
  const auto behind = [&](const Section& section) { return section.first_line > mark.line; };
  return static_cast<int>(std::find_if(sections.begin(), sections.end(), behind) - sections.begin());
}

Location SourceText::location(Mark mark) const {
  const int number = section(mark);
  if (number == 0) return {file, mark.line, mark.column};
  const Section& found = sections[static_cast<size_t>(number) - 1];
  return {found.file, mark.line - found.first_line + 1, mark.column};
}

Diagnostic SourceText::diagnostic(Mark mark, std::string what, std::string why, std::string remedy) const {
  Diagnostic d{location(mark), std::move(what), std::move(why), std::move(remedy), {}, -1};
  const std::vector<std::string_view> all = lines();
  const auto line = static_cast<size_t>(mark.line - first_line);
  if (mark.line >= first_line && line < all.size()) d.source_line = all[line];
  return d;
}

void SourceText::fail(Mark mark, std::string what, std::string why, std::string remedy) const {
  throw UserError(ExitStatus::bad_input, diagnostic(mark, std::move(what), std::move(why), std::move(remedy)));
}

}  // namespace kasen
