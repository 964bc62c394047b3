#include "tools/show/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "libcomm/data/results/formats.h"
#include "libcomm/data/table/dictionary.h"
#include "libcomm/data/view/view.h"
#include "libcore/json/report.h"
#include "libopt/text/report_parts.h"
#include "tools/common/choice.h"
#include "tools/common/tool.h"
#include "tools/common/wrap.h"
#include "tools/show/export.h"
#include "tools/show/index_names.h"
#include "tools/show/shown.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

enum class ShowFormat : std::uint8_t { table, csv, json };
constexpr std::array<std::pair<std::string_view, ShowFormat>, 3> formats{
    {{"table", ShowFormat::table}, {"csv", ShowFormat::csv}, {"json", ShowFormat::json}}};
constexpr int most_shown = 1 << 30;

// The result in a folder of kasen go: that of its last run.
std::string result_of(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return path;
  const std::string note = fmt::format("{}/{}", path, result_note);
  if (std::filesystem::is_regular_file(note, none)) {
    std::string name = read_text(note);
    name.erase(name.find_last_not_of('\n') + 1);
    if (!name.empty()) return name.front() == '/' ? name : fmt::format("{}/{}", path, name);
    fail(ExitStatus::missing_input, fmt::format("the last run in '{}' has made no result", path),
         "it failed, or has not ended yet",
         "name the file for the result of an earlier run, as result.h5 in that folder");
  }
  for (const ResultFormatRow& format : result_formats) {
    const std::string file = path + "/result" + std::string(format.ending);
    if (std::filesystem::is_regular_file(file, none)) return file;
  }
  fail(ExitStatus::missing_input, fmt::format("the folder '{}' has no result", path),
       "a folder of kasen go has one, unless -o named another file", "name the file");
}

// One column of a dictionary: INPUT.COLUMN, or INPUT where it has one column of words.
const WordColumn& column_of(const Dictionary& dictionary, const std::string& text) {
  const size_t dot = text.find('.');
  const std::string input = text.substr(0, dot), wanted = dot == std::string::npos ? "" : text.substr(dot + 1);
  std::vector<std::string> known;
  const WordColumn* found = nullptr;
  for (const auto& [name, columns] : dictionary) {
    for (const auto& [number, column] : columns) {
      known.push_back(fmt::format("{}.{}", name, column.name.empty() ? std::to_string(number) : column.name));
      const bool meant =
          wanted.empty() ? columns.size() == 1 : wanted == column.name || wanted == std::to_string(number);
      if (name == input && meant) found = &column;
    }
  }
  if (found != nullptr) return *found;
  wrong_value("words", fmt::format("the dictionary has no column '{}'", text), did_you_mean(text, known),
              fmt::format("it has {}", fmt::join(known, ", ")));
}

void name_by_word(ViewCell& cell, const std::vector<std::string>& words) {
  const double code = cell.number();
  if (cell.kind == ViewCell::Kind::word || !(code >= 0 && code < static_cast<double>(words.size()))) return;
  const auto k = static_cast<size_t>(code);
  if (static_cast<double>(k) == code) cell = {.kind = ViewCell::Kind::word, .word = words[k]};
}

class Show {
 public:
  explicit Show(const po::variables_map& values)
      : values_(values), path_(result_of(text("result"))), format_(choose(values, "format", formats)) {
    if (has("top") && has("head"))
      fail(ExitStatus::usage, "--top and --head", "one takes the largest rows, the other the first", "leave out one");
    for (const char* rows : {"top", "head"})
      if (has(rows)) (void)bounded(values_, rows, 1, most_shown);
    digits_ = bounded(values_, "digits", 0, 17);
    view_ = view_result(path_);
    if (has("name")) {
      wanted_ = {find_array(*view_, text("name"), path_)};
    } else {
      for (size_t k = 0; k < view_->arrays().size(); ++k) wanted_.push_back(k);
    }
    names_ = names_beside(path_);
    read_words();
  }

