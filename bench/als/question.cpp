// A round of weighted ALS-CG (examples/als.ks) in proportion to the ratings that there are: over fixed users and items
// more and more ratings, then the line through the times, what a rating takes and what is there without ratings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <vector>

#include "bench/als/ratings.h"
#include "bench/driver.h"
#include "bench/kasen_run.h"
#include "bench/peer.h"

namespace kasen::bench {
namespace {

// Of a round: every one takes as many steps, so that sizes differ by their ratings alone.
constexpr std::int64_t rounds = 3, inner_steps = 5, factors = 20;

struct Line {
  double each = 0, fixed = 0;  // seconds
};

// The seconds of a round by ratings, of one contestant: a list of measurements for each size.
class Series {
 public:
  void add(std::int64_t ratings, double seconds) { times_[ratings].push_back(seconds); }

  // Through the least of each size, by least squares of relative errors: what else a machine does only adds.
  [[nodiscard]] Line line() const {
    double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
    for (const auto& [ratings, seconds] : times_) {
      const double x = static_cast<double>(ratings), y = least(seconds), weight = 1 / (y * y);
      w += weight;
      wx += weight * x;
      wxx += weight * x * x;
      wy += weight * y;
      wxy += weight * x * y;
    }
    const double each = (w * wxy - wx * wy) / (w * wxx - wx * wx);
    return {each, (wy - each * wx) / w};
  }

  // How far from the line the furthest of them is, as a part of it.
  [[nodiscard]] double off_line() const {
    const Line fit = line();
    double most = 0;
    for (const auto& [ratings, seconds] : times_) {
      const double on_line = fit.fixed + fit.each * static_cast<double>(ratings);
      most = std::max(most, std::fabs(least(seconds) / on_line - 1));
    }
    return most;
  }

 private:
  static double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

  std::map<std::int64_t, std::vector<double>> times_;
};

using SeriesByContestant = std::shared_ptr<std::map<std::string, Series>>;

double loss_of(const RunResult& result) {
  for (const Output& output : result.outputs) {
    if (output.name == "loss") return output.parts.at(0).data.as<double>()[0];
  }
  throw std::runtime_error("no output loss");
}

// A round's seconds and the loss after the last one; kernels are made before the first.
std::function<std::pair<double, double>()> kasen_rounds(const Parts& parts, const Settings& settings) {
  OptimizeOptions options;
  options.sizes = [parts](const Module& module) { return sizes_from_parts(module, *parts); };
  const auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/examples/als.ks", parts,
                                              KernelOptions{.threads = settings.threads}, options);
  return [run] {
    const RunResult& result = run->run({{"rounds", {Word::integer(rounds)}},
                                        {"tolerance", {Word::real(-1)}},
                                        {"inner_steps", {Word::integer(inner_steps)}},
                                        {"inner_tolerance", {Word::real(0)}}});
    return std::pair{run->seconds_per_iteration(), loss_of(result)};
  };
}

Question ratings_question(const Ratings& ratings, const SeriesByContestant& series, const Settings& settings) {
  SparseInput x = read_ratings(ratings);
  const std::int64_t count = std::ssize(x.rows);
  Question made{fmt::format("als-{}-{}k", ratings.name, ratings.wanted / 1000), "ms/round", 1e3, {}, {}};
  const auto add = [&](const std::string& name, const std::function<double()>& seconds) {
    made.contestants.push_back({name, [=] {
                                  const double taken = seconds();
                                  (*series)[name].add(count, taken);
                                  return taken;
                                }});
  };
  const auto ours = kasen_rounds(partitioned(std::move(x), {}, 1, {{"K", factors}}), settings);
  add("kasen", [ours] { return ours().first; });
  const auto peer = python_peer("als/als.py",
                                {ratings.file, std::to_string(ratings.wanted), std::to_string(made_users),
                                 std::to_string(made_items), std::to_string(rounds), std::to_string(inner_steps)},
                                settings.threads);
  if (!peer->missing().empty()) {
    made.missing.push_back({"scipy", peer->missing()});
    return made;
  }
  const double loss = ours().second, theirs = peer->measure().at(1);
  if (!(std::fabs(loss - theirs) <= 1e-9 * std::fabs(theirs))) {
    throw std::runtime_error(fmt::format("{}: the loss is {}, not {}", made.name, loss, theirs));
  }
  add("scipy", [peer] { return peer->measure().at(0); });
  return made;
}

// Of what the questions before it have measured.
Question line_question(const std::string& name, const std::string& unit, double scale, const SeriesByContestant& series,
                       double (*value)(const Series&)) {
  Question made{name, unit, scale, {}, {}};
  for (const auto& [contestant, times] : *series) {
    made.contestants.push_back({contestant, [times, value] { return value(times); }});
  }
  return made;
}

void add_series(Questions& questions, const std::string& name, const std::string& file,
                const std::vector<std::int64_t>& sizes, const Settings& settings) {
  const auto series = std::make_shared<std::map<std::string, Series>>();
  for (const std::int64_t wanted : sizes) {
    questions.push_back([=] { return ratings_question({name, file, wanted}, series, settings); });
  }
  const std::string title = "als-" + name;
  questions.push_back([=] {
    return line_question(title + "-each", "ns/rating", 1e9, series, [](const Series& s) { return s.line().each; });
  });
  questions.push_back([=] {
    return line_question(title + "-fixed", "ms/round", 1e3, series, [](const Series& s) { return s.line().fixed; });
  });
  questions.push_back([=] {
    return line_question(title + "-off", "% off line", 1e2, series, [](const Series& s) { return s.off_line(); });
  });
}

Question without_movielens() {
  Question made{"als-ml", "ms/round", 1e3, {}, {}};
  made.missing.push_back({"kasen", "KASEN_DATA is not set: the folder of MovieLens' ml-100k.u.data.xz"});
  return made;
}

}  // namespace

Questions als_questions(const Settings& settings) {
  Questions made;
  if (const char* folder = std::getenv("KASEN_DATA"); folder != nullptr) {
    add_series(made, "ml", fmt::format("{}/ml-100k.u.data.xz", folder), {25'000, 50'000, 100'000}, settings);
  } else {
    made.emplace_back(without_movielens);
  }
  add_series(made, "made", "", {250'000, 1'000'000, 4'000'000}, settings);
  return made;
}

}  // namespace kasen::bench
