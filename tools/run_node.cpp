#include "tools/run_node.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace kasen::tools {
namespace {

using Processors = std::array<std::int64_t, sizeof(cpu_set_t) / sizeof(std::int64_t)>;

// A bit for each that this process may run on; none where the system has more of them than the set holds.
Processors own_processors() {
  Processors bits{};
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) std::memcpy(bits.data(), &set, sizeof set);
  return bits;
}

int hardware_threads() { return static_cast<int>(std::thread::hardware_concurrency()); }

int number_in_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

void yield_where_crowded() {
  if (number_in_environment("OMPI_MCA_orte_bound_at_launch") != 0) return;  // each has its own
  if (number_in_environment("OMPI_COMM_WORLD_LOCAL_SIZE") > hardware_threads())
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

int threads_of_rank(Cluster& cluster) {
  const Processors mine = own_processors();
  const std::vector<std::int64_t> all = cluster.on_node(mine);
  const bool known = std::any_of(mine.begin(), mine.end(), [](std::int64_t word) { return word != 0; });
  int sharing = 0;
  for (std::size_t rank = 0; rank < all.size(); rank += mine.size()) {
    bool met = !known;
    for (std::size_t word = 0; word < mine.size(); ++word) met = met || (all[rank + word] & mine[word]) != 0;
    sharing += met ? 1 : 0;
  }
  return std::max(1, hardware_threads() / std::max(1, sharing));
}

void sum_on_node(Cluster& cluster, std::span<std::int64_t> numbers) {
  const std::vector<std::int64_t> all = cluster.on_node(numbers);
  std::fill(numbers.begin(), numbers.end(), 0);
  for (std::size_t i = 0; i < all.size(); ++i) numbers[i % numbers.size()] += all[i];
}

}  // namespace kasen::tools