  void run() const {
    if (format_ == ShowFormat::table) return write_standard_output(tables());
    if (format_ == ShowFormat::csv && wanted_.size() != 1) {
      std::vector<std::string> names;
      for (const ViewArray& array : view_->arrays()) names.push_back(array.name);
      fail(ExitStatus::usage, "--format csv of several arrays", "a table has one head",
           fmt::format("name one of {}", fmt::join(names, ", ")));
    }
    if (format_ == ShowFormat::csv) {
      CsvText csv;
      return write_rows(csv, wanted_[0]);
    }
    JsonText json;
    write_standard_output(begin_report("result", "arrays") + "\n");
    for (size_t k = 0; k < wanted_.size(); ++k) {
      if (k > 0) write_standard_output(",\n");
      write_rows(json, wanted_[k]);
    }
    write_standard_output("]}\n");
  }

 private:
  [[nodiscard]] std::string text(const std::string& option) const { return values_[option].as<std::string>(); }
  [[nodiscard]] bool has(const std::string& option) const { return values_.count(option) > 0; }
  [[nodiscard]] int number(const std::string& option) const { return values_[option].as<int>(); }

  // --words NAME=INPUT.COLUMN: an output or a dimension, and whose codes it has.
  void read_words() {
    const std::map<std::string, std::string> chosen = name_values(values_, "words");
    if (chosen.empty()) return;
    const Dictionary dictionary = read_dictionary(has("dictionary") ? text("dictionary") : dictionary_path(path_));
    for (const auto& [name, column] : chosen) {
      std::vector<std::string> known;
      for (const ViewArray& array : view_->arrays()) {
        known.push_back(array.name);
        known.insert(known.end(), array.dims.begin(), array.dims.end());
        known.insert(known.end(), array.columns.begin(), array.columns.end());
      }
      if (std::find(known.begin(), known.end(), name) == known.end())
        wrong_value("words", fmt::format("'{}' has no output or dimension '{}'", path_, name),
                    did_you_mean(name, known), "name one of them");
      const WordColumn& words = column_of(dictionary, column);
      refuse_rows(name, column, words);
      words_[name] = words.words;
    }
  }

  // A word's code is not the number of the row that has it, and no code is a number with a fraction.
  void refuse_rows(const std::string& name, const std::string& column, const WordColumn& words) const {
    if (std::find(words.over.begin(), words.over.end(), name) != words.over.end()) {
      fail(ExitStatus::usage, fmt::format("--words {}={}: '{}' is over {}", name, column, column, name),
           "the codes of its words are values of its elements, and not their indices",
           fmt::format("add it to the outputs of the program, and show it: --words OUTPUT={}", column));
    }
    for (const ViewArray& array : view_->arrays()) {
      if (array.name != name || (array.type != "f64" && array.type != "f32")) continue;
      fail(ExitStatus::usage,
           fmt::format("--words {}={}: '{}' has elements of type {}", name, column, name, array.type),
           "codes of words are whole numbers", "name a dimension, or an output of codes");
    }
  }

  void rename(const ViewArray& array, ViewRow& row) const {
    // --words comes first.
    for (size_t d = 0; d < row.ids.size(); ++d)
      if (const auto words = words_.find(array.dims[d]); words != words_.end()) name_by_word(row.ids[d], words->second);
    for (size_t c = 0; c < row.cells.size(); ++c) {
      auto words = words_.find(array.columns.at(c));
      if (words == words_.end()) words = words_.find(array.name);
      if (words != words_.end()) name_by_word(row.cells[c], words->second);
    }
    if (const Rename names = index_names(array, names_)) names(row);
  }

  [[nodiscard]] std::string tables() const {
    ShowStyle style{.width = terminal_width(), .digits = digits_, .counts_nan = true};
    if (has("head")) style.rows = style.whole = number("head");
    std::string all;
    for (const size_t k : wanted_) {
      const ViewArray& array = view_->arrays()[k];
      const auto renamed = [&](ViewRow& row) { rename(array, row); };
      all += has("top") ? top_table(k, style) : shown_array(*view_, k, style, renamed);
    }
    return all.empty() ? fmt::format("{}: nothing\n", path_) : all;
  }

