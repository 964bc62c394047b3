// Names that LLVM has changed since version 16.
#pragma once

#include <llvm/Config/llvm-config.h>
#include <llvm/Support/CodeGen.h>

namespace kasen::llvm_names {

#if LLVM_VERSION_MAJOR >= 18
inline constexpr auto usual_level = llvm::CodeGenOptLevel::Default;
inline constexpr auto assembly = llvm::CodeGenFileType::AssemblyFile;
#else
inline constexpr auto usual_level = llvm::CodeGenOpt::Default;
inline constexpr auto assembly = llvm::CGFT_AssemblyFile;
#endif

}  // namespace kasen::llvm_names
