// What a turn costs beside its work: chain.ks over a thousand elements against NumPy, and over eight, which is the
// executor's own time for a loop of one region.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bench/driver.h"
#include "bench/kasen_run.h"
#include "bench/numbers.h"
#include "bench/peer.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t iterations = 5000;

struct Chained {
  double total = 0, seconds = 0;
};

std::function<Chained()> kasen(std::int64_t elements, int threads) {
  std::vector<double> x, y;
  for (std::int64_t i = 0; i < elements; ++i) {
    x.push_back(uniform(51, static_cast<std::uint64_t>(i)));
    y.push_back(uniform(52, static_cast<std::uint64_t>(i)));
  }
  auto run =
      std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/bench/chain/chain.ks",
                                 vectors_on_one_part({{"x", &x}, {"y0", &y}}), KernelOptions{.threads = threads});
  return [run] {
    const RunResult& result = run->run({{"a", {Word::real(2)}}, {"passes", {Word::integer(iterations)}}});
    return Chained{result.outputs.at(1).parts.at(0).data.as<double>()[0], run->seconds_per_iteration()};
  };
}

Question question(std::int64_t elements, int threads) {
  Question made{fmt::format("small-{}", elements), "us/iteration", 1e6, {}, {}};
  const auto ours = kasen(elements, threads);
  made.contestants.push_back({"kasen", [ours] { return ours().seconds; }});
  const auto peer =
      python_peer("small/numpy_chain.py", {std::to_string(elements), std::to_string(iterations)}, threads);
  const double expected = peer->measure().at(1), got = ours().total;
  if (!(std::fabs(got - expected) <= 1e-9 * std::fabs(expected))) {
    throw std::runtime_error(fmt::format("{}: the total is {}, not {}", made.name, got, expected));
  }
  made.contestants.push_back({"numpy", [peer] { return peer->measure().at(0); }});
  return made;
}

}  // namespace

Questions small_questions(const Settings& settings) {
  return {[=] { return question(8, settings.threads); }, [=] { return question(1000, settings.threads); }};
}

}  // namespace kasen::bench
