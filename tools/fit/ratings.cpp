#include "tools/fit/ratings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "libcomm/data/read/readers.h"
#include "libcomm/data/text/table_head.h"
#include "libcore/base/count_text.h"
#include "libcore/base/error.h"
#include "tools/fit/table_reads.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

// Whose ratings a table has: rows and columns as numbers, words as their places in the order of their bytes.
struct RatedIds {
  std::array<std::vector<std::int64_t>, 2> ids;
  std::array<std::vector<std::string>, 2> words;
  std::vector<std::string> notes;  // how they were read
};

void tell_notes_on(const RatedIds& rated) {
  for (const std::string& read : rated.notes) tell("note: {}\n", read);
}

// No option of ratings is about missing cells.
RawTable read_ratings(const std::string& path, const ReadOptions& options) {
  try {
    return read_table(path, options);
  } catch (const UserError& error) {
    std::vector<Diagnostic> faults = error.diagnostics();
    for (Diagnostic& fault : faults)
      if (fault.remedy.find("--missing ") != std::string::npos) fault.remedy = "fill it in, or leave the row out";
    throw UserError(error.status(), std::move(faults));
  }
}

RatedIds read_ids(const std::string& path, const std::array<ModelColumn, 2>& columns, std::array<bool, 2> words) {
  ReadOptions options = table_read_options({});
  options.element = ElementType::of(Scalar::i64);
  for (std::size_t k = 0; k < 2; ++k) {
    options.columns.push_back(reader_choice(columns[k]));
    if (words[k]) options.words.push_back(reader_choice(columns[k]));
  }
  RawTable table = read_ratings(path, options);
  RatedIds rated;
  rated.notes = std::move(table.notes);
  const auto* const values = table.values.as<std::int64_t>();
  for (std::size_t k = 0; k < 2; ++k) {
    if (words[k]) rated.words[k] = std::move(table.dictionaries.at(columns[k].number).words);
    rated.ids[k].resize(static_cast<std::size_t>(table.rows));
    for (std::int64_t row = 0; row < table.rows; ++row)
      rated.ids[k][static_cast<std::size_t>(row)] = values[2 * row + static_cast<std::int64_t>(k)];
  }
  return rated;
}

std::array<ModelColumn, 2> sides_of(const Samples& ratings) { return {ratings.features[0], ratings.features[1]}; }

// A model holds all words of rows and columns.
void require_few(const Samples& ratings) {
  constexpr std::size_t most_bytes = std::size_t{60} << 20, around = 12;
  for (const ModelColumn& column : ratings.features) {
    const std::size_t bytes =
        std::accumulate(column.levels.begin(), column.levels.end(), std::size_t{0},
                        [](std::size_t sum, const std::string& word) { return sum + word.size() + around; });
    if (bytes > most_bytes / 2)
      fail(ExitStatus::limit, fmt::format("column '{}' has {} words", shown_column(column), column.levels.size()),
           "a model holds them in 30 MiB", "give rows and columns numbers", {ratings.path});
  }
}

// Repeated ratings. `kasen go` would speak of lines of the file of numbers.
void require_different(const Samples& ratings, const RatedIds& rated) {
  std::vector<std::size_t> rows(rated.ids[0].size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto key = [&](std::size_t row) { return std::pair(rated.ids[0][row], rated.ids[1][row]); };
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  const auto same =
      std::adjacent_find(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return key(a) == key(b); });
  if (same == rows.end()) return;
  fail(ExitStatus::bad_input, fmt::format("rows {} and {} of the table rate the same", *same + 1, *std::next(same) + 1),
       "nobody knows which counts", "keep one of them", {ratings.path});
}

void require_ids(const Samples& ratings, const RatedIds& rated) {
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t row = 0; row < rated.ids[k].size(); ++row)
      if (const std::int64_t id = rated.ids[k][row]; id < 0 || id == std::numeric_limits<std::int64_t>::max())
        fail(ExitStatus::bad_input,
             fmt::format("row {} of the table has {} in column '{}'", row + 1, id, shown_column(ratings.features[k])),
             "rows and columns have numbers from 0 to 2^63 - 2",
             fmt::format("take them as words: --words {}", shown_column(ratings.features[k])), {ratings.path});
}

