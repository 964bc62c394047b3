// Programs over one part of random numbers: generated kernels against the interpreter, bit by bit, on one and on two
// threads.
#pragma once

#include <gtest/gtest.h>

#include "libcore/lang/lang.h"
#include "libcore/run/executor.h"
#include "libopt/optimize/optimize.h"
#include "tests/kernels/support.h"

namespace kasen::test {

// One worker's part, with the indices 0 to n - 1 of N and no array yet.
inline Part part_over(std::int64_t n) {
  Part part;
  PartDim& dim = part.dims["N"];
  dim.size = n;
  dim.masters = IndexList::run(0, n);
  return part;
}

inline std::vector<Part> alone(Part part) {
  std::vector<Part> parts;
  parts.push_back(std::move(part));
  return parts;
}

// Two vectors x and y of these numbers.
template <class Number>
std::vector<Part> part_of(const std::vector<double>& x, const std::vector<double>& y, Scalar scalar) {
  const auto size = static_cast<std::int64_t>(x.size());
  Part part = part_over(size);
  for (const auto& [name, numbers] : {std::pair{"x", &x}, std::pair{"y", &y}}) {
    Array array(ElementType::of(scalar), size);
    std::transform(numbers->begin(), numbers->end(), array.as<Number>(),
                   [](double number) { return static_cast<Number>(number); });
    part.arrays[name] = {{"N"}, std::move(array)};
  }
  return alone(std::move(part));
}

// N numbers of every kind: X and Y are small arrays of d coordinates, v, w, a and b scalars.
inline std::vector<Part> random_part(Random& random, std::int64_t n, std::int64_t d) {
  Part part = part_over(n);
  part.arrays["X"] = {{"N"}, random_array(random, ElementType::array(Scalar::f64, d), n)};
  part.arrays["Y"] = {{"N"}, random_array(random, ElementType::array(Scalar::f32, d), n)};
  part.arrays["v"] = {{"N"}, random_array(random, ElementType::of(Scalar::f64), n)};
  part.arrays["w"] = {{"N"}, random_array(random, ElementType::of(Scalar::f32), n)};
  part.arrays["a"] = {{"N"}, random_array(random, ElementType::of(Scalar::i64), n)};
  part.arrays["b"] = {{"N"}, random_array(random, ElementType::of(Scalar::i32), n)};
  return alone(std::move(part));
}

inline void expect_same_bits(const std::string& program, const std::map<std::string, std::string>& defines,
                             std::int64_t d) {
  TrialLawChecker laws;
  const Module plan = optimize(compile_program(program, "program.ks", defines), laws, {});
  Random random(7);
  for (const std::int64_t n : {0, 1, 9, 263, 4099, 12300}) {
    const std::vector<Part> parts = random_part(random, n, d);
    const auto transport = make_simulated_transport(1);
    const RunResult expected = execute(plan, parts, *transport, *make_interpreter_kernels(), {});
    for (const int threads : {1, 2}) {
      const RunResult got = execute(plan, parts, *transport, *testing::make_kernels({.threads = threads}), {});
      ASSERT_EQ(expected.outputs.size(), got.outputs.size());
      for (size_t o = 0; o < got.outputs.size(); ++o) {
        const Array& right = expected.outputs[o].parts.at(0).data;
        ASSERT_EQ(difference(right, got.outputs[o].parts.at(0).data, right.count), "")
            << got.outputs[o].name << ", n " << n << ", threads " << threads << ", d " << d;
      }
    }
  }
}

}  // namespace kasen::test
