#include "bench/dense_samples.h"

#include <cmath>

#include "bench/numbers.h"

namespace kasen::bench {

DenseSamples dense_samples(SampleShape shape) {
  const auto [rows, features] = shape;
  DenseSamples made{{}, std::vector<double>(static_cast<size_t>(rows))};
  made.part.dims["N"] = whole_dim(rows);
  made.part.dims["F"] = whole_dim(features, true);
  PartArray& x = made.part.arrays["X"];
  x = {{"N", "F"}, Array(ElementType::of(Scalar::f64), rows * features)};
  for (std::int64_t i = 0; i < rows; ++i) {
    double* row = x.data.as<double>() + i * features;
    for (std::int64_t j = 0; j < features; ++j) row[j] = dense_element(i, j, features);
    const double chance = uniform(24, static_cast<std::uint64_t>(i)) - 0.5;
    made.reported[static_cast<size_t>(i)] = 2 * (row[0] + row[1] + chance);
  }
  return made;
}

Parts in_two_classes() {
  return labelled(dense_samples(), [](double reported) { return reported > 0 ? 1.0 : -1.0; });
}

Parts in_classes(std::int64_t classes, SampleShape shape) {
  DenseSamples samples = dense_samples(shape);
  samples.part.dims["K"] = whole_dim(classes, true);
  return labelled(std::move(samples), [classes](double reported) {
    return std::clamp<std::int64_t>((classes + 1) / 2 + std::llround(reported), 1, classes);
  });
}

}  // namespace kasen::bench
