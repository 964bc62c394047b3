// The generated program.
#include <fmt/format.h>

#include "bench/tools/tools.h"
#include "libcore/ir/module.h"
#include "libcore/lang/lang.h"

namespace kasen::bench {
namespace {

// Statements over four vectors and two shareds; each round reads what several earlier ones wrote.
std::string round_of(int k) {
  const auto v = [&](int i) { return fmt::format("v{}", (k + i) % 4); };
  const int s = k % 2;
  std::string text;
  text += fmt::format("{} = 0.5 * {} + tanh({}) - s{}\n", v(0), v(1), v(2), s);
  text += fmt::format("c{} = max({}, {} * {}) / {}.0\n", k, v(0), v(3), v(1), k + 2);
  text += fmt::format("{} = ({} + c{}) * (1 - s{})\n", v(1), v(1), k, 1 - s);
  switch (k % 4) {
    case 0:
      return text + fmt::format("{} = (G' @ {}) / 16 + c{}\n", v(2), v(0), k);
    case 1:
      return text + fmt::format("s{} = sum(abs({} - c{})) / size(N)\n", s, v(3), k);
    case 2:
      return text + fmt::format("{} = H @ ({} - {}.5 * {})\ns{} = max({} * c{})\n", v(3), v(0), k, v(1), s, v(3), k);
    default:
      return text + fmt::format("m{} = if c{} > s{} then {} else c{}\n{} = m{} + dot({}, m{}) / {}.0\n", k, k, s, v(2),
                                k, v(2), k, v(0), k, k + 3);
  }
}

std::string written(int rounds) {
  std::string text =
      "dim N\ninput G : null[N, N], H : f64[N, N], x : f64[N]\n"
      "v0 = x / 4\nv1 = abs(x)\nv2 : f64[N] = 1\nv3 = exp(x / 8)\ns0 = 0.25\ns1 = 0.5\n";
  for (int k = 0; k < rounds / 2; ++k) text += round_of(k);
  text += "for turn in 0..10 {\n";
  for (int k = rounds / 2; k < rounds; ++k) text += round_of(k);
  return text + "}\noutput v0, v1, v2, v3, s0, s1\n";
}

int operators_of(const Block& block) {
  int count = 0;
  for (const Op& op : block.ops) {
    ++count;
    for (const Block& inner : op.blocks) count += operators_of(inner);
  }
  return count;
}

int operators_of(int rounds) { return operators_of(compile_program(written(rounds), "generated.ks", {}).body); }

}  // namespace

std::string generated_program(int operators) {
  const int few = operators_of(8);
  int rounds = 8 + (operators - few) * 8 / (operators_of(16) - few);
  while (operators_of(rounds) < operators) ++rounds;
  return written(rounds);
}

}  // namespace kasen::bench
