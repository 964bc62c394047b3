#include "libcomm/data/read/entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>

#include "libcomm/data/base/parallel.h"
#include "libcore/base/checked.h"
#include "libcore/base/count_text.h"
#include "libcore/system/memory_limit.h"

namespace kasen {
namespace {

// The role of a column that is read: row, column, or plane k of the value.
enum Role : int { role_row = 0, role_col = 1, role_value = 2 };

struct TakenColumn {
  int passed;  // unread columns since the one before; by the user's number, however many a line has
  int role;
};

std::vector<TakenColumn> taken_columns(const std::vector<int>& columns) {
  std::vector<int> roles(columns.size());
  std::iota(roles.begin(), roles.end(), 0);
  const auto column = [&](int role) { return columns[static_cast<size_t>(role)]; };
  std::sort(roles.begin(), roles.end(), [&](int a, int b) { return column(a) < column(b); });
  std::vector<TakenColumn> taken;
  int before = 0;
  for (const int role : roles) {
    taken.push_back({column(role) - before - 1, role});
    before = column(role);
  }
  return taken;
}

struct Target {
  std::int64_t* rows;
  std::int64_t* cols;
  std::vector<ValueParser> values;
};

// The separator of two columns: any blanks, or one character among blanks.
class Separator {
 public:
  explicit Separator(char c) : c_(c) {}

  [[nodiscard]] char character() const { return c_; }
  [[nodiscard]] bool blank() const { return c_ == ' '; }
  [[nodiscard]] bool ends_column(char c) const { return c == '\n' || c == c_ || (blank() && is_blank(c)); }
  [[nodiscard]] const char* skip_blanks(const char* p) const {
    while (is_blank(*p) && (*p != '\t' || c_ != '\t')) ++p;
    return p;
  }
  [[nodiscard]] const char* skip(const char* p) const {
    const char* const start = p;
    p = skip_blanks(p);
    if (*p == '\n') return p;
    if (blank() ? p == start || *p == ',' || *p == ';' : *p != c_) fail(p);
    return blank() ? p : skip_blanks(p + 1);
  }
  [[noreturn]] void fail(const char* p) const {
    fail_text(p, fmt::format("unexpected '{}'", *p),
              blank()      ? "a blank separates columns, as in the first line"
              : c_ == '\t' ? "a tab separates columns, as in the first line"
                           : fmt::format("'{}' separates columns, as in the first line", c_),
              "write all lines alike; numbers have a decimal point");
  }

 private:
  char c_;
};

// The last quote of the quoted field that begins at p; null if this line has none.
const char* last_quote(const char* p) {
  for (++p; *p != '\n'; ++p) {
    if (*p != '"') continue;
    if (p[1] != '"') return ends_field(p[1]) ? p : nullptr;
    ++p;
  }
  return nullptr;
}

// A number in quotes, from programs that quote all fields: `read` gets its inside as a line.
template <class Read>
const char* in_quotes(const char* p, const Read& read) {
  const char* const end = last_quote(p);
  if (end == nullptr) fail_text(p, "the quote is not closed before the field ends");
  const std::string inside = std::string(p + 1, end) + '\n';
  try {
    if (*read(inside.data()) != '\n') fail_text(p, fmt::format("'{}' is not a number", std::string_view(p + 1, end)));
  } catch (TextFault& fault) {
    fault.at = p;
    throw;
  }
  return end + 1;
}

[[noreturn]] void fail_more(const char* p, const EntryShape& shape, bool valued) {
  const size_t known = shape.columns.size();
  if (!valued) {
    fail_text(p, "there are more than two columns, and the input's element type is null", "",
              "declare the type of the values, or choose columns 1 and 2");
  }
  fail_text(p, fmt::format("there are more than {}", count_text(known, "column")), "",
            "choose which to take: --columns INPUT=1,2,3; a table of numbers is declared dense, or its columns local");
}

class EntryParser {
 public:
  EntryParser(const EntryShape& shape, Target target)
      : shape_(shape), separator_(shape.separator), target_(std::move(target)), taken_(taken_columns(shape.columns)) {
    plain_ = !shape.more_columns && target_.values.empty() && shape.columns == std::vector{1, 2};
  }

