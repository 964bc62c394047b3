// Passes over the rows of a dense matrix of 320 MB, of 10, 50 and 100 columns, beside the two limits of a machine: the
// bytes of the matrix read once, and the multiplications and additions of the products alone. The larger one is what a
// pass cannot be faster than. Sums of each row and of each column are timed without the loop that makes their matrix.
#include <fmt/format.h>

#include <memory>

#include "bench/driver.h"
#include "bench/kasen_run.h"
#include "bench/rows/limits.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t elements = 40'000'000;

struct Program {
  std::string name, file, passes;  // `passes`: the parameter of so many iterations
  std::int64_t columns = 1;        // of each of the two products
  std::map<std::string, std::string> defines;
  std::string rows = "H", cols = "W";  // the dimensions' names
};

constexpr const char* sums_of[] = {"row", "col"};

std::vector<Program> programs() {
  return {
      {"xtxv", "/bench/fused/xtxv.ks", "passes", 1, {}},
      {"xtxb-5", "/bench/fused/xtxb.ks", "passes", 5, {{"columns", "5"}}},
      {"gradient", "/bench/rows/gradient.ks", "passes", 1, {}},
      {"hessian-5", "/bench/rows/hessian.ks", "passes", 5, {}},
      {"kmeans-10", "/examples/kmeans-matrix.ks", "steps", 10, {{"k", "10"}}, "N", "F"},
      {"kmeans-20", "/examples/kmeans-matrix.ks", "steps", 20, {{"k", "20"}}, "N", "F"},
  };
}

Parts matrix_of(const Program& program, std::int64_t cols) {
  auto parts = std::make_shared<std::vector<Part>>();
  Part& part = parts->emplace_back();
  part.dims[program.rows] = whole_dim(elements / cols);
  part.dims[program.cols] = whole_dim(cols, true);
  PartArray& x = part.arrays["X"];
  x = {{program.rows, program.cols}, Array(ElementType::of(Scalar::f64), elements)};
  for (std::int64_t k = 0; k < elements; ++k) x.data.as<double>()[k] = dense_element(k / cols, k % cols, cols);
  return parts;
}

Question question(const Program& program, std::int64_t cols, const Settings& settings) {
  Question made{fmt::format("{}-{}", program.name, cols), "ms/pass", 1e3, {}, {}};
  const Parts parts = matrix_of(program, cols);
  const auto run =
      std::make_shared<KasenRun>(KASEN_SOURCE_ROOT + program.file, parts, KernelOptions{.threads = settings.threads},
                                 OptimizeOptions{}, program.defines);
  made.contestants.push_back({"kasen", [run, program] {
                                run->run({{program.passes, {Word::integer(6)}}});
                                return run->seconds_per_iteration();
                              }});
  const double* numbers = parts->at(0).arrays.at("X").data.as<double>();
  made.contestants.push_back(
      {"reading", [parts, numbers, settings] { return seconds_of_reading(numbers, elements, settings.threads); }});
  const auto multiplications = static_cast<double>(2 * elements * program.columns);
  made.contestants.push_back({"arithmetic", [=] { return seconds_of_arithmetic(multiplications, settings.threads); }});
  return made;
}

Question sums(const std::string& of, std::int64_t cols, const Settings& settings) {
  const Program program{of + "sums", "/bench/rows/" + of + "sums.ks", "passes", 0, {}};
  const Parts parts = matrix_of(program, cols);
  const auto run =
      std::make_shared<KasenRun>(KASEN_SOURCE_ROOT + program.file, parts, KernelOptions{.threads = settings.threads});
  const double* numbers = parts->at(0).arrays.at("X").data.as<double>();
  return {
      fmt::format("{}-{}", program.name, cols),
      "ms/pass",
      1e3,
      {{"kasen",
        [run] {
          run->run({{"passes", {Word::integer(6)}}});
          return run->seconds_per([](const Op& op) { return op.code == OpCode::reduce; });
        }},
       {"reading", [parts, numbers, settings] { return seconds_of_reading(numbers, elements, settings.threads); }}}};
}

}  // namespace

Questions rows_questions(const Settings& settings) {
  Questions made;
  for (const Program& program : programs()) {
    for (const std::int64_t cols : {10, 50, 100}) made.emplace_back([=] { return question(program, cols, settings); });
  }
  for (const char* of : sums_of) {
    for (const std::int64_t cols : {10, 50, 100}) made.emplace_back([=] { return sums(of, cols, settings); });
  }
  return made;
}

}  // namespace kasen::bench
