// Matrix Market exchange format (Boisvert, Pozo, Remington: NISTIR 5935, 1996): coordinate and array; real, double,
// integer and pattern; general, symmetric and skew-symmetric.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "libcomm/data/formats.h"
#include "libcore/checked.h"

namespace kasen {
namespace {

struct Header {
  bool coordinate = true, pattern = false, symmetric = false, skew = false;
  std::int64_t rows = 0, cols = 0, entries = 0;
  std::int64_t size_line = 0;  // byte where the line of sizes starts
  std::int64_t data = 0;       // byte where the entries start
};

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (is_blank(c) || c == '\n') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

struct Word {
  std::string_view word;
  bool Header::*flag;  // what it sets; none for what is so without it
};

constexpr std::array<Word, 1> dense_words{{{"coordinate", nullptr}}};
constexpr std::array<Word, 4> field_words{
    {{"real", nullptr}, {"double", nullptr}, {"integer", nullptr}, {"pattern", &Header::pattern}}};
constexpr std::array<Word, 3> symmetry_words{
    {{"general", nullptr}, {"symmetric", &Header::symmetric}, {"skew-symmetric", &Header::skew}}};

template <size_t N>
void take_word(const std::array<Word, N>& known, const std::string& word, Header& header, const InputFile& file) {
  const auto row = std::find_if(known.begin(), known.end(), [&](const Word& w) { return w.word == word; });
  if (row != known.end()) {
    if (row->flag != nullptr) header.*(row->flag) = true;
    return;
  }
  std::string choices;
  for (const Word& w : known) choices += fmt::format("{}{}", choices.empty() ? "" : ", ", w.word);
  file.fail_at(0, fmt::format("'{}' matrices are not read", word), "known are " + choices);
}

Header read_header(const InputFile& file) {
  const std::string_view text = file.text();
  Header header;
  const std::vector<std::string> words = words_of(text.substr(0, static_cast<size_t>(next_line(text, 0))));
  if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix") {
    file.fail_at(0, "not a Matrix Market header",
                 "the first line must be '%%MatrixMarket matrix' with format, field and symmetry");
  }
  header.coordinate = words[2] != "array";
  if (header.coordinate) take_word(dense_words, words[2], header, file);
  take_word(field_words, words[3], header, file);
  take_word(symmetry_words, words[4], header, file);

  header.size_line = skip_comments(text);
  header.data = next_line(text, header.size_line);
  const std::string line(
      text.substr(static_cast<size_t>(header.size_line), static_cast<size_t>(header.data - header.size_line)));
  const std::string ended = line.ends_with('\n') ? line : line + '\n';
  const char* p = ended.data();
  try {
    p = parse_id(skip_blanks(p), header.rows, "a number of rows");
    p = parse_id(skip_blanks(p), header.cols, "a number of columns");
    if (header.coordinate) p = parse_id(skip_blanks(p), header.entries, "a number of entries");
    p = skip_blanks(p);
    if (*p != '\n') fail_text(p, "the line of sizes has too many numbers");
  } catch (const TextFault& fault) {
    file.fail_at(header.size_line + (fault.at - ended.data()), fault.what, fault.why, fault.remedy);
  }
  if ((header.symmetric || header.skew) && header.rows != header.cols) {
    file.fail_at(header.size_line, "a symmetric matrix must be square");
  }
  return header;
}

[[noreturn]] void fail_count(const InputFile& file, const Header& header, std::int64_t announced, std::int64_t found) {
  file.fail_at(header.size_line, fmt::format("the header announces {} entries, and the file has {}", announced, found),
               "the file is cut off or its header is wrong");
}

void check_range(const RawMatrix& matrix, const Header& header, const InputFile& file) {
  for (size_t i = 0; i < matrix.rows.size(); ++i) {
    if (matrix.rows[i] < header.rows && matrix.cols[i] < header.cols) continue;
    const std::int64_t at = entry_offset(file.text(), header.data, static_cast<std::int64_t>(i));
    file.fail_at(at, "the entry lies outside the matrix", fmt::format("it is {} x {}", header.rows, header.cols));
  }
}

template <class T>
void negate_at(std::byte* plane, std::int64_t i) {
  T& value = reinterpret_cast<T*>(plane)[i];
  if (value == std::numeric_limits<T>::min() && std::is_integral_v<T>) throw_size_overflow("a mirrored value");
  value = static_cast<T>(-value);
}

void negate(Array& values, std::int64_t i) {
  for (std::int64_t p = 0; p < values.element.planes(); ++p) {
    switch (values.element.plane_scalar(p)) {
      case Scalar::f64:
        negate_at<double>(values.plane(p), i);
        break;
      case Scalar::f32:
        negate_at<float>(values.plane(p), i);
        break;
      case Scalar::i64:
        negate_at<std::int64_t>(values.plane(p), i);
        break;
      case Scalar::i32:
        negate_at<std::int32_t>(values.plane(p), i);
        break;
      default:
        break;
    }
  }
}

// Every entry to the lower triangle, so that a repeat shows whichever triangle it stands in.
void turn_down(RawMatrix& matrix, const Header& header, const InputFile& file) {
  const bool skew = header.skew;
  for (size_t i = 0; i < matrix.rows.size(); ++i) {
    if (skew && matrix.rows[i] == matrix.cols[i]) {
      file.fail_at(entry_offset(file.text(), header.data, static_cast<std::int64_t>(i)),
                   "a skew-symmetric matrix has no entries on the diagonal");
    }
    if (matrix.rows[i] >= matrix.cols[i]) continue;
    std::swap(matrix.rows[i], matrix.cols[i]);
    if (skew) negate(matrix.values, static_cast<std::int64_t>(i));
  }
}

// The mirrored entries follow the stored ones, in their order.
void expand(RawMatrix& matrix, bool skew, const InputFile& file) {
  const auto stored = static_cast<std::int64_t>(matrix.rows.size());
  std::int64_t total = stored;
  for (size_t i = 0; i < matrix.rows.size(); ++i) total += matrix.rows[i] != matrix.cols[i] ? 1 : 0;
  check_memory(checked_mul(total, 16 + matrix.values.element.bytes()), "the matrix", file.path());
  Array values(matrix.values.element, total);
  for (std::int64_t p = 0; p < values.element.planes(); ++p) {
    const std::int64_t width = scalar_bytes(values.element.plane_scalar(p));
    std::byte* to = std::copy_n(matrix.values.plane(p), stored * width, values.plane(p));
    for (std::int64_t i = 0; i < stored && width > 0; ++i) {
      const auto k = static_cast<size_t>(i);
      if (matrix.rows[k] != matrix.cols[k]) to = std::copy_n(matrix.values.plane(p) + i * width, width, to);
    }
  }
  matrix.values = std::move(values);
  matrix.rows.reserve(static_cast<size_t>(total));
  matrix.cols.reserve(static_cast<size_t>(total));
  for (std::int64_t i = 0; i < stored; ++i) {
    const std::int64_t row = matrix.rows[static_cast<size_t>(i)], col = matrix.cols[static_cast<size_t>(i)];
    if (row == col) continue;
    matrix.rows.push_back(col);
    matrix.cols.push_back(row);
  }
  for (std::int64_t i = stored; i < total && skew; ++i) negate(matrix.values, i);
}

}  // namespace

