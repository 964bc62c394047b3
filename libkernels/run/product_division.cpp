#include "libkernels/run/product_division.h"

#include <algorithm>

namespace kasen {
namespace {

class RowDivider {
 public:
  RowDivider(const LocalMatrix& matrix, const SortedRows* sorted, std::span<const std::int64_t> giants, Range range,
             int threads, std::int64_t block = 0)
      : matrix_(matrix), pointers_(matrix.pointers.data()), sorted_(sorted), giants_(giants), block_(block) {
    const std::int64_t blocks = sorted == nullptr ? 1 : sorted->blocks;
    heavy_ = std::max(4 * piece_work, work(range.begin, range.end) / (8 * blocks * std::max(1, threads)));
  }

  [[nodiscard]] std::int64_t work(std::int64_t begin, std::int64_t end) const {
    return work_of(matrix_, giants_, begin, end);
  }
  [[nodiscard]] bool is_heavy(std::int64_t begin, std::int64_t end) const { return work(begin, end) > heavy_; }

  // Cuts a range into pieces, of whole windows if rows are sorted.
  void divide(std::int64_t begin, std::int64_t end, std::vector<RowPiece>& pieces) const {
    const std::int64_t first = window_from(matrix_, begin), last = window_until(matrix_, end);
    if (sorted_ == nullptr || first >= last) {
      if (block_ == 0) divide_plain(begin, end, pieces);
      return;
    }
    if (block_ == 0) divide_plain(begin, first, pieces);
    std::int64_t from = first, held = 0;
    for (std::int64_t w = first, next = w; w < last; w = next) {
      next = window_end(matrix_, w);
      const std::int64_t more = window_work(w, next);
      const bool heavy = more > heavy_;
      if (from < w && (heavy || held + more > piece_work)) {
        pieces.push_back({from, w});
        from = w;
        held = 0;
      }
      held += more;
      if (!heavy) continue;
      divide_window(w, next - w, pieces);
      from = next;
      held = 0;
    }
    if (from < last) pieces.push_back({from, last});
    if (block_ == 0) divide_plain(last, end, pieces);
  }

 private:
  [[nodiscard]] std::int64_t length(std::int64_t row) const { return pointers_[row + 1] - pointers_[row]; }

  // The work of a whole window in the block; rows that run as segments are in the first one.
  [[nodiscard]] std::int64_t window_work(std::int64_t begin, std::int64_t end) const {
    if (sorted_->blocks == 1) return work(begin, end);
    const std::int64_t number = window_number(matrix_, begin);
    const std::int64_t done =
        block_ > 0 ? 0 : pointers_[end] - pointers_[begin] + row_work * (end - begin) - work(begin, end);
    return sorted_->entries(number, block_) + row_work * sorted_->rows(number, block_, end - begin) - done;
  }

  void divide_plain(std::int64_t begin, std::int64_t end, std::vector<RowPiece>& pieces) const {
    while (begin < end) {
      std::int64_t low = begin + 1, high = end;  // the last row end at which a piece holds no more than piece_work
      while (low < high) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        if (work(begin, middle) <= piece_work) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      pieces.push_back({begin, low});
      begin = low;
    }
  }

  // Cuts a window into its long rows one by one, then its slices of eight rows, as its second form has them.
  void divide_window(std::int64_t first, std::int64_t all, std::vector<RowPiece>& pieces) const {
    const std::uint16_t* const order = sorted_->order_from(first, block_);
    const std::uint16_t* const lengths = sorted_->lengths_from(first, block_);
    const std::int64_t number = window_number(matrix_, first), count = sorted_->rows(number, block_, all);
    RowPiece piece{0, 0, first, sorted_->entry(number, block_)};
    std::int64_t held = 0, entry = piece.entry;
    for (std::int64_t place = 0; place < count;) {
      const bool alone = lengths[place] > reduction_block;
      const std::int64_t rows = alone ? 1 : std::min<std::int64_t>(reduction_lanes, count - place);
      std::int64_t entries = 0;
      for (std::int64_t k = place; k < place + rows; ++k) entries += alone ? length(first + order[k]) : lengths[k];
      const bool done = alone && std::binary_search(giants_.begin(), giants_.end(), first + order[place]);
      const std::int64_t more = row_work * rows + (done ? 0 : entries);
      if (place > piece.begin && held + more > piece_work) {
        pieces.push_back(piece);
        piece = {place, place, first, entry};
        held = 0;
      }
      place += rows;
      entry += entries;
      held += more;
      piece.end = place;
    }
    if (piece.begin < piece.end) pieces.push_back(piece);
  }

