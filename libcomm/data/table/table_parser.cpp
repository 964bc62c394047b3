#include "libcomm/data/table/table_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "libcomm/data/text/number_readings.h"
#include "libcore/base/count_text.h"
#include "libcore/base/suggest.h"

namespace kasen {
namespace {

// Some rows of a table by column, row-major until they are moved to its planes: parsed one by one into many planes,
// they would meet in few sets of the caches.
class RowBlock {
 public:
  RowBlock(const RowPlaces& to, std::int64_t bytes)
      : planes_(to.planes),
        width_(std::ssize(to.planes)),
        bytes_(bytes),
        capacity_(std::max<std::int64_t>(1, block_bytes / (width_ * bytes_))),
        first_(to.first),
        numbers_(static_cast<size_t>(capacity_ * width_ * bytes_)) {}

  [[nodiscard]] std::byte* plane() { return numbers_.data(); }
  // The number within the block of a row of the table. Rows come one after another.
  [[nodiscard]] std::int64_t place(std::int64_t row) {
    if (row == first_ + capacity_) move(row);
    return row - first_;
  }
  // Moves the rows before `next`, which is the first of a new block.
  void move(std::int64_t next) {
    for (std::int64_t p = 0; p < width_; ++p) {
      std::byte* to = planes_[static_cast<size_t>(p)] + first_ * bytes_;
      const std::byte* from = numbers_.data() + p * bytes_;
      for (std::int64_t r = first_; r < next; ++r, to += bytes_, from += width_ * bytes_) copy(from, to);
    }
    first_ = next;
  }

 private:
  static constexpr std::int64_t block_bytes = 16 << 10;

  void copy(const std::byte* from, std::byte* to) const {
    if (bytes_ == 8) {
      std::memcpy(to, from, 8);
    } else {
      std::memcpy(to, from, static_cast<size_t>(bytes_));
    }
  }

