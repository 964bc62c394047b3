// Dense libraries: BLIS as Kasen starts it (libkernels/dense/blas.h), as it starts by itself, and OpenBLAS.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bench/driver.h"
#include "bench/peer.h"
#include "libkernels/dense/blas.h"

namespace kasen::bench {
namespace {

Question question(const std::string& product, std::int64_t n, int threads) {
  start_blas();  // what it sets, the peers inherit
  Question made{product, "ms", 1e3, {}, {}};
  struct Library {
    std::string name, file, how;
  };
  double expected = 0;
  for (const Library& library : {Library{"kasen", "libblis.so.4", "as-set"}, Library{"blis", "libblis.so.4", "plain"},
                                 Library{"openblas", "libopenblas.so.0", "as-set"}}) {
    const auto peer = python_peer(
        "dense/blas.py", {library.file, product, std::to_string(n), std::to_string(threads), library.how}, threads);
    if (!peer->missing().empty()) {
      made.missing.push_back({library.name, peer->missing()});
      continue;
    }
    const double got = peer->measure().at(1);
    if (library.name == "kasen") expected = got;
    if (!(std::fabs(got - expected) <= 1e-9 * std::fabs(expected))) {
      throw std::runtime_error(fmt::format("{} by {}: the sum is {}, not {}", product, library.name, got, expected));
    }
    made.contestants.push_back({library.name, [peer] { return peer->measure().at(0); }});
  }
  return made;
}

}  // namespace

Questions dense_questions(const Settings& settings) {
  return {[=] { return question("dgemm", 2048, settings.threads); },
          [=] { return question("dgemv", 6000, settings.threads); }};
}

}  // namespace kasen::bench
