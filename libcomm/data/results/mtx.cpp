// Matrix Market text of sparse matrices, one file for each output: after the head, a comment and the sizes a line for
// each nonzero, with the user's ids of its row and column counted from 1. Other outputs are refused.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "libcomm/data/results/files.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

template <class T>
void append_as(std::string& text, const std::byte* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  std::array<char, 40> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);  // reads back exactly
  (void)error;
  text.append(buffer.data(), end);
}

void append_entry(std::string& text, Scalar scalar, const std::byte* bytes) {
  switch (scalar) {
    case Scalar::f64:
      return append_as<double>(text, bytes);
    case Scalar::f32:
      return append_as<float>(text, bytes);
    case Scalar::i32:
      return append_as<std::int32_t>(text, bytes);
    case Scalar::boolean:
      text += *bytes == std::byte{0} ? '0' : '1';
      return;
    default:
      return append_as<std::int64_t>(text, bytes);
  }
}

void append_place(std::string& text, const std::byte* bytes) {
  std::int64_t id = 0;
  std::memcpy(&id, bytes, sizeof id);
  if (id < 0) {
    fail(ExitStatus::bad_input, fmt::format("the index {} in a Matrix Market file", id), "its indices count from 1",
         "write the result in another format: --format hdf5");
  }
  ++id;
  append_as<std::int64_t>(text, reinterpret_cast<const std::byte*>(&id));
  text += ' ';
}

std::string mtx_head(const ResultTable& table) {
  if (!table.is_sparse()) {
    fail(ExitStatus::bad_input, fmt::format("output '{}' is no sparse matrix", table.name),
         "a Matrix Market file of a result holds nonzeros", "write the result in another format: --format hdf5");
  }
  const std::string_view field = is_float(table.columns[2].scalar) ? "real" : "integer";
  return fmt::format("%%MatrixMarket matrix coordinate {} general\n{}\n{} {} {}\n", field, made_by_kasen,
                     table.matrix[0].size, table.matrix[1].size, table.elements());
}

}  // namespace

std::string mtx_text(const ResultTable& table, const ResultWindow& window, const WindowIds& /*dim_ids*/,
                     const WindowRange& some) {
  std::string text;
  for (std::int64_t e = some.first - window.first, end = e + some.count; e < end; ++e) {
    for (std::size_t c = 0; c < 2; ++c) append_place(text, window.columns[c].data() + e * table.columns[c].bytes());
    append_entry(text, table.columns[2].scalar, window.columns[2].data() + e * table.columns[2].bytes());
    text += '\n';
  }
  return text;
}

std::unique_ptr<ResultFiles> make_mtx_results(const std::string& path, const std::vector<ResultTable>& tables) {
  auto files = std::make_unique<FilePerOutput>(path);
  for (std::size_t k = 0; k < tables.size(); ++k) files->create(k, tables[k].name, mtx_head(tables[k]), k == 0);
  return files;
}

}  // namespace kasen
