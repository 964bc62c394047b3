#include <algorithm>
#include <numeric>

#include "bench/chain/chain.h"
#include "bench/kasen_run.h"

namespace kasen::bench {
namespace {

PartArray array_of(const std::vector<double>& values) {
  PartArray array{{"N"}, Array(ElementType::of(Scalar::f64), static_cast<std::int64_t>(values.size()))};
  std::copy(values.begin(), values.end(), array.data.as<double>());
  return array;
}

std::vector<Part> one_part(const ChainInput& input) {
  Part part;
  PartDim& dim = part.dims["N"];
  dim.size = static_cast<std::int64_t>(input.x.size());
  dim.masters.resize(input.x.size());
  std::iota(dim.masters.begin(), dim.masters.end(), 0);
  part.arrays["x"] = array_of(input.x);
  part.arrays["y0"] = array_of(input.y);
  std::vector<Part> parts;
  parts.push_back(std::move(part));
  return parts;
}

}  // namespace

Chain kasen_chain(const ChainInput& input, int threads) {
  auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/bench/chain/chain.ks", one_part(input), threads);
  return [run] {
    const RunResult& result = run->run({{"a", {Word::real(scale)}}, {"passes", {Word::integer(passes)}}});
    ChainResult made;
    for (const Output& output : result.outputs) {
      const Array& data = output.parts.at(0).data;
      if (output.name == "y") made.y.assign(data.as<double>(), data.as<double>() + data.count);
      if (output.name == "total") made.total = data.as<double>()[0];
    }
    made.seconds_per_pass = run->seconds_per_turn();
    return made;
  };
}

}  // namespace kasen::bench
