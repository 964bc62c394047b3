// Matrix Market exchange format (Boisvert, Pozo, Remington: NISTIR 5935, 1996): coordinate and array; real, double,
// integer and pattern; general, symmetric and skew-symmetric.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/read/entries.h"
#include "libcore/base/checked.h"

namespace kasen {
namespace {

struct MarketHeader {
  bool coordinate = true, pattern = false, whole = false, symmetric = false, skew = false;
  std::int64_t rows = 0, cols = 0, entries = 0;
  std::int64_t size_line = 0;  // byte where the line of sizes starts
  std::int64_t data = 0;       // byte where the entries start
};

// The lines up to the first entries.
struct Beginning {
  explicit Beginning(TextSource& source) : path(source.path()), text(peek_lines(source, 2)) {}
  [[noreturn]] void fail_at(std::int64_t offset, const std::string& what, std::string why = {},
                            std::string remedy = {}) const {
    fail_in_text(path, text, 0, offset, what, std::move(why), std::move(remedy));
  }
  std::string path;
  std::string text;
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

struct KnownWord {
  std::string_view word;
  bool MarketHeader::*flag;  // the flag that it sets; none for the default
};

constexpr std::array<KnownWord, 1> dense_words{{{"coordinate", nullptr}}};
constexpr std::array<KnownWord, 5> field_words{{{"real", nullptr},
                                                {"double", nullptr},
                                                {"integer", &MarketHeader::whole},
                                                {"unsigned-integer", &MarketHeader::whole},
                                                {"pattern", &MarketHeader::pattern}}};
constexpr std::array<KnownWord, 3> symmetry_words{
    {{"general", nullptr}, {"symmetric", &MarketHeader::symmetric}, {"skew-symmetric", &MarketHeader::skew}}};

template <size_t N>
void take_word(const std::array<KnownWord, N>& known, const std::string& word, MarketHeader& header,
               const Beginning& file) {
  const auto row = std::find_if(known.begin(), known.end(), [&](const KnownWord& w) { return w.word == word; });
  if (row != known.end()) {
    if (row->flag != nullptr) header.*(row->flag) = true;
    return;
  }
  std::string choices;
  for (const KnownWord& w : known) choices += fmt::format("{}{}", choices.empty() ? "" : ", ", w.word);
  file.fail_at(0, fmt::format("'{}' matrices are not read", word), "known are " + choices);
}

MarketHeader read_header(const Beginning& file) {
  const std::string_view text = file.text;
  MarketHeader header;
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

[[noreturn]] void fail_count(const Beginning& file, const MarketHeader& header, std::int64_t announced,
                             std::int64_t found) {
  file.fail_at(header.size_line, fmt::format("the header announces {} entries, and the file has {}", announced, found),
               "the file is cut off or its header is wrong");
}

// The entries above the diagonal, from those below it.
EntryChunk mirrored(const EntryChunk& chunk, const ElementType& element, bool skew, PieceFile* spill) {
  const auto count = static_cast<size_t>(chunk.count());
  std::vector<std::int64_t> rows(count), cols(count);
  chunk.rows.unpack(rows.data());
  chunk.cols.unpack(cols.data());
  std::vector<size_t> kept;
  for (size_t k = 0; k < count; ++k) {
    if (rows[k] == cols[k]) continue;
    rows[kept.size()] = rows[k];
    cols[kept.size()] = cols[k];
    kept.push_back(k);
  }
  rows.resize(kept.size());
  cols.resize(kept.size());
  EntryChunk mirror{PackedIds(std::span<const std::int64_t>(cols)), PackedIds(std::span<const std::int64_t>(rows)), {}};
  PackedValues room;
  const PackedValues& values = chunk.values.held(room);
  if (element.bytes() > 0) mirror.values = PackedValues(element, mirror.count());
  for (std::int64_t p = 0; p < element.planes() && element.bytes() > 0; ++p) {
    const auto width = static_cast<size_t>(scalar_bytes(element.plane_scalar(p)));
    std::byte* const to = mirror.values.plane(element, p);
    for (size_t k = 0; k < kept.size(); ++k)
      std::copy_n(values.plane(element, p) + kept[k] * width, width, to + k * width);
    for (std::int64_t k = 0; k < mirror.count() && skew; ++k) negate(element, to, p, k);
  }
  if (spill != nullptr) mirror.move_to(*spill);
  return mirror;
}

// The mirrored entries follow the stored ones, in their order.
void expand(EntryList& list, bool skew) {
  const size_t stored = list.chunks.size();
  list.chunks.resize(2 * stored);
  parallel_for(static_cast<std::int64_t>(stored), [&](std::int64_t c, int) {
    const auto at = static_cast<size_t>(c);
    list.chunks[stored + at] = mirrored(list.chunks[at], list.element, skew, list.spill.get());
  });
  std::erase_if(list.chunks, [](const EntryChunk& chunk) { return chunk.count() == 0; });
}

}  // namespace

bool begins_as_market(std::string_view beginning) {
  return beginning.starts_with("%%MatrixMarket") || beginning.starts_with("%%matrixmarket");
}

RawMatrix read_market_matrix(TextSource& text, const ReadOptions& options) {
  const Beginning file(text);
  const MarketHeader header = read_header(file);
  if (!header.coordinate) {
    file.fail_at(0, "the file holds a dense array, and the input is sparse", "", "declare the input dense");
  }
  if (header.pattern && !options.element.is(Scalar::null)) {
    file.fail_at(0, "the file holds a pattern without values", "the input's elements have a value", "declare it null");
  }
  if (header.skew && (options.element.is(Scalar::boolean) || options.element.is(Scalar::null))) {
    file.fail_at(0, "the file holds a skew-symmetric matrix", "the input's elements have no sign", "declare a number");
  }
  const std::int64_t bytes = checked_mul(header.entries, 4 + options.element.bytes(), "the number of entries");
  if (options.spill == nullptr) check_memory(bytes, "the matrix", text.path());
  check_memory(checked_mul(std::max(header.rows, header.cols), 8, "the matrix's size"), "a vector of its size",
               text.path());

  EntryShape shape = entry_shape(options, {.names = {}, .count = header.pattern ? 2 : 3, .open = false}, text.path());
  shape.whole = header.whole;
  shape.from = header.data;
  shape.first_id = 1;
  shape.row_word = "a row";
  shape.col_word = "a column";
  shape.row_limit = header.rows;
  shape.col_limit = header.cols;
  shape.lower = header.symmetric || header.skew;
  shape.skew = header.skew;
  RawMatrix matrix{.row_count = header.rows,
                   .col_count = header.cols,
                   .declared = true,
                   .shaped = true,
                   .entries = {},
                   .digest = {}};
  matrix.entries = parse_entries(text, shape, options);
  if (matrix.entries.count() != header.entries) fail_count(file, header, header.entries, matrix.entries.count());
  combine_repeats(matrix.entries, options, shape, text);
  if (shape.lower) expand(matrix.entries, header.skew);
  return matrix;
}

RawTable read_market_table(TextSource& source, const ReadOptions& options) {
  const Beginning file(source);
  const MarketHeader header = read_header(file);
  if (header.coordinate) {
    file.fail_at(0, "the file holds a sparse matrix, and the input is dense", "", "declare the input sparse");
  }
  if (header.symmetric || header.skew)
    file.fail_at(0, "symmetric dense arrays are not read", "", "write it as general");
  const std::int64_t count = checked_mul(header.rows, header.cols, "the array's size");
  check_memory(checked_mul(count, scalar_bytes(options.element.scalar()), "the array's size"), "the array",
               source.path());

  const InputFile whole(source);
  const TextPieces text(whole, header.data);
  Array by_columns(ElementType::of(options.element.scalar()), text.lines());
  const ValueParser value = value_parsers(by_columns, header.whole).at(0);
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

  RawTable table = make_table(header.rows, header.cols, options, source.path());
  const std::int64_t width = scalar_bytes(options.element.scalar());
  std::int64_t k = 0;
  for (size_t n = 0; n < counts.size(); ++n) {
    const std::byte* from = by_columns.plane(0) + text.pieces()[n].first_line * width;
    for (std::int64_t i = 0; i < counts[n]; ++i, ++k) {
      const std::int64_t row = k % header.rows, col = k / header.rows;
      std::copy_n(from + i * width, width, table.values.plane(0) + (row * header.cols + col) * width);
    }
  }
  table.digest = whole.digest();
  return table;
}

}  // namespace kasen
