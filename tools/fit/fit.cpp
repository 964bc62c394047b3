#include "tools/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "libcomm/data/model/model.h"
#include "libcore/base/count_text.h"
#include "libcore/base/error.h"
#include "tools/common/choice.h"
#include "tools/common/tool.h"
#include "tools/fit/models.h"
#include "tools/fit/program.h"
#include "tools/fit/ratings.h"
#include "tools/fit/report.h"
#include "tools/fit/run_options.h"
#include "tools/fit/samples.h"
#include "tools/fit/table_reads.h"
#include "tools/fit/work.h"
#include "tools/options/report_format.h"
#include "tools/options/words.h"
#include "tools/system/files.h"
#include "tools/system/replace.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

constexpr std::array<std::pair<std::string_view, SampleForm>, 3> sample_words{
    {{"auto", SampleForm::automatic}, {"dense", SampleForm::dense}, {"sparse", SampleForm::sparse}}};

using Outputs = std::map<std::string, ModelArray>;

SampleChoice choice_of(const po::variables_map& values) {
  SampleChoice choice;
  choice.form = choose(values, "samples", sample_words);
  choice.cells = cell_rules(values);
  if (values.count("target") > 0) choice.target = values["target"].as<std::string>();
  with_value("columns", [&] {
    if (values.count("columns") > 0) choice.columns = parse_columns(values["columns"].as<std::string>());
  });
  with_value("words", [&] {
    if (values.count("words") > 0) choice.words = parse_columns(values["words"].as<std::string>());
  });
  return choice;
}

// Ratings are lines of row, column and rating, or a matrix; their program reads the file as it is.
Samples ratings_of(const std::string& path, const ModelRow& row, const SampleChoice& choice) {
  if (!choice.target.empty())
    fail(ExitStatus::usage, "--target for als", "ratings are lines of row, column and rating",
         "leave it out, or choose the three columns: --columns");
  return ratings_samples(path, row, choice);
}

std::string command_text(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) {
    const bool plain = argument.find_first_of(" '\"$*?;&|<>()\\") == std::string::npos;
    std::string inside = argument;
    for (std::size_t at = inside.find('\''); at != std::string::npos; at = inside.find('\'', at + 4))
      inside.replace(at, 1, "'\\''");
    text += plain ? " " + argument : fmt::format(" '{}'", inside);
  }
  return text;
}

void put(Model& model, const Outputs& outputs, const std::string& output, const std::string& name) {
  ModelArray array = outputs.at(output);
  if (array.extents.empty()) array.extents = {1};
  model.arrays.emplace(name, std::move(array));
}

Model model_of(const ModelRow& row, Samples samples, const Outputs& outputs) {
  Model model;
  model.kind = row.name;
  model.table = samples.form == TableForm::csv ? "csv" : samples.form == TableForm::npy ? "npy" : "libsvm";
  model.table_columns = samples.columns;
  model.sparse = samples.sparse;
  model.marks = samples.cells.missing.marks;
  model.features = samples.features;
  model.target = std::move(samples.target);
  model.classes = std::move(samples.classes);
  model.left_out = std::move(samples.left_out);
  for (const auto& [name, array] : outputs)
    if (array.values.size() == 1 && name != "b") model.facts[name] = array.values[0];
  if (row.name == "als") {
    for (const std::string name : {"U", "V"}) put(model, outputs, name, name);
    for (const std::string name : {"N_ids", "M_ids"}) {
      if (outputs.count(name) == 0) continue;
      put(model, outputs, name, name);
      model.arrays[name].values.clear();  // which are not exact
    }
  } else if (row.name == "kmeans") {
    put(model, outputs, "centres", "centres");
  } else if (row.name == "pca") {
    for (const std::string name : {"components", "variance", "share", "centre"}) put(model, outputs, name, name);
  } else {
    put(model, outputs, "w", "coefficients");
    put(model, outputs, "b", "intercept");
  }
  if (model.table == "libsvm" && row.name != "als") {
    const std::string widest = row.name == "kmeans" ? "centres" : row.name == "pca" ? "components" : "coefficients";
    const ModelArray& array = model.arrays.at(widest);
    const std::int64_t width = array.extents[row.name == "kmeans" ? 1 : 0];
    for (std::int64_t k = 1; k <= width; ++k) model.features.push_back({static_cast<int>(k), "", {}});
  }
  leave_out_unused(model, samples);
  return model;
}

