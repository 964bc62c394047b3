#include "libkernels/make/compiler_module.h"

#include "libcore/base/built_from.h"

extern "C" {
extern const kasen::CompilerModule kasen_compiler;
const kasen::CompilerModule kasen_compiler{kasen::built_from(), kasen::make_compiler, kasen::llvm_versions};
}
