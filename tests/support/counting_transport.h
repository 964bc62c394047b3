// A transport that counts what each worker sends and receives.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "libcore/transport/transport.h"

namespace kasen::testing {

// Forwards everything. Messages between two workers of this process count, too; elements that the executor copies
// between them itself do not (moved_here).
class CountingTransport : public Transport {
 public:
  // `apart`: nothing is copied between them, as if each worker were a process.
  explicit CountingTransport(std::unique_ptr<Transport> under, bool apart = false)
      : under_(std::move(under)),
        apart_(apart),
        sent(static_cast<size_t>(under_->workers()), 0),
        received(static_cast<size_t>(under_->workers()), 0) {}
  [[nodiscard]] int workers() const override { return under_->workers(); }
  [[nodiscard]] int first_worker() const override { return under_->first_worker(); }
  [[nodiscard]] int local_workers() const override { return under_->local_workers(); }
  [[nodiscard]] bool compares_steps() const override { return under_->compares_steps(); }
  void announce(const std::string& purpose) override { under_->announce(purpose); }
  [[nodiscard]] int start(std::int64_t step, std::span<const Message> sends,
                          std::span<const Message> receives) override {
    for (const Message& m : sends) sent.at(static_cast<size_t>(m.from)) += m.bytes;
    for (const Message& m : receives) received.at(static_cast<size_t>(m.to)) += m.bytes;
    return under_->start(step, sends, receives);
  }
  void finish(int ticket) override { under_->finish(ticket); }
  [[nodiscard]] bool shares_memory() const override { return !apart_; }
  void moved_here(std::int64_t bytes) override { under_->moved_here(bytes); }
  [[nodiscard]] const Traffic& traffic() const override { return under_->traffic(); }

 private:
  std::unique_ptr<Transport> under_;
  bool apart_;

 public:
  std::vector<std::int64_t> sent, received;  // by worker
};

}  // namespace kasen::testing
