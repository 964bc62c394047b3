// One file for each output: a line for each element, first the user's ids of its dimensions, then its scalars. Of a
// sparse matrix: a line for each nonzero, with the ids of its row and column.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "libcomm/data/results/files.h"
#include "libcomm/data/results/results.h"

namespace kasen {
namespace {

template <class T>
void append_number(std::string& text, const std::byte* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  std::array<char, 40> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);  // reads back exactly
  (void)error;
  text.append(buffer.data(), end);
}

void append(std::string& text, Scalar scalar, const std::byte* bytes) {
  static constexpr std::array<void (*)(std::string&, const std::byte*), 7> rows{
      append_number<double>,
      append_number<float>,
      append_number<std::int64_t>,
      append_number<std::int32_t>,
      [](std::string& t, const std::byte* b) { t += *b == std::byte{0} ? "false" : "true"; },
      [](std::string&, const std::byte*) {},
      append_number<std::int64_t>};
  rows[static_cast<std::size_t>(scalar)](text, bytes);
}

// A cell that holds a separator or a quote stands in quotes, and so do blanks at its ends.
void append_name(std::string& text, const std::string& name) {
  const bool plain = name.find_first_of(",\"") == std::string::npos && name.front() != ' ' && name.back() != ' ' &&
                     name.front() != '#' && name.front() != '%';
  if (plain) {
    text += name;
    return;
  }
  text += '"';
  for (const char c : name) text += c == '"' ? std::string_view("\"\"") : std::string_view(&c, 1);
  text += '"';
}

void append_index(std::string& text, const ResultDim& dim, std::int64_t index) {
  if (dim.names != nullptr && index >= 0 && std::cmp_less(index, dim.names->size()))
    append_name(text, (*dim.names)[static_cast<std::size_t>(index)]);
  else
    append_number<std::int64_t>(text, reinterpret_cast<const std::byte*>(&index));
}

std::string head(const ResultTable& table) {
  std::string text;
  if (table.is_sparse()) return fmt::format("{},{},{}\n", table.matrix[0].name, table.matrix[1].name, table.name);
  for (const ResultDim& dim : table.dims) text += dim.title + ",";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string name = table.tuple ? fmt::format("{}.{}", table.name, c) : table.name;
    for (std::int64_t p = 0; p < table.columns[c].coordinates; ++p)
      text += (table.columns[c].small_array ? fmt::format("{}[{}]", name, p) : name) + ",";
  }
  text.back() = '\n';
  return text;
}

std::vector<std::int64_t> sizes_of(const std::vector<ResultDim>& dims) {
  std::vector<std::int64_t> sizes;
  for (const ResultDim& dim : dims) sizes.push_back(dim.size);
  return sizes;
}

// Of the element at a position of the whole array, the last dimension first.
std::vector<std::int64_t> index_of(const std::vector<std::int64_t>& extents, std::int64_t position) {
  std::vector<std::int64_t> index(extents.size());
  for (std::size_t d = extents.size(); d-- > 0 && position > 0;) {
    index[d] = position % extents[d];
    position /= extents[d];
  }
  return index;
}

}  // namespace

std::string csv_text(const ResultTable& table, const ResultWindow& window, const WindowIds& dim_ids,
                     const WindowRange& some) {
  std::string text;
  const std::vector<std::int64_t> extents = sizes_of(table.dims);
  std::vector<std::int64_t> index = index_of(extents, some.first);
  for (std::int64_t e = some.first - window.first, end = e + some.count; e < end; ++e, next_index(index, extents)) {
    for (std::size_t d = 0; d < table.dims.size() && !table.is_sparse(); ++d) {
      const std::int64_t id = dim_ids[d].empty() ? index[d] : dim_ids[d][static_cast<std::size_t>(e)];
      append_index(text, table.dims[d], id);
      text += ',';
    }
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const ResultColumn& column = table.columns[c];
      const std::byte* from = window.columns[c].data() + e * column.bytes();
      if (c < table.matrix.size()) {
        std::int64_t place = 0;
        std::memcpy(&place, from, sizeof place);
        append_index(text, table.matrix[c], place);
        text += ',';
        continue;
      }
      for (std::int64_t p = 0; p < column.coordinates; ++p, from += scalar_bytes(column.scalar), text += ',')
        append(text, column.scalar, from);
    }
    text.back() = '\n';
  }
  return text;
}

std::unique_ptr<ResultFiles> make_csv_results(const std::string& path, const std::vector<ResultTable>& tables) {
  auto files = std::make_unique<FilePerOutput>(path);
  for (std::size_t k = 0; k < tables.size(); ++k) files->create(k, tables[k].name, head(tables[k]), k == 0);
  return files;
}

std::string csv_result_head(const Module& module, const std::string& output, const Type& type) {
  std::string line = head(describe_table(module, output, type));
  line.pop_back();
  return line;
}

}  // namespace kasen
