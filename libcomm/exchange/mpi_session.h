/// \file
/// MPI from start to end, and the few collectives that a tool needs beside the exchanges of a plan. All ranks call
/// every member that is marked collective in the same order. A disagreement is found before it can hang or go wrong
/// (one small reduction each). It ends in an InternalError that names the first two ranks that differ.
///
/// A rank that fails reports to the user and calls abort_all. A dead rank ends the whole job (Open MPI 4.1 cannot go on
/// without it), and the exit status passes through mpirun.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/exchange/agreement.h"
#include "libcore/base/error.h"

namespace kasen {

/// A rank's error, in a form that travels.
struct Failure {
  int rank = 0;
  ExitStatus status = ExitStatus::internal;
  std::string text;
};

class MpiSession {
 public:
  /// MPI_Init_thread: only the thread that made the session calls MPI. One session a process. UserError(configuration)
  /// if MPI does not start.
  MpiSession(int* argc, char*** argv);
  /// Finalizes, except while an exception passes: the other ranks may never come, and abort_all is the way out.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  /// Whether exchanges are compared as well (agreement.h); true for all ranks if any asks for it.
  [[nodiscard]] bool checks() const { return checks_; }
  /// The most bytes of a message: the least that any rank asks for.
  [[nodiscard]] std::int64_t message_bytes() const { return message_bytes_; }
  /// From now on, the place where this rank waits is written there (nullptr: nowhere).
  void record_waits(WaitRecord* record) { waits_ = record; }
  [[nodiscard]] WaitRecord* waits() const { return waits_; }

  /// Collective: checks that all ranks are at this call. As long as the result lives, it shows that this rank waits.
  Waiting agree(std::string_view operation, std::int64_t count, std::string_view purpose = {}) const;
  void barrier() const;                                       ///< collective
  void all_reduce_sum(std::span<std::int64_t> values) const;  ///< collective; equal counts
  void all_reduce_max(std::span<std::int64_t> values) const;  ///< collective; equal counts
  void broadcast(std::string& bytes) const;                   ///< collective; from rank 0, of any size
  /// Collective; every rank's bytes on rank 0, in the order of ranks; nothing elsewhere.
  [[nodiscard]] std::vector<std::string> gather(const std::string& bytes) const;
  /// Collective; to[r] goes to rank r, of any size, in messages of at most `message_bytes`. Returns each rank's text
  /// for this one. Two ranks with nothing for each other exchange no message.
  [[nodiscard]] std::vector<std::string> exchange(std::vector<std::string> to,
                                                  std::int64_t message_bytes = std::int64_t{1} << 30) const;
  /// Collective; the failure of the lowest rank that has one, on every rank. If all ranks meet after a step that any of
  /// them may fail, one message is enough.
  [[nodiscard]] std::optional<Failure> first_failure(const std::optional<Failure>& mine) const;

  /// Ends every rank with this status; prints nothing.
  [[noreturn]] void abort_all(ExitStatus status) const;

 private:
  int rank_ = 0, ranks_ = 1;
  bool checks_ = false;
  std::int64_t message_bytes_ = 0;
  WaitRecord* waits_ = nullptr;
  mutable std::int64_t calls_ = 0;  ///< collectives so far
  int exceptions_;                  ///< in flight when the session began
};

}  // namespace kasen
