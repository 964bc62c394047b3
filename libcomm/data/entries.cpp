// Lines of `row column [value...]`: the common part of edge lists and Matrix Market.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "libcomm/data/formats.h"
#include "libcomm/data/parallel.h"
#include "libcore/checked.h"

namespace kasen {
namespace {

// What stands in each column of a line: row, column, or plane k of the value.
enum Role : int { role_skip = -1, role_row = 0, role_col = 1, role_value = 2 };

struct Target {
  std::int64_t* rows;
  std::int64_t* cols;
  std::vector<ValueParser> values;
};

// Between two columns: blanks, or one comma or semicolon among blanks.
const char* skip_separator(const char* p) {
  const char* const start = p;
  p = skip_blanks(p);
  if (*p == ',' || *p == ';') p = skip_blanks(p + 1);
  if (p == start && *p != '\n') fail_text(p, fmt::format("unexpected '{}'", *p), "a blank or a comma is expected");
  return p;
}

[[noreturn]] void fail_more(const char* p, const EntryShape& shape, bool valued) {
  const size_t known = shape.columns.size();
  if (!valued) {
    fail_text(p, "there are more than two columns, and the input's element type is null", "",
              "declare the type of the values, or choose columns 1 and 2");
  }
  fail_text(p, fmt::format("there are more than {} columns", known), "", "choose which columns to take");
}

class EntryParser {
 public:
  EntryParser(const EntryShape& shape, Target target) : shape_(shape), target_(std::move(target)) {
    roles_.assign(static_cast<size_t>(*std::max_element(shape.columns.begin(), shape.columns.end())), role_skip);
    for (size_t i = 0; i < shape.columns.size(); ++i) {
      roles_[static_cast<size_t>(shape.columns[i] - 1)] = static_cast<int>(i);
    }
    plain_ = !shape.more_columns && target_.values.empty() && roles_.size() == 2 && roles_[0] == role_row;
  }

  // Returns how many entries the piece holds; they start at `at`.
  std::int64_t parse(const Piece& piece, std::int64_t at) const {
    const std::int64_t first = at;
    for (const char* p = piece.begin; p < piece.end;) {
      p = skip_blanks(p);
      if (*p == '\n') {
        ++p;
      } else if (*p == '#' || *p == '%') {
        p = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(piece.end - p))) + 1;
      } else {
        p = plain_ ? pair(p, at) : columns(p, at);
        ++at;
      }
    }
    return at - first;
  }

 private:
  const char* pair(const char* p, std::int64_t i) const {
    p = id(p, target_.rows[i], shape_.row_word);
    p = *p == '\t' && is_digit(p[1]) ? p + 1 : skip_separator(p);
    p = id(p, target_.cols[i], shape_.col_word);
    return end_line(p);
  }

  const char* columns(const char* p, std::int64_t i) const {
    for (size_t c = 0; c < roles_.size(); ++c) {
      if (c > 0) p = skip_separator(p);
      const int role = roles_[c];
      if (role == role_row) {
        p = id(p, target_.rows[i], shape_.row_word);
      } else if (role == role_col) {
        p = id(p, target_.cols[i], shape_.col_word);
      } else if (role == role_skip) {
        while (!ends_field(*p)) ++p;
      } else {
        const ValueParser& value = target_.values[static_cast<size_t>(role - role_value)];
        p = value.parse(p, value.plane, i);
        if (!ends_field(*p)) fail_text(p, fmt::format("unexpected '{}'", *p), "a blank or a comma is expected");
      }
    }
    return end_line(p);
  }

  const char* id(const char* p, std::int64_t& value, std::string_view word) const {
    const char* const end = parse_id(p, value, word);
    value -= shape_.first_id;
    if (value < 0) fail_text(p, fmt::format("0 is not {}", word), fmt::format("they count from {}", shape_.first_id));
    return end;
  }

  const char* end_line(const char* p) const {
    if (*p == '\n') return p + 1;
    p = skip_blanks(p);
    if (*p != '\n' && shape_.more_columns) {
      while (*p != '\n') ++p;
    }
    if (*p != '\n') fail_more(p, shape_, !target_.values.empty());
    return p + 1;
  }

