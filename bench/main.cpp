// kasen-bench [QUESTION...] [--threads T] [--repetitions R] [--minutes M] [--graph FILE] [--json FILE]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/driver.h"
#include "bench/tools/tools.h"
#include "libcore/base/error.h"

namespace {

namespace po = boost::program_options;
using kasen::bench::Question;
using kasen::bench::Settings;

template <Question (*make)(const Settings&)>
kasen::bench::Questions one(const Settings& settings) {
  return {[=] { return make(settings); }};
}

// How often each contestant is measured without --repetitions: those that take seconds less often.
struct Topic {
  kasen::bench::Questions (*make)(const Settings&);
  int repetitions = 7;
};

// The order in which they are asked: what --minutes cuts off stands last.
const std::vector<std::pair<std::string, Topic>> topics{
    {"pagerank", {kasen::bench::pagerank_questions, 5}},
    {"kmeans", {kasen::bench::kmeans_questions, 5}},
    {"logistic", {one<kasen::bench::logistic_question>}},
    {"fits", {kasen::bench::fits_questions, 3}},
    {"end-to-end", {kasen::bench::endtoend_questions, 3}},
    {"gains", {kasen::bench::gains_questions, 3}},
    {"black-scholes", {one<kasen::bench::blackscholes_question>, 3}},
    {"xtxv", {one<kasen::bench::xtxv_question>}},
    {"xtxb", {one<kasen::bench::xtxb_question>}},
    {"predicted", {kasen::bench::predicted_questions, 3}},
    {"rows", {kasen::bench::rows_questions, 3}},
    {"sum3", {one<kasen::bench::sum3_question>}},
    {"rank-region", {one<kasen::bench::region_question>}},
    {"dense", {kasen::bench::dense_questions}},
    {"products", {kasen::bench::products_questions, 5}},
    {"small", {kasen::bench::small_questions}},
    {"semirings", {one<kasen::bench::semirings_question>}},
    {"mxm", {one<kasen::bench::mxm_question>}},
    {"chain", {one<kasen::bench::chain_question>}},
    {"update", {one<kasen::bench::update_question>}},
    {"exchange", {one<kasen::bench::exchange_question>}},
    {"distributed", {one<kasen::bench::distributed_question>}},
    {"pagerank-ranks", {kasen::bench::pagerank_ranks_questions}},
    {"aggregates", {one<kasen::bench::aggregates_question>, 5}},
    {"outer", {one<kasen::bench::outer_question>, 3}},
    {"compressed", {kasen::bench::compressed_questions, 3}},
    {"als", {kasen::bench::als_questions, 3}},
    {"balance", {kasen::bench::balance_questions, 3}},
    {"applications", {kasen::bench::applications_questions, 3}},
    {"more-applications", {kasen::bench::more_applications_questions, 3}},
};

bool is_topic(const std::string& name) {
  return std::any_of(topics.begin(), topics.end(), [&](const auto& topic) { return topic.first == name; });
}

// Whole processes beside their limits, not contestants of one another.
const std::string tools_question = "tools";
constexpr int tools_repetitions = 2;

std::string question_names() {
  std::string names;
  for (const auto& [name, topic] : topics) names += name + ", ";
  return names + tools_question;
}

void start_benchmark_library() {
  std::vector<std::string> words{"kasen-bench", "--benchmark_enable_random_interleaving=true"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  auto argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
}

// The rows of the run, printed as they are made.
class Rows {
 public:
  Rows(Settings settings, int repetitions, double minutes)
      : settings_(std::move(settings)),
        repetitions_(repetitions),
        end_(std::chrono::steady_clock::now() + std::chrono::duration<double, std::ratio<60>>(minutes)) {}

  // A question that fails gets a row that says why; the others are asked all the same.
  void ask(const std::string& name, const Topic& topic) {
    Settings settings = settings_;
    settings.repetitions = repetitions_ > 0 ? repetitions_ : topic.repetitions;
    for (const auto& question : topic.make(settings)) {  // one after another: each may fill the memory
      try {
        require_time();
        const auto rows = kasen::bench::measure(question(), settings);
        std::fputs(kasen::bench::as_text(rows).c_str(), stdout);
        for (auto& row : kasen::bench::as_json(rows)) list_.push_back(std::move(row));
      } catch (const std::runtime_error& why) {
        failed(name, why.what());
      }
      std::fflush(stdout);
    }
  }
  void ask_tools() {
    try {
      require_time();
      const auto times = kasen::bench::tool_times(repetitions_ > 0 ? repetitions_ : tools_repetitions);
      std::fputs(tool_times_text(times).c_str(), stdout);
      for (auto& row : tool_times_json(times)) list_.push_back(std::move(row));
    } catch (const std::runtime_error& why) {
      failed(tools_question, why.what());
    }
  }

  [[nodiscard]] bool complete() const { return complete_; }
  // An object: the machine, and the rows, one a line.
  [[nodiscard]] std::string json(const kasen::bench::BenchMachine& machine) const {
    std::string text = "{\n\"machine\": " + kasen::bench::as_json(machine).dump() + ",\n\"rows\": [";
    for (size_t r = 0; r < list_.size(); ++r) text += (r == 0 ? "\n" : ",\n") + list_[r].dump();
    return text + "\n]\n}\n";
  }

 private:
  void require_time() const {
    if (std::chrono::steady_clock::now() > end_) throw std::runtime_error("not asked: the minutes are over");
  }

  void failed(const std::string& question, const std::string& why) {
    complete_ = false;
    list_.push_back({{"question", question}, {"failed", why}});
    std::fprintf(stderr, "kasen-bench: %s: %s\n", question.c_str(), why.c_str());
  }

  Settings settings_;
  int repetitions_;
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
  bool complete_ = true;
  std::vector<nlohmann::ordered_json> list_;
};

std::set<std::string> wanted_questions(const po::variables_map& options) {
  std::set<std::string> wanted;
  if (options.count("question") == 0) {
    for (const auto& [name, topic] : topics) wanted.insert(name);
    wanted.insert(tools_question);
    return wanted;
  }
  for (const auto& name : options["question"].as<std::vector<std::string>>()) {
    if (!is_topic(name) && name != tools_question)
      kasen::fail(kasen::ExitStatus::usage, "no question '" + name + "'", "there are " + question_names());
    wanted.insert(name);
  }
  return wanted;
}

int run(const po::variables_map& options) {
  const std::set<std::string> wanted = wanted_questions(options);
  Settings settings;
  settings.threads = options["threads"].as<int>();
  settings.graph = options["graph"].as<std::string>();
  const auto machine = kasen::bench::measure_machine(settings.threads);
  std::fputs(kasen::bench::as_text(machine).c_str(), stdout);
  Rows rows(settings, options["repetitions"].as<int>(), options["minutes"].as<double>());
  for (const auto& [name, topic] : topics) {
    if (wanted.count(name) != 0) rows.ask(name, topic);
  }
  if (wanted.count(tools_question) != 0) rows.ask_tools();
  if (options.count("json") != 0) {
    std::ofstream file(options["json"].as<std::string>());
    file << rows.json(machine);
    if (!file.flush())
      kasen::fail(kasen::ExitStatus::cannot_create, "cannot write " + options["json"].as<std::string>());
  }
  return static_cast<int>(rows.complete() ? kasen::ExitStatus::done : kasen::ExitStatus::check_failed);
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description description("kasen-bench [QUESTION...]");
  description.add_options()("help", "this text")("threads", po::value<int>()->default_value(2), "of each contestant")(
      "repetitions", po::value<int>()->default_value(0),
      "measurements of each contestant (0: as many as its question needs)")(
      "minutes", po::value<double>()->default_value(1e6, "no limit"), "ask no question after so many")(
      "graph", po::value<std::string>()->default_value(KASEN_SOURCE_ROOT "/datasets/cnr-2000.txt.xz"),
      "edge list of the pagerank question")("json", po::value<std::string>(), "also write the rows to this file")(
      "question", po::value<std::vector<std::string>>(), (question_names() + " (all if none is named)").c_str());
  po::positional_options_description positions;
  positions.add("question", -1);
  try {
    po::variables_map options;
    po::store(po::command_line_parser(argc, argv).options(description).positional(positions).run(), options);
    po::notify(options);
    if (options.count("help") != 0) {
      std::fprintf(stdout,
                   "Usage: kasen-bench [QUESTION...] [--threads T] [--repetitions R] [--minutes M] [--graph FILE] "
                   "[--json FILE]\n");
      return 0;
    }
    start_benchmark_library();
    return run(options);
  } catch (const po::error& e) {
    std::fprintf(stderr, "kasen-bench: %s\n", e.what());
    return static_cast<int>(kasen::ExitStatus::usage);
  } catch (const kasen::UserError& e) {
    std::fprintf(stderr, "kasen-bench: %s\n", e.what());
    return static_cast<int>(e.status());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kasen-bench: %s\n", e.what());
    return static_cast<int>(kasen::ExitStatus::check_failed);
  }
}
