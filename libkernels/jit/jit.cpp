#include "libkernels/jit/jit.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <future>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "libcore/base/error.h"
#include "libkernels/jit/code_digest.h"

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

// Otherwise LLVM ends the process.
void have_missing_memory_thrown() {
  static const bool once = [] {
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
    return true;
  }();
  (void)once;
}

// The emitters already write vector code. The remaining work is to bring variables into registers, share equal
// expressions and hoist invariants out of loops.
llvm::FunctionPassManager passes() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::EarlyCSEPass(true));
  return passes;
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager wanted = passes();
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) wanted.run(function, functions);
  }
}

// One thread compiles fewer instructions than this sooner than they are cut.
constexpr std::int64_t least_share = 2000;

// The names of the module's functions, in shares of about equally many instructions.
std::vector<std::set<std::string>> shares_of(const llvm::Module& module, int threads) {
  std::vector<std::pair<std::int64_t, std::string>> functions;
  std::int64_t total = 0;
  for (const llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    functions.emplace_back(function.getInstructionCount(), function.getName().str());
    total += functions.back().first;
  }
  std::sort(functions.rbegin(), functions.rend());
  const auto most = std::min<std::int64_t>({threads, total / least_share, static_cast<std::int64_t>(functions.size())});
  std::vector<std::set<std::string>> shares(static_cast<size_t>(std::max<std::int64_t>(1, most)));
  std::vector<std::int64_t> weight(shares.size());
  for (const auto& [instructions, name] : functions) {
    const auto lightest = static_cast<size_t>(std::min_element(weight.begin(), weight.end()) - weight.begin());
    weight[lightest] += instructions;
    shares[lightest].insert(name);
  }
  return shares;
}

// The key of all that the machine code of a share depends on: the module, the share, LLVM, the target and the passes.
// (LLVM's default then selects machine code; code that asks for another must say so here.)
std::string key_of(llvm::MemoryBufferRef bitcode, const std::set<std::string>& share, const Machine& machine) {
  std::string text = LLVM_VERSION_STRING;
  llvm::raw_string_ostream out(text);
  out << '\n' << machine.triple() << ' ' << machine.cpu() << ' ' << machine.features() << '\n';
  passes().printPipeline(out, [](llvm::StringRef name) { return name; });
  for (const std::string& name : share) out << '\n' << name;
  out << '\n' << bitcode.getBuffer();
  return code_digest({out.str()});
}

std::string machine_code(llvm::Module& module, llvm::TargetMachine& machine) {
  return unwrap(llvm::orc::SimpleCompiler(machine)(module), "machine code")->getBuffer().str();
}

// Machine code of the functions of `share` in a module that is read anew, so that no two threads use the same objects
// of LLVM. The functions of other shares stay declared.
std::string compile_share(llvm::MemoryBufferRef bitcode, const std::set<std::string>& share, const Machine& machine) {
  llvm::LLVMContext context;
  const auto module = unwrap(llvm::getLazyBitcodeModule(bitcode, context), "a module's share");
  for (llvm::Function& function : *module) {
    if (!function.isDeclaration() && share.count(function.getName().str()) == 0) function.deleteBody();
  }
  check(module->materializeAll(), "a module's share");
  const auto compiler = machine.make();
  optimize(*module, *compiler);
  return machine_code(*module, *compiler);
}

CompiledObject find_or_compile(llvm::MemoryBufferRef bitcode, const std::set<std::string>& share,
                               const Machine& machine, const CodeStore& store) {
  if (!store.open()) return {"", compile_share(bitcode, share, machine)};
  CompiledObject object{key_of(bitcode, share, machine), ""};
  if (std::optional<std::string> found = store.find(object.key)) {
    object.code = std::move(*found);
  } else {
    object.code = compile_share(bitcode, share, machine);
    store.keep(object.key, object.code);
  }
  return object;
}

}  // namespace

Jit::Jit(const Target& target, const CodeStore& store)
    : target_(target), machine_(target), store_(store), context_(std::make_unique<llvm::LLVMContext>()) {
  have_missing_memory_thrown();
  module_ = std::make_unique<llvm::Module>("kasen", *context_);
  module_->setDataLayout(machine_.make()->createDataLayout());
  module_->setTargetTriple(machine_.triple());
}

Jit::~Jit() = default;

llvm::Function* Jit::add_function(const std::string& name, const std::vector<llvm::Type*>& parameters) {
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(*context_), parameters, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, *module_);
  function->addFnAttr("target-cpu", machine_.cpu());
  function->addFnAttr("target-features", machine_.features());
  const std::string bits = std::to_string(target_.vector_bits());
  function->addFnAttr("prefer-vector-width", bits);
  function->addFnAttr("min-legal-vector-width", bits);
  function->setDoesNotThrow();
  return function;
}

std::vector<CompiledObject> Jit::compile(int threads, std::string* assembly) {
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(*module_, &stream)) throw InternalError("generated code is not well formed: " + stream.str());
  if (assembly == nullptr) return compile_shares(threads);
  const auto machine = machine_.make();
  optimize(*module_, *machine);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager writer;
  auto copy = llvm::CloneModule(*module_);
  if (machine->addPassesToEmitFile(writer, out, nullptr, llvm::CGFT_AssemblyFile)) {
    throw InternalError("this LLVM cannot print assembly");
  }
  writer.run(*copy);
  assembly->assign(text.begin(), text.end());
  return {{"", machine_code(*module_, *machine)}};
}

std::vector<CompiledObject> Jit::compile_shares(int threads) const {
  const std::vector<std::set<std::string>> shares = shares_of(*module_, threads);
  std::vector<CompiledObject> objects(shares.size());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::WriteBitcodeToFile(*module_, out);
  const llvm::MemoryBufferRef bitcode(llvm::StringRef(bytes.data(), bytes.size()), "kasen");
  std::vector<std::future<CompiledObject>> others;  // without a thread of the system, run on demand
  for (size_t k = 1; k < shares.size(); ++k) {
    others.push_back(std::async(std::launch::async | std::launch::deferred, find_or_compile, bitcode,
                                std::cref(shares[k]), std::cref(machine_), std::cref(store_)));
  }
  objects[0] = find_or_compile(bitcode, shares[0], machine_, store_);
  for (size_t k = 1; k < shares.size(); ++k) objects[k] = others[k - 1].get();
  return objects;
}

}  // namespace kasen
