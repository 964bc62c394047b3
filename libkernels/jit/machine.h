// The compiler's own view of this machine.
#pragma once

#include <memory>
#include <string>

#include "libkernels/jit/target.h"

namespace llvm {
class TargetMachine;
namespace orc {
class JITTargetMachineBuilder;  // only declared: its header takes long to compile
}
}  // namespace llvm

namespace kasen {

class Machine {
 public:
  // InternalError: LLVM does not know this processor.
  explicit Machine(const Target& target);

  [[nodiscard]] std::string triple() const;
  [[nodiscard]] std::string cpu() const;
  [[nodiscard]] std::string features() const;
  // A compiler of its own for each thread.
  [[nodiscard]] std::unique_ptr<llvm::TargetMachine> make() const;

 private:
  std::shared_ptr<const llvm::orc::JITTargetMachineBuilder> builder_;
};

}  // namespace kasen