  // Returns the number of entries in the lines.
  std::int64_t parse(const char* p, const char* end) const {
    try {
      return lines(p, end);
    } catch (TextFault& fault) {
      if (!separator_.blank() && *fault.at != '"') quote_cell(fault, cell_at(fault.at, separator_.character()));
      throw;
    }
  }

 private:
  std::int64_t lines(const char* p, const char* end) const {
    std::int64_t at = 0;
    while (p < end) {
      const char* const line = p;
      p = skip_blanks(p);
      if (*p == '\n') {
        ++p;
      } else if (*p == '#' || *p == '%') {
        p = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p))) + 1;
      } else {
        p = plain_ ? pair(p, at) : columns(separator_.skip_blanks(line), at);
        ++at;
      }
    }
    return at;
  }

  const char* pair(const char* p, std::int64_t i) const {
    p = id(p, target_.rows[i], shape_.row_word);
    p = *p == '\t' && is_digit(p[1]) && separator_.blank() ? p + 1 : separator_.skip(p);
    p = id(p, target_.cols[i], shape_.col_word);
    return end_line(p);
  }

  const char* columns(const char* p, std::int64_t i) const {
    for (size_t k = 0; k < taken_.size(); ++k) {
      if (k > 0) p = separator_.skip(p);
      p = take(skip_columns(p, taken_[k].passed), taken_[k].role, i);
    }
    return end_line(p);
  }

  [[nodiscard]] const char* skip_columns(const char* p, int count) const {
    for (; count > 0 && *p != '\n'; --count) {
      if (const char* const quote = *p == '"' ? last_quote(p) : nullptr; quote != nullptr) p = quote;
      while (!separator_.ends_column(*p)) ++p;
      p = separator_.skip(p);
    }
    return p;
  }

  const char* take(const char* p, int role, std::int64_t i) const {
    if (role == role_row) return id(p, target_.rows[i], shape_.row_word);
    if (role == role_col) return id(p, target_.cols[i], shape_.col_word);
    const ValueParser& value = target_.values[static_cast<size_t>(role - role_value)];
    const auto read = [&](const char* from) { return value.parse(from, value.plane, i); };
    p = *p == '"' ? in_quotes(p, read) : read(p);
    if (!ends_field(*p)) separator_.fail(p);
    return p;
  }

  const char* id(const char* p, std::int64_t& value, std::string_view word) const {
    const auto read = [&](const char* from) { return parse_id(from, value, word); };
    const char* const end = *p == '"' ? in_quotes(p, read) : read(p);
    value -= shape_.first_id;
    if (value < 0) fail_text(p, fmt::format("0 is not {}", word), fmt::format("they count from {}", shape_.first_id));
    return end;
  }

  const char* end_line(const char* p) const {
    if (*p == '\n') return p + 1;
    const char* const last = p;
    p = separator_.skip_blanks(p);
    if (*p != '\n' && shape_.more_columns) {
      if (separator_.blank() ? p == last : !separator_.ends_column(*p)) separator_.fail(p);
      while (*p != '\n') ++p;
    }
    if (*p != '\n') fail_more(p, shape_, !target_.values.empty());
    return p + 1;
  }

  const EntryShape& shape_;
  Separator separator_;
  Target target_;
  std::vector<TakenColumn> taken_;  // in their order within a line
  bool plain_ = false;
};

// The position of entry `index` of a block.
const char* line_of(const TextBlock& block, const EntryShape& shape, std::int64_t index) {
  const std::int64_t from = block.number == 0 ? shape.from : 0;
  return block.begin() + entry_offset(block.view(), from, index);
}

