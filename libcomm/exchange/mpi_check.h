// Turns return codes of MPI into exceptions; MPI's own handler would end the job without a message of ours.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace kasen {

// The most bytes of one message: MPI counts in 32 bits.
inline constexpr std::int64_t largest_message = std::int64_t{1} << 30;

// Throws UserError(io) with MPI's text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

}  // namespace kasen