bool is_finite(const Model& model) {
  for (const auto& [name, array] : model.arrays)
    if (!std::all_of(array.values.begin(), array.values.end(), [](double v) { return std::isfinite(v); })) return false;
  return true;
}

// A target that the model cannot have had.
void require_amounts(const Model& model, const ModelRow& row, const std::string& path) {
  const auto lowest = model.facts.find("lowest");
  if (row.target != TargetKind::amount || lowest == model.facts.end()) return;
  const bool above = row.name == "exponential";
  if (lowest->second > 0 || (lowest->second == 0 && !above)) return;
  if (std::isnan(lowest->second)) return;
  fail(ExitStatus::bad_input, fmt::format("the target '{}' has {}", shown_column(model.target[0]), lowest->second),
       fmt::format("a {} foretells numbers {} 0", row.title, above ? "above" : "from"), "leave such rows out", {path});
}

void tell_end(const Model& model, const ModelProgram& program) {
  const auto iterations = model.facts.find("iterations");
  const double most = program.value("steps");
  if (iterations == model.facts.end() || most <= 0 || iterations->second < most) return;
  note("kasen fit: note: its {} iterations are over and it may not be at its end; add --param steps={}\n", most,
       10 * most);
}

void tell_empty(const Model& model, const ModelProgram& program) {
  const auto empty = model.facts.find("empty");
  if (empty == model.facts.end() || !(empty->second > 0)) return;
  note("kasen fit: note: {} of {} centres have no rows, as where fewer rows differ; add --param k={}\n", empty->second,
       program.value("k"), program.value("k") - empty->second);
}

void require_some(const Model& model, const ModelRow& row, const ModelProgram& program, const std::string& path) {
  const auto rows = model.facts.find("rows");
  if (row.name != "kmeans" || rows == model.facts.end() || rows->second >= program.value("k")) return;
  fail(ExitStatus::usage,
       fmt::format("--param k={} for {}", program.value("k"),
                   count_text(static_cast<std::int64_t>(rows->second), "row")),
       "each centre begins at a row of its own", "take fewer", {path});
}

// LIBSVM has as many features as the run has found.
void require_directions(const Model& model, const ModelRow& row, const std::string& path) {
  if (row.name != "pca") return;
  const std::vector<std::int64_t>& extents = model.arrays.at("components").extents;
  if (extents[1] <= extents[0]) return;
  fail(ExitStatus::usage, fmt::format("--param components={}", extents[1]),
       fmt::format("the table has {}", count_text(static_cast<std::size_t>(extents[0]), "feature")),
       "take 1 to as many", {path});
}

void check_components(const ModelRow& row, const Samples& samples, const ModelProgram& program) {
  const auto width = samples.width();
  if (row.name != "pca" || width == 0) return;
  if (program.value("components") >= 1 && program.value("components") <= static_cast<double>(width)) return;
  fail(ExitStatus::usage, fmt::format("--param components={}", program.value("components")),
       fmt::format("the table has {}", count_text(width, "feature")), "take 1 to as many");
}

FitSettings settings_of(const po::variables_map& values, const ModelRow& row) {
  FitSettings settings;
  settings.params = name_values(values, "param");
  settings.intercept = values.count("no-intercept") == 0;
  if (!settings.intercept && !row.has_target())
    fail(ExitStatus::usage, "--no-intercept", fmt::format("{} has no intercept", row.name), "leave it out");
  return settings;
}

// A run that failed within the program may have met a NaN; then the table's cell is what is wrong.
Outputs outputs_of(const Work& work, const std::string& program, const std::vector<std::string>& arguments,
                   const Samples& samples) {
  try {
    return work.go(program, arguments);
  } catch (const GoFailed& failed) {
    if (failed.messages.find("program.ks:") != std::string::npos) require_finite(samples);
    throw;
  }
}

