// Dense samples, with labels that the features tell a part of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "bench/parts.h"

namespace kasen::bench {

// X over N and F, and numbers from about -2 to 2: labels of chance alone would leave nothing but rounding to compare.
struct DenseSamples {
  Part part;
  std::vector<double> reported;  // of each sample
};
struct SampleShape {
  std::int64_t rows = 2'000'000, features = 10;
};
[[nodiscard]] DenseSamples dense_samples(SampleShape shape = {});

// Labels y are made of what is told.
template <class Label>
[[nodiscard]] Parts labelled(DenseSamples samples, Label label) {
  using Value = decltype(label(0.0));
  PartArray& y = samples.part.arrays["y"];
  y = {{"N"},
       Array(ElementType::of(std::is_integral_v<Value> ? Scalar::i64 : Scalar::f64), std::ssize(samples.reported))};
  std::transform(samples.reported.begin(), samples.reported.end(), y.data.as<Value>(), label);
  auto parts = std::make_shared<std::vector<Part>>();
  parts->push_back(std::move(samples.part));
  return parts;
}

// Labels -1 and 1; labels 1 to `classes`.
[[nodiscard]] Parts in_two_classes();
[[nodiscard]] Parts in_classes(std::int64_t classes, SampleShape shape = {});

}  // namespace kasen::bench
