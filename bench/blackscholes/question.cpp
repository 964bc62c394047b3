#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bench/blackscholes/blackscholes.h"
#include "bench/peer.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t options = 10'000'000;

void check(const std::string& name, const Prices& expected, const Prices& got) {
  for (const auto& [right, made] : {std::pair{expected.call, got.call}, {expected.put, got.put}}) {
    if (std::fabs(made - right) <= 1e-10 * std::fabs(right)) continue;
    throw std::runtime_error(fmt::format("{}: the prices' sum is {}, not {}", name, made, right));
  }
}

}  // namespace

Question blackscholes_question(const Settings& settings) {
  const Pricing kasen = kasen_pricing(make_options(options), settings.threads, {});
  const Prices expected = kasen();
  Question made{"black-scholes", "ms/pass", 1e3, {{"kasen", [kasen] { return kasen().seconds_per_pass; }}}};
  if (const Pricing libmvec = libmvec_pricing(options, settings.threads)) {
    check("libmvec-512", expected, libmvec());
    made.contestants.push_back({"libmvec-512", [libmvec] { return libmvec().seconds_per_pass; }});
  } else {
    made.missing.push_back({"libmvec-512", "this processor has no AVX-512"});
  }
  for (const std::string kind : {"numexpr", "numpy"}) {
    const auto peer = python_peer("blackscholes/peer.py",
                                  {kind, std::to_string(options), std::to_string(option_passes)}, settings.threads);
    if (!peer->missing().empty()) {
      made.missing.push_back({kind, peer->missing()});
      continue;
    }
    const std::vector<double> answer = peer->measure();
    check(kind, expected, {answer.at(1), answer.at(2), 0});
    made.contestants.push_back({kind, [peer] { return peer->measure().at(0); }});
  }
  return made;
}

}  // namespace kasen::bench
