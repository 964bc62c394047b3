// What the fuzzing harnesses share: one input kind a file, `NAME_fuzz.cpp` (docs/testing.md). A harness takes any bytes
// as a file of its kind: they are read, or refused by a UserError that says where. All else is a finding: a crash, what
// the sanitizers see, another exception, a requirement that does not hold, and what takes too long or too much memory.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kasen::fuzz {

struct Harness {
  std::string_view name;
  void (*run)(std::string_view content);
  bool lines = false;  // every refusal of bad input names a line
};
[[nodiscard]] std::span<const Harness> harnesses();  // that the program has: harnesses.cpp

// Ends the process where it does not hold.
void require(bool holds, std::string_view what, std::string_view detail = {});

// A file in memory, for readers that open one by name.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::string path() const;

 private:
  int fd_;
};

}  // namespace kasen::fuzz
