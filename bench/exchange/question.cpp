// A scatter and a gather between two processes, half a million elements each way: Kasen's against pack, Sendrecv and
// unpack by hand over the same sorted lists, one thread a rank. One job measures both, in turn (ranks.cpp); it stops
// with a message where an element is wrong.
#include <cstdlib>
#include <filesystem>

#include "bench/driver.h"
#include "bench/peer.h"

namespace kasen::bench {

Question exchange_question(const Settings& /*settings*/) {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) setenv(name, "1", 0);
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "kasen-bench-exchange").string();
  const auto ranks = std::make_shared<Peer>(
      std::vector<std::string>{"mpirun", "-n", "2", program, KASEN_SOURCE_ROOT "/bench/exchange/turns.ks"}, 1);
  const auto last = std::make_shared<std::vector<double>>(ranks->measure());
  Question question{"exchange", "ms/scatter and gather", 1e3, {}, {}};
  question.contestants.push_back({"kasen", [=] {
                                    *last = ranks->measure();
                                    return last->at(0);
                                  }});
  question.contestants.push_back({"by-hand", [=] { return last->at(1); }});
  return question;
}

}  // namespace kasen::bench
