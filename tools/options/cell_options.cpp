#include "tools/options/cell_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "libcore/base/checked.h"
#include "libcore/base/count_text.h"
#include "tools/common/choice.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

char one_character(const po::variables_map& values, const std::string& option, std::string_view allowed, char other) {
  if (values.count(option) == 0) return other;
  const auto& text = values[option].as<std::string>();
  if (text.size() == 1 && allowed.find(text[0]) != std::string_view::npos) return text[0];
  std::string words;
  for (const char c : allowed) words += fmt::format("{}{}", words.empty() ? "" : " ", c);
  wrong_value(option, fmt::format("--{}: '{}' is none of {}", option, text, words));
}

using Rows = std::vector<std::int64_t>;

// The values of the rows that stay, in planes as before.
Array without_rows(const RawTable& table, const Rows& out) {
  const bool by_column = table.by_column();
  const std::int64_t left = table.rows - std::ssize(out);
  const std::int64_t per_row = by_column ? 1 : table.cols;
  Array values(table.values.element, checked_mul(left, per_row));
  for (std::int64_t p = 0; p < table.values.element.planes(); ++p) {
    const std::int64_t bytes = per_row * scalar_bytes(table.values.element.plane_scalar(p));
    std::byte* to = values.plane(p);
    std::int64_t from = 0;
    const auto copy = [&](std::int64_t end) {
      if (end > from)
        std::memcpy(to, table.values.plane(p) + from * bytes, static_cast<std::size_t>((end - from) * bytes));
      to += (end - from) * bytes;
      from = end + 1;
    };
    for (const std::int64_t row : out) copy(row);
    copy(table.rows);
  }
  return values;
}

void check_can_drop(const InputData& input, const std::string& dim, const InputData& cause) {
  const auto uses = std::count(input.dims.begin(), input.dims.end(), dim);
  if (uses == 0) return;
  const bool table = !input.sparse && uses == 1 && input.dims.front() == dim && !input.table.stored;
  if (table && input.table.rows == cause.table.rows) return;
  fail(ExitStatus::bad_input,
       fmt::format("rows with missing values of input '{}' cannot be left out of input '{}'", cause.name, input.name),
       table ? fmt::format("they have {} and {}", cause.table.rows, count_text(input.table.rows, "row"))
             : fmt::format("it is over dimension {}, too, and no table with its rows", dim),
       "give missing values a number (--missing NAME=mean, or NAME=0), or leave the rows out of the files");
}

// "input 'X'", or of several "inputs 'X' (3 rows), 'Y' (1 row)".
std::string shown_causes(const std::vector<const InputData*>& causes) {
  if (causes.size() == 1) return fmt::format("input '{}'", causes[0]->name);
  std::string text;
  for (const InputData* cause : causes)
    text += fmt::format("{} '{}' ({})", text.empty() ? "inputs" : ",", cause->name,
                        count_text(cause->table.left_out.size(), "row"));
  return text;
}

constexpr std::string_view end_of_note = " are missing";

// Returns a note; empty where no row is left out.
std::string drop_along(const std::string& dim, std::vector<InputData>& inputs) {
  std::set<std::int64_t> all;
  const InputData* cause = nullptr;
  std::vector<const InputData*> causes;
  for (const InputData& input : inputs) {
    if (input.sparse || input.dims.empty() || input.dims.front() != dim || input.table.left_out.empty()) continue;
    if (cause == nullptr) cause = &input;
    causes.push_back(&input);
    all.insert(input.table.left_out.begin(), input.table.left_out.end());
  }
  if (cause == nullptr) return {};
  for (const InputData& input : inputs) check_can_drop(input, dim, *cause);
  const std::int64_t rows = cause->table.rows;
  if (std::ssize(all) == rows)
    fail(ExitStatus::bad_input, fmt::format("each row of input '{}' lacks a value", cause->name), "no row is left",
         "give missing values a number: --missing NAME=mean, or NAME=0");
  std::string note = fmt::format("{} of {} along {} left out: values of {}{}", all.size(), count_text(rows, "row"), dim,
                                 shown_causes(causes), end_of_note);
  const Rows out(all.begin(), all.end());
  for (InputData& input : inputs) {
    if (input.sparse || input.dims.empty() || input.dims.front() != dim) continue;
    input.table.values = without_rows(input.table, out);
    input.table.rows = rows - std::ssize(out);
    input.table.left_out.clear();
    if (!input.table.axes.empty()) input.table.axes.front() = input.table.rows;
  }
  return note;
}

}  // namespace

