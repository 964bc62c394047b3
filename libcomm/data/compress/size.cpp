#include <algorithm>

#include "libcomm/data/compress/steps.h"

namespace kasen {
namespace {

// Parts begin at multiples of 8 bytes.
std::int64_t whole_words(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

void KeyNumbers::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  --shift_;
  for (const Slot& slot : old) {
    if (slot.number < 0) continue;
    std::size_t at = mixed(slot.key) >> shift_;
    while (slots_[at].number >= 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

std::int64_t bytes_of_code(std::int64_t tuples) { return tuples <= 256 ? 1 : tuples <= 65536 ? 2 : 4; }

std::int64_t bytes_as_plain(std::int64_t columns, const DenseCells& cells) {
  return cells.rows * columns * cells.width;
}

GroupSize smallest_size(const GroupFacts& facts, const DenseCells& cells) {
  const std::int64_t tuples = facts.tuples * (facts.width * cells.width + 8);
  const std::int64_t segments = (cells.rows + rows_of_a_segment - 1) / rows_of_a_segment;
  const std::int64_t pointers = 8 * (segments * (facts.tuples - (facts.has_zero ? 1 : 0)) + 1);
  const GroupSize sizes[] = {
      {GroupFormat::codes, tuples + whole_words(cells.rows * bytes_of_code(facts.tuples))},
      {GroupFormat::runs, tuples + whole_words(pointers + 4 * facts.runs)},
      {GroupFormat::offsets, tuples + whole_words(pointers + 2 * facts.filled)},
      {GroupFormat::plain, bytes_as_plain(facts.width, cells)},
  };
  return *std::min_element(std::begin(sizes), std::end(sizes),
                           [](const GroupSize& a, const GroupSize& b) { return a.bytes < b.bytes; });
}

}  // namespace kasen
