// A product of two matrices, 2,400 on a side, on two processes of one thread each, placed over a mesh of two workers:
// Kasen's against ScaLAPACK's pdgemm (Blackford et al., ScaLAPACK Users' Guide, SIAM 1997) on a grid of 2 x 1, which
// calls the same BLIS. One job measures both, in turn (ranks.cpp), and counts what each sends. It stops with a message
// where the results differ, or where Kasen sends more.
#include <cstdlib>
#include <filesystem>

#include "bench/driver.h"
#include "bench/peer.h"
#include "libkernels/dense/blas.h"

namespace kasen::bench {

Question distributed_question(const Settings& /*settings*/) {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) setenv(name, "1", 0);
  start_blas();  // what it sets, the ranks inherit
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kasen-bench-distributed").string();
  const auto ranks = std::make_shared<Peer>(
      std::vector<std::string>{"mpirun", "-n", "2", program, KASEN_SOURCE_ROOT "/bench/distributed/product.ks"}, 1);
  Question question{"distributed", "s/product", 1, {}, {}};
  if (!ranks->missing().empty()) {
    question.missing.push_back({"pdgemm", ranks->missing()});
    return question;
  }
  const auto last = std::make_shared<std::vector<double>>(ranks->measure());
  question.contestants.push_back({"kasen", [=] {
                                    *last = ranks->measure();
                                    return last->at(0);
                                  }});
  question.contestants.push_back({"pdgemm", [=] { return last->at(1); }});
  return question;
}

}  // namespace kasen::bench
