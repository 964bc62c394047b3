#include "bench/kasen_run.h"
#include "bench/kmeans/kmeans.h"
#include "bench/parts.h"

namespace kasen::bench {
std::vector<Part> points_on_one_part(std::int64_t points) {
  Part part;
  part.dims["N"] = whole_dim(points);
  PartArray& array = part.arrays["X"];
  array = {{"N"}, Array(ElementType::array(Scalar::f64, coordinates), points)};
  for (std::int64_t j = 0; j < coordinates; ++j) {
    for (std::int64_t i = 0; i < points; ++i) array.data.as<double>(j)[i] = coordinate(i, j);
  }
  std::vector<Part> parts;
  parts.push_back(std::move(part));
  return parts;
}

namespace {

Lloyd lloyd(const std::shared_ptr<KasenRun>& run, const std::map<std::string, std::vector<Word>>& params,
            const std::string& inertia) {
  return [=] {
    const RunResult& result = run->run(params);
    Clustering made;
    for (const Output& output : result.outputs) {
      if (output.name == inertia) made.inertia = output.parts.at(0).data.as<double>()[0];
    }
    made.seconds_per_iteration = run->seconds_per_iteration();
    return made;
  };
}

std::vector<Part> matrix_on_one_part(std::int64_t points, std::int64_t columns) {
  std::vector<Part> parts(1);
  parts[0].dims["N"] = whole_dim(points);
  parts[0].dims["F"] = whole_dim(columns, true);
  PartArray& array = parts[0].arrays["X"];
  array = {{"N", "F"}, Array(ElementType::of(Scalar::f64), points * columns)};
  for (std::int64_t i = 0; i < points * columns; ++i) array.data.as<double>()[i] = coordinate(i / columns, i % columns);
  return parts;
}

}  // namespace

Lloyd kasen_kmeans(std::int64_t points, std::int64_t k, int threads, const OptimizeOptions& options) {
  auto run = std::make_shared<KasenRun>(
      KASEN_SOURCE_ROOT "/examples/kmeans.ks", points_on_one_part(points), KernelOptions{.threads = threads}, options,
      std::map<std::string, std::string>{{"k", std::to_string(k)}, {"d", std::to_string(coordinates)}});
  return lloyd(run, {{"turns", {Word::integer(lloyd_iterations)}}}, "inertia");
}

Lloyd kasen_kmeans_matrix(std::int64_t points, std::int64_t columns, std::int64_t k, int threads) {
  auto run =
      std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/examples/kmeans-matrix.ks", matrix_on_one_part(points, columns),
                                 KernelOptions{.threads = threads}, OptimizeOptions{},
                                 std::map<std::string, std::string>{{"k", std::to_string(k)}});
  return lloyd(run, {{"steps", {Word::integer(lloyd_iterations)}}, {"tolerance", {Word::real(-1)}}}, "wcss");
}

}  // namespace kasen::bench
