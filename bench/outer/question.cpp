// sum(X * log(U V' + eps)): what meets the stored entries of X alone, in proportion to them, and what makes all pairs.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bench/driver.h"
#include "bench/kasen_run.h"
#include "bench/numbers.h"
#include "bench/peer.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t rows = 8192, cols = 8192, rank = 100, passes = 6;

// A cell is stored if its number is below the density; entries are 1 to 2.
Parts sparse_cells(double density) {
  SparseInput x{"X", "N", "M", rows, cols, {}, {}, {}};
  for (std::int64_t cell = 0; cell < rows * cols; ++cell) {
    const double number = uniform(3, static_cast<std::uint64_t>(cell));
    if (number >= density) continue;
    x.rows.push_back(cell / cols);
    x.cols.push_back(cell % cols);
    x.values.push_back(1 + number / density);
  }
  return partitioned(std::move(x), {}, 1);
}

}  // namespace

Question outer_question(const Settings& settings) {
  Question made{"outer", "ms/pass", 1e3, {}, {}};
  for (const double density : {0.01, 0.001, 0.0001}) {
    const auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/bench/outer/outer.ks", sparse_cells(density),
                                                KernelOptions{.threads = settings.threads});
    const auto pass = [run] {
      const RunResult& result = run->run({{"passes", {Word::integer(passes)}}});
      return std::pair{run->seconds_per_iteration(), result.outputs.back().parts.at(0).data.as<double>()[0]};
    };
    made.contestants.push_back(
        {density == 0.01 ? "kasen" : fmt::format("kasen-{}", density), [pass] { return pass().first; }});
    for (const std::string kind : {"dense", "entries"}) {
      if (density != 0.01) continue;
      const auto peer =
          python_peer("outer/outer.py",
                      {kind, std::to_string(rows), std::to_string(cols), std::to_string(rank), std::to_string(density)},
                      settings.threads);
      const double ours = pass().second, theirs = peer->measure().at(1);
      if (std::fabs(ours - theirs) > 1e-9 * std::fabs(theirs)) {
        throw std::runtime_error(fmt::format("numpy-{}: the sum is {}, not {}", kind, theirs, ours));
      }
      made.contestants.push_back({"numpy-" + kind, [peer] { return peer->measure().at(0); }});
    }
  }
  return made;
}

}  // namespace kasen::bench
