/// \file
/// The interface that moves bytes between workers. libcore has the one-process transport over simulated workers,
/// libcomm the one over MPI. A transport only moves bytes. The executor packs them, and the KernelSet combines them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/run_result.h"

namespace kasen {

/// One payload from worker `from` to worker `to`. At least one of the two lives in this process.
struct Message {
  int from = 0, to = 0;
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  [[nodiscard]] virtual int workers() const = 0;
  /// The workers of this process: first, first + 1, ..., first + count - 1.
  [[nodiscard]] virtual int first_worker() const = 0;
  [[nodiscard]] virtual int local_workers() const = 0;

  /// True if the transport compares the next steps of the ranks. Then the caller describes the purpose of each start
  /// beforehand (announce), in words that are the same on every rank.
  [[nodiscard]] virtual bool compares_steps() const { return false; }
  virtual void announce(const std::string& /*purpose*/) {}

  /// Starts to move `sends` (all from local workers) and `receives` (all to local workers). A message between two local
  /// workers is in both. Several messages between the same two workers arrive in the order in which both sides list
  /// them. The caller leaves the buffers untouched until finish. Every rank calls start in the same
  /// order. `step` numbers the exchanges; ranks compare it where that is cheap. Returns a ticket.
  [[nodiscard]] virtual int start(std::int64_t step, std::span<const Message> sends,
                                  std::span<const Message> receives) = 0;
  /// Waits until all of the ticket's messages have arrived and left.
  virtual void finish(int ticket) = 0;

  /// True if the caller may copy between two workers of this process itself. Else it sends messages there, too.
  [[nodiscard]] virtual bool shares_memory() const { return true; }
  /// Counts bytes as sent that the caller moved itself between two workers of this process, in memory that both share.
  virtual void moved_here(std::int64_t bytes) = 0;

  [[nodiscard]] virtual const Traffic& traffic() const = 0;
};

/// All workers in this process; messages are copied at start. This is the reference transport.
[[nodiscard]] std::unique_ptr<Transport> make_simulated_transport(int workers);

}  // namespace kasen
