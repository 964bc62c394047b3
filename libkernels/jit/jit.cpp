#include "libkernels/jit/jit.h"

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Target/TargetMachine.h>

#include <new>
#include <utility>

#include "libcore/base/error.h"

namespace kasen {
namespace {

// Otherwise LLVM ends the process.
void have_missing_memory_thrown() {
  static const bool once = [] {
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
    return true;
  }();
  (void)once;
}

void require_well_formed(const llvm::Module& module) {
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(module, &stream)) throw InternalError("generated code is not well formed: " + stream.str());
}

// Without the table of symbols that linkers read.
std::string bitcode_of(const llvm::Module& module) {
  llvm::SmallVector<char, 0> bytes;
  llvm::BitcodeWriter writer(bytes);
  writer.writeModule(module);
  writer.writeStrtab();
  return {bytes.data(), bytes.size()};
}

}  // namespace

Jit::Jit(const Target& target, const CodeStore& store)
    : target_(target),
      machine_(target),
      store_(store),
      context_(std::make_unique<llvm::LLVMContext>()),
      layout_(machine_.make()->createDataLayout()) {
  have_missing_memory_thrown();
}

Jit::~Jit() = default;

void Jit::begin_piece() {
  Piece piece{std::make_unique<llvm::Module>("kasen", *context_), {}};
  piece.module->setDataLayout(layout_);
  piece.module->setTargetTriple(machine_.triple());
  pieces_.push_back(std::move(piece));
}

llvm::Function* Jit::add_function(const std::string& name, const std::vector<llvm::Type*>& parameters) {
  Piece& piece = pieces_.back();
  piece.functions.push_back({name, fmt::format("f{}", piece.functions.size())});
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(*context_), parameters, false);
  auto* function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, piece.functions.back().symbol, *piece.module);
  function->addFnAttr("target-cpu", machine_.cpu());
  function->addFnAttr("target-features", machine_.features());
  const std::string bits = std::to_string(target_.vector_bits());
  function->addFnAttr("prefer-vector-width", bits);
  function->addFnAttr("min-legal-vector-width", bits);
  function->setDoesNotThrow();
  return function;
}

CompiledPieces Jit::compile(int threads, std::string* assembly) {
  if (assembly != nullptr) return {{compile_whole(*assembly)}, 1};
  std::vector<PieceToCompile> pieces;
  for (Piece& piece : pieces_) {
    require_well_formed(*piece.module);
    pieces.push_back({bitcode_of(*piece.module), piece.module->getInstructionCount(), std::move(piece.functions)});
  }
  return compile_pieces(std::move(pieces), machine_, store_, threads);
}

CompiledObject Jit::compile_whole(std::string& assembly) {
  llvm::Module whole("kasen", *context_);
  whole.setDataLayout(layout_);
  whole.setTargetTriple(machine_.triple());
  CompiledObject object;
  for (Piece& piece : pieces_) {
    require_well_formed(*piece.module);
    for (NamedFunction& function : piece.functions) {
      piece.module->getFunction(function.symbol)->setName(function.name);
      object.functions.push_back({function.name, function.name});
    }
    if (llvm::Linker::linkModules(whole, std::move(piece.module)))
      throw InternalError("generated code defines a name twice");
  }
  object.code = compile_with_text(whole, machine_, assembly);
  return object;
}

}  // namespace kasen
