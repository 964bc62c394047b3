#include "tests/exchange/mpi_main.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace kasen::testing {
namespace {

const MpiSession* session = nullptr;

// What a tool does where ranks turn out to be at different steps: tells, and ends the job.
int diverge(const MpiSession& own) {
  try {
    if (own.rank() == 0) own.barrier();
    if (own.rank() != 0) (void)own.gather("x");
  } catch (const InternalError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    own.abort_all(ExitStatus::internal);
  }
  return 0;
}

int run(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const MpiSession own(&argc, &argv);
  session = &own;
  if (argc > 1 && std::string(argv[1]) == "abort") {  // the last rank gives up while the others wait for it
    if (own.rank() == own.ranks() - 1) own.abort_all(ExitStatus::limit);
    own.barrier();
    return 0;
  }
  if (argc > 1 && std::string(argv[1]) == "diverge") return diverge(own);
  std::vector<std::int64_t> failed{RUN_ALL_TESTS()};
  own.all_reduce_max(failed);
  return static_cast<int>(failed[0]);
}

}  // namespace

const MpiSession& mpi() { return *session; }

}  // namespace kasen::testing

int main(int argc, char** argv) { return kasen::testing::run(argc, argv); }
