// kasen-bench [QUESTION...] [--threads T] [--repetitions R] [--graph FILE] [--json FILE]
#include <benchmark/benchmark.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
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

const std::map<std::string, kasen::bench::Questions (*)(const Settings&)> questions{
    {"aggregates", one<kasen::bench::aggregates_question>},
    {"als", kasen::bench::als_questions},
    {"balance", kasen::bench::balance_questions},
    {"black-scholes", one<kasen::bench::blackscholes_question>},
    {"chain", one<kasen::bench::chain_question>},
    {"compressed", kasen::bench::compressed_questions},
    {"dense", kasen::bench::dense_questions},
    {"end-to-end", kasen::bench::endtoend_questions},
    {"exchange", one<kasen::bench::exchange_question>},
    {"fits", kasen::bench::fits_questions},
    {"gains", kasen::bench::gains_questions},
    {"kmeans", kasen::bench::kmeans_questions},
    {"logistic", one<kasen::bench::logistic_question>},
    {"mxm", one<kasen::bench::mxm_question>},
    {"outer", one<kasen::bench::outer_question>},
    {"pagerank", kasen::bench::pagerank_questions},
    {"pagerank-ranks", kasen::bench::pagerank_ranks_questions},
    {"rank-region", one<kasen::bench::region_question>},
    {"rows", kasen::bench::rows_questions},
    {"semirings", one<kasen::bench::semirings_question>},
    {"small", kasen::bench::small_questions},
    {"sum3", one<kasen::bench::sum3_question>},
    {"update", one<kasen::bench::update_question>},
    {"xtxb", one<kasen::bench::xtxb_question>},
    {"xtxv", one<kasen::bench::xtxv_question>},
};

// Whole processes beside their limits, not contestants of one another.
const std::string tools_question = "tools";

std::string question_names() {
  std::string names;
  for (const auto& [name, make] : questions) names += name + ", ";
  return names + tools_question;
}

void start_benchmark_library() {
  std::vector<std::string> words{"kasen-bench", "--benchmark_enable_random_interleaving=true"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  auto argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
}

int run(const po::variables_map& options) {
  Settings settings;
  settings.threads = options["threads"].as<int>();
  settings.repetitions = options["repetitions"].as<int>();
  settings.graph = options["graph"].as<std::string>();
  std::set<std::string> wanted;
  if (options.count("question") != 0) {
    for (const auto& name : options["question"].as<std::vector<std::string>>()) wanted.insert(name);
  }
  for (const std::string& name : wanted) {
    if (questions.count(name) == 0 && name != tools_question) {
      std::fprintf(stderr, "kasen-bench: no question '%s'; there are %s\n", name.c_str(), question_names().c_str());
      return static_cast<int>(kasen::ExitStatus::usage);
    }
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [name, make] : questions) {  // one after another: each may fill the memory
    if (!wanted.empty() && wanted.count(name) == 0) continue;
    for (const auto& question : make(settings)) {
      const auto rows = kasen::bench::measure(question(), settings);
      std::fputs(kasen::bench::as_text(rows).c_str(), stdout);
      std::fflush(stdout);
      for (auto& row : kasen::bench::as_json(rows)) list.push_back(std::move(row));
    }
  }
  if (wanted.empty() || wanted.count(tools_question) != 0) {
    const auto times = kasen::bench::tool_times(settings.repetitions);
    std::fputs(tool_times_text(times).c_str(), stdout);
    for (auto& row : tool_times_json(times)) list.push_back(std::move(row));
  }
  if (options.count("json") != 0) {
    std::ofstream file(options["json"].as<std::string>());
    file << list.dump(2) << '\n';
    if (!file.flush()) {
      std::fprintf(stderr, "kasen-bench: cannot write %s\n", options["json"].as<std::string>().c_str());
      return static_cast<int>(kasen::ExitStatus::cannot_create);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description description("kasen-bench [QUESTION...]");
  description.add_options()("help", "this text")("threads", po::value<int>()->default_value(2), "of each contestant")(
      "repetitions", po::value<int>()->default_value(15), "measurements of each contestant")(
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
                   "Usage: kasen-bench [QUESTION...] [--threads T] [--repetitions R] [--graph FILE] [--json FILE]\n");
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
