#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>

#include "libcomm/data/result_files.h"

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
    const std::string name = table.element.tuple ? fmt::format("{}.{}", table.name, c) : table.name;
    for (std::int64_t p = 0; p < table.columns[c].coordinates; ++p)
      text += (table.columns[c].small_array ? fmt::format("{}[{}]", name, p) : name) + ",";
  }
  text.back() = '\n';
  return text;
}

class CsvResults : public ResultFiles {
 public:
  CsvResults(const std::string& path, std::size_t outputs, const OriginalIds& ids) : files_(path, outputs), ids_(ids) {}

  void write(const ResultTable& table) override {
    FileHandle out = FileHandle::create(files_.create(table.name).temporary());
    std::string text = head(table);
    std::int64_t written = 0;
    const auto flush = [&](std::size_t from) {
      if (text.size() < from) return;
      out.write(written, text.data(), static_cast<std::int64_t>(text.size()));
      written += static_cast<std::int64_t>(text.size());
      text.clear();
    };
    for (std::int64_t e = 0, n = table.elements(); e < n; ++e) {
      append_ids(text, table, e);
      for (const ResultColumn& column : table.columns) {
        const std::int64_t width = scalar_bytes(column.scalar);
        for (std::int64_t p = 0; p < column.coordinates; ++p, text += ',')
          append(text, column.scalar, column.bytes.data() + (e * column.coordinates + p) * width);
      }
      text.back() = '\n';
      flush(std::size_t{1} << 20);
    }
    flush(1);
    out.sync_and_close();
  }

  std::vector<std::string> commit() override { return files_.commit(); }

 private:
  void append_ids(std::string& text, const ResultTable& table, std::int64_t element) const {
    std::int64_t rest = table.elements();
    for (const ResultDim& dim : table.dims) {
      rest /= dim.size;
      const std::int64_t index = element / rest % dim.size;
      const auto names = ids_.find(dim.name);
      fmt::format_to(std::back_inserter(text), "{},",
                     names == ids_.end() ? index : names->second[static_cast<std::size_t>(index)]);
    }
  }

  FilePerOutput files_;
  OriginalIds ids_;
};

}  // namespace

std::unique_ptr<ResultFiles> make_csv_results(const std::string& path, const std::vector<ResultTable>& tables,
                                              const OriginalIds& ids) {
  return std::make_unique<CsvResults>(path, tables.size(), ids);
}

}  // namespace kasen