// The file's columns of row and column: by their names where both tables have them, else the first two.
std::array<ModelColumn, 2> columns_to_rate(const Model& model, const std::string& path) {
  std::array<ModelColumn, 2> first{ModelColumn{.number = 1}, ModelColumn{.number = 2}};
  const FileFormat format = detect_format(path);
  const bool text = format == FileFormat::csv || format == FileFormat::edge_list;
  if (!text || model.features.size() < 2 || model.features[0].name.empty()) return first;
  const auto found = [&](bool by_name) {
    std::vector<std::string> names;
    for (const HeadColumn& column : read_table_head(path, by_name).columns) names.push_back(column.name);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto at = std::find(names.begin(), names.end(), model.features[k].name);
      if (at == names.end()) return false;
      first[k] = {.number = static_cast<int>(at - names.begin()) + 1, .name = *at};
    }
    return true;
  };
  if (found(false)) return first;
  first = {ModelColumn{.number = 1}, ModelColumn{.number = 2}};
  try {
    if (found(true)) return first;  // names over words
  } catch (const UserError&) {      // it has one line: no names
  }
  return {ModelColumn{.number = 1}, ModelColumn{.number = 2}};
}

std::unordered_map<std::int64_t, std::size_t> places_of(const Model& model, const std::string& ids, std::size_t count) {
  std::unordered_map<std::int64_t, std::size_t> places;
  const auto at = model.arrays.find(ids);
  for (std::size_t k = 0; k < count; ++k) {
    const bool own = at != model.arrays.end();
    const bool whole = own && !at->second.whole.empty();
    places.emplace(whole ? at->second.whole[k]
                   : own ? static_cast<std::int64_t>(at->second.values[k])
                         : std::int64_t(k),
                   k);
  }
  return places;
}

// The rows of factors of a table's rows, or columns.
class Side {
 public:
  Side(const Model& model, const std::string& path, std::size_t k, const RatedIds& rated)
      : path_(path), k_(k), rated_(rated) {
    const auto count = static_cast<std::size_t>(model.arrays.at(k == 0 ? "U" : "V").extents[0]);
    places_ = places_of(model, k == 0 ? "N_ids" : "M_ids", count);
    if (rated.words[k].empty()) return;
    std::unordered_map<std::string_view, std::int64_t> known;
    const std::vector<std::string>& words = model.features[k].levels;
    for (std::size_t code = 0; code < words.size(); ++code) known.emplace(words[code], static_cast<std::int64_t>(code));
    for (const std::string& word : rated.words[k]) {
      const auto at = known.find(word);
      codes_.push_back(at == known.end() ? -1 : at->second);
    }
  }

  [[nodiscard]] std::size_t place(std::size_t row) const {
    const std::int64_t id = rated_.ids[k_][row];
    const auto at = places_.find(codes_.empty() ? id : codes_[static_cast<std::size_t>(id)]);
    if (at != places_.end()) return at->second;
    const std::string shown =
        codes_.empty() ? std::to_string(id) : fmt::format("'{}'", rated_.words[k_][static_cast<std::size_t>(id)]);
    fail(ExitStatus::bad_input,
         fmt::format("row {} of the table: the model knows no {} {}", row + 1, k_ == 0 ? "row" : "column", shown),
         "there were no ratings of it", "leave it out", {path_});
  }

 private:
  const std::string& path_;
  std::size_t k_;
  const RatedIds& rated_;
  std::unordered_map<std::int64_t, std::size_t> places_;
  std::vector<std::int64_t> codes_;  // of the model, of the table's words
};

}  // namespace