void check_limits(const TextBlock& block, const EntryShape& shape, const BlockEntries& entries) {
  for (std::int64_t k = 0; k < entries.count; ++k) {
    const auto i = static_cast<size_t>(k);
    if (entries.rows[i] < shape.row_limit && entries.cols[i] < shape.col_limit) continue;
    fail_text(line_of(block, shape, k), "the entry lies outside the matrix",
              fmt::format("it is {} x {}", shape.row_limit, shape.col_limit));
  }
}

void turn_down(const TextBlock& block, const EntryShape& shape, BlockEntries& entries) {
  for (std::int64_t k = 0; k < entries.count; ++k) {
    const auto i = static_cast<size_t>(k);
    if (shape.skew && entries.rows[i] == entries.cols[i])
      fail_text(line_of(block, shape, k), "a skew-symmetric matrix has no entries on the diagonal");
    if (entries.rows[i] >= entries.cols[i]) continue;
    std::swap(entries.rows[i], entries.cols[i]);
    const ElementType& element = entries.values.element;
    for (std::int64_t p = 0; shape.skew && p < element.planes(); ++p) negate(element, entries.values.plane(p), p, k);
  }
}

template <class T>
void negate_at(std::byte* plane, std::int64_t i) {
  T& value = reinterpret_cast<T*>(plane)[i];
  if (value == std::numeric_limits<T>::min() && std::is_integral_v<T>) throw_size_overflow("a mirrored value");
  value = static_cast<T>(-value);
}

using Pair = std::pair<std::int64_t, std::int64_t>;  // row and column

// Whether a sample of a block has some entries twice; a graph with distinct entries has none.
bool repeats_often(const BlockEntries& entries) {
  constexpr std::int64_t sampled = 1024, often = sampled / 64;
  if (entries.count < 4 * sampled) return false;
  std::vector<Pair> sample;
  for (std::int64_t k = 0; k < sampled; ++k) {
    const auto i = static_cast<size_t>(k * entries.count / sampled);
    sample.emplace_back(entries.rows[i], entries.cols[i]);
  }
  std::sort(sample.begin(), sample.end());
  return std::unique(sample.begin(), sample.end()) + often <= sample.end();
}

// Keeps one of equal entries that follow one another, or that a block repeats often: a crawler or a hostile file
// repeats an edge as often as it likes. All repeats of the file are found later, in any case.
void fold_repeats(BlockEntries& entries) {
  auto &rows = entries.rows, &cols = entries.cols;
  size_t kept = 0;
  for (size_t k = 0; std::cmp_less(k, entries.count); ++k) {
    if (kept > 0 && rows[k] == rows[kept - 1] && cols[k] == cols[kept - 1]) continue;
    rows[kept] = rows[k];
    cols[kept++] = cols[k];
  }
  entries.count = static_cast<std::int64_t>(kept);
  if (!repeats_often(entries)) return;
  std::vector<Pair> all;
  for (size_t k = 0; k < kept; ++k) all.emplace_back(rows[k], cols[k]);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (size_t k = 0; k < all.size(); ++k) std::tie(rows[k], cols[k]) = all[k];
  entries.count = std::ssize(all);
}

EntryChunk pack(const BlockEntries& entries) {
  const auto count = static_cast<size_t>(entries.count);
  EntryChunk chunk{
      PackedIds(std::span(entries.rows).first(count)), PackedIds(std::span(entries.cols).first(count)), {}};
  if (entries.values.element.bytes() > 0) chunk.values = PackedValues(entries.values, 0, entries.count);
  return chunk;
}

}  // namespace

std::vector<ValueParser> value_parsers(Array& values, bool whole) {
  std::vector<ValueParser> parsers;
  if (values.element.is(Scalar::null)) return parsers;
  for (std::int64_t p = 0; p < values.element.planes(); ++p) {
    const Scalar scalar = values.element.plane_scalar(p);
    parsers.push_back({whole ? whole_parser_of(scalar) : parser_of(scalar), values.plane(p)});
  }
  return parsers;
}

