#include "libcore/lex/source.h"

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
