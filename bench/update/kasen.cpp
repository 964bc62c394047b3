#include <limits>

#include "bench/kasen_run.h"
#include "bench/update/update.h"

namespace kasen::bench {

Update kasen_update(const std::vector<double>& x, const std::vector<double>& y, int threads, bool past_caches) {
  KernelOptions kernels{.threads = threads};
  if (!past_caches) kernels.cached_bytes = std::numeric_limits<std::int64_t>::max();
  auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/bench/update/update.ks",
                                        vectors_on_one_part({{"x", &x}, {"y", &y}}), kernels);
  return [run] {
    const RunResult& result = run->run({{"passes", {Word::integer(update_passes)}}});
    const Array& data = result.outputs.at(0).parts.at(0).data;
    return UpdateResult{{data.as<double>(), data.as<double>() + data.count}, run->seconds_per_iteration()};
  };
}

}  // namespace kasen::bench
