// The processes that share a run, in the view of kasen-run: one process alone, or the ranks of MPI.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcomm/data/results/ranks.h"
#include "libcomm/exchange/node_board.h"
#include "libcore/base/error.h"
#include "libcore/transport/transport.h"

namespace kasen::tools {

// A step failed on some rank. Every rank throws it, with the text of the lowest rank that failed.
struct JobFailed {
  ExitStatus status = ExitStatus::internal;
  std::string text;
};

class Cluster : public ResultRanks {
 public:
  // check_messages: as in MpiTransportOptions; one process alone sends no messages.
  [[nodiscard]] virtual std::unique_ptr<Transport> transport(int workers, bool check_messages = false) = 0;
  // Every rank's bytes on rank 0, in the order of ranks; nothing elsewhere. All ranks call it.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& bytes) = 0;
  // The largest of the ranks' values, on all of them.
  [[nodiscard]] virtual std::int64_t largest(std::int64_t mine) = 0;
  // The values of all ranks of this node, one rank after the other; each gives as many. All ranks call it.
  [[nodiscard]] virtual std::vector<std::int64_t> on_node(std::span<const std::int64_t> mine) = 0;
  // Rank 0's bytes, on all ranks.
  virtual void broadcast(std::string& bytes) = 0;
  // A board of this node's ranks, with `bytes` for each. All ranks call it.
  [[nodiscard]] virtual NodeBoard board(std::int64_t bytes) = 0;
  // From now on, this rank's waits for others are recorded there (nullptr: nowhere).
  virtual void record_waits(WaitRecord* record) = 0;
  // ResultRanks::together: where the step fails on any rank, all throw JobFailed (one process alone: its own error).
  // Ends every rank with this status, after the caller has reported why. Any thread may call it.
  [[noreturn]] virtual void abort(ExitStatus status) = 0;
};

[[nodiscard]] std::unique_ptr<Cluster> make_single_process();
// Starts MPI; the cluster's destructor ends it.
[[nodiscard]] std::unique_ptr<Cluster> make_mpi_cluster(int argc, char** argv);
// Was this process started by mpirun or srun as one of several?
[[nodiscard]] bool started_by_mpi();

}  // namespace kasen::tools
