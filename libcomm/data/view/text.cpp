// Results as text: CSV with a head, and Matrix Market's coordinates. Lines are read one by one.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "libcomm/data/view/binary.h"

namespace kasen {
namespace {

// The lines of a file, without their ends.
class Lines {
 public:
  explicit Lines(const std::string& path) : file_(FileHandle::open_to_read(path)) {}

  [[nodiscard]] bool next(std::string& line) {
    line.clear();
    for (;;) {
      if (at_ == buffer_.size() && !fill()) return !line.empty();
      const char* const begin = buffer_.data() + at_;
      const void* const end = std::memchr(begin, '\n', buffer_.size() - at_);
      const std::size_t count =
          end == nullptr ? buffer_.size() - at_ : static_cast<std::size_t>(static_cast<const char*>(end) - begin);
      if (line.size() + count > longest_line) fail_view(file_.path(), "a line of it is too long");
      line.append(begin, count);
      at_ += count;
      if (end == nullptr) continue;
      ++at_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return true;
    }
  }

 private:
  [[nodiscard]] bool fill() {
    buffer_.resize(std::size_t{1} << 16);
    const std::int64_t got = file_.read_some(place_, reinterpret_cast<std::byte*>(buffer_.data()), std::ssize(buffer_));
    buffer_.resize(static_cast<std::size_t>(got));
    place_ += got;
    at_ = 0;
    return got > 0;
  }

  static constexpr std::size_t longest_line = std::size_t{64} << 20;
  FileHandle file_;
  std::int64_t place_ = 0;
  std::string buffer_;
  std::size_t at_ = 0;
};

// Cells between commas; quoted ones hold commas, and a quote twice.
std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const char c = line[k];
    if (c == '"' && quoted && k + 1 < line.size() && line[k + 1] == '"') {
      cells.back() += line[++k];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

ViewCell cell_of(const std::string& text) {
  using Kind = ViewCell::Kind;
  if (text == "true" || text == "false") return {.kind = Kind::boolean, .integer = text == "true"};
  const char* const end = text.data() + text.size();
  ViewCell cell{.kind = Kind::integer};
  if (const auto [at, fault] = std::from_chars(text.data(), end, cell.integer); fault == std::errc() && at == end)
    return cell;
  cell.kind = Kind::real;
  if (const auto [at, fault] = std::from_chars(text.data(), end, cell.real); fault == std::errc() && at == end)
    return cell;
  return {.kind = Kind::word, .word = text};
}

// "w" of "w", "w.0", "w[3]" and "w.1[2]".
std::string_view output_of(std::string_view column) {
  if (const std::size_t bracket = column.find('['); bracket != std::string_view::npos)
    column = column.substr(0, bracket);
  const std::size_t dot = column.rfind('.');
  const bool component = dot != std::string_view::npos && dot > 0 && dot + 1 < column.size() &&
                         std::all_of(column.begin() + static_cast<std::ptrdiff_t>(dot) + 1, column.end(),
                                     [](char c) { return c >= '0' && c <= '9'; });
  return component ? column.substr(0, dot) : column;
}

bool is_number(const std::string& text) {
  const ViewCell::Kind kind = cell_of(text).kind;
  return kind == ViewCell::Kind::integer || kind == ViewCell::Kind::real;
}

// Of a table without a line of names, which results have, but the user's own need not: "x", or "x[0]", "x[1]".
std::vector<std::string> numbered(const std::string& name, std::size_t count) {
  if (count == 1) return {name};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}[{}]", name, i));
  return names;
}

std::int64_t lines_behind(Lines& lines) {
  std::int64_t count = 0;
  for (std::string line; lines.next(line);) ++count;
  return count;
}

class CsvView : public ResultView {
 public:
  explicit CsvView(const std::string& path) {
    for (const ResultFile& file : files_of_result(path)) add(file.path);
  }