int value_planes(const ElementType& element) {
  return element.is(Scalar::null) ? 0 : static_cast<int>(element.planes());
}

EntryShape entry_shape(const ReadOptions& options, const FileColumns& columns, const std::string& path) {
  EntryShape shape;
  const int planes = value_planes(options.element);
  shape.columns = chosen_columns(options.columns, columns, path);
  shape.more_columns = !options.columns.empty();
  if (shape.columns.empty()) {
    for (int c = 1; c <= 2 + planes; ++c) shape.columns.push_back(c);
  }
  if (std::ssize(shape.columns) != 2 + planes)
    fail(ExitStatus::usage,
         fmt::format("{} {} chosen, and an entry has {}", count_text(shape.columns.size(), "column"),
                     shape.columns.size() == 1 ? "is" : "are", 2 + planes),
         planes == 0   ? "it is a row and a column"
         : planes == 1 ? "it is a row, a column and a value"
                       : fmt::format("it is a row, a column and a value of {} numbers", planes),
         "", {path});
  return shape;
}

void negate(const ElementType& element, std::byte* plane, std::int64_t p, std::int64_t i) {
  const Scalar scalar = element.plane_scalar(p);
  if (scalar == Scalar::f64) negate_at<double>(plane, i);
  if (scalar == Scalar::f32) negate_at<float>(plane, i);
  if (scalar == Scalar::i64) negate_at<std::int64_t>(plane, i);
  if (scalar == Scalar::i32) negate_at<std::int32_t>(plane, i);
}

void parse_block(const TextBlock& block, const EntryShape& shape, const ElementType& element, BlockEntries& entries) {
  const auto lines = static_cast<size_t>(block.lines);
  if (entries.rows.size() < lines) {
    entries.rows.resize(lines);
    entries.cols.resize(lines);
  }
  if (entries.values.count < block.lines) entries.values = Array(element, block.lines);
  const EntryParser parser(shape,
                           {entries.rows.data(), entries.cols.data(), value_parsers(entries.values, shape.whole)});
  entries.count = parser.parse(block.begin() + (block.number == 0 ? shape.from : 0), block.end());
  if (shape.row_limit >= 0) check_limits(block, shape, entries);
  if (shape.lower) turn_down(block, shape, entries);
}

ChunkList::ChunkList(const ReadOptions& options, std::string path)
    : list_(options.element), path_(std::move(path)), room_(available_memory()) {
  if (options.spill == nullptr) return;
  options.spill->reserve(0, "");
  list_.spill = PieceFile::make(options.spill);
}

void ChunkList::add(std::int64_t block, EntryChunk chunk) {
  if (list_.spill != nullptr) chunk.move_to(*list_.spill);
  const std::scoped_lock lock(mutex_);
  if (list_.spill == nullptr) held_ += chunk.rows.bytes() + chunk.cols.bytes() + chunk.count() * list_.element.bytes();
  if (room_ && held_ > *room_)
    fail(ExitStatus::limit, fmt::format("the matrix needs more than {} bytes of memory", *room_),
         "this process can take no more", "use a larger machine or a smaller input", {path_});
  const auto at = static_cast<size_t>(block);
  list_.chunks.resize(std::max(list_.chunks.size(), at + 1));
  list_.chunks[at] = std::move(chunk);
}

EntryList parse_entries(TextSource& text, const EntryShape& shape, const ReadOptions& options) {
  ChunkList chunks(options, text.path());
  std::vector<BlockEntries> scratch(static_cast<size_t>(data_threads()));
  for_each_block(text, options.progress, [&](const TextBlock& block, int thread) {
    BlockEntries& entries = scratch[static_cast<size_t>(thread)];
    parse_block(block, shape, options.element, entries);
    if (shape.fold) fold_repeats(entries);
    chunks.add(block.number, pack(entries));
  });
  EntryList list = chunks.take();
  std::erase_if(list.chunks, [](const EntryChunk& chunk) { return chunk.count() == 0; });
  return list;
}

}  // namespace kasen
