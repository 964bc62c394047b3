// Who moves bytes between workers. libcore carries the one-process transport over simulated workers; libcomm the one
// over MPI. A transport only moves bytes: what to pack and how to combine is the executor's and the KernelSet's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/run_result.h"

namespace kasen {

// One payload from worker `from` to worker `to`; exactly one of the pair's sides, or both, live in this process.
struct Message {
  int from = 0, to = 0;
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  [[nodiscard]] virtual int workers() const = 0;
  // The workers of this process: first, first + 1, ..., first + count - 1.
  [[nodiscard]] virtual int first_worker() const = 0;
  [[nodiscard]] virtual int local_workers() const = 0;

  // Does the transport compare what the ranks are about to do? Then the caller says before each start what it is for,
  // in words that are the same on every rank.
  [[nodiscard]] virtual bool compares_steps() const { return false; }
  virtual void announce(const std::string& /*purpose*/) {}

  // Starts moving `sends` (all messages from local workers) and `receives` (all to local workers); a message between
  // two local workers stands in both. Buffers stay untouched by the caller until finish. Every rank calls start in the
  // same order; `step` numbers the exchanges and is checked between ranks where that is cheap. Returns a ticket.
  [[nodiscard]] virtual int start(std::int64_t step, std::span<const Message> sends,
                                  std::span<const Message> receives) = 0;
  // Waits until all of the ticket's messages have arrived and left.
  virtual void finish(int ticket) = 0;

  // What the caller moved itself between two different workers of this process, in memory that both are in: counted as
  // sent.
  virtual void moved_here(std::int64_t bytes) = 0;

  [[nodiscard]] virtual const Traffic& traffic() const = 0;
};

// All workers in this process; messages are copied at start. The reference transport.
[[nodiscard]] std::unique_ptr<Transport> make_simulated_transport(int workers);

}  // namespace kasen
