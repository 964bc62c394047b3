// Programs with likely branches: `{}` stands for "likely" or for nothing.
#pragma once

#include <string>
#include <vector>

namespace kasen::testing {

inline std::string with_word(std::string text, const std::string& word) {
  for (size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}", at)) text.replace(at, 2, word);
  return text;
}

// The condition never holds, in some turns, or always: sums are above zero.
struct LikelyProgram {
  const char* name;
  const char* text;
};

inline const std::vector<LikelyProgram>& likely_programs() {
  static const std::vector<LikelyProgram> all{
      {"straight",
       "dim N\ninput x : f64[N], y : f64[N]\nparam limit = 0.5\n"
       "a = x + y\ns = sum(a)\nb = x\nt = 0.0\n"
       "if s > limit {} {\n  b = a * 2\n  t = sum(b * y)\n}\noutput b, t\n"},
      {"false",
       "dim N\ninput x : f64[N], y : f64[N]\n"
       "a = x + y\ns = sum(a)\nb = x\nt = 0.0\n"
       "if s < -0.5 {} {\n  b = a * 2\n  t = sum(b * y) / s\n  b = b / t\n} else {\n  b = a - y\n}\noutput b, t\n"},
      // A carried array that is updated in some turns.
      {"carried",
       "dim N\ninput x : f64[N], y : f64[N]\nv = x\nw = y\nn = 0.0\n"
       "for i in 0..7 {\n  s = sum(v * w)\n  if s > 2 * n {} {\n    v = v / 3 + w\n    n = n + sum(v)\n  } else {\n"
       "    w = w + v\n    n = n - 1\n  }\n}\noutput v, w, n\n"},
      {"product",
       "dim N\ninput G : null[N, N]\ninput x : f64[N], y : f64[N]\nv = x\n"
       "for i in 0..6 {\n  w = v + y\n  s = sum(w)\n  if i % 3 > 0 {} {\n    u = w / 3\n    v = u + 0.25 * (G' @ u)\n  "
       "} else "
       "{\n"
       "    v = v / (1 + s)\n  }\n}\noutput v\n"},
      {"nested",
       "dim N\ninput G : f64[N, N]\ninput x : f64[N], y : f64[N]\nv = x\nturn = 0\nbest = inf\n"
       "while turn < 6 {} {\n  r = G @ v - y\n  e = sum(r * r)\n"
       "  if e < best {} {\n    best = e\n    d = 0.125 * r - 0.5 * v\n"
       "    if turn % 2 == 0 {} {\n      v = v + d\n      best = best + max(d * d)\n    } else {\n      v = v - 0.25 * "
       "d\n    }\n"
       "  } else {\n    v = tanh(v)\n  }\n  turn = turn + 1\n}\noutput v, best\n"},
      {"list",
       "dim N\ninput x : f64[N], y : f64[N]\nlist L[3] : f64[N] = 1\nv = x\n"
       "for i in 0..5 {\n  s = sum(v - y)\n  if s > 0.25 * f64(i) {} {\n    u = v - 2 * y\n    push(L, u)\n    v = v - "
       "u / 4\n  } else {\n"
       "    v = v + L[1]\n  }\n}\noutput v, a = L[0], b = L[2]\n"},
      {"tuples",
       "dim N\ninput x : f64[N], y : f64[N]\nfn pair(a, b) = (a, b)\nfn both(a, b) = (min(a.0, b.0), a.1 + b.1)\n"
       "p = pair(x, y)\nlow = 0.0\n"
       "for i in 0..4 {\n  q = reduce(both, p)\n  if q.1 > f64(i) * 20 {} {\n    d = p.0 - p.1\n    p = pair(d, p.1 / "
       "2)\n"
       "    low = reduce(min, d)\n  }\n}\na = p.0\nb = p.1\noutput a, b, low\n"},
  };
  return all;
}

}  // namespace kasen::testing
