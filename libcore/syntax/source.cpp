#include "libcore/syntax/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "libcore/base/suggest.h"

namespace kasen::lang {
Source::Source(std::string_view text, std::string file_name) : file(std::move(file_name)) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.emplace_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

Diagnostic Source::diagnostic(Mark mark, std::string what, std::string why, std::string remedy) const {
  Diagnostic d{location(mark), std::move(what), std::move(why), std::move(remedy), {}, -1};
  const auto line = static_cast<size_t>(mark.line);
  if (mark.line >= 1 && line <= lines.size()) d.source_line = lines[line - 1];
  return d;
}

void Source::fail(Mark mark, std::string what, std::string why, std::string remedy) const {
  throw UserError(ExitStatus::bad_input, diagnostic(mark, std::move(what), std::move(why), std::move(remedy)));
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates, Slips slips) {
  constexpr size_t longest = 40;                            // comparing takes quadratic time in the letters
  if (name.size() < 2 || name.size() > longest) return {};  // any letter is near any other one
  std::vector<std::string> short_ones;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(short_ones),
               [&](const std::string& c) { return c.size() <= longest && c != name; });
  const std::string found = nearest_name(name, short_ones, slips);
  return found.empty() ? std::string{} : fmt::format("did you mean '{}'?", found);
}

}  // namespace kasen::lang
