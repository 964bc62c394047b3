// One question of whole commands: its data, who answers it, and the check of what they write.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/endtoend/endtoend.h"

namespace kasen::bench {

using Words = std::vector<std::string>;

// Contestants of the question beside kasen: arguments but the last, which is the result's file.
struct HandProgram {
  std::string name;
  Words arguments;  // of kasen-bench-hand
};
struct Script {
  std::string name, module;  // the peer, and what Python imports of it
  Words arguments;           // of scikit.py; empty: there is no script
};

struct Whole {
  std::string name;
  std::shared_ptr<WorkFolder> folder;
  Words program;  // and data and constants, for kasen go
  std::vector<HandProgram> hands;
  Script script;
  // Of what the commands have written: kasen and the first hand program, if there is one, or kasen and the script.
  std::function<void(const Whole&, bool script)> check;
  int threads = 1;

  [[nodiscard]] std::string file(const std::string& of) const { return folder->file(of); }
};

[[nodiscard]] Question question(const Whole& whole);

[[nodiscard]] std::string read_text(const std::string& file);

}  // namespace kasen::bench
