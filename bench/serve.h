// What the ranks of a peer do (peer.h): rank 0 says that they are ready, and they measure once for each line that it is
// sent. Rank 0 answers with the numbers.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdio>
#include <exception>
#include <span>

#include "libcomm/exchange/mpi_session.h"

namespace kasen::bench {

inline void say_ready(const MpiSession& session, const char* missing = nullptr) {
  if (session.rank() != 0) return;
  std::printf(missing == nullptr ? "ready\n" : "missing: %s\n", missing);
  std::fflush(stdout);
}

// `measure()` gives an array of numbers on each rank; those of rank 0 are told.
template <class Measure>
void serve(const MpiSession& session, const Measure& measure) {
  std::array<char, 64> line{};
  for (;;) {
    int more = session.rank() == 0 ? std::fgets(line.data(), line.size(), stdin) != nullptr : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (more == 0) return;
    const auto numbers = measure();
    if (session.rank() != 0) continue;
    for (const double number : numbers) std::printf("%.9g ", number);
    std::puts("");
    std::fflush(stdout);
  }
}

// For main: the exit status of `run()`, whose errors go to the question's reader.
template <class Run>
int status_of(const char* name, const Run& run) {
  try {
    run();
    return 0;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s: %s\n", name, fault.what());
    return 1;
  }
}

}  // namespace kasen::bench
