#include "libkernels/jit/machine.h"

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Support/Host.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <mutex>
#include <utility>

#include "libcore/base/error.h"

namespace kasen {
namespace {

llvm::orc::JITTargetMachineBuilder host_machine() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Expected<llvm::orc::JITTargetMachineBuilder> host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host) throw InternalError("LLVM does not know this processor: " + llvm::toString(host.takeError()));
  return *host;
}

}  // namespace

Machine::Machine(const Target& target) {
  llvm::orc::JITTargetMachineBuilder machine = host_machine();
  // A processor newer than this LLVM is detected as its nearest ancestor or as a generic one; the features are right.
  if (machine.getCPU() == "x86-64" && target.widest_bits() == 512) machine.setCPU("x86-64-v4");
  machine.setCodeGenOptLevel(llvm::CodeGenOpt::Default);
  builder_ = std::make_shared<const llvm::orc::JITTargetMachineBuilder>(std::move(machine));
}

std::string Machine::triple() const { return builder_->getTargetTriple().str(); }

std::string Machine::cpu() const { return builder_->getCPU(); }

std::string Machine::features() const { return builder_->getFeatures().getString(); }

std::unique_ptr<llvm::TargetMachine> Machine::make() const {
  auto made = llvm::orc::JITTargetMachineBuilder(*builder_).createTargetMachine();
  if (!made) throw InternalError("target machine: " + llvm::toString(made.takeError()));
  return std::move(*made);
}

}  // namespace kasen
