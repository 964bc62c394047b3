#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bench/chain/chain.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t elements = 8'000'000;

ChainInput make_input() {
  ChainInput input;
  for (std::int64_t i = 0; i < elements; ++i) {
    input.x.push_back(static_cast<double>(i * 7919 % 1000) / 250 - 2);
    input.y.push_back(static_cast<double>(i * 104729 % 1000) / 500 - 1);
  }
  return input;
}

void check(const std::string& name, const ChainResult& expected, const ChainResult& got) {
  if (got.y.size() != expected.y.size()) throw std::runtime_error(name + ": another number of elements");
  for (size_t i = 0; i < expected.y.size(); ++i) {
    if (std::fabs(got.y[i] - expected.y[i]) > 1e-9 * std::fabs(expected.y[i])) {
      throw std::runtime_error(fmt::format("{}: element {} is {}, not {}", name, i, got.y[i], expected.y[i]));
    }
  }
  if (std::fabs(got.total - expected.total) > 1e-9 * std::fabs(expected.total)) {
    throw std::runtime_error(fmt::format("{}: the total is {}, not {}", name, got.total, expected.total));
  }
}

}  // namespace

Question chain_question(const Settings& settings) {
  const ChainInput input = make_input();
  const std::vector<std::pair<std::string, Chain>> chains{
      {"kasen", kasen_chain(input, settings.threads)},
      {"openmp", openmp_chain(input, settings.threads)},
      {"graphblas", graphblas_chain(input, settings.threads)},
  };
  const ChainResult expected = chains.back().second();
  Question question{"chain", "ms/pass", 1e3, {}};
  for (const auto& [name, chain] : chains) {
    check(name, expected, chain());
    question.contestants.push_back({name, [run = chain] { return run().seconds_per_pass; }});
  }
  return question;
}

}  // namespace kasen::bench