void declare_cell_options(po::options_description& options) {
  options.add_options()("missing", po::value<std::vector<std::string>>()->value_name("NAME=WHAT"),
                        "for a missing value of a text: error, drop (the row), mean, or a number")(
      "missing-as", po::value<std::vector<std::string>>()->value_name("WORD"),
      "a further mark of a missing value, beside NA, ?, an empty cell")(
      "decimal", po::value<std::string>()->value_name("CHAR"), "the decimal point of tables in text: . or ,")(
      "thousands", po::value<std::string>()->value_name("CHAR"), "what groups their digits by three: . , ' or _")(
      "dates", po::value<std::vector<std::string>>()->value_name("NAME=COLS"),
      "columns of dates: days since 1970 (b:seconds, c:years)")("rest", po::value<std::string>()->value_name("WHAT"),
                                                                "rows that fill no block: refuse or drop [refuse]");
}

NumberStyle number_style(const po::variables_map& values) {
  NumberStyle style{.point = one_character(values, "decimal", ".,", '.'),
                    .group = one_character(values, "thousands", ".,'_", '\0')};
  if (style.group == '.' && values.count("decimal") == 0) style.point = ',';
  if (style.point == style.group)
    wrong_value("thousands", fmt::format("--decimal and --thousands are both '{}'", style.point));
  return style;
}

void read_cell_options(const po::variables_map& values, const std::string& input, ReadOptions& options) {
  options.numbers = number_style(values);
  options.missing.marks = texts_of(values, "missing-as");
  const auto given = name_values(values, "missing");
  const auto at = given.find(input);
  if (at == given.end()) return;
  using How = MissingRule::How;
  const std::string& what = at->second;
  options.missing.how = what == "error"  ? How::error
                        : what == "drop" ? How::drop
                        : what == "mean" ? How::mean
                                         : How::value;
  if (options.missing.how == How::value) options.missing.value = what;
}

std::vector<DateChoice> parse_dates(const std::string& text) {
  std::vector<DateChoice> dates;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::string item = text.substr(at, comma - at);
    at = comma + 1;
    DateUnit unit = DateUnit::days;
    if (const size_t colon = item.rfind(':'); colon != std::string::npos) {
      const std::string word = item.substr(colon + 1);
      const auto known =
          std::find_if(date_units.begin(), date_units.end(), [&](const auto& each) { return each.first == word; });
      if (known == date_units.end())
        wrong_value("dates", fmt::format("--dates: '{}' is no unit of dates", word),
                    did_you_mean(word, {"days", "seconds", "years"}),
                    fmt::format("choose one of {}; a column with a colon in its name is chosen by its number",
                                one_of(date_units)));
      unit = known->second;
      item.resize(colon);
    }
    for (ColumnChoice& column : parse_columns(item)) dates.push_back({std::move(column), unit});
  }
  return dates;
}

bool drops_rows(const po::variables_map& values) {
  const auto given = name_values(values, "missing");
  return std::any_of(given.begin(), given.end(), [](const auto& one) { return one.second == "drop"; });
}

bool is_note_of_dropped_rows(std::string_view note) { return note.ends_with(end_of_note); }

std::vector<std::string> drop_rows(std::vector<InputData>& inputs) {
  std::set<std::string> dims;
  for (const InputData& input : inputs)
    if (!input.sparse && !input.table.left_out.empty()) dims.insert(input.dims.front());
  std::vector<std::string> notes;
  for (const std::string& dim : dims)
    if (std::string note = drop_along(dim, inputs); !note.empty()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace kasen::tools
