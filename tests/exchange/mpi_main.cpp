#include "tests/exchange/mpi_main.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kasen::testing {
namespace {

const MpiSession* session = nullptr;

int run(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const MpiSession own(&argc, &argv);
  session = &own;
  if (argc > 1 && std::string(argv[1]) == "abort") {  // the last rank gives up while the others wait for it
    if (own.rank() == own.ranks() - 1) own.abort_all(ExitStatus::limit);
    own.barrier();
    return 0;
  }
  std::vector<std::int64_t> failed{RUN_ALL_TESTS()};
  own.all_reduce_max(failed);
  return static_cast<int>(failed[0]);
}

}  // namespace

const MpiSession& mpi() { return *session; }

}  // namespace kasen::testing

int main(int argc, char** argv) { return kasen::testing::run(argc, argv); }
