// The processes that share a run, as the run tool sees them: one process alone, or the ranks of MPI.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libcore/transport.h"

namespace kasen::tools {

class Cluster {
 public:
  virtual ~Cluster() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Transport> transport(int workers) = 0;
  // Every rank's bytes on rank 0, in the order of ranks; nothing elsewhere. All ranks call it.
  [[nodiscard]] virtual std::vector<std::string> gather(std::string bytes) = 0;
  virtual void barrier() = 0;
  // Ends every rank with this status, after the caller has told why.
  [[noreturn]] virtual void abort(int status) = 0;
};

[[nodiscard]] std::unique_ptr<Cluster> make_single_process();
// Starts MPI; the cluster's destructor ends it.
[[nodiscard]] std::unique_ptr<Cluster> make_mpi_cluster(int argc, char** argv);
// Was this process started by mpirun or srun as one of several?
[[nodiscard]] bool started_by_mpi();

}  // namespace kasen::tools
