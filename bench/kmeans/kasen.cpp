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

Lloyd kasen_kmeans(std::int64_t points, std::int64_t k, int threads, const OptimizeOptions& options) {
  auto run = std::make_shared<KasenRun>(
      KASEN_SOURCE_ROOT "/examples/kmeans.ks", points_on_one_part(points), KernelOptions{.threads = threads}, options,
      std::map<std::string, std::string>{{"k", std::to_string(k)}, {"d", std::to_string(coordinates)}});
  return [run] {
    const RunResult& result = run->run({{"turns", {Word::integer(lloyd_iterations)}}});
    Clustering made;
    for (const Output& output : result.outputs) {
      if (output.name == "inertia") made.inertia = output.parts.at(0).data.as<double>()[0];
    }
    made.seconds_per_iteration = run->seconds_per_iteration();
    return made;
  };
}

}  // namespace kasen::bench
