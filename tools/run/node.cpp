#include "tools/run/node.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "libcore/system/processors.h"

namespace kasen::tools {
namespace {

int number_in_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

// The report of a rank to the others of its node: its mask, and its control group with the group's hundredths of
// processors.
constexpr std::size_t mask_words = std::tuple_size_v<ProcessorMask>, group_at = mask_words, time_at = mask_words + 1;
using Reported = std::array<std::int64_t, mask_words + 2>;

Reported reported_by_this_rank() {
  Reported reported{};
  const ProcessorMask mask = allowed_mask();
  std::copy(mask.begin(), mask.end(), reported.begin());
  if (const auto time = group_time()) {
    reported[group_at] = time->group;
    reported[time_at] = std::max<std::int64_t>(1, std::llround(100 * time->processors));
  }
  return reported;
}

// The sum over this rank's processors of its share of each, which is equal for all ranks that may run there.
double share_of_processors(const Reported& mine, std::span<const std::int64_t> all) {
  double share = 0;
  for (std::size_t word = 0; word < mask_words; ++word) {
    for (int bit = 0; bit < 64; ++bit) {
      const auto has = [&](std::int64_t bits) { return (static_cast<std::uint64_t>(bits) >> bit & 1U) != 0; };
      if (!has(mine[word])) continue;
      int users = 0;
      for (std::size_t rank = 0; rank < all.size(); rank += mine.size()) users += has(all[rank + word]) ? 1 : 0;
      share += 1.0 / std::max(1, users);
    }
  }
  return share;
}

double share_of_time(const Reported& mine, std::span<const std::int64_t> all) {
  int users = 0;
  for (std::size_t rank = 0; rank < all.size(); rank += mine.size())
    users += all[rank + group_at] == mine[group_at] && all[rank + time_at] == mine[time_at] ? 1 : 0;
  return static_cast<double>(mine[time_at]) / 100 / std::max(1, users);
}

}  // namespace

void yield_where_crowded() {
  if (number_in_environment("OMPI_MCA_orte_bound_at_launch") != 0) return;  // each has its own
  if (number_in_environment("OMPI_COMM_WORLD_LOCAL_SIZE") > allowed_processors())
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

int threads_of_rank(Cluster& cluster) {
  const Reported mine = reported_by_this_rank();
  const std::vector<std::int64_t> all = cluster.on_node(mine);
  double share = share_of_processors(mine, all);
  const auto ranks = static_cast<double>(all.size() / mine.size());
  if (share == 0) share = allowed_processors() / ranks;  // the system does not report the masks
  if (mine[time_at] > 0) share = std::min(share, share_of_time(mine, all));
  constexpr double rounding = 1e-6;
  const int most = std::max(1, static_cast<int>(share + rounding)), asked = threads_of_environment();
  return asked > 0 ? std::min(asked, most) : most;
}

void sum_on_node(Cluster& cluster, std::span<std::int64_t> numbers) {
  const std::vector<std::int64_t> all = cluster.on_node(numbers);
  std::fill(numbers.begin(), numbers.end(), 0);
  for (std::size_t i = 0; i < all.size(); ++i) numbers[i % numbers.size()] += all[i];
}

}  // namespace kasen::tools
