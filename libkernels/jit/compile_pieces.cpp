#include "libkernels/jit/compile_pieces.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
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
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "libcore/base/error.h"
#include "libkernels/jit/code_digest.h"
#include "libkernels/jit/llvm_names.h"

namespace kasen {
namespace {

template <class T>
T unwrap(llvm::Expected<T> value, const char* what) {
  if (!value) throw InternalError(std::string(what) + ": " + llvm::toString(value.takeError()));
  return std::move(*value);
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

// The passes and what they know of a module, for one module after another.
class Optimizer {
 public:
  explicit Optimizer(llvm::TargetMachine& machine) : builder_(&machine), wanted_(passes()) {
    builder_.registerModuleAnalyses(modules_);
    builder_.registerCGSCCAnalyses(components_);
    builder_.registerFunctionAnalyses(functions_);
    builder_.registerLoopAnalyses(loops_);
    builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
  }

  void run(llvm::Module& module) {
    for (llvm::Function& function : module) {
      if (!function.isDeclaration()) wanted_.run(function, functions_);
    }
    loops_.clear();
    functions_.clear();
    components_.clear();
    modules_.clear();
  }

 private:
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
  llvm::PassBuilder builder_;
  llvm::FunctionPassManager wanted_;
};

// Compiles one piece after another. To set all passes up takes longer than to compile a small kernel. Modules are read
// anew, so that no two threads use the same objects of LLVM.
class PieceCompiler {
 public:
  explicit PieceCompiler(const Machine& machine) : machine_(machine.make()), optimizer_(*machine_), object_(bytes_) {
    context_.setDiscardValueNames(true);  // nobody reads them here
    llvm::MCContext* unused = nullptr;
    if (machine_->addPassesToEmitMC(writer_, unused, object_)) throw InternalError("this LLVM writes no machine code");
  }

  [[nodiscard]] std::string compile(const std::string& bitcode) {
    const auto module =
        unwrap(llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "kasen"), context_), "a piece of code");
    return compile(*module);
  }

  [[nodiscard]] std::string compile(llvm::Module& module) {
    optimizer_.run(module);
    bytes_.clear();
    writer_.run(module);
    return {bytes_.data(), bytes_.size()};
  }

  // To be called with `compile`, which changes the module.
  [[nodiscard]] std::string text(const llvm::Module& module) {
    const auto copy = llvm::CloneModule(module);
    optimizer_.run(*copy);
    llvm::SmallVector<char, 0> text;
    llvm::raw_svector_ostream out(text);
    llvm::legacy::PassManager writer;
    if (machine_->addPassesToEmitFile(writer, out, nullptr, llvm_names::assembly))
      throw InternalError("this LLVM cannot print assembly");
    writer.run(*copy);
    return {text.data(), text.size()};
  }

 private:
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  Optimizer optimizer_;
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream object_;
  llvm::legacy::PassManager writer_;
};

// All that machine code depends on beside the module: LLVM, the target and the passes. (LLVM's default then selects
// machine code; code that asks for another must say so here.)
std::string setting_of(const Machine& machine) {
  std::string text = LLVM_VERSION_STRING;
  llvm::raw_string_ostream out(text);
  out << '\n' << machine.triple() << ' ' << machine.cpu() << ' ' << machine.features() << '\n';
  passes().printPipeline(out, [](llvm::StringRef name) { return name; });
  out << '\n';
  return out.str();
}

// What is to be compiled, and where its code belongs.
struct Missing {
  PieceToCompile piece;
  std::size_t object = 0;
};

// A thread starts later than another compiles fewer instructions than this.
constexpr std::int64_t least_share = 2000;

// In shares of about equally many instructions, the larger pieces first.
std::vector<std::vector<const Missing*>> shares_of(const std::vector<Missing>& missing, int threads) {
  std::vector<const Missing*> sorted;
  std::int64_t total = 0;
  for (const Missing& m : missing) {
    sorted.push_back(&m);
    total += m.piece.instructions;
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Missing* a, const Missing* b) { return a->piece.instructions > b->piece.instructions; });
  const auto most = std::min<std::int64_t>({threads, total / least_share, static_cast<std::int64_t>(sorted.size())});
  std::vector<std::vector<const Missing*>> shares(static_cast<std::size_t>(std::max<std::int64_t>(1, most)));
  std::vector<std::int64_t> weight(shares.size());
  for (const Missing* m : sorted) {
    const auto lightest = static_cast<std::size_t>(std::min_element(weight.begin(), weight.end()) - weight.begin());
    weight[lightest] += m->piece.instructions;
    shares[lightest].push_back(m);
  }
  return shares;
}

void compile_share(const std::vector<const Missing*>& share, const Machine& machine, const CodeStore& store,
                   std::vector<CompiledObject>& objects) {
  PieceCompiler compiler(machine);
  for (const Missing* m : share) {
    CompiledObject& object = objects[m->object];
    object.code = compiler.compile(m->piece.bitcode);
    if (store.open()) store.keep(object.key, object.code);
  }
}

void compile_missing(const std::vector<Missing>& missing, const Machine& machine, const CodeStore& store, int threads,
                     std::vector<CompiledObject>& objects) {
  if (missing.empty()) return;
  const auto shares = shares_of(missing, threads);
  std::vector<std::future<void>> others;  // without a thread of the system, run on demand
  for (std::size_t k = 1; k < shares.size(); ++k) {
    others.push_back(std::async(std::launch::async | std::launch::deferred, compile_share, std::cref(shares[k]),
                                std::cref(machine), std::cref(store), std::ref(objects)));
  }
  compile_share(shares[0], machine, store, objects);
  for (std::future<void>& other : others) other.get();
}

}  // namespace

CompiledPieces compile_pieces(std::vector<PieceToCompile> pieces, const Machine& machine, const CodeStore& store,
                              int threads) {
  CompiledPieces made;
  std::vector<Missing> missing;
  std::map<std::string, std::size_t> known;  // objects by their keys
  const std::string setting = setting_of(machine);
  for (PieceToCompile& piece : pieces) {
    std::string key = code_digest({setting, piece.bitcode});
    const auto [at, added] = known.emplace(key, made.objects.size());
    if (!added) {
      auto& functions = made.objects[at->second].functions;
      functions.insert(functions.end(), piece.functions.begin(), piece.functions.end());
      continue;
    }
    CompiledObject object{std::move(key), "", piece.functions};
    if (std::optional<std::string> found = store.find(object.key)) {
      object.code = std::move(*found);
    } else {
      missing.push_back({std::move(piece), made.objects.size()});
    }
    made.objects.push_back(std::move(object));
  }
  made.made = std::ssize(missing);
  compile_missing(missing, machine, store, threads, made.objects);
  return made;
}

std::string compile_with_text(llvm::Module& module, const Machine& machine, std::string& assembly) {
  PieceCompiler compiler(machine);
  assembly = compiler.text(module);
  return compiler.compile(module);
}

}  // namespace kasen
