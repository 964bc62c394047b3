#include "libkernels/jit/machine.h"

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>
#include <utility>

#include "libcore/base/error.h"
#include "libkernels/jit/llvm_names.h"

namespace kasen {
namespace {

using MachineBuilder = llvm::orc::JITTargetMachineBuilder;

MachineBuilder host_machine() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Expected<MachineBuilder> host = MachineBuilder::detectHost();
  if (!host) throw InternalError("LLVM does not know this processor: " + llvm::toString(host.takeError()));
  return *host;
}

MachineBuilder machine_of(Level level) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  });
  const bool arm = level == Level::aarch64;
  MachineBuilder machine{llvm::Triple(arm ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu")};
  machine.setCPU(arm ? "generic" : std::string(name_of(level)));
  return machine;
}

}  // namespace

Machine::Machine(const Target& target) {
  MachineBuilder machine = target.level() == Level::native ? host_machine() : machine_of(target.level());
  // A processor newer than this LLVM is detected as its nearest ancestor or as a generic one; the features are right.
  if (machine.getCPU() == "x86-64" && target.widest_bits() == 512) machine.setCPU("x86-64-v4");
  // Else LLVM makes loads with a branch each of the gathers that a trial has chosen.
  if (target.is_x86() && target.widest_bits() >= 256) machine.addFeatures({"+fast-gather"});
  machine.setCodeGenOptLevel(llvm_names::usual_level);
  builder_ = std::make_shared<const MachineBuilder>(std::move(machine));
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