  [[nodiscard]] std::vector<ViewRow> top(size_t k) const {
    std::vector<ViewRow> rows = top_rows(*view_, k, static_cast<size_t>(number("top")));
    for (ViewRow& row : rows) rename(view_->arrays()[k], row);
    return rows;
  }

  [[nodiscard]] std::string top_table(size_t k, const ShowStyle& style) const {
    const ViewArray& array = view_->arrays()[k];
    const std::vector<ViewRow> rows = top(k);
    return shown_rows_text(
        array, rows, fmt::format("{}, the largest {} of {}:\n", title_of(array), rows.size(), grouped(array.rows)),
        style);
  }

  void write_rows(RowText& out, size_t k) const {
    constexpr size_t piece = size_t{1} << 20;
    const ViewArray& array = view_->arrays()[k];
    std::string text = out.begin(array);
    const auto add = [&](const ViewRow& row) {
      text += out.row(row);
      if (text.size() < piece) return;
      write_standard_output(text);
      text.clear();
    };
    if (has("top")) {
      for (const ViewRow& row : top(k)) add(row);
    } else {
      std::int64_t left = has("head") ? number("head") : array.rows;
      const auto take = [&](const ViewRow& row) {
        if (words_.empty() && names_.dims.empty()) {
          add(row);
        } else {
          ViewRow renamed = row;
          rename(array, renamed);
          add(renamed);
        }
        return --left > 0;
      };
      if (left > 0) view_->rows(k, take);
    }
    write_standard_output(text + out.end());
  }

  const po::variables_map& values_;
  std::string path_;
  ShowFormat format_;
  int digits_ = 0;
  std::unique_ptr<ResultView> view_;
  std::vector<size_t> wanted_;
  std::map<std::string, std::vector<std::string>> words_;  // by output, column or dimension
  IndexNames names_;
};

void declare_show_options(Tool& tool) {
  tool.under("Rows");
  tool.options.add_options()("top", po::value<int>()->value_name("K"),
                             "the K largest rows by their first value; NaN comes last")(
      "head", po::value<int>()->value_name("K"), "the first K rows (table: 10 and all of up to 20; csv, json: all)")(
      "words", po::value<std::vector<std::string>>()->value_name("NAME=INPUT.COLUMN"),
      "shows the codes of an output, or the indices of a dimension, as the words of that column of the data")(
      "dictionary", po::value<std::string>()->value_name("FILE"),
      "the words (default: RESULT.dictionary.json, as kasen run writes it)");
  tool.under("Form");
  tool.options.add_options()("format", po::value<std::string>()->default_value("table")->value_name("NAME"),
                             (one_of(formats) + "; csv and json have every digit").c_str())(
      "digits", po::value<int>()->default_value(6)->value_name("D"), "significant digits in a table; 0: all");
  takes(tool, "format", formats);
  tool.hidden.add_options()("result", po::value<std::string>()->value_name("RESULT"))(
      "name", po::value<std::string>()->value_name("NAME"));
  tool.positional.add("result", 1).add("name", 1);
  tool.reads = {"result", "dictionary"};
}

}  // namespace

int show_main(int argc, char** argv) {
  Tool tool{.info = {"kasen show", "shows the numbers of a result",
                     "RESULT [NAME] [--top K | --head K] [--format table|csv|json]",
                     "kasen show pagerank.run/result.h5 pr --top 10"}};
  declare_show_options(tool);
  return run_tool(argc, argv, tool, [](const po::variables_map& values) {
    if (values.count("result") == 0)
      fail(ExitStatus::usage, "no result", "", "name a file of kasen run, or a folder of kasen go");
    Show(values).run();
    return ExitStatus::done;
  });
}

}  // namespace kasen::tools
