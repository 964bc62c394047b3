#include "libkernels/jit/target.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Support/Host.h>
#include <llvm/Support/TargetSelect.h>

#include <array>
#include <mutex>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/scalar/elementary.h"
#include "libcore/system/hardware.h"

namespace kasen {
namespace {

// The C library's name of the function, for f64; null: it has none, or needs none.
const char* library_name(ScalarOp op) {
  if (op == ScalarOp::pow || op == ScalarOp::fmod) return row(op).name.data();
  const ElementaryRow* const function = elementary_row(op);
  return function == nullptr || *function->library == '\0' ? nullptr : function->library;
}

// The vector function ABI of x86-64: the letter of the instruction set, and its register's bits.
struct AbiRow {
  char letter;
  int bits;
};
constexpr std::array abis{AbiRow{'e', 512}, AbiRow{'d', 256}, AbiRow{'b', 128}};

llvm::orc::JITTargetMachineBuilder host_machine() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Expected<llvm::orc::JITTargetMachineBuilder> host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host) {
    throw InternalError("LLVM does not know this processor: " + llvm::toString(host.takeError()));
  }
  return *host;
}

}  // namespace

Target::Target(std::optional<LaneChoice> lanes) {
  llvm::orc::JITTargetMachineBuilder machine = host_machine();
  llvm::StringMap<bool> features;
  llvm::sys::getHostCPUFeatures(features);
  const auto has = [&](const char* name) { return features.count(name) != 0 && features[name]; };
  fuses_ = has("fma") || machine.getTargetTriple().isAArch64();
  if (has("avx2")) vector_bits_ = 256;
  if (has("avx512f") && has("avx512dq") && has("avx512vl") && has("avx512bw")) vector_bits_ = 512;
  // A processor newer than this LLVM is detected as its nearest ancestor or as a generic one; the features are right.
  if (machine.getCPU() == "x86-64" && vector_bits_ == 512) machine.setCPU("x86-64-v4");
  machine.setCodeGenOptLevel(llvm::CodeGenOpt::Default);
  machine_ = std::make_shared<const llvm::orc::JITTargetMachineBuilder>(std::move(machine));
  lanes_ = lanes ? *lanes : choose_lanes(lane_trial(vector_bits_));
  libmvec_ = dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL);
}

std::string Target::cpu() const { return machine_->getCPU(); }

std::string Target::features() const { return machine_->getFeatures().getString(); }

bool Target::may_stream() const { return machine_->getTargetTriple().isX86(); }

std::int64_t Target::last_level_cache() {
  static const std::int64_t bytes = last_level_caches().value_or(std::int64_t{32} << 20);
  return bytes;
}

std::string Target::description() const {
  return fmt::format("{}, {}-bit vectors, {}, {}", cpu(), vector_bits_,
                     libmvec_ != nullptr ? "libmvec" : "scalar math library (no libmvec)",
                     lanes_text(lane_trial(vector_bits_)));
}

std::optional<MathFunction> Target::math(ScalarOp op, Scalar scalar, int lanes) const {
  const char* const in_double = library_name(op);
  if (in_double == nullptr) return std::nullopt;
  const std::string name = std::string(in_double) + (scalar == Scalar::f32 ? "f" : "");
  const int bits = scalar == Scalar::f32 ? 32 : 64;
  for (const AbiRow& abi : abis) {
    const int width = abi.bits / bits;
    if (libmvec_ == nullptr || abi.bits > vector_bits_ || width > lanes) continue;
    const std::string symbol = fmt::format("_ZGV{}N{}{}_{}", abi.letter, width, row(op).arity == 2 ? "vv" : "v", name);
    if (const void* address = dlsym(libmvec_, symbol.c_str())) {
      return MathFunction{symbol, width, reinterpret_cast<std::uint64_t>(address)};
    }
  }
  const void* address = dlsym(RTLD_DEFAULT, name.c_str());
  if (address == nullptr) throw InternalError("the C library has no " + name);
  return MathFunction{name, 1, reinterpret_cast<std::uint64_t>(address)};
}

}  // namespace kasen
