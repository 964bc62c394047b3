// The transport over MPI, from outside: each rank tells how many of four workers it has; mpirun -n 2 ranks
#include <iostream>

#include "libcomm/exchange/mpi_transport.h"

int main(int argc, char** argv) {
  const kasen::MpiSession session(&argc, &argv);
  const auto transport = kasen::make_mpi_transport(session, 4);
  std::vector<std::int64_t> sum{transport->local_workers()};
  session.all_reduce_sum(sum);
  if (session.rank() == 0) std::cout << session.ranks() << " ranks, " << sum[0] << " workers\n";
  return sum[0] == 4 ? 0 : 1;
}
