// The cells of one line of a table in text; private to the readers.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libcomm/data/text/number_style.h"
#include "libcomm/data/text/number_text.h"
#include "libcomm/data/text/text_pieces.h"

namespace kasen {

// With blanks as the delimiter (' '), any run of them separates. Throws TextFault.
class Cells {
 public:
  Cells(const char* line, char delimiter) : delimiter_(delimiter), p_(skip(line)) {}

  // True while a cell is left; `begin` and `end` then hold its text, without blanks around it and without quotes.
  bool next() {
    if (done_) return false;
    p_ = skip(p_);
    quoted_ = *p_ == '"';
    if (quoted_) {
      take_quoted();
    } else {
      begin = p_;
      while (!ends_cell(*p_)) ++p_;
      end = p_;
      while (end > begin && is_blank(end[-1])) --end;
    }
    if (!finish()) fail_text(p_, fmt::format("unexpected '{}' after the cell", *p_));
    return true;
  }
  [[nodiscard]] std::string_view text() const { return {begin, static_cast<size_t>(end - begin)}; }
  [[nodiscard]] bool quoted() const { return quoted_; }
  // The same with each quote once that the file doubles.
  [[nodiscard]] std::string meant_text() const {
    std::string text(this->text());
    if (!quoted_) return text;
    for (size_t at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1)) text.erase(at, 1);
    return text;
  }
  // The cell from `begin` on as messages quote it, also where a number in it was not read to its end.
  [[nodiscard]] std::string_view shown() const { return cell_at(begin, quoted_ ? '"' : delimiter_); }
  [[nodiscard]] const char* line_end() const { return p_; }

  // Reads the next cell, if there is one, as one number.
  bool next_number(ParseInto parse, std::byte* plane, std::int64_t i) {
    if (done_) return false;
    p_ = skip(p_);
    if (*p_ == '"') {
      next();
      number_of_text(std::string(text()), parse, plane, i);
      return true;
    }
    begin = p_;
    quoted_ = false;
    if (*p_ == delimiter_ || *p_ == '\n') fail_missing(p_);
    p_ = parse(p_, plane, i);
    if (!finish()) fail_text(begin, fmt::format("'{}' is not a number", shown()));
    return true;
  }

  // The same of a number that is written in another style.
  bool next_number(const NumberStyle& style, ParseInto parse, std::byte* plane, std::int64_t i) {
    if (!next()) return false;
    if (text().empty() && !quoted()) fail_missing(begin);
    const std::optional<std::string> plain = style.plain_text(text());
    if (!plain)
      fail_text(begin, fmt::format("'{}' is not a number", shown()),
                style.group == '\0' ? fmt::format("its decimal point is '{}'", style.point)
                                    : fmt::format("its decimal point is '{}', and '{}' stands between groups of three "
                                                  "digits",
                                                  style.point, style.group));
    number_of_text(*plain, parse, plane, i);
    return true;
  }

  [[noreturn]] static void fail_missing(const char* at, std::string remedy = {}) {
    fail_text(at, "a cell is missing", "each row has a value in this column", std::move(remedy));
  }

  const char *begin = nullptr, *end = nullptr;

 private:
  [[nodiscard]] const char* skip(const char* p) const {
    while (is_blank(*p) && *p != delimiter_) ++p;
    return delimiter_ == ' ' ? skip_blanks(p) : p;
  }
  [[nodiscard]] bool ends_cell(char c) const {
    return c == '\n' || c == delimiter_ || (delimiter_ == ' ' && is_blank(c));
  }

  void take_quoted() {
    begin = ++p_;
    while (*p_ != '"' || p_[1] == '"') {
      if (*p_ == '\n') fail_text(begin - 1, "the quote is not closed on its line");
      p_ += *p_ == '"' ? 2 : 1;
    }
    end = p_++;
  }

  // The cell's number, in a text of its own.
  void number_of_text(std::string inside, ParseInto parse, std::byte* plane, std::int64_t i) const {
    inside.append(1, '\n').append(static_cast<size_t>(text_padding), '\0');
    try {
      if (*parse(inside.data(), plane, i) != '\n')
        fail_text(inside.data(), fmt::format("'{}' is not a number", shown()));
    } catch (TextFault& fault) {
      fault.at = begin;
      quote_cell(fault, shown());  // as the file writes it
      throw;
    }
  }

  // Goes over the delimiter behind a cell; false if something else is there.
  bool finish() {
    const char* const after = p_;
    p_ = skip(p_);
    if (*p_ == '\n') {
      done_ = true;
    } else if (*p_ == delimiter_) {
      ++p_;
    } else if (delimiter_ != ' ' || p_ == after) {
      return false;
    }
    return true;
  }

  char delimiter_;
  const char* p_;
  bool quoted_ = false, done_ = false;
};

}  // namespace kasen