ExitStatus fit(const po::variables_map& values) {
  if (values.count("model") == 0 || values.count("table") == 0)
    fail(ExitStatus::usage, values.count("model") == 0 ? "no model" : "no table", "", "see 'kasen fit --help'");
  const ModelRow& row = find_model(values["model"].as<std::string>());
  const std::string path = values["table"].as<std::string>();
  const FitSettings settings = settings_of(values, row);
  const SampleChoice choice = choice_of(values);
  const Samples samples = row.name == "als" ? ratings_of(path, row, choice) : samples_to_fit(path, row, choice);
  ModelProgram program(fitting_program(row, samples, settings));
  check_components(row, samples, program);
  const std::vector<std::string> data = row.name == "als" ? ratings_arguments(samples) : go_arguments(samples);
  const bool numbered = row.name == "als" && has_words(samples);
  const std::string text = program.text(fmt::format(
      "# A {} that kasen fit has made. It runs by\n#   kasen go PROGRAM.ks{}\n{}", row.title, command_text(data),
      numbered
          ? fmt::format("# where {} has numbers in place of words: kasen fit --dir DIR makes it\n", numbered_ratings)
          : ""));
  const bool json = reports_json(values);
  if (values.count("show-program") > 0) {
    if (json) fail(ExitStatus::usage, "--format json with --show-program", "a program is no report", "leave one out");
    write_standard_output(text);
    return ExitStatus::done;
  }
  if (values.count("output") == 0) fail(ExitStatus::usage, "no file for the model", "", "name it: -o model.h5");
  const auto output = values["output"].as<std::string>();
  check_writable(output);
  require_replaceable(output, is_our_hdf5);
  std::vector<std::string> arguments = data;
  add_run_options(values, arguments);
  const Work work(values.count("dir") > 0 ? values["dir"].as<std::string>() : "");
  if (numbered) {
    arguments[0] = "X=" + work.file(numbered_ratings);
    write_text(work.file(numbered_ratings), numbered_text(samples));
  }
  Model model = model_of(row, samples, outputs_of(work, text, arguments, samples));
  require_amounts(model, row, path);
  if (!is_finite(model)) {
    require_finite(samples);
    fail(ExitStatus::check_failed, "the model has no finite solution",
         "the numbers of the table, or the steps, are too large", "scale the columns, or add --param lambda=1", {path});
  }
  require_some(model, row, program, path);
  require_directions(model, row, path);
  write_model(output, model);
  const int top = bounded(values, "top", 1, most_top);
  if (json)
    write_standard_output(fit_document(model, row, path, top, output));
  else if (!quiet())
    write_standard_output(report_of(model, row, path, top));
  if (!samples.dropped.empty())
    note("kasen fit: note: {} left out: values are missing\n", count_text(samples.dropped.size(), "row"));
  tell_empty(model, program);
  tell_end(model, program);
  note("model: {}\n", output);
  return ExitStatus::done;
}

}  // namespace

int fit_main(int argc, char** argv) {
  Tool tool{.info = {"kasen fit", "fits a model to a table, by a program of its own",
                     "MODEL TABLE [--target COLUMN] -o MODEL.h5 [--param NAME=VALUE]...",
                     "kasen fit logistic people.csv --target bought -o model.h5"}};
  tool.under("Model and table");
  tool.options.add_options()("target,t", po::value<std::string>()->value_name("COLUMN"),
                             "what the model foretells: a column's name or number, or a .npy file beside one")(
      "columns", po::value<std::string>()->value_name("COLS"),
      "the features: names, numbers, ranges (default: all others)")(
      "words", po::value<std::string>()->value_name("COLS"), "columns of words that look like numbers")(
      "param", po::value<std::vector<std::string>>()->value_name("NAME=VALUE"),
      "sets a param: lambda, share, k, components, factors, steps, ...")("no-intercept", "fits through 0")(
      "samples", po::value<std::string>()->default_value("auto")->value_name("auto|dense|sparse"),
      "how LIBSVM's features are held; auto: dense up to 512");
  takes(tool, "samples", sample_words);
  tool.under("Cells");
  declare_cell_rules(tool);
  declare_run_options_of_models(tool);
  tool.under("Results");
  tool.options.add_options()("output,o", po::value<std::string>()->value_name("MODEL.h5"), "the model")(
      "show-program", "prints the program instead, which kasen go runs")(
      "top", po::value<int>()->default_value(20)->value_name("K"), "tells the K largest coefficients");
  declare_report_format(tool);
  tool.hidden.add_options()("model", po::value<std::string>()->value_name("MODEL"))(
      "table", po::value<std::string>()->value_name("TABLE"));
  tool.words["model"] = model_names();
  tool.positional.add("model", 1).add("table", 1);
  tool.reads = {"table"};
  tool.writes = {"output"};
  return run_with_steps(argc, argv, tool, fit);
}

}  // namespace kasen::tools
