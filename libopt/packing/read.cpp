#include "libopt/packing/read.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/printable.h"

namespace kasen::packing {
namespace {

enum class Column { id, lower, upper, size, alignment, offset };
constexpr std::array<std::string_view, 6> column_names{"id", "lower", "upper", "size", "alignment", "offset"};
constexpr std::size_t needed = 4;  // of them

struct Field {
  std::string_view text;
  int column = 0;  // in the line, from 1
};

std::string_view without_blanks(std::string_view text, int& column) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(first);
  column += static_cast<int>(first);
  while (!text.empty() && blanks.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

std::vector<Field> fields_of(std::string_view line) {
  std::vector<Field> fields;
  for (std::size_t from = 0; from <= line.size();) {
    const std::size_t comma = std::min(line.find(',', from), line.size());
    int column = static_cast<int>(from) + 1;
    const std::string_view text = without_blanks(line.substr(from, comma - from), column);
    fields.push_back({text, column});
    from = comma + 1;
  }
  return fields;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::vector<Buffer> read() {
    std::vector<Buffer> buffers;
    while (next_line()) {
      if (columns_.empty())
        read_header();
      else
        buffers.push_back(read_buffer());
    }
    if (columns_.empty()) refuse(0, "no buffers", "the file is empty", "begin with the line id,lower,upper,size");
    return buffers;
  }

 private:
  [[noreturn]] void refuse(int column, std::string what, std::string why, std::string remedy) const {
    fail(ExitStatus::bad_input, std::move(what), std::move(why), std::move(remedy),
         {file_, column == 0 ? 0 : line_, column});
  }

  // Skips empty lines.
  bool next_line() {
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      const std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++line_;
      if (line.size() > most_line)
        refuse(1, "a line is too long", fmt::format("it has {} bytes", line.size()), "name buffers shortly");
      int column = 1;
      if (without_blanks(line, column).empty()) continue;
      fields_ = fields_of(line);
      return true;
    }
    return false;
  }

  void read_header() {
    for (const Field& field : fields_) {
      const auto* const name = std::find(column_names.begin(), column_names.end(), field.text);
      if (name == column_names.end())
        refuse(field.column, fmt::format("unknown column '{}'", printable(field.text)),
               fmt::format("known are {}", fmt::join(column_names, ", ")), "begin with the line id,lower,upper,size");
      const auto column = static_cast<Column>(name - column_names.begin());
      if (std::find(columns_.begin(), columns_.end(), column) != columns_.end())
        refuse(field.column, fmt::format("column '{}' stands twice", *name), "each has one meaning", "take one away");
      columns_.push_back(column);
    }
    for (std::size_t i = 0; i < needed; ++i) {
      if (std::find(columns_.begin(), columns_.end(), static_cast<Column>(i)) == columns_.end())
        refuse(1, fmt::format("no column '{}'", column_names[i]), "a buffer needs it",
               "begin with the line id,lower,upper,size");
    }
  }

  Buffer read_buffer() {
    if (fields_.size() != columns_.size())
      refuse(fields_.back().column, fmt::format("a line of {} fields", fields_.size()),
             fmt::format("the header names {} columns", columns_.size()), "give each column a value");
    Buffer buffer;
    for (std::size_t i = 0; i < columns_.size(); ++i) set(buffer, columns_[i], fields_[i]);
    if (buffer.lower >= buffer.upper)
      refuse(field_of(Column::upper).column, fmt::format("'upper' is {}", buffer.upper),
             fmt::format("the buffer lives from {}, so for no time", buffer.lower), "let it end after it begins");
    return buffer;
  }

  void set(Buffer& buffer, Column column, const Field& field) const {
    switch (column) {
      case Column::id:
        buffer.name = field.text;
        return;
      case Column::lower:
        buffer.lower = number(column, field, std::numeric_limits<std::int64_t>::min());
        return;
      case Column::upper:
        buffer.upper = number(column, field, std::numeric_limits<std::int64_t>::min());
        return;
      case Column::size:
        buffer.size = number(column, field, 0);
        return;
      case Column::alignment:
        buffer.alignment = number(column, field, 1);
        return;
      case Column::offset:
        return;
    }
  }

  [[nodiscard]] std::int64_t number(Column column, const Field& field, std::int64_t least) const {
    std::int64_t value = 0;
    const char* const end = field.text.data() + field.text.size();
    const auto [stop, error] = std::from_chars(field.text.data(), end, value);
    const std::string_view name = column_names[static_cast<std::size_t>(column)];
    if (error == std::errc::result_out_of_range)
      refuse(field.column, fmt::format("'{}' is too large", name), "it does not fit 64 bits", "give a smaller number");
    if (error != std::errc{} || stop != end)
      refuse(field.column, fmt::format("'{}' is '{}'", name, printable(field.text)), "that is no whole number",
             "give a whole number");
    if (value < least)
      refuse(field.column, fmt::format("'{}' is {}", name, value), "that is too small",
             fmt::format("give a number of at least {}", least));
    return value;
  }

  [[nodiscard]] const Field& field_of(Column column) const {
    return fields_[static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), column) - columns_.begin())];
  }

  static constexpr std::size_t most_line = 1 << 16;  // bytes
  std::string_view text_;
  const std::string& file_;
  int line_ = 0;
  std::vector<Column> columns_;  // of the header
  std::vector<Field> fields_;    // of the line
};

}  // namespace

std::vector<Buffer> read_buffers(std::string_view text, const std::string& file) { return Reader(text, file).read(); }

std::string buffers_csv(const std::vector<Buffer>& buffers, const Packing& packing) {
  const bool aligned = std::any_of(buffers.begin(), buffers.end(), [](const Buffer& b) { return b.alignment != 1; });
  std::string text = aligned ? "id,lower,upper,size,alignment,offset\n" : "id,lower,upper,size,offset\n";
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& b = buffers[i];
    text += fmt::format("{},{},{},{}", b.name, b.lower, b.upper, b.size);
    text +=
        aligned ? fmt::format(",{},{}\n", b.alignment, packing.offsets[i]) : fmt::format(",{}\n", packing.offsets[i]);
  }
  return text;
}

}  // namespace kasen::packing
