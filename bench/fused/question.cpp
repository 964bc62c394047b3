#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bench/fused/fused.h"
#include "bench/kasen_run.h"
#include "bench/peer.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t elements = 32'000'000;  // 256 MB a vector: far more than the caches hold

void check(const std::string& name, double expected, double got) {
  if (std::fabs(got - expected) <= 1e-9 * std::fabs(expected)) return;
  throw std::runtime_error(fmt::format("{}: the sum is {}, not {}", name, got, expected));
}

Passes kasen(const std::string& program, const std::vector<std::string>& names, int threads) {
  std::vector<std::vector<double>> data;
  std::map<std::string, const std::vector<double>*> vectors;
  for (size_t v = 0; v < names.size(); ++v) {
    data.emplace_back();
    data.back().reserve(elements);
    for (std::int64_t i = 0; i < elements; ++i) data.back().push_back(fused_element(static_cast<int>(v), i));
  }
  for (size_t v = 0; v < names.size(); ++v) vectors[names[v]] = &data[v];
  auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/bench/fused/" + program, vectors_on_one_part(vectors),
                                        KernelOptions{.threads = threads});
  return [run] {
    const RunResult& result = run->run({{"passes", {Word::integer(fused_passes)}}});
    return Pass{result.outputs.back().parts.at(0).data.as<double>()[0], run->seconds_per_iteration()};
  };
}

void add(Question& question, const std::string& name, const Passes& run) {
  question.contestants.push_back({name, [run] { return run().seconds; }});
}

}  // namespace

Question sum3_question(const Settings& settings) {
  Question made{"sum3", "ms/pass", 1e3, {}, {}};
  const Passes ours = kasen("sum3.ks", {"x", "y", "z"}, settings.threads);
  const Passes by_hand = sum3_by_hand(elements, settings.threads, false);
  check("openmp", ours().result, by_hand().result);
  add(made, "kasen", ours);
  add(made, "openmp", by_hand);
  add(made, "only-reading", sum3_by_hand(elements, settings.threads, true));
  for (const std::string kind : {"einsum", "numexpr"}) {
    const auto peer = python_peer("fused/sum3.py", {kind, std::to_string(elements)}, settings.threads);
    if (!peer->missing().empty()) {
      made.missing.push_back({kind, peer->missing()});
      continue;
    }
    check(kind, ours().result, static_cast<double>(fused_passes - 1) * peer->measure().at(1));
    made.contestants.push_back({kind, [peer] { return peer->measure().at(0); }});
  }
  return made;
}

Question region_question(const Settings& settings) {
  Question made{"rank-region", "ms/pass", 1e3, {}, {}};
  const Passes ours = kasen("region.ks", {"pr0", "degree"}, settings.threads);
  const Passes by_hand = region_by_hand(elements, settings.threads, false);
  check("openmp", ours().result, by_hand().result);
  add(made, "kasen", ours);
  add(made, "openmp", by_hand);
  add(made, "only-moving", region_by_hand(elements, settings.threads, true));
  return made;
}

Question aggregates_question(const Settings& settings) {
  Question made{"aggregates", "ms/pass", 1e3, {}, {}};
  const Passes ours = kasen("aggregates.ks", {"x", "y", "z"}, settings.threads);
  double wanted = 0;
  for (std::int64_t i = 0; i < elements; ++i) {
    wanted += fused_element(0, i) * (fused_element(1, i) + fused_element(2, i));
  }
  check("kasen", wanted * static_cast<double>(fused_passes * (fused_passes - 1) / 2), ours().result);
  add(made, "kasen", ours);
  add(made, "only-reading", sum3_by_hand(elements, settings.threads, true));
  const auto peer = python_peer("fused/aggregates.py", {std::to_string(elements)}, settings.threads);
  check("einsum", wanted, peer->measure().at(1));
  made.contestants.push_back({"einsum", [peer] { return peer->measure().at(0); }});
  return made;
}

namespace {

// X'(X B), one pass over X or two, of so many columns.
Question twice_multiplied(const std::string& name, const std::string& program, int columns, const Settings& settings) {
  constexpr std::int64_t rows = 100'000, cols = 500;  // 400 MB
  Question made{name, "ms/pass", 1e3, {}, {}};
  const Parts parts = dense_matrix("X", rows, cols);
  const auto run = [&](const OptimizeOptions& options) {
    return [kasen = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/bench/fused/" + program, parts,
                                               KernelOptions{.threads = settings.threads}, options)] {
      const RunResult& result = kasen->run({{"passes", {Word::integer(fused_passes)}}});
      return Pass{result.outputs.back().parts.at(0).data.as<double>()[0], kasen->seconds_per_iteration()};
    };
  };
  const Passes ours = run({});
  add(made, "kasen", ours);
  const Passes apart = run({.strategy = Strategy::none});
  check("kasen-apart", ours().result, apart().result);
  add(made, "kasen-apart", apart);
  const auto peer = python_peer("fused/xtxv.py", {std::to_string(rows), std::to_string(cols), std::to_string(columns)},
                                settings.threads);
  if (!peer->missing().empty()) {
    made.missing.push_back({"numpy", peer->missing()});
    return made;
  }
  check("numpy", ours().result, peer->measure().at(1));
  made.contestants.push_back({"numpy", [peer] { return peer->measure().at(0); }});
  return made;
}

}  // namespace

Question xtxv_question(const Settings& settings) { return twice_multiplied("xtxv", "xtxv.ks", 1, settings); }
Question xtxb_question(const Settings& settings) { return twice_multiplied("xtxb", "xtxb.ks", 4, settings); }

}  // namespace kasen::bench
