// One file for each output: a line for each element, first the user's ids of its dimensions, then its scalars.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>

#include "libcomm/data/results/files.h"

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

std::string head(const ResultTable& table) {
  std::string text;
  for (const ResultDim& dim : table.dims) text += dim.name + ",";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string name = table.tuple ? fmt::format("{}.{}", table.name, c) : table.name;
    for (std::int64_t p = 0; p < table.columns[c].coordinates; ++p)
      text += (table.columns[c].small_array ? fmt::format("{}[{}]", name, p) : name) + ",";
  }
  text.back() = '\n';
  return text;
}

}  // namespace

std::string csv_text(const ResultTable& table, const ResultWindow& window, const WindowIds& dim_ids) {
  std::string text;
  for (std::int64_t e = 0; e < window.count; ++e) {
    std::int64_t rest = table.elements();
    for (std::size_t d = 0; d < table.dims.size(); ++d) {
      rest /= table.dims[d].size;
      const std::int64_t index = (window.first + e) / rest % table.dims[d].size;
      const std::int64_t id = dim_ids[d].empty() ? index : dim_ids[d][static_cast<std::size_t>(e)];
      append_number<std::int64_t>(text, reinterpret_cast<const std::byte*>(&id));
      text += ',';
    }
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const ResultColumn& column = table.columns[c];
      const std::byte* from = window.columns[c].data() + e * column.bytes();
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

}  // namespace kasen
