// kasen predict: what a model says of a table, by a program of its own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "libcomm/data/model/model.h"
#include "libcomm/data/table/dictionary.h"
#include "libcore/base/count_text.h"
#include "libcore/base/error.h"
#include "tools/common/tool.h"
#include "tools/fit/cells.h"
#include "tools/fit/fit.h"
#include "tools/fit/models.h"
#include "tools/fit/predictions.h"
#include "tools/fit/ratings.h"
#include "tools/fit/run_options.h"
#include "tools/fit/samples.h"
#include "tools/fit/work.h"
#include "tools/system/files.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

constexpr const char* dictionary_name = "model.dictionary.json";

// Arrays of the model as inputs of the program.
constexpr std::string_view chances_text = R"(
dim K local = {classes}              # classes
input w : f64[F, K], b : f64[K]
score = X @ w + b
power = exp(score - max(score, over K))
output score, chance = power / sum(power, over K)
)";
constexpr std::string_view centres_text = R"(
dim K local = {k}                    # centres
input centres : f64[K, F]
middle = mean(centres, over K)
away = centres - middle
near = sumsq(away, over F) - 2 * ((X - middle) @ away')
output score = -near
)";
constexpr std::string_view components_text = R"(
dim K local = {k}                    # components
input components : f64[F, K], centre : f64[F]
output score = (X - centre) @ components
)";
// Of sparse samples, which cannot be moved to around 0.
constexpr std::string_view sparse_centres_text = R"(
dim K local = {k}                    # centres
input centres : f64[K, F]
near = sumsq(centres, over F) - 2 * (X @ centres')
output score = -near
)";
constexpr std::string_view sparse_components_text = R"(
dim K local = {k}                    # components
input components : f64[F, K], centre : f64[F]
output score = X @ components - centre @ components
)";
constexpr std::string_view scores_text = R"(
input w : f64[F]
output score = X @ w + {b}
)";

std::string filled(std::string_view text, const std::string& mark, const std::string& value) {
  std::string all(text);
  all.replace(all.find(mark), mark.size(), value);
  return all;
}

std::string program_of(const Model& model, const ModelRow& row, const Samples& samples) {
  const std::string samples_text = "# What a model foretells.\n" + declarations(samples);
  if (row.name == "kmeans")
    return samples_text + filled(samples.sparse ? sparse_centres_text : centres_text, "{k}",
                                 std::to_string(model.arrays.at("centres").extents[0]));
  if (row.name == "pca")
    return samples_text + filled(samples.sparse ? sparse_components_text : components_text, "{k}",
                                 std::to_string(model.arrays.at("components").extents[1]));
  if (row.score == ScoreKind::chances)
    return samples_text + filled(chances_text, "{classes}", std::to_string(model.classes.size()));
  return samples_text + filled(scores_text, "{b}", program_number(model.arrays.at("intercept").values[0]));
}

// The means of the features; words, which are never missing, have none.
ModelArray means_of(const Samples& samples) {
  ModelArray means{{samples.width()}, std::vector<double>(static_cast<std::size_t>(samples.width()))};
  std::size_t place = 0;
  for (const ModelColumn& column : samples.features) {
    if (column.mean) means.values[place] = *column.mean;
    place += column.levels.empty() ? 1 : column.levels.size();
  }
  return means;
}

std::vector<std::string> inputs_of(const Model& model, const Work& work) {
  static const std::map<std::string, std::string> names{{"coefficients", "w"}, {"intercept", "b"}};
  std::vector<std::string> inputs;
  for (const auto& [name, array] : model.arrays) {
    if (name == "variance" || name == "share" || (name == "intercept" && array.values.size() == 1)) continue;
    const auto input = names.find(name);
    const std::string& as = input == names.end() ? name : input->second;
    inputs.push_back(fmt::format("{}={}", as, work.put(as + ".npy", array)));
  }
  return inputs;
}

// The words of the model's columns, so that the table's have the same codes.
void add_dictionary(const Samples& samples, const Work& work, std::vector<std::string>& arguments) {
  WordColumns columns;
  for (const ModelColumn& column : samples.features)
    if (!column.levels.empty()) columns[column.number] = {column.name, column.levels};
  if (columns.empty()) return;
  const std::string path = work.file(dictionary_name);
  write_text(path, dictionary_text({{"table", columns}}));
  arguments.insert(arguments.end(), {"--dictionary", path});
}

