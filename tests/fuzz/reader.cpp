// A data file behind one line of words that are its options: `f64 table`, `null`, `i32 table features`, `f64
// columns=2,1,3 sum`, `table words=2-4`, `both` (labels and features of LIBSVM in one reading), `gz` (the same packed
// gives the same). It is read and cut for two workers.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "libcomm/data/cut/partition.h"
#include "libcore/base/error.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/kinds.h"

namespace kasen::fuzz {
namespace {

constexpr std::int64_t most_indices = 1 << 16;  // that are cut

struct Case {
  ReadOptions options;
  bool both = false, gz = false;
};

void take_word(std::string_view word, Case& known) {
  ReadOptions& options = known.options;
  for (const Scalar s : {Scalar::f64, Scalar::f32, Scalar::i64, Scalar::i32, Scalar::boolean, Scalar::null})
    if (word == scalar_name(s)) options.element = ElementType::of(s);
  if (word == "id") options.element = ElementType{{{Scalar::id, DimId(0), 0}}, false};
  if (word == "point") options.element = ElementType{{{Scalar::f64, no_dim, 2}}, false};
  if (word == "tuple") options.element = ElementType{{{Scalar::i32, no_dim, 0}, {Scalar::f64, no_dim, 0}}, true};
  if (word == "table") options.sparse = false;
  if (word == "features") options.labels = false;
  if (word == "both") known.both = true;
  if (word == "gz") known.gz = true;
  constexpr std::array<std::string_view, 6> repeats{"refuse", "sum", "first", "last", "smallest", "largest"};
  const auto* const found = std::find(repeats.begin(), repeats.end(), word);
  if (found != repeats.end()) options.repeats = static_cast<Repeats>(found - repeats.begin());
  if (word.starts_with("columns=")) options.columns = parse_columns(word.substr(8));
  if (word.starts_with("words=")) options.words = parse_columns(word.substr(6));
}

Case take_options(std::string_view& content) {
  Case known;
  known.options.element = ElementType::of(Scalar::null);
  const std::string_view line = content.substr(0, content.find('\n'));
  content.remove_prefix(std::min(line.size() + 1, content.size()));
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    take_word(line.substr(at, end - at), known);
    at = end + 1;
  }
  return known;
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  require(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib packs");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib packs");
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

void check_matrix(const RawMatrix& matrix) {
  require(matrix.digest.size() == 32, "a matrix has the digest of its file");
  for (const std::int64_t row : matrix.entries.rows()) require(row >= 0 && row < matrix.row_count, "rows are in range");
  for (const std::int64_t col : matrix.entries.cols())
    require(col >= 0 && col < matrix.col_count, "columns are in range");
}

void check_table(const RawTable& table) {
  require(table.digest.size() == 32, "a table has the digest of its file");
  require(table.rows >= 0 && table.cols >= 0 && table.values.count == table.rows * table.cols,
          "a table is rows x cols");
  const bool none = std::find(table.axes.begin(), table.axes.end(), 0) != table.axes.end();  // the others may be huge
  std::int64_t elements = none ? 0 : 1;
  for (const std::int64_t axis : table.axes) elements *= none ? 0 : axis;
  require(table.axes.empty() || elements == table.values.count, "a table has its axes");
}

bool same(const Array& a, const Array& b) {
  const std::int64_t bytes = storage_bytes(a.element, a.count);
  return a.count == b.count &&
         (bytes == 0 || std::memcmp(a.bytes.data(), b.bytes.data(), static_cast<size_t>(bytes)) == 0);
}

void check_same(const RawInput& a, const RawInput& b) {
  const EntryList &left = a.matrix.entries, &right = b.matrix.entries;
  require(left.rows() == right.rows() && left.cols() == right.cols() && same(left.values(), right.values()) &&
              same(a.table.values, b.table.values) && a.table.dictionaries == b.table.dictionaries &&
              a.matrix.digest == b.matrix.digest && a.table.digest == b.table.digest,
          "a packed file holds what the plain one holds");
}

// Every entry and every row is on one worker.
void cut(RawInput&& read, const ReadOptions& options) {
  const bool sparse = options.sparse;
  const std::int64_t largest = sparse ? std::max(read.matrix.row_count, read.matrix.col_count) : read.table.rows;
  if ((!sparse || read.matrix.declared) && largest > most_indices) return;
  const std::int64_t entries = read.matrix.entries.count(), rows = read.table.rows;
  std::vector<DimData> dims{{.name = "N"}, {.name = "F", .local = true}};
  InputData input{.name = "x",
                  .dims = {"N", sparse ? "N" : "F"},
                  .element = options.element,
                  .sparse = sparse,
                  .matrix = {},
                  .table = {},
                  .source = "file"};
  input.matrix = std::move(read.matrix);
  input.table = std::move(read.table);
  std::vector<InputData> inputs;
  inputs.push_back(std::move(input));
  const std::vector<Part> parts = partition(dims, std::move(inputs), {.workers = 2, .theta = 2});
  std::int64_t held = 0;
  for (const Part& part : parts)
    held += sparse ? part.matrices.at("x").row_pointers.back() : part.dims.at("N").masters.size();
  require(held == (sparse ? entries : rows), "all entries and rows are on workers");
}

std::vector<RawInput> read_all(std::string_view content, const std::vector<ReadOptions>& wanted) {
  const MemoryFile file(content);
  return read_inputs(file.path(), wanted);
}

// A table by column has the numbers of the same by row.
void check_columns(std::string_view content, ReadOptions options, const RawTable& rows) {
  options.by_column = true;
  const RawTable columns = std::move(read_all(content, {options})[0].table);
  if (!columns.by_column()) return require(same(rows.values, columns.values), "a table is read twice alike");
  const auto bytes = static_cast<size_t>(scalar_bytes(rows.values.element.scalar()));
  require(columns.values.count == rows.rows && columns.values.element.planes() == rows.cols, "a plane a column");
  for (std::int64_t k = 0; k < rows.values.count; ++k)
    require(
        std::memcmp(rows.values.plane(0) + k * static_cast<std::int64_t>(bytes),
                    columns.values.plane(k % rows.cols) + k / rows.cols * static_cast<std::int64_t>(bytes), bytes) == 0,
        "a column holds its rows' numbers");
}

// Rows that are made later are the same.
void check_later(std::string_view content, ReadOptions options, const RawTable& rows) {
  options.may_wait = true;
  const RawTable table = std::move(read_all(content, {options})[0].table);
  if (!table.later) return require(same(rows.values, table.values), "a table is read twice alike");
  require(table.rows == rows.rows && table.cols == rows.cols && table.axes == rows.axes, "it has as many rows");
  const std::int64_t row = table.cols * scalar_bytes(rows.values.element.scalar());
  std::vector<std::byte> made(static_cast<size_t>(rows.values.count == 0 ? 0 : rows.rows * row));
  table.later->for_each([&](const RowStream::Block& block) {
    require(block.first >= 0 && block.rows >= 0 && block.first + block.rows <= rows.rows, "rows are in range");
    std::copy_n(block.planes.at(0), block.rows * row, made.data() + block.first * row);
  });
  require(made.empty() || std::memcmp(made.data(), rows.values.plane(0), made.size()) == 0, "rows are made alike");
}

void read_as(std::optional<FileFormat> format, std::string_view content) {
  Case known = take_options(content);
  known.options.format = format;
  std::vector<ReadOptions> wanted{known.options};
  if (known.both) {
    wanted.push_back(known.options);
    wanted.back().sparse = !known.options.sparse;
  }
  std::vector<RawInput> read = read_all(content, wanted);
  for (size_t k = 0; k < read.size(); ++k) {
    if (wanted[k].sparse)
      check_matrix(read[k].matrix);
    else
      check_table(read[k].table);
  }
  if (!wanted[0].sparse) {
    check_columns(content, wanted[0], read[0].table);
    check_later(content, wanted[0], read[0].table);
  }
  if (known.gz) check_same(read[0], read_all(gzip(content), wanted)[0]);
  cut(std::move(read[0]), wanted[0]);
}

}  // namespace

void fuzz_edge_list(std::string_view content) { read_as(FileFormat::edge_list, content); }
void fuzz_matrix_market(std::string_view content) { read_as(FileFormat::matrix_market, content); }
void fuzz_libsvm(std::string_view content) { read_as(FileFormat::libsvm, content); }
void fuzz_csv(std::string_view content) { read_as(FileFormat::csv, content); }
void fuzz_npy(std::string_view content) { read_as(FileFormat::npy, content); }
void fuzz_idx(std::string_view content) { read_as(FileFormat::idx, content); }
void fuzz_packed(std::string_view content) { read_as(std::nullopt, content); }

}  // namespace kasen::fuzz
