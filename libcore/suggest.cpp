#include "libcore/suggest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace kasen {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> line(b.size() + 1);
  std::iota(line.begin(), line.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = line[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = line[j + 1];
      line[j + 1] = std::min({replace, line[j] + 1, line[j + 1] + 1});
    }
  }
  return line.back();
}

}  // namespace

std::string nearest_name(std::string_view wanted, std::span<const std::string> names) {
  std::string best;
  size_t least = std::max<size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& name : names) {
    const size_t distance = edit_distance(wanted, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best;
}

}  // namespace kasen
