// All workers in one process: the reference transport. Payloads are copied when the exchange starts.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/run/transport.h"

namespace kasen {
namespace {

class SimulatedTransport : public Transport {
 public:
  explicit SimulatedTransport(int workers) : workers_(workers) {
    if (workers < 1) throw InternalError("a transport has at least one worker");
  }

  [[nodiscard]] int workers() const override { return workers_; }
  [[nodiscard]] int first_worker() const override { return 0; }
  [[nodiscard]] int local_workers() const override { return workers_; }
  void moved_here(std::int64_t bytes) override { traffic_.worker_bytes += bytes; }
  [[nodiscard]] const Traffic& traffic() const override { return traffic_; }

  [[nodiscard]] int start(std::int64_t step, std::span<const Message> sends,
                          std::span<const Message> receives) override {
    if (open_) throw InternalError("an exchange starts before the one before it is finished");
    std::map<std::pair<int, int>, const Message*> sent;
    for (const Message& message : sends) {
      check(message);
      if (!sent.emplace(std::pair(message.from, message.to), &message).second) fault(step, message, "is sent twice");
    }
    for (const Message& message : receives) {
      check(message);
      const auto it = sent.find({message.from, message.to});
      if (it == sent.end()) fault(step, message, "is awaited but not sent, or awaited twice");
      if (it->second->bytes != message.bytes) fault(step, message, "has another size than awaited");
      if (message.bytes > 0) std::memcpy(message.data, it->second->data, static_cast<size_t>(message.bytes));
      if (message.from != message.to) traffic_.worker_bytes += message.bytes;
      sent.erase(it);
    }
    if (!sent.empty()) fault(step, *sent.begin()->second, "is sent but not awaited");
    open_ = true;
    return ++ticket_;
  }

  void finish(int ticket) override {
    if (!open_ || ticket != ticket_) throw InternalError("an exchange is finished that was not started");
    open_ = false;
  }

 private:
  void check(const Message& message) const {
    const auto known = [this](int worker) { return worker >= 0 && worker < workers_; };
    if (!known(message.from) || !known(message.to) || message.bytes < 0) {
      throw InternalError(fmt::format("no message can go from worker {} to worker {}", message.from, message.to));
    }
  }

  [[noreturn]] static void fault(std::int64_t step, const Message& message, const char* what) {
    throw InternalError(fmt::format("exchange {}: the message of {} bytes from worker {} to worker {} {}", step,
                                    message.bytes, message.from, message.to, what));
  }

  int workers_;
  int ticket_ = 0;
  bool open_ = false;
  Traffic traffic_;
};

}  // namespace

std::unique_ptr<Transport> make_simulated_transport(int workers) {
  return std::make_unique<SimulatedTransport>(workers);
}

}  // namespace kasen
