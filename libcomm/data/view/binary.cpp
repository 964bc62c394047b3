#include "libcomm/data/view/binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "libcore/base/error.h"

namespace kasen {
namespace {

constexpr std::int64_t window_bytes = std::int64_t{1} << 16;

// Some elements of a column, read as they are asked for.
class ColumnWindow {
 public:
  explicit ColumnWindow(const BinaryColumn& column)
      : column_(column), bytes_(column.coordinates * file_bytes(column.type)) {}

  [[nodiscard]] const std::byte* at(std::int64_t element) {
    if (element < first_ || element >= first_ + count_) load(element);
    return data_.data() + (element - first_) * bytes_;
  }
  [[nodiscard]] const BinaryColumn& column() const { return column_; }

 private:
  void load(std::int64_t element) {
    const std::int64_t some = std::max<std::int64_t>(1, window_bytes / std::max<std::int64_t>(bytes_, 1));
    first_ = element;
    count_ = std::min(some, column_.elements - element);
    data_.resize(static_cast<std::size_t>(count_ * bytes_));
    column_.file->read(column_.offset + first_ * bytes_, data_.data(), std::ssize(data_));
  }

  const BinaryColumn& column_;
  std::int64_t bytes_, first_ = 0, count_ = 0;
  std::vector<std::byte> data_;
};

template <class T>
T number_at(const std::byte* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

ViewCell cell_at(FileType type, const std::byte* bytes) {
  using Kind = ViewCell::Kind;
  switch (type) {
    case FileType::f64:
      return {.kind = Kind::real, .real = number_at<double>(bytes)};
    case FileType::f32:
      return {.kind = Kind::single, .real = number_at<float>(bytes)};
    case FileType::i64:
      return {.kind = Kind::integer, .integer = number_at<std::int64_t>(bytes)};
    case FileType::i32:
      return {.kind = Kind::integer, .integer = number_at<std::int32_t>(bytes)};
    case FileType::u8:
      return {.kind = Kind::boolean, .integer = number_at<std::uint8_t>(bytes)};
  }
  throw InternalError("a type outside the table");
}

void append_cells(std::vector<ViewCell>& cells, ColumnWindow& window, std::int64_t element) {
  const BinaryColumn& column = window.column();
  const std::byte* at = window.at(element);
  for (std::int64_t p = 0; p < column.coordinates; ++p, at += file_bytes(column.type))
    cells.push_back(cell_at(column.type, at));
}

std::string type_text(const BinaryArray& array) {
  constexpr std::array<const char*, 5> names{"f64", "f32", "i64", "i32", "bool"};
  std::string text;
  for (std::size_t c = array.shown.sparse ? 2 : 0; c < array.columns.size(); ++c) {
    const BinaryColumn& column = array.columns[c];
    text += fmt::format("{}{}", text.empty() ? "" : " ", names.at(static_cast<std::size_t>(column.type)));
    if (column.coordinates != 1) text += fmt::format("[{}]", column.coordinates);
  }
  return text;
}

// Ids of rows, which count on in the order of the file, the last dimension first.
class RowIds {
 public:
  explicit RowIds(const BinaryArray& array) : shape_(array.shown.shape), index_(shape_.size()) {
    for (const std::optional<BinaryColumn>& ids : array.ids) {
      windows_.push_back(ids ? std::make_unique<ColumnWindow>(*ids) : nullptr);
    }
    windows_.resize(shape_.size());
  }
  void append(std::vector<ViewCell>& ids) {
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      if (windows_[d]) {
        append_cells(ids, *windows_[d], index_[d]);
      } else {
        ids.push_back({.kind = ViewCell::Kind::integer, .integer = index_[d]});
      }
    }
  }
  void next() {
    for (std::size_t d = shape_.size(); d-- > 0;) {
      if (++index_[d] < shape_[d]) return;
      index_[d] = 0;
    }
  }

 private:
  const std::vector<std::int64_t>& shape_;
  std::vector<std::int64_t> index_;
  std::vector<std::unique_ptr<ColumnWindow>> windows_;
};

}  // namespace

void BinaryView::add(BinaryArray array) {
  if (array.columns.empty()) throw InternalError("an array without columns");
  array.shown.rows = array.columns.front().elements;
  for (const BinaryColumn& column : array.columns)
    if (column.elements != array.shown.rows) throw InternalError("columns of different lengths");
  array.shown.type = type_text(array);
  arrays_.push_back(array.shown);
  binary_.push_back(std::move(array));
}

void BinaryView::rows(std::size_t number, const Take& take) const {
  const BinaryArray& array = binary_.at(number);
  const std::size_t first = array.shown.sparse ? 2 : 0;
  std::vector<std::unique_ptr<ColumnWindow>> windows;
  for (const BinaryColumn& column : array.columns) windows.push_back(std::make_unique<ColumnWindow>(column));
  RowIds ids(array);
  ViewRow row;
  for (std::int64_t e = 0; e < array.shown.rows; ++e) {
    row.ids.clear();
    row.cells.clear();
    for (std::size_t c = 0; c < first; ++c) append_cells(row.ids, *windows[c], e);
    if (first == 0) ids.append(row.ids);
    for (std::size_t c = first; c < windows.size(); ++c) append_cells(row.cells, *windows[c], e);
    if (!take(row)) return;
    ids.next();
  }
}

}  // namespace kasen
