// LIBSVM text: `label index:value ...` a line, indices from 1 and ascending.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <utility>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/read/entries.h"
#include "libcomm/data/read/formats.h"
#include "libcore/base/checked.h"

namespace kasen {
namespace {

bool ends_value(char c) { return is_blank(c) || c == '\n'; }

const char* skip_label(const char* p) {
  const char* const start = p;
  while (!ends_value(*p) && *p != ':') ++p;
  if (*p == ':') fail_text(start, "the label is missing", "the line begins with index:value");
  return skip_blanks(p);
}

std::string_view text_until_blank(const char* p) {
  const char* end = p;
  while (!ends_value(*end) && end - p < 60) ++end;
  return {p, static_cast<size_t>(end - p)};
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
    if (!ends_value(*p)) fail_text(p, fmt::format("unexpected '{}'", *p), "a blank is expected");
  }
  while (*p != '\n') ++p;  // a comment
  return p;
}

// Calls line(p) for each line with content; it returns the end of the line.
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

// Rows of each block, which come in any order.
class BlockRows {
 public:
  void note(std::int64_t block, std::int64_t rows) {
    const std::scoped_lock lock(mutex_);
    rows_.resize(std::max(rows_.size(), static_cast<size_t>(block) + 1));
    rows_[static_cast<size_t>(block)] = rows;
  }
  [[nodiscard]] const std::vector<std::int64_t>& rows() const { return rows_; }

 private:
  std::mutex mutex_;
  std::vector<std::int64_t> rows_;
};

class FeatureReader : public BlockReader {
 public:
  FeatureReader(const ReadOptions& options, const std::string& path)
      : path_(path),
        pattern_(options.element.is(Scalar::null)),
        parse_(parser_of(pattern_ ? Scalar::f64 : options.element.scalar())),
        chunks_(options, path),
        rooms_(static_cast<size_t>(data_threads())) {
    for (Room& room : rooms_) room.values.element = options.element;
  }

  void take(const TextBlock& block, int thread) override {
    Room& room = rooms_[static_cast<size_t>(thread)];
    room.grow(std::count(block.begin(), block.end(), ':'));
    std::byte* const plane = pattern_ ? room.checked.plane(0) : room.values.plane(0);
    std::int64_t row = 0, at = 0;
    for_each_line(block.begin(), block.end(), [&](const char* p) {
      p = for_each_pair(skip_label(p), [&](std::int64_t index, const char* value) {
        const char* const end = parse_(value, plane, pattern_ ? 0 : at);
        if (pattern_ && *room.checked.as<double>() != 1)
          fail_text(value, "a value other than 1, and the input's element type is null", "", "declare a type");
        room.rows[static_cast<size_t>(at)] = row;
        room.cols[static_cast<size_t>(at++)] = index;
        return end;
      });
      ++row;
      return p;
    });
    chunks_.add(block.number, room.pack(at));
    rows_.note(block.number, row);
  }

  [[nodiscard]] RawInput finish() override {
    RawInput input;
    RawMatrix& matrix = input.matrix;
    matrix.declared = true;
    matrix.entries = chunks_.take();
    for (size_t k = 0; k < rows_.rows().size(); ++k) {  // blocks count their rows from 0
      EntryChunk& chunk = matrix.entries.chunks[k];
      chunk.rows.shift(matrix.row_count);
      matrix.row_count += rows_.rows()[k];
      matrix.col_count = std::max(matrix.col_count, chunk.cols.largest() + 1);
    }
    std::erase_if(matrix.entries.chunks, [](const EntryChunk& chunk) { return chunk.count() == 0; });
    check_memory(checked_mul(matrix.col_count, 8, "the largest index"), "a vector of the largest index", path_);
    return input;
  }

 private:
  // The features of a block; the memory is reused from block to block, like the blocks' own.
  struct Room {
    Array values, checked{ElementType::of(Scalar::f64), 1};
    std::vector<std::int64_t> rows, cols;

    void grow(std::int64_t entries) {
      if (std::cmp_less_equal(entries, rows.size())) return;
      rows.resize(static_cast<size_t>(entries));
      cols.resize(rows.size());
      values = Array(values.element, entries);
    }
    [[nodiscard]] EntryChunk pack(std::int64_t entries) const {
      const auto count = static_cast<size_t>(entries);
      EntryChunk chunk{PackedIds(std::span(rows).first(count)), PackedIds(std::span(cols).first(count)), {}};
      if (values.element.bytes() > 0) chunk.values = PackedValues(values, 0, entries);
      return chunk;
    }
  };

  std::string path_;
  bool pattern_;
  ParseInto parse_;
  ChunkList chunks_;
  std::vector<Room> rooms_;  // of each thread
  BlockRows rows_;
};

class LabelReader : public BlockReader {
 public:
  LabelReader(const ReadOptions& options, std::string path)
      : options_(options),
        path_(std::move(path)),
        element_(ElementType::of(options.element.scalar())),
        parse_(parser_of(element_.scalar())) {}

  void take(const TextBlock& block, int) override {
    Array found(element_, block.lines);
    std::int64_t row = 0;
    for_each_line(block.begin(), block.end(), [&](const char* p) {
      (void)skip_label(p);
      const char* const end = parse_(p, found.plane(0), row++);
      if (!ends_value(*end))
        fail_text(p, fmt::format("'{}' is not a label", text_until_blank(p)), "a label is one number");
      return static_cast<const char*>(std::memchr(end, '\n', static_cast<size_t>(block.end() - end)));
    });
    rows_.note(block.number, row);
    const std::scoped_lock lock(mutex_);
    labels_.resize(std::max(labels_.size(), static_cast<size_t>(block.number) + 1));
    labels_[static_cast<size_t>(block.number)] = PackedValues(found, 0, row);
  }

  [[nodiscard]] RawInput finish() override {
    const std::vector<std::int64_t>& rows = rows_.rows();
    const std::int64_t total = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
    RawInput input;
    input.table = make_table(total, 1, options_, path_);
    std::byte* to = input.table.values.plane(0);
    for (size_t k = 0; k < rows.size(); ++k)
      to = std::copy_n(labels_[k].plane(element_, 0), rows[k] * scalar_bytes(element_.scalar()), to);
    return input;
  }

 private:
  ReadOptions options_;
  std::string path_;
  ElementType element_;
  ParseInto parse_;
  std::mutex mutex_;
  std::vector<PackedValues> labels_;  // of each block
  BlockRows rows_;
};

bool is_feature(std::string_view field) {
  const size_t colon = field.find(':');
  return colon != std::string_view::npos && is_plain_id(field.substr(0, colon)) &&
         looks_numeric(field.substr(colon + 1));
}

}  // namespace

bool looks_like_libsvm(const FirstFields& lines) {
  return std::any_of(lines.begin(), lines.end(),
                     [](const auto& fields) { return fields.size() > 1 && is_feature(fields[1]); });
}

std::unique_ptr<BlockReader> libsvm_blocks(const ReadOptions& options, const std::string& path) {
  if (options.sparse && !options.element.is_scalar())
    fail(ExitStatus::bad_input, "LIBSVM features are single numbers", "the input's elements are more than that", {},
         {path});
  if (options.sparse) return std::make_unique<FeatureReader>(options, path);
  if (options.labels) return std::make_unique<LabelReader>(options, path);
  return nullptr;
}

// The features as a table.
RawTable read_libsvm_table(TextSource& source, const ReadOptions& options) {
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
  Extent total{.cols = options.features};
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
