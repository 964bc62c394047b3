#include "bench/driver.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace kasen::bench {
namespace {

// Collects every repetition's time by benchmark name.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      if (run.error_occurred) throw std::runtime_error(run.error_message);
      times[run.run_name.function_name].push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
    }
  }
  std::map<std::string, std::vector<double>> times;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Row make_row(const Question& question, const std::string& contestant, const std::vector<double>& seconds, int threads) {
  Row row;
  row.question = question.name;
  row.contestant = contestant;
  row.threads = threads;
  row.unit = question.unit;
  row.median = median(seconds) * question.scale;
  row.min = *std::min_element(seconds.begin(), seconds.end()) * question.scale;
  row.max = *std::max_element(seconds.begin(), seconds.end()) * question.scale;
  return row;
}

}  // namespace

std::vector<Row> measure(const Question& question, const Settings& settings) {
  benchmark::ClearRegisteredBenchmarks();
  for (const Contestant& contestant : question.contestants) {
    benchmark::RegisterBenchmark(contestant.name.c_str(),
                                 [run = contestant.run](benchmark::State& state) {
                                   for (auto _ : state) state.SetIterationTime(run());
                                 })
        ->UseManualTime()
        ->Iterations(1)
        ->Repetitions(settings.repetitions);
  }
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  std::vector<Row> rows;
  const double kasen = question.contestants.empty() ? 0 : median(collector.times.at("kasen")) * question.scale;
  for (const Contestant& contestant : question.contestants) {
    rows.push_back(make_row(question, contestant.name, collector.times.at(contestant.name), settings.threads));
    rows.back().ratio = kasen / rows.back().median;
  }
  for (const Missing& missing : question.missing) {
    Row row;
    row.question = question.name;
    row.contestant = missing.name;
    row.missing = missing.why;
    rows.push_back(row);
  }
  return rows;
}

std::string as_text(const std::vector<Row>& rows) {
  std::string text = fmt::format("{:<16} {:<15} {:>7} {:>5} {:<13} {:>9} {:>9} {:>9} {:>6}\n", "question", "contestant",
                                 "threads", "ranks", "unit", "median", "min", "max", "ratio");
  for (const Row& r : rows) {
    if (!r.missing.empty()) {
      text += fmt::format("{:<16} {:<15} missing: {}\n", r.question, r.contestant, r.missing);
      continue;
    }
    text += fmt::format("{:<16} {:<15} {:>7} {:>5} {:<13} {:>9.3f} {:>9.3f} {:>9.3f} {:>6.2f}\n", r.question,
                        r.contestant, r.threads, r.ranks, r.unit, r.median, r.min, r.max, r.ratio);
  }
  return text;
}

nlohmann::ordered_json as_json(const std::vector<Row>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& r : rows) {
    if (!r.missing.empty()) {
      list.push_back({{"question", r.question}, {"contestant", r.contestant}, {"missing", r.missing}});
      continue;
    }
    list.push_back({{"question", r.question},
                    {"contestant", r.contestant},
                    {"threads", r.threads},
                    {"ranks", r.ranks},
                    {"unit", r.unit},
                    {"median", r.median},
                    {"min", r.min},
                    {"max", r.max},
                    {"ratio", r.ratio}});
  }
  return list;
}

}  // namespace kasen::bench
