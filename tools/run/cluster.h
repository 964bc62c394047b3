// The processes that share a run, as the run tool sees them: one process alone, or the ranks of MPI.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcomm/data/results/ranks.h"
#include "libcomm/exchange/node_board.h"
#include "libcore/base/error.h"
#include "libcore/run/transport.h"

namespace kasen::tools {

// A step failed on some rank: every rank throws it, the text is that of the lowest rank that failed.
struct JobFailed {
  ExitStatus status = ExitStatus::internal;
  std::string text;
};

class Cluster : public ResultRanks {
 public:
  // check_messages: MpiTransportOptions has it; one process alone sends none.
  [[nodiscard]] virtual std::unique_ptr<Transport> transport(int workers, bool check_messages = false) = 0;
  // Every rank's bytes on rank 0, in the order of ranks; nothing elsewhere. All ranks call it.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& bytes) = 0;
  // The largest of what the ranks give, on all of them.
  [[nodiscard]] virtual std::int64_t largest(std::int64_t mine) = 0;
  // What each rank of this node gives, one after the other; as many everywhere. All ranks call it.
  [[nodiscard]] virtual std::vector<std::int64_t> on_node(std::span<const std::int64_t> mine) = 0;
  // Rank 0's bytes, on all ranks.
  virtual void broadcast(std::string& bytes) = 0;
  // A board of this node's ranks, of `bytes` each. All ranks call it.
  [[nodiscard]] virtual NodeBoard board(std::int64_t bytes) = 0;
  // Where this rank waits for others is written there from now on (nullptr: nowhere).
  virtual void record_waits(WaitRecord* record) = 0;
  // ResultRanks::together: where the step fails on any rank, all throw JobFailed (one process alone: what it threw).
  // Ends every rank with this status, after the caller has told why. Any thread may call it.
  [[noreturn]] virtual void abort(ExitStatus status) = 0;
};

[[nodiscard]] std::unique_ptr<Cluster> make_single_process();
// Starts MPI; the cluster's destructor ends it.
[[nodiscard]] std::unique_ptr<Cluster> make_mpi_cluster(int argc, char** argv);
// Was this process started by mpirun or srun as one of several?
[[nodiscard]] bool started_by_mpi();

}  // namespace kasen::tools
