// The programs and data that the executor's tests share.
#pragma once

#include <random>
#include <string>

#include "tests/support/data.h"

namespace kasen::testing {

// A program of level 2 over N, with the functions that the tests use.
inline Module program(const std::string& body, const std::string& more = "") {
  const std::string text = "kir 1 level 2\nmodule test {\n  dim N\n" + more +
                           R"(  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn sub(x: f64, y: f64) -> f64 = x - y
  fn div(x: f64, y: f64) -> f64 = x / y
  fn least(x: f64, y: f64) -> f64 = min(x, y)
  fn add_i(x: i64, y: i64) -> i64 = x + y
  fn mul_i(x: i64, y: i64) -> i64 = x * y
  fn least_i(x: i64, y: i64) -> i64 = min(x, y)
  fn below(x: i64, y: i64) -> bool = x < y
  fn greater(x: f64, y: f64) -> bool = x > y
  fn next(x: i64) -> i64 = x + 1
  fn half(x: f64) -> f64 = 0.5 * x
  fn damp(x: f64, r: f64) -> f64 = (1.0 - r) + r * x
  fn distance(x: f64, y: f64) -> f64 = abs(x - y)
)" + body + "}\n##end\n";
  return parse_module(text, "test.kir");
}

struct Case {
  int workers;
  std::int64_t size, entries;
  int skip;  // a worker that owns nothing
};

// G over N by N (null), H (f64), x (f64), k (i64).
inline TestData graph(const Case& c, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  TestData data;
  data.workers = c.workers;
  data.dims["N"] = {c.size, false, random_owners(random, c.size, c.workers, c.skip)};
  data.dims["K"] = {3, true, {}};
  data.matrices["G"] = random_matrix(random, "N", "N", c.size, c.size, c.entries, Scalar::null, c.workers, c.skip);
  data.matrices["H"] = random_matrix(random, "N", "N", c.size, c.size, c.entries, Scalar::f64, c.workers, c.skip);
  data.matrices["I"] = random_matrix(random, "N", "N", c.size, c.size, c.entries, Scalar::i64, c.workers, c.skip);
  data.arrays["x"] = random_vector(random, {"N"}, c.size, Scalar::f64);
  data.arrays["k"] = random_vector(random, {"N"}, c.size, Scalar::i64);
  data.arrays["m"] = random_vector(random, {"N", "K"}, 3 * c.size, Scalar::f64);
  data.arrays["w"] = random_vector(random, {"K"}, 3, Scalar::f64);
  return data;
}

inline const char* const pagerank = R"(
  %G = input "G" : null[N,N] sparse @part
  %r = param "r" = 0.85 : f64 @cons
  %theta = param "theta" = 1e-6 : f64 @cons
  %zero = literal 1.0 : f64 @cons
  %go0 = literal true : bool @cons
  %p0 = fill 1.0 : f64[N] @part
  %d0 = fill 1.0 : f64[N] @cons{G.cols}
  %d1 = mxvt[mul, add] %d0, %G : f64[N] @pre(add){G.rows}
  %d = gather %d1 : f64[N] @part
  %pr, %go, %e = while (%p : f64[N] @part = %p0, %c : bool @cons = %go0, %e0 : f64 @cons = %zero) test 1 : f64[N] @part, bool @cons, f64 @cons {
    %t = map[div] %p, %d : f64[N] @part
    %s = scatter %t : f64[N] @cons{G.rows}
    %m = mxv[mul, add] %s, %G : f64[N] @pre(add){G.cols}
    %t2 = gather %m : f64[N] @part
    %n = map[damp] %t2, %r : f64[N] @part
    %b = map[distance] %p, %n : f64[N] @part
    %f = reduce[add] %b : f64 @pre(add)
    %f1 = gather %f : f64 @part
    %f2 = scatter %f1 : f64 @cons
    %k = apply[greater] %f2, %theta : bool @cons
    yield %n, %k, %f2
  }
  output "rank" %pr
  output "diff" %e
)";

}  // namespace kasen::testing
