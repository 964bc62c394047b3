// The main of test programs that mpirun starts: every rank runs the same tests in the same order.
#pragma once

#include "libcomm/exchange/mpi_session.h"

namespace kasen::testing {

[[nodiscard]] const MpiSession& mpi();

}  // namespace kasen::testing
