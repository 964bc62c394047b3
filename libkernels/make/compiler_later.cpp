// The compiler in a module that is loaded when something is compiled: LLVM takes longer to load than a small plan to
// run.
#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "libcore/base/address_limit.h"
#include "libcore/base/built_from.h"
#include "libcore/base/error.h"
#include "libcore/system/beside.h"
#include "libkernels/make/compiler_module.h"

namespace kasen {
namespace {

constexpr const char* file_name = "kasen-compiler.so";

[[noreturn]] void fail_to_load(const std::string& why, const std::string& remedy) {
  fail(ExitStatus::missing_input, fmt::format("cannot load the compiler of kernels, '{}'", file_name), why,
       remedy + ", or run with --kernels=interpreter");
}

// LLVM takes some 100 MB of addresses: a limit on these may have no room for it.
void refuse_little_room(const std::string& why) {
  const auto limit = address_limit();
  const bool room = why.find("failed to map") == std::string::npos && why.find("allocate memory") == std::string::npos;
  if (!limit || room) return;
  fail(ExitStatus::limit, fmt::format("cannot load the compiler of kernels, '{}'", file_name),
       fmt::format("the process may have no more than {} KiB of addresses (ulimit -v)", *limit / 1024),
       "raise that limit, or run with --kernels=interpreter");
}

const CompilerModule& load() {
  const std::string path = file_beside_program(file_name);
  if (path.empty())
    fail_to_load(fmt::format("it is neither beside the program nor in {}", KASEN_LIBDIR "/kasen"),
                 "install Kasen anew, as a whole");
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    const char* const text = dlerror();
    const std::string why = text == nullptr ? "the system does not say why" : text;
    refuse_little_room(why);
    fail_to_load(why, "install LLVM 16 (Debian: libllvm16)");
  }
  const auto* const exported = static_cast<const CompilerModule*>(dlsym(module, "kasen_compiler"));
  if (exported == nullptr || exported->built_from != built_from())
    fail_to_load(fmt::format("'{}' is of another version of Kasen", path), "install Kasen anew, as a whole");
  return *exported;
}

const CompilerModule& compiler() {
  static const CompilerModule& loaded = load();
  return loaded;
}

}  // namespace

std::unique_ptr<KernelCompiler> make_compiler(const Target& target, const CodeStore& store) {
  return compiler().make(target, store);
}

LibraryVersions llvm_versions() { return compiler().versions(); }

}  // namespace kasen
