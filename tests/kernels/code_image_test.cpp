// Code in memory: objects that are linked as the ELF supplements say, and objects that are none.
#include "libkernels/jit/code_image.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/ir/module.h"
#include "libkernels/jit/relocation.h"
#include "libkernels/make/kept_kernels.h"

namespace kasen {
namespace {

template <class T>
T relocated(std::uint16_t machine, std::uint32_t type, std::uint64_t value, std::uint64_t address, T word) {
  std::array<std::byte, 8> place{};
  std::memcpy(place.data(), &word, sizeof word);
  EXPECT_TRUE(relocate({machine, type, value}, place.data(), address)) << type;
  std::memcpy(&word, place.data(), sizeof word);
  return word;
}

TEST(Relocations, OfX86) {
  const std::uint64_t value = 0x123456789abcdef0;
  EXPECT_EQ(relocated(EM_X86_64, R_X86_64_64, value, 16, std::uint64_t{1}), value);
  std::byte place{};
  EXPECT_FALSE(relocate({EM_X86_64, R_X86_64_PC32, value}, &place, 0));
  EXPECT_FALSE(relocate({EM_386, R_386_32, value}, &place, 0));
}

// movz x8, #0; movk x8, #0, lsl #16; ... and bl, as assemblers write them.
TEST(Relocations, OfArm) {
  const std::uint64_t value = 0x123456789abcdef0;
  EXPECT_EQ(relocated(EM_AARCH64, R_AARCH64_ABS64, value, 16, std::uint64_t{1}), value);
  EXPECT_EQ(relocated(EM_AARCH64, R_AARCH64_MOVW_UABS_G0_NC, value, 0, 0xd2800008U), 0xd2800008U | (0xdef0U << 5));
  EXPECT_EQ(relocated(EM_AARCH64, R_AARCH64_MOVW_UABS_G1_NC, value, 0, 0xf2a00008U), 0xf2a00008U | (0x9abcU << 5));
  EXPECT_EQ(relocated(EM_AARCH64, R_AARCH64_MOVW_UABS_G2_NC, value, 0, 0xf2c00008U), 0xf2c00008U | (0x5678U << 5));
  EXPECT_EQ(relocated(EM_AARCH64, R_AARCH64_MOVW_UABS_G3, value, 0, 0xf2e00008U), 0xf2e00008U | (0x1234U << 5));
  EXPECT_EQ(relocated(EM_AARCH64, R_AARCH64_CALL26, 0x2000, 0x1000, 0x94000000U), 0x94000400U);
  EXPECT_EQ(relocated(EM_AARCH64, R_AARCH64_CALL26, 0x1000, 0x2000, 0x94000000U), 0x97fffc00U);
  std::array<std::byte, 4> place{};
  EXPECT_FALSE(relocate({EM_AARCH64, R_AARCH64_CALL26, std::uint64_t{1} << 27}, place.data(), 0));
  EXPECT_FALSE(relocate({EM_AARCH64, R_AARCH64_CALL26, 2}, place.data(), 0));
  EXPECT_TRUE(is_short_call({EM_AARCH64, R_AARCH64_CALL26, 0}));
  EXPECT_FALSE(is_short_call({EM_X86_64, R_X86_64_64, 0}));
}

struct Nowhere : CodeStore {
  [[nodiscard]] bool open() const override { return false; }
  [[nodiscard]] std::optional<std::string> find(const std::string& /*key*/) const override { return std::nullopt; }
  void keep(const std::string& /*key*/, std::string_view /*code*/) const override {}
};

// y = tanh(x) + 0.5: a call of a library, and constants.
struct Compiled : ::testing::Test {
  Module module = parse_module(R"(kir 1 level 2
module t {
  dim N
  fn f(x: f64) -> f64 = tanh(x) + 0.5
  %x = input "x" : f64[N] @part
  %y = map[f] %x : f64[N] @part
}
##end
)",
                               "t.kir");
  Nowhere nowhere;
  Target target;
  std::unique_ptr<KernelCompiler> compiler = make_compiler(target, nowhere);
  LoopBody body{{&module.body.ops.at(1)}, module.body.ops.at(1).operands, module.body.ops.at(1).results, {}};
};

TEST_F(Compiled, IsLoadedAndNothingThatIsSpoiledIs) {
  (void)compiler->elementwise(module, body, "f");
  const CompiledPlan plan = compiler->compile(1, nullptr);
  ASSERT_EQ(plan.objects.size(), 1U);
  const std::string whole = plan.objects[0].code;
  CodeImage image(plan.objects);
  EXPECT_NE(image.find("f"), nullptr);
  EXPECT_THROW((void)image.find("g"), InternalError);
  CodeImage moved(std::move(image));
  EXPECT_NE(moved.find("f"), nullptr);
  for (std::size_t n = 0; n < whole.size(); n += 7) {
    const std::vector<CompiledObject> cut{{"", whole.substr(0, n), plan.objects[0].functions}};
    EXPECT_THROW(CodeImage{cut}, InternalError) << n;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {  // an error or another image, but no access outside of it
    std::vector<CompiledObject> other = plan.objects;
    other[0].code[at] = static_cast<char>(~whole[at]);
    try {
      const CodeImage loaded(other);
    } catch (const InternalError&) {
    }
  }
}

TEST_F(Compiled, IsGivenAgainAsItWas) {
  RecordedKernels recorded(*compiler);
  const ElementwiseKernel first = recorded.elementwise(module, body, "f");
  recorded.combine(parse_module("kir 1 level 1\nmodule t {\n  fn add(a: f64, b: f64) -> f64 = a + b\n}\n##end\n", "a")
                       .functions[FnId{0}],
                   "c");
  const CompiledPlan plan = compiler->compile(1, nullptr);
  const std::string bytes = recorded.bytes(plan);
  ReplayedKernels again(bytes);
  const ElementwiseKernel same = again.elementwise(module, body, "f");
  EXPECT_EQ(same.symbol, first.symbol);
  EXPECT_EQ(same.inputs, first.inputs);
  EXPECT_EQ(same.reach, first.reach);
  EXPECT_EQ(same.counted, first.counted);
  EXPECT_EQ(same.stored, first.stored);
  EXPECT_THROW((void)again.end(), NotKept);
  again.combine(module.fn(FnId{0}), "c");
  EXPECT_EQ(again.end().cpu, plan.cpu);
  EXPECT_EQ(again.end().scratch_bytes, plan.scratch_bytes);
  EXPECT_EQ(again.end().objects.size(), plan.objects.size());
  ReplayedKernels other(bytes);
  EXPECT_THROW((void)other.elementwise(module, body, "g"), NotKept);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(
        {
          ReplayedKernels cut(bytes.substr(0, n));
          (void)cut.elementwise(module, body, "f");
          cut.combine(module.fn(FnId{0}), "c");
          (void)cut.end();
        },
        NotKept)
        << n;
  }
}

// Data that change no code, and all that does.
TEST_F(Compiled, IsKeptForEveryPlanThatIsEqualButForItsData) {
  const std::string key = kept_plan_key(module, target);
  Module other = module;
  other.fitted_to = "data";
  other.planned_by = "somebody";
  other.history = {"made"};
  EXPECT_EQ(kept_plan_key(other, target), key);
  other.functions[FnId{0}].name = "h";
  EXPECT_NE(kept_plan_key(other, target), key);
  for (std::size_t k = 0; k < choice_rows.size(); ++k) {
    Ways ways = target.ways();
    ways.values.at(k) = ways.values.at(k) == Way::first ? Way::second : Way::first;
    EXPECT_NE(kept_plan_key(module, Target(ways)), key) << choice_rows.at(k).name;
  }
}

}  // namespace
}  // namespace kasen
