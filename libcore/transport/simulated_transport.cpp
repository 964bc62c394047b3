// All workers in one process: the reference transport. Payloads are copied when the exchange starts.
#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/transport/transport.h"

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
    std::map<std::pair<int, int>, std::deque<const Message*>> sent;
    for (const Message& message : sends) {
      check(message);
      sent[{message.from, message.to}].push_back(&message);
    }
    for (const Message& message : receives) {
      check(message);
      std::deque<const Message*>& from_there = sent[{message.from, message.to}];
      if (from_there.empty()) fault(step, message, "is awaited but not sent");
      if (from_there.front()->bytes != message.bytes) fault(step, message, "has another size than awaited");
      if (message.bytes > 0) std::memcpy(message.data, from_there.front()->data, static_cast<size_t>(message.bytes));
      if (message.from != message.to) traffic_.worker_bytes += message.bytes;
      from_there.pop_front();
    }
    for (const auto& [pair, left] : sent) {
      if (!left.empty()) fault(step, *left.front(), "is sent but not awaited");
    }
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