  const EntryShape& shape_;
  Target target_;
  std::vector<int> roles_;
  bool plain_ = false;
};

// Pieces that held comments or blank lines among the entries leave holes.
void close_holes(RawMatrix& matrix, std::span<const Piece> pieces, std::span<const std::int64_t> counts) {
  std::int64_t total = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::int64_t from = pieces[i].first_line;
    if (from != total) {
      const auto move = [&](auto* data) {
        std::memmove(data + total, data + from, sizeof(*data) * static_cast<size_t>(counts[i]));
      };
      move(matrix.rows.data());
      move(matrix.cols.data());
      for (std::int64_t p = 0; p < matrix.values.element.planes(); ++p) {
        const std::int64_t width = scalar_bytes(matrix.values.element.plane_scalar(p));
        std::byte* plane = matrix.values.plane(p);
        if (width > 0)
          std::memmove(plane + total * width, plane + from * width, static_cast<size_t>(counts[i] * width));
      }
    }
    total += counts[i];
  }
  matrix.rows.resize(static_cast<size_t>(total));
  matrix.cols.resize(static_cast<size_t>(total));
  if (total == matrix.values.count) return;
  Array shorter(matrix.values.element, total);
  for (std::int64_t p = 0; p < shorter.element.planes(); ++p) {
    const std::int64_t width = scalar_bytes(shorter.element.plane_scalar(p));
    if (width > 0) std::memcpy(shorter.plane(p), matrix.values.plane(p), static_cast<size_t>(total * width));
  }
  matrix.values = std::move(shorter);
}

}  // namespace

std::vector<ValueParser> value_parsers(Array& values) {
  std::vector<ValueParser> parsers;
  if (values.element.is(Scalar::null)) return parsers;
  for (std::int64_t p = 0; p < values.element.planes(); ++p) {
    parsers.push_back({parser_of(values.element.plane_scalar(p)), values.plane(p)});
  }
  return parsers;
}

EntryShape entry_shape(const ReadOptions& options, const std::string& path) {
  EntryShape shape;
  const std::int64_t planes = options.element.is(Scalar::null) ? 0 : options.element.planes();
  shape.columns = options.columns;
  shape.more_columns = !options.columns.empty();
  if (shape.columns.empty()) {
    for (int c = 1; c <= 2 + planes; ++c) shape.columns.push_back(c);
  }
  const auto bad = [](int c) { return c < 1; };
  std::vector<int> sorted = shape.columns;
  std::sort(sorted.begin(), sorted.end());
  if (static_cast<std::int64_t>(sorted.size()) != 2 + planes || std::any_of(sorted.begin(), sorted.end(), bad) ||
      std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    fail(ExitStatus::usage, fmt::format("{} different columns, counted from 1, must be chosen", 2 + planes),
         "they are the row, the column and the value's parts", "", {path});
  }
  return shape;
}

RawMatrix parse_entries(const InputFile& file, std::int64_t from, const EntryShape& shape, const ReadOptions& options) {
  const TextPieces text(file, from);
  RawMatrix matrix;
  const std::int64_t lines = text.lines();
  check_memory(checked_mul(lines, 16 + options.element.bytes(), "the number of entries"), "the matrix", file.path());
  parallel_for(2,
               [&](std::int64_t i, int) { (i == 0 ? matrix.rows : matrix.cols).resize(static_cast<size_t>(lines)); });
  matrix.values = Array(options.element, lines);
  const EntryParser parser(shape, {matrix.rows.data(), matrix.cols.data(), value_parsers(matrix.values)});
  std::vector<std::int64_t> counts(text.pieces().size());
  text.for_each(options.progress, [&](const Piece& piece, std::int64_t i) {
    counts[static_cast<size_t>(i)] = parser.parse(piece, piece.first_line);
  });
  close_holes(matrix, text.pieces(), counts);
  return matrix;
}

}  // namespace kasen
