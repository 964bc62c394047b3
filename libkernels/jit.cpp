#include "libkernels/jit.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "libcore/error.h"

namespace kasen {
namespace {

template <class T>
T unwrap(llvm::Expected<T> value, const char* what) {
  if (!value) throw InternalError(std::string(what) + ": " + llvm::toString(value.takeError()));
  return std::move(*value);
}

void check(llvm::Error error, const char* what) {
  if (error) throw InternalError(std::string(what) + ": " + llvm::toString(std::move(error)));
}

}  // namespace

Jit::Jit() : context_(std::make_unique<llvm::LLVMContext>()) {
  jit_ = unwrap(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target_.machine()).create(), "LLVM ORC");
  module_ = std::make_unique<llvm::Module>("kasen", *context_);
  module_->setDataLayout(jit_->getDataLayout());
  module_->setTargetTriple(jit_->getTargetTriple().str());
}

Jit::~Jit() = default;

llvm::Function* Jit::add_function(const std::string& name, const std::vector<llvm::Type*>& parameters) {
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(*context_), parameters, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, *module_);
  function->addFnAttr("target-cpu", target_.cpu());
  function->addFnAttr("target-features", target_.features());
  const std::string bits = std::to_string(target_.vector_bits());
  function->addFnAttr("prefer-vector-width", bits);
  function->addFnAttr("min-legal-vector-width", bits);
  function->setDoesNotThrow();
  return function;
}

llvm::FunctionCallee Jit::declare(const MathFunction& function, llvm::FunctionType* type) {
  llvm::FunctionCallee callee = module_->getOrInsertFunction(function.symbol, type);
  auto* declared = llvm::cast<llvm::Function>(callee.getCallee());
  declared->setDoesNotThrow();
  declared->setDoesNotAccessMemory();
  declared->addFnAttr(llvm::Attribute::WillReturn);
  declared->addFnAttr(llvm::Attribute::NoSync);
  declared->addFnAttr(llvm::Attribute::Speculatable);
  symbols_.emplace(function.symbol, function.address);
  return callee;
}

// The emitters write vector code already; what is left is to bring variables into registers, share equal expressions
// and hoist what does not change out of loops.
void Jit::optimize() {
  auto machine = unwrap(llvm::orc::JITTargetMachineBuilder(target_.machine()).createTargetMachine(), "target machine");
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::EarlyCSEPass(true));
  for (llvm::Function& function : *module_) {
    if (!function.isDeclaration()) passes.run(function, functions);
  }
}

void Jit::compile(std::string* assembly) {
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(*module_, &stream)) throw InternalError("generated code is not well formed: " + stream.str());
  optimize();
  if (assembly != nullptr) {
    auto machine =
        unwrap(llvm::orc::JITTargetMachineBuilder(target_.machine()).createTargetMachine(), "target machine");
    llvm::SmallVector<char, 0> text;
    llvm::raw_svector_ostream out(text);
    llvm::legacy::PassManager writer;
    auto copy = llvm::CloneModule(*module_);
    if (machine->addPassesToEmitFile(writer, out, nullptr, llvm::CGFT_AssemblyFile)) {
      throw InternalError("this LLVM cannot print assembly");
    }
    writer.run(*copy);
    assembly->assign(text.begin(), text.end());
  }
  llvm::orc::JITDylib& library = jit_->getMainJITDylib();
  llvm::orc::SymbolMap known;
  for (const auto& [name, address] : symbols_) {
    known[jit_->mangleAndIntern(name)] = llvm::JITEvaluatedSymbol(address, llvm::JITSymbolFlags::Exported);
  }
  check(library.define(llvm::orc::absoluteSymbols(std::move(known))), "LLVM ORC symbols");
  library.addGenerator(
      unwrap(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit_->getDataLayout().getGlobalPrefix()),
             "LLVM ORC process symbols"));
  check(jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module_), std::move(context_))), "LLVM ORC module");
}

void* Jit::lookup(const std::string& name) {
  return reinterpret_cast<void*>(unwrap(jit_->lookup(name), "LLVM ORC lookup").getValue());
}

}  // namespace kasen