// Errors of unknown words name the model, which has the words, and what helps here.
std::string of_model(std::string messages, const std::string& dictionary, const std::string& model) {
  const auto replace = [&](const std::string& text, const std::string& by) {
    if (const std::size_t at = messages.find(text); at != std::string::npos) messages.replace(at, text.size(), by);
  };
  replace(fmt::format("the dictionary '{}'", dictionary), fmt::format("the model '{}'", model));
  replace("there: mean, 0)", "there: 0)");
  replace("or add the word at the end of its list: results computed without it know no such code",
          "or fit the model to a table that has the word");
  return messages;
}

// The model's columns have names, and the table's have none.
void tell_places(const Model& model, const Samples& samples) {
  constexpr std::size_t shown = 12;
  std::vector<ModelColumn> columns = model.features;
  const auto named = [](const ModelColumn& column) { return !column.name.empty(); };
  if (columns.empty() || !std::all_of(columns.begin(), columns.end(), named)) return;
  if (samples.features.empty() || named(samples.features[0])) return;
  std::sort(columns.begin(), columns.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  std::vector<std::string> names;
  for (const ModelColumn& column : columns)
    if (names.size() < shown) names.push_back(column.name);
  note("kasen predict: note: columns of {} are taken by their places: it has no names; the model has {}{}\n",
       samples.path, fmt::join(names, ", "), columns.size() > shown ? ", ..." : "");
}

ExitStatus predict(const po::variables_map& values) {
  if (values.count("model") == 0 || values.count("table") == 0)
    fail(ExitStatus::usage, values.count("model") == 0 ? "no model" : "no table", "", "see 'kasen predict --help'");
  const auto model_path = values["model"].as<std::string>(), path = values["table"].as<std::string>();
  const Model model = read_model(model_path);
  const ModelRow& row = require_sound(model, model_path);
  const bool chances = values.count("proba") > 0;
  if (chances && row.score != ScoreKind::chance && row.score != ScoreKind::chances)
    fail(ExitStatus::usage, "--proba", fmt::format("a {} states no chances", row.title), "leave it out");
  const auto output = values["output"].as<std::string>();
  if (output != "-") check_writable(output);
  const CellRules cells = cell_rules(values);
  if (row.name == "als") {
    refuse_cell_rules(cells, "ratings", "rows and columns of ratings have whole numbers or words");
    write_text(output, rating_predictions(model, path));
    return ExitStatus::done;
  }
  const Samples samples = samples_to_predict(path, model, cells);
  tell_places(model, samples);
  const Work work(values.count("dir") > 0 ? values["dir"].as<std::string>() : "");
  std::vector<std::string> arguments = go_arguments(samples);
  for (const std::string& input : inputs_of(model, work)) arguments.push_back(input);
  if (samples.by_means) arguments.push_back("means=" + work.put("means.npy", means_of(samples)));
  add_dictionary(samples, work, arguments);
  add_run_options(values, arguments);
  std::map<std::string, ModelArray> outputs;
  try {
    outputs = work.go(program_of(model, row, samples), arguments);
  } catch (const GoFailed& failed) {
    throw GoFailed{failed.status, of_model(failed.messages, work.file(dictionary_name), model_path)};
  }
  const std::vector<double>& scores = outputs.at("score").values;
  const auto rows = static_cast<std::size_t>(outputs.at("score").extents.at(0));
  if (!std::all_of(scores.begin(), scores.end(), [](double v) { return std::isfinite(v); })) require_finite(samples);
  write_text(output, prediction_text(model, row, outputs, chances, samples.dropped));
  if (!samples.dropped.empty())
    note("kasen predict: note: {} of {} have no prediction (NA): values are missing\n", samples.dropped.size(),
         count_text(samples.dropped.size() + rows, "row"));
  if (output != "-") note("predictions: {}\n", output);
  return ExitStatus::done;
}

}  // namespace

int predict_main(int argc, char** argv) {
  Tool tool{.info = {"kasen predict", "foretells the target of a table by a model of kasen fit",
                     "MODEL.h5 TABLE [-o OUT.csv] [--proba]", "kasen predict model.h5 people.csv -o bought.csv"}};
  tool.under("Results");
  tool.options.add_options()("output,o", po::value<std::string>()->default_value("-")->value_name("OUT.csv"),
                             "the predictions, a line for each row of the table")("proba",
                                                                                  "the chance of each class, too");
  tool.under("Cells");
  declare_cell_rules(tool);
  declare_run_options_of_models(tool);
  tool.hidden.add_options()("model", po::value<std::string>()->value_name("MODEL.h5"))(
      "table", po::value<std::string>()->value_name("TABLE"));
  tool.positional.add("model", 1).add("table", 1);
  tool.reads = {"model", "table"};
  tool.writes = {"output"};
  return run_with_steps(argc, argv, tool, predict);
}

}  // namespace kasen::tools
