// LIBSVM text: `label index:value ...` a line, indices from 1 and ascending.
#include <fmt/format.h>

#include <algorithm>

#include "libcomm/data/formats.h"
#include "libcore/checked.h"

namespace kasen {
namespace {

const char* skip_label(const char* p) {
  const char* const start = p;
  while (!ends_field(*p) && *p != ':') ++p;
  if (*p == ':') fail_text(start, "the label is missing", "the line begins with index:value");
  return skip_blanks(p);
}

// Walks the `index:value` pairs of a line; each(index from 0, where the value's text starts) returns the byte after it.
template <class Each>
const char* for_each_pair(const char* p, const Each& each) {
  std::int64_t previous = 0;
  for (p = skip_blanks(p); *p != '\n'; p = skip_blanks(p)) {
    std::int64_t index = 0;
    const char* const colon = parse_id(p, index, "an index");
    if (*colon != ':') fail_text(colon, "':' is missing after the index", "a feature is index:value");
    if (index == 0) fail_text(p, "0 is not an index", "they count from 1");
    if (index <= previous) {
      fail_text(p, fmt::format("index {} comes after {}", index, previous), "the indices of a line must ascend");
    }
    previous = index;
    p = each(index - 1, colon + 1);
    if (!is_blank(*p) && *p != '\n') fail_text(p, fmt::format("unexpected '{}'", *p), "a blank is expected");
  }
  return p;
}

// Calls line(p) for each line with content; it returns where the line ends.
template <class Line>
void for_each_line(const Piece& piece, const Line& line) {
  for (const char* p = piece.begin; p < piece.end; ++p) {
    p = skip_blanks(p);
    if (*p == '#') {
      while (*p != '\n') ++p;
    } else if (*p != '\n') {
      p = line(p);
    }
  }
}

// What a first look at a piece counts; later the place where each begins.
struct Extent {
  std::int64_t rows = 0, entries = 0, cols = 0;
};

std::vector<Extent> measure(const TextPieces& text) {
  std::vector<Extent> extents(text.pieces().size());
  text.for_each({}, [&](const Piece& piece, std::int64_t n) {
    Extent& extent = extents[static_cast<size_t>(n)];
    for_each_line(piece, [&](const char* p) {
      ++extent.rows;
      for (; *p != '\n'; ++p) extent.entries += *p == ':' ? 1 : 0;
      return p;
    });
  });
  return extents;
}

// The counts become starts; returns the totals.
Extent to_starts(std::vector<Extent>& extents) {
  Extent total;
  for (Extent& extent : extents) {
    const Extent counts = extent;
    extent = {total.rows, total.entries, 0};
    total.rows += counts.rows;
    total.entries += counts.entries;
    total.cols = std::max(total.cols, counts.cols);
  }
  return total;
}

}  // namespace

RawMatrix read_libsvm_features(const InputFile& file, const ReadOptions& options) {
  if (!options.element.is_scalar()) {
    file.fail_at(0, "LIBSVM features are single numbers", "the input's elements are more than that");
  }
  const TextPieces text(file, 0);
  std::vector<Extent> extents = measure(text);
  const Extent total = to_starts(extents);
  const std::int64_t bytes = checked_mul(total.entries, 16 + options.element.bytes(), "the number of entries");
  check_memory(bytes, "the matrix", file.path());

  RawMatrix matrix;
  matrix.rows.resize(static_cast<size_t>(total.entries));
  matrix.cols.resize(static_cast<size_t>(total.entries));
  matrix.values = Array(options.element, total.entries);
  const bool pattern = options.element.is(Scalar::null);
  text.for_each(options.progress, [&](const Piece& piece, std::int64_t n) {
    Extent& at = extents[static_cast<size_t>(n)];
    const std::vector<ValueParser> values = value_parsers(matrix.values);
    Array checked(ElementType::of(Scalar::f64), 1);
    for_each_line(piece, [&](const char* p) {
      p = for_each_pair(skip_label(p), [&](std::int64_t index, const char* value) {
        const auto k = static_cast<size_t>(at.entries);
        matrix.rows[k] = at.rows;
        matrix.cols[k] = index;
        at.cols = std::max(at.cols, index + 1);
        const char* end = pattern ? parser_of(Scalar::f64)(value, checked.plane(0), 0)
                                  : values[0].parse(value, values[0].plane, at.entries);
        if (pattern && *checked.as<double>() != 1) {
          fail_text(value, "a value other than 1, and the input's element type is null", "", "declare a type");
        }
        ++at.entries;
        return end;
      });
      ++at.rows;
      return p;
    });
  });
  for (const Extent& extent : extents) matrix.col_count = std::max(matrix.col_count, extent.cols);
  check_memory(checked_mul(matrix.col_count, 8, "the largest index"), "a vector of the largest index", file.path());
  matrix.row_count = total.rows;
  matrix.declared = true;
  return matrix;
}

RawTable read_libsvm_table(const InputFile& file, const ReadOptions& options) {
  const TextPieces text(file, 0);
  std::vector<Extent> extents = measure(text);
  std::int64_t cols = 1;
  if (!options.labels) {
    text.for_each({}, [&](const Piece& piece, std::int64_t n) {
      Extent& extent = extents[static_cast<size_t>(n)];
      for_each_line(piece, [&](const char* p) {
        return for_each_pair(skip_label(p), [&](std::int64_t index, const char* value) {
          extent.cols = std::max(extent.cols, index + 1);
          while (!ends_field(*value)) ++value;
          return value;
        });
      });
    });
  }
  const Extent total = to_starts(extents);
  if (!options.labels) cols = total.cols;
  RawTable table = make_table(total.rows, cols, options, file.path());
  const ParseInto parse = parser_of(options.element.scalar());
  std::byte* const plane = table.values.plane(0);
  text.for_each(options.progress, [&](const Piece& piece, std::int64_t n) {
    std::int64_t row = extents[static_cast<size_t>(n)].rows;
    for_each_line(piece, [&](const char* p) {
      const char* const features = skip_label(p);
      if (options.labels) {
        const char* const end = parse(p, plane, row);
        if (!ends_field(*end)) fail_text(p, fmt::format("'{}' is not a label", field_at(p)));
        for (p = end; *p != '\n';) ++p;
      } else {
        p = for_each_pair(
            features, [&](std::int64_t index, const char* value) { return parse(value, plane, row * cols + index); });
      }
      ++row;
      return p;
    });
  });
  return table;
}

}  // namespace kasen
