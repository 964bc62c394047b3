#include "tools/run/network.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "libopt/time/machine.h"

namespace kasen::tools {
namespace {

// Between workers 0 and 1, one on each of the first ranks; other ranks take part in each exchange without a message.
class PingPong {
 public:
  explicit PingPong(Cluster& cluster) : rank_(cluster.rank()), transport_(cluster.transport(cluster.ranks())) {}

  // Seconds of one message there or back: the median of the repetitions.
  double seconds(std::int64_t bytes, int repetitions) {
    std::vector<std::byte> data(static_cast<std::size_t>(bytes));
    std::vector<double> times;
    for (int i = 0; i < repetitions; ++i) {
      const auto start = std::chrono::steady_clock::now();
      send(0, 1, data);
      send(1, 0, data);
      times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 2);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

 private:
  void send(int from, int to, std::vector<std::byte>& data) {
    const Message message{from, to, data.data(), static_cast<std::int64_t>(data.size())};
    const std::span<const Message> one{&message, 1}, none;
    transport_->finish(transport_->start(step_++, rank_ == from ? one : none, rank_ == to ? one : none));
  }

  int rank_;
  std::unique_ptr<Transport> transport_;
  std::int64_t step_ = 0;
};

}  // namespace

std::string network_profile(Cluster& cluster) {
  if (cluster.ranks() < 2) {
    fail(ExitStatus::usage, "--network-profile needs two ranks", "messages go from one to the other", "add -n 2");
  }
  constexpr std::int64_t large = std::int64_t{16} << 20;
  PingPong ranks(cluster);
  (void)ranks.seconds(large, 2);  // connections and buffers are made with the first messages
  const double latency = ranks.seconds(8, 501);
  const double transfer = std::max(ranks.seconds(large, 9) - latency, 1e-12);
  if (cluster.rank() != 0) return "";
  MachineProfile machine;
  machine.network_bandwidth = static_cast<double>(large) / transfer;
  machine.network_latency = latency;
  return machine_lines(machine, [](const MachineKey& key) { return key.name.starts_with("network"); });
}

}  // namespace kasen::tools
