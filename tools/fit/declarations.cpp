// How a program gets the samples from their file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tools/fit/samples.h"
#include "tools/fit/table_reads.h"

namespace kasen::tools {
namespace {

// A stretch of X's columns.
struct Stretch {
  std::int64_t size = 0;
  std::string text;  // an expression with {} for its dimension
  std::string note;
};

// The place of each taken column of the table in the input `table`: a table in text gives them in the order of the
// choice, an array as they stand.
int place_of(const Samples& samples, const ModelColumn& column, std::size_t in_order) {
  return samples.form == TableForm::csv ? static_cast<int>(in_order) : column.number - 1;
}

std::vector<Stretch> stretches_of(const Samples& samples) {
  std::vector<Stretch> stretches;
  int next = -1;  // the place that would continue the last stretch of numbers
  for (std::size_t k = 0; k < samples.features.size(); ++k) {
    const ModelColumn& column = samples.features[k];
    const int place = place_of(samples, column, k);
    if (!column.levels.empty()) {
      stretches.push_back({std::ssize(column.levels), fmt::format("outer(is_level, at(table, {}), index({{}}))", place),
                           fmt::format("a column for each word of column {}", column.number)});
      next = -1;
    } else if (place == next) {
      ++stretches.back().size;
      ++next;
    } else {
      const std::string from = place == 0 ? "" : fmt::format(", {}", place);
      stretches.push_back({1, "range(table, {}" + from + ")", "numbers"});
      next = place + 1;
    }
  }
  return stretches;
}

std::string with_dim(const std::string& text, const std::string& dim) {
  const std::size_t at = text.find("{}");
  return text.substr(0, at) + dim + text.substr(at + 2);
}

std::string features_text(const Samples& samples) {
  const std::vector<Stretch> stretches = stretches_of(samples);
  const bool any_words =
      std::any_of(stretches.begin(), stretches.end(), [](const Stretch& b) { return b.text[0] == 'o'; });
  std::string text = "dim N, Columns local               # samples, columns of the table\n";
  std::string parts, names;
  if (stretches.size() == 1) {
    text += fmt::format("dim F local = {}                    # features\n", stretches[0].size);
    parts = with_dim(stretches[0].text, "F");
  } else {
    for (std::size_t k = 0; k < stretches.size(); ++k) {
      const std::string name = fmt::format("Part{}", k + 1);
      text += fmt::format("dim {} local = {}                # {}\n", name, stretches[k].size, stretches[k].note);
      parts += (k > 0 ? ", " : "") + with_dim(stretches[k].text, name);
      names += (k > 0 ? " + " : "") + name;
    }
    text += fmt::format("dim F local = {}  # features\n", names);
    parts = fmt::format("concat({}, F)", parts);
  }
  text += "input table : f64[N, Columns]\n";
  if (any_words) text += "fn is_level(code, level) = if i64(code) == i64(level) then 1.0 else 0.0\n";
  text += fmt::format("X = 1.0 * {}\n", parts);  // an array: a range would be copied for each product
  if (!samples.by_means) return text;
  return text +
         "input means : f64[F]               # in place of missing cells, which are NaN\n"
         "X = if X == X then X else means\n";
}

bool can_be_named(const std::string& name) {
  const bool range = name.find_first_not_of("0123456789-.") == std::string::npos;
  const bool blank = name.empty() || name.front() == ' ' || name.back() == ' ';
  return !blank && !range && name.find(',') == std::string::npos && !(name[0] >= '0' && name[0] <= '9');
}

std::string choice_of(const ModelColumn& column) {
  return can_be_named(column.name) ? column.name : std::to_string(column.number);
}

// Plans that know the number of features make more in one pass over the samples.
std::string plain_dims(const Samples& samples) {
  if (samples.sparse) return "dim N, F                           # samples, features";
  if (samples.width() == 0) return "dim N, F local                     # samples, features";
  return fmt::format("dim N, F local = {:<5}             # samples, features", samples.width());
}

}  // namespace

bool Samples::is_plain() const {
  if (form == TableForm::libsvm) return true;
  if (by_means) return false;
  if (!target.empty() && target_path.empty()) return false;
  for (std::size_t k = 0; k < features.size(); ++k)
    if (!features[k].levels.empty() || (form == TableForm::npy && features[k].number != static_cast<int>(k) + 1))
      return false;
  return form == TableForm::csv || std::cmp_equal(features.size(), columns);
}

std::int64_t Samples::width() const {
  if (form == TableForm::libsvm) return size;
  Model as_model;
  as_model.features = features;
  return as_model.width();
}

std::string declarations(const Samples& samples) {
  const bool target = !samples.target.empty();
  if (samples.is_plain())
    return fmt::format("{}\ninput X : f64[N, F]{}\n", plain_dims(samples), target ? ", y : f64[N]" : "");
  std::string text = features_text(samples);
  if (!target) return text;
  if (!samples.target_path.empty()) return text + "input y : f64[N]\n";
  return text + fmt::format("y = at(table, {})\n", place_of(samples, samples.target[0], samples.features.size()));
}

std::vector<std::string> go_arguments(const Samples& samples) {
  const std::string input = samples.is_plain() ? "X" : "table";
  std::vector<std::string> argv{fmt::format("{}={}", input, samples.path)};
  const bool target = !samples.target.empty();
  if (samples.form == TableForm::libsvm && target) argv.push_back("y=" + samples.path);
  if (!samples.target_path.empty()) argv.push_back("y=" + samples.target_path);
  if (samples.size > 0 && samples.form == TableForm::libsvm)
    argv.insert(argv.end(), {"--dim", fmt::format("F={}", samples.size)});
  std::vector<std::string> ruled;  // inputs whose cells may be missing
  if (samples.form == TableForm::csv) ruled.push_back(input);
  if (samples.cells.drops() && has_target_in_text(samples)) ruled.emplace_back("y");
  const std::vector<std::string> cells = cell_arguments(samples.cells, ruled);
  argv.insert(argv.end(), cells.begin(), cells.end());
  if (samples.form != TableForm::csv) return argv;
  std::vector<std::string> taken, words;
  const auto take = [&](const ModelColumn& column) {
    taken.push_back(choice_of(column));
    if (!column.levels.empty()) words.push_back(taken.back());
  };
  for (const ModelColumn& column : samples.features) take(column);
  if (target && samples.target_path.empty()) take(samples.target[0]);
  argv.insert(argv.end(), {"--columns", fmt::format("{}={}", input, fmt::join(taken, ","))});
  if (!words.empty()) argv.insert(argv.end(), {"--words", fmt::format("{}={}", input, fmt::join(words, ","))});
  return argv;
}

std::string program_number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string shown_column(const ModelColumn& column) {
  return column.name.empty() ? std::to_string(column.number) : column.name;
}

}  // namespace kasen::tools
