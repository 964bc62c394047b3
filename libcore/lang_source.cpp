#include "libcore/lang_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kasen::lang {
namespace {

// Levenshtein distance with one row.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row[b.size()];
}

}  // namespace

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

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  constexpr size_t longest = 40;
  if (name.size() > longest) return {};
  size_t best = std::max<size_t>(name.size() / 3, 1) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest) continue;
    const size_t distance = edit_distance(name, candidate);
    if (distance < best && distance < name.size()) {
      best = distance;
      found = candidate;
    }
  }
  return found.empty() ? std::string{} : fmt::format("did you mean '{}'?", found);
}

}  // namespace kasen::lang