  const LocalMatrix& matrix_;
  const std::int64_t* pointers_;
  const SortedRows* sorted_;
  std::span<const std::int64_t> giants_;
  std::int64_t block_;
  std::int64_t heavy_ = 0;  // work from which a window is divided: an eighth of a thread's share, and not little
};

}  // namespace

std::vector<std::int64_t> giant_rows(const LocalMatrix& matrix, Range range, int threads) {
  const std::int64_t* const pointers = matrix.pointers.data();
  std::vector<std::int64_t> giants;
  if (threads == 1 || pointers[range.end] - pointers[range.begin] < giant_row) return giants;
  for (std::int64_t b = range.begin; b < range.end; b += reduction_block) {
    const std::int64_t end = std::min(b + reduction_block, range.end);
    if (pointers[end] - pointers[b] < giant_row) continue;
    for (std::int64_t row = b; row < end; ++row) {
      if (pointers[row + 1] - pointers[row] >= giant_row) giants.push_back(row);
    }
  }
  return giants;
}

std::int64_t work_of(const ProductCall& call) {
  const std::int64_t* const pointers = call.matrix->pointers.data();
  const bool entries = call.work != RowWork::vector;
  return call.range.size() + (entries ? pointers[call.range.end] - pointers[call.range.begin] : 0);
}

std::int64_t work_of(const LocalMatrix& matrix, std::span<const std::int64_t> giants, std::int64_t begin,
                     std::int64_t end) {
  const std::int64_t* const pointers = matrix.pointers.data();
  std::int64_t work = pointers[end] - pointers[begin] + row_work * (end - begin);
  for (auto g = std::lower_bound(giants.begin(), giants.end(), begin); g != giants.end() && *g < end; ++g) {
    work -= pointers[*g + 1] - pointers[*g];
  }
  return work;
}

std::vector<RowPiece> divide_rows(const LocalMatrix& matrix, const SortedRows* sorted,
                                  std::span<const std::int64_t> giants, Range range, int threads, std::int64_t block) {
  std::vector<RowPiece> pieces;
  RowDivider(matrix, sorted, giants, range, threads, block).divide(range.begin, range.end, pieces);
  return pieces;
}

BlockDivision divide_blocks(const LocalMatrix& matrix, const SortedRows* sorted, std::span<const std::int64_t> giants,
                            Range range, int threads) {
  const RowDivider divider(matrix, sorted, giants, range, threads);
  BlockDivision made;
  std::vector<std::int64_t> before{0};  // the work before each block
  for (std::int64_t begin = range.begin; begin < range.end; begin += reduction_block) {
    const std::int64_t end = std::min(begin + reduction_block, range.end);
    std::int64_t work = divider.work(begin, end);
    if (threads > 1 && divider.is_heavy(begin, end)) {
      std::vector<RowPiece> pieces;
      divider.divide(begin, end, pieces);
      for (const RowPiece& piece : pieces) made.pieces.push_back({made.heavy.size(), piece});
      made.heavy.push_back(static_cast<std::int64_t>(before.size()) - 1);
      work = row_work * (end - begin);
    }
    before.push_back(before.back() + work);
  }
  for (int t = 0; t <= threads; ++t) {
    const auto at = std::lower_bound(before.begin(), before.end(), before.back() * t / threads);
    made.starts.push_back(at - before.begin());
  }
  return made;
}

}  // namespace kasen
