#include "libcomm/data/table/text_rows.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "libcore/base/checked.h"

namespace kasen {
namespace {

// Memory that threads take and give back. It is paged in once, and stays in the caches from piece to piece.
class Rooms {
 public:
  std::unique_ptr<std::vector<std::byte>> take(std::int64_t bytes) {
    std::unique_ptr<std::vector<std::byte>> room;
    {
      const std::scoped_lock lock(mutex_);
      if (!free_.empty()) {
        room = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (room == nullptr) room = std::make_unique<std::vector<std::byte>>();
    if (std::ssize(*room) < bytes) room->resize(static_cast<std::size_t>(bytes));
    return room;
  }
  void give(std::unique_ptr<std::vector<std::byte>> room) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(room));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> free_;
};

}  // namespace

TextRows::TextRows(InputFile file, TableForm form, Scalar scalar, bool by_column, std::function<void(double)> progress)
    : file_(std::move(file)),
      form_(std::move(form)),
      bytes_(scalar_bytes(scalar)),
      by_column_(by_column),
      parser_(form_, scalar),
      text_(file_, form_.from),
      progress_(std::move(progress)) {}

std::vector<PieceWords> TextRows::parse_to(const std::vector<std::byte*>& planes) const {
  std::vector<PieceWords> pieces(text_.pieces().size());
  text_.for_each(progress_, [&](const Piece& piece, std::int64_t n) {
    pieces[static_cast<std::size_t>(n)] = parser_.parse(piece, {.planes = planes, .first = piece.first_row});
  });
  return pieces;
}

void TextRows::for_each(const std::function<void(const Block&)>& take) const {
  Rooms rooms;
  const std::int64_t planes = by_column_ ? width() : 1, row = (by_column_ ? 1 : width()) * bytes_;
  text_.for_each(progress_, [&](const Piece& piece, std::int64_t) {
    if (piece.rows == 0) return;
    const std::int64_t plane = checked_mul(piece.rows, row, "the table's size");
    auto room = rooms.take(checked_mul(plane, planes, "the table's size"));
    RowPlaces to;
    Block block{.first = piece.first_row, .rows = piece.rows, .planes = {}};
    for (std::int64_t p = 0; p < planes; ++p) {
      to.planes.push_back(room->data() + p * plane);
      block.planes.push_back(to.planes.back());
    }
    (void)parser_.parse(piece, to);
    take(block);
    rooms.give(std::move(room));
  });
}

}  // namespace kasen
