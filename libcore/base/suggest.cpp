#include "libcore/base/suggest.h"

#include <algorithm>
#include <vector>

namespace kasen {
namespace {

constexpr size_t edit = 2, case_edit = 1;
constexpr size_t least_few = 4;     // in shorter ones, another letter is another name: pt and lt
constexpr size_t long_name = 10;    // a name so long is as likely to have two errors as one
constexpr size_t least_prefix = 3;  // letters that identify the name that was begun

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

size_t replacing(char a, char b) { return a == b ? 0 : lower(a) == lower(b) ? case_edit : edit; }

// An edit is a letter more, a letter less, another letter, or two neighbours exchanged. A letter of the other case is
// half an edit.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> line(b.size() + 1);
  for (size_t j = 0; j < line.size(); ++j) line[j] = j * edit;
  for (size_t i = 0; i < a.size(); ++i) {
    before.swap(last);
    last.swap(line);
    line[0] = (i + 1) * edit;
    for (size_t j = 0; j < b.size(); ++j) {
      line[j + 1] = std::min({last[j] + replacing(a[i], b[j]), line[j] + edit, last[j + 1] + edit});
      const bool exchanged = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (exchanged) line[j + 1] = std::min(line[j + 1], before[j - 1] + edit);
    }
  }
  return line.back();
}

// The only name that begins so.
std::string begun(std::string_view wanted, std::span<const std::string> names) {
  if (wanted.size() - std::min(wanted.find_first_not_of('-'), wanted.size()) < least_prefix) return {};
  std::string found;
  for (const std::string& name : names) {
    if (!name.starts_with(wanted)) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

}  // namespace

std::string nearest_name(std::string_view wanted, std::span<const std::string> names, Slips slips) {
  std::string best;
  size_t edits = std::max<size_t>(1, (wanted.size() + 1) / 3);
  if (slips == Slips::few) edits = wanted.size() >= long_name ? 2 : wanted.size() >= least_few ? 1 : 0;
  size_t least = wanted.size() > 1 ? edits * edit + 1 : edit;  // any letter is near any other one
  if (edits == 0) least = edit;                                // letters of the other case alone
  for (const std::string& name : names) {
    const size_t distance = edit_distance(wanted, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best.empty() ? begun(wanted, names) : best;
}

}  // namespace kasen
