#include "libcore/suggest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace kasen {
namespace {

// Edits are: a letter more, a letter less, another letter, two neighbours exchanged.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> line(b.size() + 1);
  std::iota(line.begin(), line.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    before.swap(last);
    last.swap(line);
    line[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      line[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), line[j] + 1, last[j + 1] + 1});
      const bool exchanged = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (exchanged) line[j + 1] = std::min(line[j + 1], before[j - 1] + 1);
    }
  }
  return line.back();
}

}  // namespace

std::string nearest_name(std::string_view wanted, std::span<const std::string> names) {
  std::string best;
  size_t least = std::max<size_t>(1, (wanted.size() + 1) / 3) + 1;
  for (const std::string& name : names) {
    const size_t distance = edit_distance(wanted, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best;
}

}  // namespace kasen