  void rows(std::size_t number, const Take& take) const override {
    const ViewArray& array = arrays_.at(number);
    const std::size_t ids = array.dims.size(), columns = ids + array.columns.size();
    Lines lines(files_.at(number));
    ViewRow row;
    std::string line;
    if (headed_.at(number) && !lines.next(line)) return;
    for (std::int64_t at = headed_[number] ? 2 : 1; lines.next(line); ++at) {
      const std::vector<std::string> cells = csv_cells(line);
      if (cells.size() != columns)
        fail_view(files_.at(number), fmt::format("line {} has {} cells, its first line {}", at, cells.size(), columns));
      row.ids.clear();
      row.cells.clear();
      for (std::size_t c = 0; c < columns; ++c) (c < ids ? row.ids : row.cells).push_back(cell_of(cells[c]));
      if (!take(row)) return;
    }
  }

 private:
  // The output's columns are the last ones.
  void add(const std::string& path) {
    Lines lines(path);
    std::string head;
    if (!lines.next(head)) fail_view(path, "it is empty");
    std::vector<std::string> names = csv_cells(head);
    const bool headed = !std::all_of(names.begin(), names.end(), is_number);
    if (!headed) names = numbered(std::filesystem::path(path).stem().string(), names.size());
    const std::string_view output = output_of(names.back());
    const auto of_output = [&](const std::string& name) { return output_of(name) == output; };
    const auto last_id = std::find_if_not(names.rbegin(), names.rend(), of_output);
    ViewArray array{.name = std::string(output), .dims = {}, .shape = {}, .columns = {last_id.base(), names.end()}};
    array.dims.assign(names.begin(), last_id.base());
    array.rows = lines_behind(lines) + (headed ? 0 : 1);
    arrays_.push_back(std::move(array));
    files_.push_back(path);
    headed_.push_back(headed);
  }

  std::vector<std::string> files_;
  std::vector<bool> headed_;
};

class MtxView : public ResultView {
 public:
  MtxView(const std::string& path, const std::string& first) {
    for (const ResultFile& file : files_of_result(path)) add(file.path, name_of(file, first));
  }

  void rows(std::size_t number, const Take& take) const override {
    Lines lines(files_.at(number));
    std::string line;
    if (!lines.next(line) || !next_number_line(lines, line)) return;
    ViewRow row;
    while (lines.next(line)) {
      std::vector<ViewCell> cells = cells_of(line);
      const auto is_place = [](const ViewCell& cell) { return cell.kind == ViewCell::Kind::integer; };
      if (cells.size() != 3 || !is_place(cells[0]) || !is_place(cells[1]))
        fail_view(files_.at(number), fmt::format("'{}' is no row, column and value", line.substr(0, 80)));
      row.cells = {cells.back()};
      cells.pop_back();
      for (ViewCell& id : cells) --id.integer;
      row.ids = std::move(cells);
      if (!take(row)) return;
    }
  }

 private:
  static bool next_number_line(Lines& lines, std::string& line) {
    while (lines.next(line))
      if (!line.starts_with('%')) return true;
    return false;
  }

  static std::vector<ViewCell> cells_of(const std::string& line) {
    std::vector<ViewCell> cells;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      if (end > at) cells.push_back(cell_of(line.substr(at, end - at)));
      at = end + 1;
    }
    return cells;
  }

  void add(const std::string& path, const std::string& name) {
    Lines lines(path);
    std::string head;
    if (!lines.next(head) || !head.starts_with("%%MatrixMarket matrix coordinate") || !head.ends_with("general") ||
        !next_number_line(lines, head))
      fail_view(path, "Kasen writes no Matrix Market file with such a head");
    const std::vector<ViewCell> sizes = cells_of(head);
    const auto is_size = [](const ViewCell& c) { return c.kind == ViewCell::Kind::integer && c.integer >= 0; };
    if (sizes.size() != 3 || !std::all_of(sizes.begin(), sizes.end(), is_size))
      fail_view(path, "its second line has no three sizes");
    arrays_.push_back({.name = name,
                       .dims = {"row", "column"},
                       .shape = {sizes[0].integer, sizes[1].integer},
                       .sparse = true,
                       .columns = {name},
                       .rows = lines_behind(lines)});
    files_.push_back(path);
  }

  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<ResultView> view_csv(const std::string& path, const std::string& /*first*/) {
  return std::make_unique<CsvView>(path);
}

std::unique_ptr<ResultView> view_mtx(const std::string& path, const std::string& first) {
  return std::make_unique<MtxView>(path, first);
}

}  // namespace kasen
