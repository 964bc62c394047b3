// Products of matrices that stand in a program, beside a BLAS library's own call: squares, tall times small, A'A.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <stdexcept>

#include "bench/driver.h"
#include "bench/kasen_run.h"
#include "bench/numbers.h"
#include "bench/peer.h"

namespace kasen::bench {
namespace {

struct Shape {
  const char* name;
  std::int64_t n, k, m;  // m = 0: A'A of the n x k matrix A
};

void add_matrix(Part& part, const std::string& name, const std::array<const char*, 2>& dims, std::int64_t count,
                Scalar scalar, std::uint64_t stream) {
  PartArray& array = part.arrays[name];
  array = {{dims[0], dims[1]}, Array(ElementType::of(scalar), count)};
  for (std::int64_t i = 0; i < count; ++i) {
    const double number = uniform(stream, static_cast<std::uint64_t>(i));
    if (scalar == Scalar::f64) {
      array.data.as<double>()[i] = number;
    } else {
      array.data.as<float>()[i] = static_cast<float>(number);
    }
  }
}

std::vector<Part> matrices(const Shape& shape, Scalar scalar) {
  std::vector<Part> parts(1);
  parts[0].dims["N"] = whole_dim(shape.n);
  parts[0].dims["K"] = whole_dim(shape.k);
  add_matrix(parts[0], "A", {"N", "K"}, shape.n * shape.k, scalar, 71);
  if (shape.m == 0) return parts;
  parts[0].dims["M"] = whole_dim(shape.m);
  add_matrix(parts[0], "B", {"K", "M"}, shape.k * shape.m, scalar, 72);
  return parts;
}

// The sum of the result's first row.
double first_row(const Array& result, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += result.element.is(Scalar::f64) ? result.as<double>()[i] : static_cast<double>(result.as<float>()[i]);
  }
  return sum;
}

Question question(const Shape& shape, Scalar scalar, int threads) {
  const std::string kind(scalar_name(scalar)), ending = scalar == Scalar::f64 ? ".ks" : "-f32.ks";
  const std::string program =
      std::string(KASEN_SOURCE_ROOT "/bench/dense/") + (shape.m == 0 ? "gram" : "product") + ending;
  const auto kasen = std::make_shared<KasenRun>(program, matrices(shape, scalar), KernelOptions{.threads = threads});
  const double expected = first_row(kasen->run({}).outputs.at(0).parts.at(0).data, shape.m == 0 ? shape.k : shape.m);
  Question made{fmt::format("{}, {}", shape.name, kind), "ms", 1e3, {}, {}};
  made.contestants.push_back({"kasen", [kasen] {
                                (void)kasen->run({});
                                return kasen->seconds_per_product();
                              }});
  for (const auto& [name, file] : {std::pair{"blis", "libblis.so.4"}, {"openblas", "libopenblas.so.0"}}) {
    const auto peer = python_peer("dense/products.py",
                                  {file, kind, std::to_string(shape.n), std::to_string(shape.k),
                                   std::to_string(shape.m), std::to_string(threads)},
                                  threads);
    if (!peer->missing().empty()) {
      made.missing.push_back({name, peer->missing()});
      continue;
    }
    const double got = peer->measure().at(1), tolerance = scalar == Scalar::f64 ? 1e-9 : 1e-4;
    if (!(std::fabs(got - expected) <= tolerance * std::fabs(expected)))
      throw std::runtime_error(fmt::format("{} by {}: the sum is {}, not {}", made.name, name, got, expected));
    made.contestants.push_back({name, [peer] { return peer->measure().at(0); }});
  }
  return made;
}

}  // namespace

Questions products_questions(const Settings& settings) {
  static constexpr std::array shapes{Shape{"product of squares, n = 1500", 1500, 1500, 1500},
                                     Shape{"product, 400,000 x 50 by 50 x 20", 400'000, 50, 20},
                                     Shape{"product X'X, 400,000 x 50", 400'000, 50, 0}};
  Questions questions;
  for (const Shape& shape : shapes) {
    for (const Scalar scalar : {Scalar::f64, Scalar::f32})
      questions.push_back([=] { return question(shape, scalar, settings.threads); });
  }
  return questions;
}

}  // namespace kasen::bench
