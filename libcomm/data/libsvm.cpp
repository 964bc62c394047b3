// LIBSVM text: `label index:value ...` a line, indices from 1 and ascending.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "libcomm/data/entries.h"
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
  for (p = skip_blanks(p); *p != '\n' && *p != '#'; p = skip_blanks(p)) {
    if (*p == 'q' && field_at(p).starts_with("qid:")) {
      fail_text(p, fmt::format("'{}' is no feature", field_at(p)), "queries' numbers are not read",
                "take them out: sed 's/ qid:[0-9]*//'");
    }
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
  while (*p != '\n') ++p;  // a comment
  return p;
}

// Calls line(p) for each line with content; it returns where the line ends.
template <class Line>
void for_each_line(const char* begin, const char* end, const Line& line) {
  for (const char* p = begin; p < end; ++p) {
    p = skip_blanks(p);
    if (*p == '#') {
      while (*p != '\n') ++p;
    } else if (*p != '\n') {
      p = line(p);
    }
  }
}

// The features of one block.
class FeatureParser {
 public:
  FeatureParser(const TextBlock& block, const ElementType& element)
      : values_(element, std::count(block.begin(), block.end(), ':')) {
    const bool pattern = element.is(Scalar::null);
    Array checked(ElementType::of(Scalar::f64), 1);
    const ParseInto parse = parser_of(pattern ? Scalar::f64 : element.scalar());
    std::byte* const plane = pattern ? checked.plane(0) : values_.plane(0);
    for_each_line(block.begin(), block.end(), [&](const char* p) {
      p = for_each_pair(skip_label(p), [&](std::int64_t index, const char* value) {
        const char* const end = parse(value, plane, pattern ? 0 : static_cast<std::int64_t>(cols_.size()));
        if (pattern && *checked.as<double>() != 1)
          fail_text(value, "a value other than 1, and the input's element type is null", "", "declare a type");
        entry_rows_.push_back(rows_);
        cols_.push_back(index);
        return end;
      });
      ++rows_;
      return p;
    });
  }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] EntryChunk pack() const {
    EntryChunk chunk{PackedIds(std::span(entry_rows_)), PackedIds(std::span(cols_)), {}};
    if (values_.element.bytes() > 0) chunk.values = PackedValues(values_, 0, chunk.count());
    return chunk;
  }

 private:
  Array values_;
  std::vector<std::int64_t> entry_rows_, cols_;
  std::int64_t rows_ = 0;
};

RawTable libsvm_labels(TextSource& text, const ReadOptions& options) {
  const ElementType element = ElementType::of(options.element.scalar());
  const ParseInto parse = parser_of(element.scalar());
  std::vector<PackedValues> labels;  // of each block
  std::vector<std::int64_t> rows;
  std::mutex mutex;
  for_each_block(text, options.progress, [&](const TextBlock& block, int) {
    Array found(element, block.lines);
    std::int64_t row = 0;
    for_each_line(block.begin(), block.end(), [&](const char* p) {
      (void)skip_label(p);
      const char* end = parse(p, found.plane(0), row++);
      if (!ends_field(*end)) fail_text(p, fmt::format("'{}' is not a label", field_at(p)));
      while (*end != '\n') ++end;
      return end;
    });
    const std::scoped_lock lock(mutex);
    const auto number = static_cast<size_t>(block.number);
    if (rows.size() <= number) {
      rows.resize(number + 1);
      labels.resize(number + 1);
    }
    labels[number] = PackedValues(found, 0, row);
    rows[number] = row;
  });
  const std::int64_t total = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  RawTable table = make_table(total, 1, options, text.path());
  std::byte* to = table.values.plane(0);
  for (size_t k = 0; k < rows.size(); ++k)
    to = std::copy_n(labels[k].plane(element, 0), rows[k] * scalar_bytes(element.scalar()), to);
  table.digest = text.digest();
  return table;
}

}  // namespace

RawMatrix read_libsvm_features(TextSource& text, const ReadOptions& options) {
  if (!options.element.is_scalar())
    fail(ExitStatus::bad_input, "LIBSVM features are single numbers", "the input's elements are more than that", {},
         {text.path()});
  ChunkList chunks(options.element, text.path());
  std::vector<std::int64_t> rows;  // of each block
  std::mutex mutex;
  for_each_block(text, options.progress, [&](const TextBlock& block, int) {
    const FeatureParser parser(block, options.element);
    chunks.add(block.number, parser.pack());
    const std::scoped_lock lock(mutex);
    rows.resize(std::max(rows.size(), static_cast<size_t>(block.number) + 1));
    rows[static_cast<size_t>(block.number)] = parser.rows();
  });
  RawMatrix matrix{.declared = true, .entries = chunks.take(), .digest = {}};
  for (size_t k = 0; k < rows.size(); ++k) {  // blocks count their rows from 0
    EntryChunk& chunk = matrix.entries.chunks[k];
    chunk.rows.shift(matrix.row_count);
    matrix.row_count += rows[k];
    matrix.col_count = std::max(matrix.col_count, chunk.cols.largest() + 1);
  }
  std::erase_if(matrix.entries.chunks, [](const EntryChunk& chunk) { return chunk.count() == 0; });
  check_memory(checked_mul(matrix.col_count, 8, "the largest index"), "a vector of the largest index", text.path());
  return matrix;
}

RawTable read_libsvm_table(TextSource& source, const ReadOptions& options) {
  if (options.labels) return libsvm_labels(source, options);
  const InputFile file(source);
  const TextPieces text(file, 0);
  struct Extent {
    std::int64_t rows = 0, cols = 0;
  };
  std::vector<Extent> extents(text.pieces().size());
  text.for_each({}, [&](const Piece& piece, std::int64_t n) {
    Extent& extent = extents[static_cast<size_t>(n)];
    for_each_line(piece.begin, piece.end, [&](const char* p) {
      ++extent.rows;
      return for_each_pair(skip_label(p), [&](std::int64_t index, const char* value) {
        extent.cols = std::max(extent.cols, index + 1);
        while (!ends_field(*value)) ++value;
        return value;
      });
    });
  });
  Extent total;
  for (Extent& extent : extents) {
    total.cols = std::max(total.cols, extent.cols);
    total.rows += std::exchange(extent.rows, total.rows);  // now where the piece begins
  }
  RawTable table = make_table(total.rows, total.cols, options, file.path());
  const ParseInto parse = parser_of(options.element.scalar());
  std::byte* const plane = table.values.plane(0);
  text.for_each(options.progress, [&](const Piece& piece, std::int64_t n) {
    std::int64_t row = extents[static_cast<size_t>(n)].rows;
    for_each_line(piece.begin, piece.end, [&](const char* p) {
      p = for_each_pair(skip_label(p), [&](std::int64_t index, const char* value) {
        return parse(value, plane, row * total.cols + index);
      });
      ++row;
      return p;
    });
  });
  table.digest = file.digest();
  return table;
}

}  // namespace kasen
