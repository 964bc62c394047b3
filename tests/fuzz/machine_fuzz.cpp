// A machine profile.
#include "tests/fuzz/harness.h"
#include "tests/fuzz/kinds.h"
#include "tools/machine/machine_file.h"

namespace kasen::fuzz {

void fuzz_machine(std::string_view content) {
  const MemoryFile file(content);
  MachineProfile machine = tools::read_machine(file.path());
  for (const MachineKey& key : machine_keys())
    require(key.of(machine) >= 0, "what a machine does is no less than 0", key.name);
}

}  // namespace kasen::fuzz