  const std::vector<std::byte*>& planes_;
  std::int64_t width_, bytes_, capacity_, first_;
  std::vector<std::byte> numbers_;
};

// A mark as people type it for a shell.
std::string shell_word(std::string_view text) {
  const auto plain = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.'; };
  if (std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string word = "\"";
  for (const char c : text)
    word += std::string_view("\"$`\\").find(c) == std::string_view::npos ? std::string(1, c) : fmt::format("\\{}", c);
  return word + '"';
}

}  // namespace

TableParser::TableParser(const TableForm& form, Scalar scalar)
    : form_(form),
      bytes_(scalar_bytes(scalar)),
      real_(scalar == Scalar::f64 || scalar == Scalar::f32),
      parse_(parser_of(scalar)),
      columns_(form.columns),
      missing_numbers_(form.missing, form.numbers) {
  for (size_t k = 0; k < form.taken.size(); ++k)
    columns_[static_cast<size_t>(form.taken[k]) - 1].place = static_cast<std::int64_t>(k);
  for (size_t k = 0; k < form.words.size(); ++k)
    columns_[static_cast<size_t>(form.words[k].column) - 1].words = static_cast<std::int64_t>(k);
  for (const DatesOfColumn& dates : form.dates) columns_[static_cast<size_t>(dates.column) - 1].date = dates.unit;
  if (form.missing.how != MissingRule::How::value) return;
  const std::string text = form.missing.value + '\n' + std::string(static_cast<size_t>(text_padding), '\0');
  (void)parse_(text.data(), fill_.data(), 0);
}

PieceWords TableParser::parse(const Piece& piece, const RowPlaces& to) const {
  std::optional<RowBlock> block;
  if (to.planes.size() > 1) block.emplace(to, bytes_);
  std::byte* const plane = block ? block->plane() : to.planes[0];
  PieceWords found;
  found.met.resize(form_.words.size());
  found.numbers.resize(form_.words.size());
  for (const char* p = piece.begin; p < piece.end; ++p) {
    const char* const start = skip_blanks(p);
    if (holds_no_row(start)) {
      p = static_cast<const char*>(std::memchr(start, '\n', static_cast<size_t>(piece.end - start)));
    } else {
      const std::int64_t number = to.first + found.rows;
      p = row(p, plane, block ? block->place(number) : number, to.first, found);
      ++found.rows;
    }
  }
  if (block) block->move(to.first + found.rows);
  return found;
}

const char* TableParser::row(const char* line, std::byte* plane, std::int64_t row, std::int64_t first,
                             PieceWords& found) const {
  Cells cells(line, form_.delimiter);
  const auto width = static_cast<std::int64_t>(form_.taken.size());
  for (size_t c = 0; c < columns_.size(); ++c) {
    const bool number = columns_[c].place >= 0 && columns_[c].words < 0;
    const MissingCell at{.row = first + found.rows, .place = columns_[c].place};
    const std::int64_t i = row * width + at.place;
    const bool there =
        number ? take_missing(cells, plane, i, at, found) || next_number(cells, c, plane, i) : cells.next();
    if (!there)
      fail_text(cells.line_end(),
                fmt::format("the row has {}, and the first has {}", count_text(c, "column"), columns_.size()), {},
                "put # before the line if it is no row");
    if (columns_[c].words >= 0) take_word(cells, static_cast<size_t>(columns_[c].words), at, found);
  }
  if (cells.next()) {
    fail_text(cells.begin, fmt::format("the row has more columns than the first, which has {}", columns_.size()));
  }
  return cells.line_end();
}

bool TableParser::take_missing(Cells& cells, std::byte* plane, std::int64_t i, MissingCell at,
                               PieceWords& found) const {
  if (form_.missing.how == MissingRule::How::error) return false;
  Cells ahead = cells;
  try {
    if (!ahead.next()) return false;
    if (!form_.missing.is_missing(ahead.text()) && !missing_numbers_.has(ahead.text())) return false;
  } catch (const TextFault&) {
    return false;  // reported as the number's
  }
  cells = ahead;
  std::memcpy(plane + i * bytes_, fill_.data(), static_cast<size_t>(bytes_));
  if (form_.missing.how != MissingRule::How::value) found.missing.push_back(at);
  return true;
}

std::string TableParser::option(std::string_view name, std::string_view value) const {
  return fmt::format("--{} {}{}{}", name, form_.input, form_.input.empty() ? "" : "=", value);
}

std::string TableParser::remedy_for_missing(std::string_view cell, bool word) const {
  if (!form_.missing.is_missing(cell)) return {};
  const std::string drop = option("missing", "drop");
  if (word) return fmt::format("write a word there, or leave such rows out: {}", drop);
  const std::string equals = form_.input + (form_.input.empty() ? "" : "=");
  return fmt::format("leave such rows out: {} (or put a number there: {}{}0)", drop,
                     real_ ? fmt::format("{}mean, ", equals) : "", equals);
}

std::string TableParser::remedy_for_mark(std::string_view cell) const {
  if (cell.empty() || cell.find_first_of("0123456789") != std::string_view::npos) return {};
  const bool settled = form_.missing.how != MissingRule::How::error;
  return fmt::format("if '{}' marks a missing value, say so: --missing-as {}{}", cell, shell_word(cell),
                     settled ? "" : fmt::format(" {}", option("missing", "drop")));
}

std::string TableParser::remedy_for_number(std::string_view cell, const BesideNumber& beside, bool quoted,
                                           size_t c) const {
  if (!form_.hint.empty()) return form_.hint;
  const std::string_view number = beside.why.empty() ? cell : beside.number;
  std::string remedy;
  if (!reads_as(number, form_.numbers))
    remedy = other_readings(number, form_.numbers, form_.delimiter == ',' && !quoted);
  if (form_.numbers.uses(',') && form_.delimiter == ' ' && cell.find(',') != std::string_view::npos)
    return fmt::format("{}{}{}", remedy, remedy.empty() ? "" : "; ", comma_hint(form_.numbers));
  if (!remedy.empty()) return beside.why.empty() ? remedy : fmt::format("write the number alone; {}", remedy);
  const std::string_view kind = date_number(cell, DateUnit::days).fault == nullptr ? "dates" : "words";
  const std::string mark = remedy_for_mark(cell);
  return fmt::format("{}; if column {} holds {}, say so: {}{}{}",
                     !beside.why.empty()     ? "write the number alone"
                     : form_.numbers.plain() ? "write a number, with a decimal point and nothing else"
                                             : "write a number, as the others are",
                     c + 1, kind, option(kind, std::to_string(c + 1)), mark.empty() ? "" : "; ", mark);
}

void TableParser::explain_number(TextFault& fault, const Cells& cells, size_t c) const {
  const std::string_view cell = cells.shown();
  quote_cell(fault, cell);
  if (fault.remedy.empty()) fault.remedy = remedy_for_missing(cell, false);
  if (!fault.remedy.empty()) return;
  const BesideNumber beside = beside_number(cell, form_.numbers);
  if (!beside.why.empty()) fault.why = beside.why;
  fault.remedy = remedy_for_number(cell, beside, cells.quoted(), c);
}

bool TableParser::next_date(Cells& cells, DateUnit unit, std::byte* plane, std::int64_t i) const {
  if (!cells.next()) return false;
  const bool empty = cells.text().empty() && !cells.quoted();
  if (empty) Cells::fail_missing(cells.begin, remedy_for_missing("", false));
  const DateNumber date = date_number(cells.text(), unit);
  if (date.fault != nullptr) {
    std::string remedy = remedy_for_missing(cells.text(), false);
    if (remedy.empty()) remedy = remedy_for_mark(cells.shown());
    fail_text(cells.begin, fmt::format("'{}' is no date", cells.shown()), date.fault,
              remedy.empty() ? date.remedy : remedy);
  }
  std::memcpy(plane + i * static_cast<std::int64_t>(sizeof date.value), &date.value, sizeof date.value);
  return true;
}

bool TableParser::next_number(Cells& cells, size_t c, std::byte* plane, std::int64_t i) const {
  if (columns_[c].date) return next_date(cells, *columns_[c].date, plane, i);
  try {
    const bool plain = form_.numbers.plain() && form_.delimiter != '|';  // at which numbers do not end
    return plain ? cells.next_number(parse_, plane, i) : cells.next_number(form_.numbers, parse_, plane, i);
  } catch (TextFault& fault) {
    explain_number(fault, cells, c);
    throw;
  }
}

void TableParser::take_word(const Cells& cells, size_t k, MissingCell at, PieceWords& found) const {
  if (form_.missing.how == MissingRule::How::drop && form_.missing.is_missing(cells.text())) {
    found.numbers[k].push_back(-1);
    found.missing.push_back(at);
    return;
  }
  const bool empty = cells.text().empty() && !cells.quoted();
  if (empty) Cells::fail_missing(cells.begin, remedy_for_missing("", true));
  MetWords& met = found.met[k];
  const size_t before = met.words().size();
  found.numbers[k].push_back(met.number(cells));
  if (met.words().size() > before) check_known(cells, form_.words[k], met.words().back());
}

void TableParser::check_known(const Cells& cells, const WordsOfColumn& column, std::string_view word) const {
  if (!column.codes || column.codes->contains(word)) return;
  const std::string near = nearest_name(word, column.known.words);
  fail_text(cells.begin, fmt::format("'{}' is no word of the dictionary '{}'", word, form_.dictionary_name),
            near.empty() ? fmt::format("which has {} for this column", count_text(column.known.words.size(), "word"))
                         : fmt::format("did you mean '{}'?", near),
            "leave the row out, or add the word at the end of its list: results computed without it know no such code");
}

}  // namespace kasen
