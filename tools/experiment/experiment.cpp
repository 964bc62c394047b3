#include "tools/experiment/experiment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <map>

#include "libcore/base/count_text.h"
#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "tools/common/tool.h"
#include "tools/experiment/machine_facts.h"
#include "tools/experiment/means.h"
#include "tools/experiment/settings.h"
#include "tools/experiment/steps.h"
#include "tools/experiment/summary.h"
#include "tools/options/report_format.h"
#include "tools/system/files.h"
#include "tools/system/process.h"
#include "tools/system/progress.h"
#include "tools/system/stop_request.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

volatile std::sig_atomic_t stopped_by = 0;
StopRequest stop_request;

// Ends the running step. Its row is not written, so that the same command goes on with it. A second request does not
// wait.
void on_stop(int number) {
  const StopRequest::Signal signal = stop_request.note(number);
  if (signal == StopRequest::Signal::same) return;
  signal_processes(number == SIGINT ? SIGINT : SIGTERM);
  if (signal == StopRequest::Signal::again) _exit(static_cast<int>(ExitStatus::interrupted));
  stopped_by = number;
}

void stop_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) std::signal(number, on_stop);
  handle_unless_ignored(SIGHUP, on_stop);
}

std::string time_left_text(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 90) return fmt::format("{} s", whole);
  return whole < 5400 ? fmt::format("{} min", (whole + 30) / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

// The progress: a line that is redrawn on a terminal, a line for each run elsewhere.
class Course {
 public:
  Course(int all, int ready) : all_(all), ready_(ready), first_(ready), progress_("experiment") {}

  void begin(const std::string& what) {
    constexpr int width = 24;
    const int full = all_ > 0 ? width * ready_ / all_ : width;
    std::string left;
    if (ready_ > first_) {
      const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
      left = fmt::format(", {} left", time_left_text(spent / (ready_ - first_) * (all_ - ready_)));
    }
    progress_.show(fmt::format("[{}{}] {}/{}{}  {}", std::string(static_cast<size_t>(full), '#'),
                               std::string(static_cast<size_t>(width - full), '.'), ready_, all_, left, what));
  }

  void end(const std::string& what, const std::string& result, bool failed) {
    ++ready_;
    if (isatty(STDERR_FILENO) == 1 && !failed) return;
    progress_.finish();
    if (failed)
      tell("[{}/{}] {}: {}\n", ready_, all_, what, result);
    else
      note("[{}/{}] {}: {}\n", ready_, all_, what, result);
  }

  void finish() { progress_.finish(); }
  [[nodiscard]] int ready() const { return ready_; }

 private:
  int all_, ready_, first_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  Progress progress_;
};

Json settings_json(const Point& point) {
  Json settings = Json::object();
  for (const Setting& setting : point.settings) {
    const bool number =
        setting_key(setting.key).whole && setting.text.find_first_not_of("0123456789") == std::string::npos;
    if (number) {
      settings[setting.label()] = std::stoll(setting.text);
    } else {
      settings[setting.label()] = setting.text;
    }
  }
  return settings;
}

// The seeds of generated data, and settings that the program calls a seed.
Json seeds_json(const Point& point) {
  Json seeds = Json::object();
  for (const Setting& setting : point.settings) {
    const auto flag = std::find(setting.generate.begin(), setting.generate.end(), "--seed");
    if (flag != setting.generate.end()) seeds[setting.label()] = *std::next(flag);
    if (setting.name == "seed" && setting.key != "data") seeds[setting.label()] = setting.text;
  }
  return seeds;
}

// "pagerank: program=.., sync=hybrid": the settings that all points share.
std::string fixed_settings(const Experiment& experiment, const Matrix& matrix) {
  std::vector<std::string> fixed;
  for (const Setting& setting : matrix.points.front().settings) {
    if (std::find(matrix.varied.begin(), matrix.varied.end(), setting.label()) == matrix.varied.end())
      fixed.push_back(setting.label());
  }
  return fmt::format("{}: {}\n", experiment.name, matrix.points.front().shown(fixed));
}

std::string left_out_text(const Matrix& matrix) {
  return fmt::format("{} of more ranks than workers {} left out", count_text(matrix.left_out, "point"),
                     matrix.left_out == 1 ? "is" : "are");
}

// Where the file says what a step refused: the settings of inputs, by their lines.
std::string places_text(const Point& point, const Json& fields) {
  const bool refused =
      fields.at("step") == "partition" && fields.at("exit_status") == static_cast<int>(ExitStatus::usage);
  std::string text;
  for (const Setting& setting : point.settings) {
    const SettingKey& key = setting_key(setting.key);
    if (!refused || !key.named || key.name == "data" || key.step != Step::partition || setting.place.source == nullptr)
      continue;
    text +=
        fmt::format("\n  {}:{}: {}={}", setting.place.source->file, setting.place.line, setting.label(), setting.text);
  }
  return text;
}

class Runner {
 public:
  Runner(const Experiment& experiment, const Matrix& matrix, bool stops, bool json)
      : experiment_(experiment),
        matrix_(matrix),
        stops_(stops),
        json_(json),
        rows_(experiment.folder, true),
        steps_(experiment.folder) {
    for (const Point& point : matrix.points) digests_.push_back(steps_.digest(point));
  }

  ExitStatus run() {
    tell_stale();
    std::vector<std::pair<int, size_t>> waiting;  // repetition, point
    for (int repetition = 0; repetition < experiment_.repetitions; ++repetition) {
      for (size_t i = 0; i < matrix_.points.size(); ++i) {
        const Json* row = rows_.find(digests_[i], repetition);
        if (row == nullptr || row->at("status") != "done") waiting.emplace_back(repetition, i);
      }
    }
    const int all = experiment_.repetitions * static_cast<int>(matrix_.points.size());
    Course course(all, all - static_cast<int>(waiting.size()));
    warmed_.assign(matrix_.points.size(), false);
    bool failed = false;
    for (const auto& [repetition, i] : waiting) {
      failed = !run_one(course, repetition, i) || failed;
      if (stopped_by != 0 || (failed && stops_)) break;
    }
    course.finish();
    if (stopped_by != 0) return stopped(course.ready(), all);
    return report();
  }

 private:
  ExitStatus stopped(int ready, int all) const {
    tell("kasen experiment: stopped after {} of {} runs; the same command goes on\n", ready, all);
    return stopped_by == SIGINT || stopped_by == SIGHUP ? ExitStatus::interrupted : ExitStatus::resumable;
  }

  void tell_stale() const {
    if (const int others = rows_.of_others(digests_); others > 0)
      note("kasen experiment: note: {} in {}/runs.jsonl {} of other settings, data or tools, and {} out\n",
           count_text(others, "row"), experiment_.folder, others == 1 ? "is" : "are", others == 1 ? "stays" : "stay");
    if (matrix_.left_out > 0) note("kasen experiment: note: {}\n", left_out_text(matrix_));
  }

  // False: it failed, or its check did.
  bool run_one(Course& course, int repetition, size_t i) {
    const Point& point = matrix_.points[i];
    const std::string shown = point.shown(matrix_.varied);
    const std::string what = fmt::format("{}{}repetition {}", shown, shown.empty() ? "" : ", ", repetition + 1);
    course.begin(what);
    for (int warmup = 0; warmup < experiment_.warmups && !warmed_[i]; ++warmup) {
      const bool done = steps_.run(point, "").done;
      if (stopped_by != 0) return true;
      if (!done) break;  // it will fail again, and is reported then
    }
    warmed_[i] = true;
    const Json began = utc_now();
    const std::string name = fmt::format("{}-{}", digests_[i], repetition);
    const Outcome outcome = steps_.run(point, experiment_.keeps_results ? name : "");
    if (stopped_by != 0 && !outcome.done) return true;
    Json row{{"kasen_experiment", 1},
             {"experiment", experiment_.name},
             {"setting", digests_[i]},
             {"repetition", repetition},
             {"status", outcome.done ? "done" : "failed"},
             {"time", began},
             {"host", host_},
             {"versions", versions_},
             {"settings", settings_json(point)},
             {"seeds", seeds_json(point)}};
    row.update(outcome.fields);
    rows_.append(row);
    if (!outcome.done) {
      const std::string status = fmt::format("failed (status {})", outcome.fields.at("exit_status").get<int>());
      const auto [told, first] = told_.emplace(outcome.message, course.ready() + 1);
      const std::string all = status + '\n' + outcome.message + places_text(point, outcome.fields);
      course.end(what, first ? all : fmt::format("{}, as run {}", status, told->second), true);
      return false;
    }
    const bool agrees = outcome.fields.at("agrees").get<bool>();
    course.end(what,
               fmt::format("{:.6f} s{}", outcome.fields.at("seconds").get<double>(),
                           agrees ? "" : ", predicted and counted differ"),
               !agrees);
    return agrees;
  }

  ExitStatus report() const {
    const Summary summary = summarize(experiment_, matrix_, rows_, digests_);
    for (const auto& [name, text] : summary_plots(summary)) write_text(experiment_.folder + '/' + name, text);
    write_text(experiment_.folder + "/table.csv", summary_csv(summary));
    write_means(summary);
    write_text(experiment_.folder + "/report.html",
               summary_page(summary, fixed_settings(experiment_, matrix_), rows_, digests_));
    write_standard_output(json_ ? summary_json(summary)
                                : fixed_settings(experiment_, matrix_) + '\n' + summary_table(summary) +
                                      means_table(summary));
    const bool right = std::all_of(summary.points.begin(), summary.points.end(),
                                   [](const PointSummary& s) { return s.failed == 0 && s.differing == 0; });
    return right ? ExitStatus::done : ExitStatus::check_failed;
  }

  // Those of an earlier call, which asked for some, are none of this one's.
  void write_means(const Summary& summary) const {
    const std::string path = experiment_.folder + "/means.csv";
    std::error_code none;
    if (const std::string means = means_csv(summary); !means.empty())
      write_text(path, means);
    else
      std::filesystem::remove(path, none);
  }

  const Experiment& experiment_;
  const Matrix& matrix_;
  bool stops_, json_;
  Rows rows_;
  Steps steps_;
  std::vector<std::string> digests_;
  std::vector<bool> warmed_;
  std::map<std::string, int> told_;  // the messages of failed runs, and the number of the first one
  Json host_ = host_facts(), versions_ = built_versions();
};

// Prints the points that would run, and writes nothing.
void show_matrix(const Experiment& experiment, const Matrix& matrix) {
  std::string text = fmt::format("{}, {}, into {}\n", count_text(matrix.points.size(), "point"),
                                 count_text(experiment.repetitions, "repetition"), experiment.folder) +
                     fixed_settings(experiment, matrix);
  if (matrix.left_out > 0) text += left_out_text(matrix) + "\n";
  for (const Point& point : matrix.points) {
    if (const std::string shown = point.shown(matrix.varied); !shown.empty()) text += shown + '\n';
  }
  write_standard_output(text);
}

void declare_experiment(Tool& tool) {
  tool.options.add_options()("dir,o", po::value<std::string>()->value_name("FOLDER"),
                             "the output folder (default: the file's `dir`, or its name and .experiment)")(
      "set", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
      "replaces a setting of the file; KEY.NAME=VALUE for one of several; the value in YAML: workers=[1,2]")(
      "define,D", po::value<std::vector<std::string>>()->value_name("NAME=VALUE"),
      "sets a constant or a param, as in kasen go: in place of the file's define and param of that name")(
      "dry-run", "shows the matrix; runs and writes nothing")(
      "stop", "ends with the first run that fails (else: goes on, and ends with status 1)");
  declare_report_format(tool, "of the table on standard output: text or json");
  tool.hidden.add_options()("file", po::value<std::string>()->value_name("FILE.yaml"));
  tool.positional.add("file", 1);
  tool.reads = {"file"};
}

ExitStatus run_experiment(const po::variables_map& values) {
  if (values.count("file") == 0)
    fail(ExitStatus::usage, "no experiment", "", "name a YAML file; see docs/experiments.md");
  Experiment experiment =
      read_experiment(values["file"].as<std::string>(), texts_of(values, "set"), texts_of(values, "define"));
  if (values.count("dir") > 0) experiment.folder = values["dir"].as<std::string>();
  const Matrix matrix = matrix_of(experiment);
  if (matrix.points.empty())
    fail(ExitStatus::configuration, "the matrix has no point", "every point has more ranks than workers",
         "name fewer ranks or more workers");
  check_settings(matrix);
  if (values.count("dry-run") > 0) {
    if (reports_json(values))
      write_standard_output(matrix_json(experiment, matrix));
    else
      show_matrix(experiment, matrix);
    return ExitStatus::done;
  }
  std::error_code fault;
  std::filesystem::create_directories(experiment.folder, fault);
  if (fault)
    fail_on_disk(ExitStatus::cannot_create, fmt::format("cannot make the folder '{}'", experiment.folder),
                 fault.value(), experiment.folder, "choose another with -o");
  stop_on_signals();
  return Runner(experiment, matrix, values.count("stop") > 0, reports_json(values)).run();
}

}  // namespace

int experiment_main(int argc, char** argv) {
  Tool tool{.info = {"kasen experiment", "runs a matrix of settings, each several times, and reports the results",
                     "FILE.yaml [-o FOLDER] [--set KEY=VALUE]... [--dry-run]",
                     "kasen experiment configs/pagerank.yaml"}};
  declare_experiment(tool);
  return run_tool(argc, argv, tool, run_experiment);
}

}  // namespace kasen::tools
