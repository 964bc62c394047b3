// Programs whose arrays do not all fit, for plans that store some of them (pass swap).
#pragma once

#include "tests/opt/run_everywhere.h"

namespace kasen::testing {

// Sums end lives: what a program puts out is in memory at its end.
inline constexpr NamedProgram swapped_programs[] = {
    {"a chain",
     "dim N\ninput x : f64[N]\na = exp(x)\nb = tanh(a)\nc = sin(b + sum(b))\nd = sqrt(c * c + sum(c))\n"
     "e = d * c + sum(d)\nf = e * b\noutput g = f + a"},
    {"tuples",
     "dim N\ninput x : f64[N]\np = map(x -> (x, x > 2.0), x)\nq = map(x -> (x + 1.0, x < 3.0), x)\n"
     "r = map(x -> (x * 2.0, x > 1.0), x)\ns = sum(p.0)\nt = sum(q.0) + s\nu = sum(r.0) + t\n"
     "w = map((p, u) -> (p.0 + u, p.1), p, u)\nz = map((w, q) -> (w.0 + q.0, q.1), w, q)\n"
     "output r2 = map((z, r) -> (z.0 * r.0, r.1), z, r)"},
    {"several types",
     "dim N\ninput x : f64[N]\na = exp(x)\nc = tanh(x)\nf = sin(x)\ng = cos(x)\ns = sum(a) + sum(c)\nb = a / s\n"
     "k = map(x -> i64(x), x)\nm = k * 3\n"
     "j = k + sum(k) + m\nd = b * b + sum(b)\ne = d + c * a\nn = j % 7 + m\nt = sum(n) + sum(k)\n"
     "output o = e * f64(t) + a + f * sum(g)"},
    {"carried in a loop",
     "dim N\ninput x : f64[N]\nu = exp(x)\nv = tanh(x)\nw = sin(x)\nfor i in 0..4 {\n  a = sqrt(u * u + 1)\n"
     "  s = sum(a)\n  b = v / s\n  t = sum(b)\n  u = u * 0.5 + b * t\n  v = v + sum(u) * 0.001\n  w = w * 0.9 + u * "
     "0.1\n}\n"
     "output u, s = sum(v), t = sum(w)"},
    {"carried from an input",
     "dim N\ninput u0 : f64[N], v0 : f64[N]\nu = u0\nv = v0\nw = u0\nfor i in 0..3 {\n  u = u * 0.5 + sum(u) * 0.001\n"
     "  v = v + u * sum(v) * 0.001\n  w = w * 0.5 + sum(v) * 0.001\n}\noutput u, s = sum(v), t = sum(w)"},
    {"read in a loop",
     "dim N\ninput x : f64[N]\na = exp(x)\nb = tanh(x)\nc = sin(x)\nd = cos(x)\ns = 0.0\nfor i in 0..4 {\n"
     "  s = tanh(sum(a * s + b) / 100)\n  s = tanh(sum(c * s - d) / 100)\n  s = tanh(sum(a * c + s) / 1000)\n}\n"
     "output s, t = sum(a * b), y = c * d"},
    {"a while loop",
     "dim N\ninput x : f64[N]\nu = exp(x)\nv = tanh(x)\nw = sin(x)\nz = cos(x)\nk = 0.0\nwhile k < 3.5 likely {\n"
     "  u = sqrt(u + v * v)\n  s = sum(u)\n  w = w / s + z * 0.1\n  t = sum(w)\n  v = v * 0.5 + t * 0.01\n"
     "  z = sin(z + sum(v))\n  k = k + 1\n}\noutput u, s = sum(v), t = sum(w), r = sum(z)"},
    {"branches",
     "dim N\ninput x : f64[N]\nu = exp(x)\nv = tanh(x)\nw = cos(x)\nz = sin(x)\nfor i in 0..3 {\n  if sum(u) > 10.0 {\n"
     "    a = u * 0.5\n    v = v + a * sum(a) / 100\n  } else {\n    u = u + v * sum(v) / 100\n  }\n"
     "  u = sqrt(u * u + sum(v) * 0.001)\n  w = w + z * sum(u)\n  z = z * 0.5 + sum(w) * 0.001\n}\n"
     "output u, s = sum(v), t = sum(w), r = sum(z)"},
    {"nested loops",
     "dim N\ninput x : f64[N]\nu = exp(x)\nv = tanh(x)\nw = cos(x)\nz = sin(x)\nfor i in 0..2 {\n  for j in 0..2 {\n"
     "    u = u * 0.5 + sum(u) * 0.01\n    v = v * 0.5 + u * sum(u) * 0.01\n  }\n  w = w + z * sum(v)\n"
     "  z = z + sum(w) * 0.001\n}\noutput u, s = sum(v), t = sum(w), r = sum(z)"},
    {"a product",
     "dim N\ninput G : null[N, N], x : f64[N]\nu = x * 1.5\nv = tanh(x)\nw = sin(x)\nz = cos(x)\nfor i in 0..3 {\n  p "
     "= G' @ u\n"
     "  z = z * 0.5 + sum(z) * 0.001\n  v = v * 0.5 + sum(u) * 0.001\n  w = w * v + 0.5\n  u = tanh(0.2 * p + u)\n}\n"
     "output u, s = sum(v), t = sum(w), r = sum(z)"},
    {"branches that are summed late",
     "dim N\ninput x : f64[N]\na = exp(x)\nb = tanh(x)\nc = sin(x)\nd = cos(x)\ns = sum(a)\nt = sum(b * s)\n"
     "u = sum(c * t)\nv = sum(d)\nfor i in 0..3 {\n  p = x * s\n  q = x * t\n  r = x * u\n  w = x * v\n"
     "  s = tanh(sum(p * p))\n  t = tanh(sum(q * s))\n  u = tanh(sum(r) + sum(w * w))\n  v = tanh(sum(w) + u)\n}\n"
     "output s, t, u, v, y = x * s"},
    {"a list",
     "dim N\ninput x : f64[N]\nlist h[2] : f64[N] = x\nfor i in 0..3 {\n  a = exp(x)\n  b = tanh(x)\n"
     "  c = sin(x)\n  d = cos(x)\n  h[0] = h[0] + a * sum(b)\n  c = c * sum(h[0])\n  h[1] = h[1] * 0.5 + c * "
     "sum(d)\n}\n"
     "output s = sum(h[0]), t = sum(h[1])"},
    {"local arrays",
     "dim B local = 40, H local = 30\ninput X : f64[B, H], W0 : f64[H, H], U0 : f64[H, H]\nW = W0 * 0.01\nU = U0 * "
     "0.01\n"
     "for i in 0..3 {\n  h1 = tanh(X @ W)\n  h2 = tanh(h1 @ U)\n  h3 = tanh(h2 @ W)\n  e = h3 - X * 0.1\n"
     "  d3 = e * (1 - h3 * h3)\n  d2 = (d3 @ W') * (1 - h2 * h2)\n  d1 = (d2 @ U') * (1 - h1 * h1)\n"
     "  gw = h2' @ d3 + X' @ d1\n  gu = h1' @ d2\n  W = W - 0.001 * gw\n  U = U - 0.001 * gu\n}\noutput W, U"},
};

}  // namespace kasen::testing
