/// \file
/// The transport over MPI (docs/transport.md). Rank r of R holds workers floor(rP/R) .. floor((r+1)P/R) - 1. For each
/// exchange one message travels between two ranks that have something to send. It holds the payloads of their worker
/// pairs, by sender, then receiver, straight from and into the caller's buffers. Payloads between workers of one rank
/// are copied when the exchange starts and counted in worker_bytes alone.
#pragma once

#include <cstdint>
#include <memory>

#include "libcomm/exchange/mpi_session.h"
#include "libcore/transport/transport.h"

namespace kasen {

struct WorkerRange {
  int first = 0, count = 0;
  friend bool operator==(const WorkerRange&, const WorkerRange&) = default;
};
[[nodiscard]] WorkerRange workers_of_rank(int rank, int ranks, int workers);
[[nodiscard]] int rank_of_worker(int worker, int ranks, int workers);

struct MpiTransportOptions {
  std::int64_t message_bytes = 0;  ///< longer messages go in pieces of this size; 0: the session's
  /// Each message between ranks carries a digest of its payload, 8 bytes that no counter counts, and its receiver
  /// compares: finish ends in UserError(io) if they differ. The same on all ranks.
  bool check_messages = false;
};

/// Collective. UserError(usage) if there are more ranks than workers. Exchanges may overlap: a ticket can be open while
/// others start. If the session checks, start compares the ranks' next steps and the bytes that they send and await. A
/// difference ends in an InternalError on all of them. Else ranks at different exchanges, or with other sizes, get one
/// in finish, if a message arrives at all. A network failure ends in UserError(io). After either, the job can only be
/// ended. The session must outlive the transport, which only its thread may use.
[[nodiscard]] std::unique_ptr<Transport> make_mpi_transport(const MpiSession& session, int workers,
                                                            const MpiTransportOptions& options = {});

}  // namespace kasen
