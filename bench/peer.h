// A peer that is a process of its own (a Python script beside its question): started once, told by a line to measure,
// answering with a line of numbers. Between measurements it waits for the next line and takes nothing of the processor.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace kasen::bench {

class Peer {
 public:
  // Starts `command` (words[0] is searched for in PATH) with `threads` for OpenMP and BLAS libraries, and reads its
  // first line: "ready", or "missing: WHY", where the peer cannot run here. Throws std::runtime_error if it fails.
  Peer(const std::vector<std::string>& command, int threads);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  [[nodiscard]] const std::string& missing() const { return missing_; }  // why it cannot run; empty: it can
  // One measurement: the numbers of its answer, the seconds first.
  [[nodiscard]] std::vector<double> measure();

 private:
  [[nodiscard]] std::string line();

  std::string name_, missing_;
  pid_t process_ = -1;
  std::FILE *to_ = nullptr, *from_ = nullptr;
};

// A script of bench/, by its path there, run by Debian's Python.
[[nodiscard]] std::shared_ptr<Peer> python_peer(const std::string& script, std::vector<std::string> arguments,
                                                int threads);

}  // namespace kasen::bench