RawMatrix read_market_matrix(const InputFile& file, const ReadOptions& options) {
  const Header header = read_header(file);
  if (!header.coordinate) {
    file.fail_at(0, "the file holds a dense array, and the input is sparse", "", "declare the input dense");
  }
  if (header.pattern && !options.element.is(Scalar::null)) {
    file.fail_at(0, "the file holds a pattern without values", "the input's elements have a value", "declare it null");
  }
  if (header.skew && (options.element.is(Scalar::boolean) || options.element.is(Scalar::null))) {
    file.fail_at(0, "the file holds a skew-symmetric matrix", "the input's elements have no sign", "declare a number");
  }
  const std::int64_t entry_bytes = 16 + options.element.bytes();
  check_memory(checked_mul(header.entries, entry_bytes, "the number of entries"), "the matrix", file.path());
  check_memory(checked_mul(std::max(header.rows, header.cols), 8, "the matrix's size"), "a vector of its size",
               file.path());

  EntryShape shape = entry_shape(options, file.path());
  shape.first_id = 1;
  shape.row_word = "a row";
  shape.col_word = "a column";
  RawMatrix matrix = parse_entries(file, header.data, shape, options);
  const auto found = static_cast<std::int64_t>(matrix.rows.size());
  if (found != header.entries) fail_count(file, header, header.entries, found);
  check_range(matrix, header, file);
  const bool mirrored = header.symmetric || header.skew;
  if (mirrored) turn_down(matrix, header, file);
  combine_repeats(matrix, options, file, header.data);
  if (mirrored) expand(matrix, header.skew, file);
  matrix.row_count = header.rows;
  matrix.col_count = header.cols;
  matrix.declared = true;
  return matrix;
}

RawTable read_market_table(const InputFile& file, const ReadOptions& options) {
  const Header header = read_header(file);
  if (header.coordinate) {
    file.fail_at(0, "the file holds a sparse matrix, and the input is dense", "", "declare the input sparse");
  }
  if (header.symmetric || header.skew)
    file.fail_at(0, "symmetric dense arrays are not read", "", "write it as general");
  const std::int64_t count = checked_mul(header.rows, header.cols, "the array's size");
  check_memory(checked_mul(count, scalar_bytes(options.element.scalar()), "the array's size"), "the array",
               file.path());

  const TextPieces text(file, header.data);
  Array by_columns(ElementType::of(options.element.scalar()), text.lines());
  const ValueParser value = value_parsers(by_columns).at(0);
  std::vector<std::int64_t> counts(text.pieces().size());
  text.for_each(options.progress, [&](const Piece& piece, std::int64_t number) {
    std::int64_t at = piece.first_line;
    for (const char* p = piece.begin; p < piece.end; ++p) {
      p = skip_blanks(p);
      if (*p == '\n') continue;
      p = skip_blanks(value.parse(p, value.plane, at++));
      if (*p != '\n') fail_text(p, "more than one value on the line");
    }
    counts[static_cast<size_t>(number)] = at - piece.first_line;
  });
  std::int64_t found = 0;
  for (const std::int64_t n : counts) found += n;
  if (found != count) fail_count(file, header, count, found);

  RawTable table = make_table(header.rows, header.cols, options, file.path());
  const std::int64_t width = scalar_bytes(options.element.scalar());
  std::int64_t k = 0;
  for (size_t n = 0; n < counts.size(); ++n) {
    const std::byte* from = by_columns.plane(0) + text.pieces()[n].first_line * width;
    for (std::int64_t i = 0; i < counts[n]; ++i, ++k) {
      const std::int64_t row = k % header.rows, col = k / header.rows;
      std::copy_n(from + i * width, width, table.values.plane(0) + (row * header.cols + col) * width);
    }
  }
  return table;
}

}  // namespace kasen
