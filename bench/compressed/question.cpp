// Matrices of few distinct values a column, read compressed and dense: what distinct values alone decide, and products.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "bench/driver.h"
#include "bench/kasen_run.h"
#include "bench/numbers.h"
#include "bench/parts.h"
#include "libcomm/data/compress/compress.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t rows = 4'000'000, cols = 10;  // 320 MB dense
constexpr std::int64_t passes = 6;

// Every column has `distinct` values, at random.
Parts few_values(std::int64_t distinct, bool compressed) {
  std::vector<Part> parts(1);
  Part& part = parts[0];
  part.dims["H"] = whole_dim(rows);
  part.dims["W"] = whole_dim(cols, true);
  PartArray& x = part.arrays["X"];
  x = {{"H", "W"}, Array(ElementType::of(Scalar::f64), rows * cols)};
  double* cells = x.data.as<double>();
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const double value = uniform(static_cast<std::uint64_t>(i % cols), static_cast<std::uint64_t>(i / cols));
    cells[i] = 1 + std::floor(value * static_cast<double>(distinct)) / 8;
  }
  if (compressed) (void)compress(parts);
  return std::make_shared<const std::vector<Part>>(std::move(parts));
}

std::function<double()> contestant(const std::string& program, const Parts& parts, const Settings& settings,
                                   double& result) {
  OptimizeOptions options;
  options.sizes = [parts](const Module& module) { return sizes_from_parts(module, *parts); };
  const auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/bench/" + program, parts,
                                              KernelOptions{.threads = settings.threads}, options);
  result = run->run({{"passes", {Word::integer(passes)}}}).outputs.back().parts.at(0).data.as<double>()[0];
  return [run] {
    run->run({{"passes", {Word::integer(passes)}}});
    return run->seconds_per_iteration();
  };
}

Question compressed_and_dense(const std::string& name, const std::string& program, std::int64_t distinct,
                              const Settings& settings) {
  Question made{fmt::format("{}, {} distinct values", name, distinct), "us/pass", 1e6, {}, {}};
  double compressed = 0, dense = 0;
  const Parts parts = few_values(distinct, true);
  if (!parts->at(0).arrays.at("X").compressed) throw std::runtime_error("the matrix was not compressed");
  made.contestants.push_back({"kasen", contestant(program, parts, settings, compressed)});
  made.contestants.push_back({"kasen-dense", contestant(program, few_values(distinct, false), settings, dense)});
  if (std::fabs(compressed - dense) > 1e-9 * std::fabs(dense)) {
    throw std::runtime_error(fmt::format("{}: compressed {}, dense {}", made.name, compressed, dense));
  }
  return made;
}

}  // namespace

Questions compressed_questions(const Settings& settings) {
  Questions made;
  for (const std::int64_t distinct : {16, 256, 4096}) {
    made.push_back([=] { return compressed_and_dense("sum(X^2)", "compressed/sumsq.ks", distinct, settings); });
  }
  for (const std::int64_t distinct : {4, 16, 256}) {
    made.push_back([=] { return compressed_and_dense("X'(X v)", "fused/xtxv.ks", distinct, settings); });
  }
  return made;
}

}  // namespace kasen::bench