Samples ratings_samples(const std::string& path, const ModelRow& row, const SampleChoice& choice) {
  refuse_cell_rules(choice.cells, "ratings", "a rating that is missing has no line");
  if (choice.form != SampleForm::automatic)
    fail(ExitStatus::usage, fmt::format("--samples for {}", row.name), "ratings are as the file has them",
         "leave it out");
  Samples samples;
  samples.path = path;
  samples.form = form_of_table(path);
  if (samples.form != TableForm::csv) {
    if (!choice.columns.empty() || !choice.words.empty())
      fail(ExitStatus::usage, fmt::format("--{} for a matrix", choice.columns.empty() ? "words" : "columns"),
           "its columns are those of the ratings", "leave it out", {path});
    return samples;
  }
  const TableHead head = read_table_head(path, any_by_name(choice.columns) || any_by_name(choice.words));
  const auto at = [&](int column) { return head.columns[static_cast<std::size_t>(column) - 1]; };
  const std::vector<ColumnChoice> all{ColumnChoice(1, 3)};
  for (const int column : chosen_columns(choice.columns.empty() ? all : choice.columns, file_columns(head), path))
    samples.features.push_back({column, at(column).name, {}});
  if (samples.features.size() != 3)
    fail(ExitStatus::usage, fmt::format("{} of ratings", count_text(samples.features.size(), "column")),
         "a rating is a row, a column and a number", "choose three: --columns user,item,stars", {path});
  const std::vector<int> words = chosen_columns(choice.words, file_columns(head), path);
  const auto is_words = [&](std::size_t k) {
    const int column = samples.features[k].number;
    return at(column).words || std::find(words.begin(), words.end(), column) != words.end();
  };
  if (is_words(2))
    fail(ExitStatus::bad_input, fmt::format("the ratings '{}' are words", shown_column(samples.features[2])),
         "a rating is a number", "choose the columns of row, column and rating: --columns user,item,stars", {path});
  if (!is_words(0) && !is_words(1)) return samples;
  RatedIds rated = read_ids(path, sides_of(samples), {is_words(0), is_words(1)});
  tell_notes_on(rated);
  for (std::size_t k = 0; k < 2; ++k) samples.features[k].levels = std::move(rated.words[k]);
  require_few(samples);
  return samples;
}

bool has_words(const Samples& ratings) {
  return std::any_of(ratings.features.begin(), ratings.features.end(), [](const auto& c) { return !c.levels.empty(); });
}

std::string numbered_text(const Samples& ratings) {
  const RatedIds rated = read_ids(ratings.path, sides_of(ratings),
                                  {!ratings.features[0].levels.empty(), !ratings.features[1].levels.empty()});
  require_ids(ratings, rated);
  require_different(ratings, rated);
  ReadOptions options = table_read_options({});
  options.columns.push_back(reader_choice(ratings.features[2]));
  const RawTable numbers = read_ratings(ratings.path, options);
  std::string text;
  for (std::size_t row = 0; row < rated.ids[0].size(); ++row)
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", rated.ids[0][row], rated.ids[1][row],
                   numbers.values.as<double>()[row]);
  return text;
}

std::vector<std::string> ratings_arguments(const Samples& ratings) {
  if (has_words(ratings)) return {fmt::format("X={}", numbered_ratings)};
  std::vector<std::string> argv{"X=" + ratings.path};
  if (ratings.form != TableForm::csv) return argv;
  std::string columns;
  for (const ModelColumn& column : ratings.features)
    columns += (columns.empty() ? "" : ",") + std::to_string(column.number);
  argv.insert(argv.end(), {"--columns", "X=" + columns});
  return argv;
}

std::string rating_predictions(const Model& model, const std::string& path) {
  std::array<bool, 2> words{};
  for (std::size_t k = 0; k < std::min<std::size_t>(2, model.features.size()); ++k)
    words[k] = !model.features[k].levels.empty();
  const RatedIds rated = read_ids(path, columns_to_rate(model, path), words);
  tell_notes_on(rated);
  const ModelArray &rows = model.arrays.at("U"), &cols = model.arrays.at("V");
  const auto factors = static_cast<std::size_t>(rows.extents[1]);
  const Side of_rows(model, path, 0, rated), of_cols(model, path, 1, rated);
  std::string text = "prediction\n";
  for (std::size_t k = 0; k < rated.ids[0].size(); ++k) {
    const std::size_t u = of_rows.place(k), v = of_cols.place(k);
    double sum = 0;
    for (std::size_t f = 0; f < factors; ++f) sum += rows.values[u * factors + f] * cols.values[v * factors + f];
    text += fmt::format("{}\n", sum);
  }
  return text;
}

}  // namespace kasen::tools
