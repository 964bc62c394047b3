// Forms of matrices that a store keeps: what is loaded equals what is made, and what is damaged is refused.
#include <cstring>
#include <functional>

#include "tests/kernels/epilogue_support.h"
#include "tests/support/memory_forms.h"

namespace kasen::testing {
namespace {

const std::string ranks_program =
    "dim N\ninput G : null[N, N]\npr : f64[N] = 1\ndegree = G @ pr\nfor k in 0..3 {\n"
    "  pr = 0.15 + 0.85 * (G' @ (pr / (degree + 1)))\n}\noutput pr\n";
const std::string weighted =
    "dim N\ninput G : f64[N, N]\nx : f64[N] = 1\nfor k in 0..3 {\n  x = 1 / (1 + G' @ x + G @ x)\n}\noutput x\n";

TEST(KeptForms, GiveTheSameBitsAsFormsMadeAnew) {
  for (const int workers : {1, 3}) {
    for (const auto& [text, scalar] : {std::pair{ranks_program, Scalar::null}, {weighted, Scalar::f64}}) {
      const std::vector<Part> parts = split(band(workers, 30'000, scalar));
      const Module plan = make_plan(text, true);
      for (const std::int64_t blocks : {0, 3}) {
        const auto kernels = [&] { return make_kernels({.threads = 2, .operand_blocks = blocks}); };
        const Made made = run(plan, parts, kernels(), true);
        MemoryForms forms;
        expect_equal(run(plan, parts, kernels(), true, &forms).outputs, made.outputs, 0, "kept");
        EXPECT_EQ(forms.loaded, 0);
        const int kept = forms.kept;
        EXPECT_GE(kept, 4 * workers);  // an order, two directions, at least one of them sorted
        const Made loaded = run(plan, parts, kernels(), true, &forms);
        expect_equal(loaded.outputs, made.outputs, 0, "loaded");
        EXPECT_TRUE(loaded.agrees || blocks != 0) << loaded.check;  // bytes are predicted for 0 alone
        EXPECT_EQ(forms.loaded, kept);
        EXPECT_EQ(forms.kept, kept);
      }
    }
  }
}

// Other kernels want other forms of sorted rows, and share the rest.
TEST(KeptForms, AreNotTakenForOthers) {
  const std::vector<Part> parts = split(band(1, 30'000, Scalar::null));
  const Module plan = make_plan(ranks_program, true);
  MemoryForms forms;
  const Made made = run(plan, parts, make_kernels({.threads = 1}), true, &forms);
  const int kept = forms.kept;
  expect_equal(run(plan, parts, make_kernels({.threads = 1, .operand_blocks = 2}), true, &forms).outputs, made.outputs,
               0, "blocks");
  EXPECT_EQ(forms.kept, kept + 1);
  EXPECT_EQ(forms.loaded, kept - 1);
}

class DamagedForms : public ::testing::Test {
 protected:
  void SetUp() override { (void)run(plan_, parts_, make_kernels({.threads = 2}), true, &forms_); }

  // Changes one array of the form, and puts it back once it was refused.
  void expect_refusal(const std::string& form, size_t array, const std::function<void(std::byte*)>& damage) {
    const auto found = forms_.with(form);
    ASSERT_FALSE(found.empty()) << form;
    Bytes& bytes = found.front()->at(array);
    Bytes good(bytes.size());
    std::memcpy(good.data(), bytes.data(), static_cast<size_t>(bytes.size()));
    damage(bytes.data());
    EXPECT_THROW((void)run(plan_, parts_, make_kernels({.threads = 2}), true, &forms_), UserError) << form << array;
    std::memcpy(bytes.data(), good.data(), static_cast<size_t>(bytes.size()));
    EXPECT_NO_THROW((void)run(plan_, parts_, make_kernels({.threads = 2}), true, &forms_));
  }

  const std::vector<Part> parts_ = split(band(1, 20'000, Scalar::null));
  const Module plan_ = make_plan(ranks_program, true);
  MemoryForms forms_;
};

template <class T>
std::function<void(std::byte*)> set(std::int64_t k, std::int64_t value) {
  return [=](std::byte* bytes) { reinterpret_cast<T*>(bytes)[k] = static_cast<T>(value); };
}

// As a store would give them whose digests fit: whoever wrote the bundle by hand can make these.
TEST_F(DamagedForms, AreRefused) {
  const std::string order = "order 1 of N", pull = "matrix 1 G, columns", sorted = "rows sorted";
  expect_refusal(order, 0, set<std::int32_t>(5, 20'000));
  expect_refusal(order, 0, [](std::byte* bytes) { std::memcpy(bytes, bytes + 4, 4); });  // one twice
  expect_refusal(pull, 0, set<std::int64_t>(0, 1));
  expect_refusal(pull, 0, set<std::int64_t>(7, std::int64_t{1} << 40));
  expect_refusal(pull, 0, set<std::int64_t>(20'000, 3));
  expect_refusal(pull, 1, set<std::int32_t>(100, 20'000));
  expect_refusal(pull, 1, set<std::int32_t>(100, -1));
  expect_refusal(sorted, 0, set<std::uint16_t>(3, 4096));
  expect_refusal(sorted, 0, [](std::byte* bytes) { std::memcpy(bytes, bytes + 2, 2); });
  expect_refusal(sorted, 1, set<std::uint16_t>(0, 0));
  expect_refusal(sorted, 1, set<std::uint16_t>(4095, 9));
  expect_refusal(sorted, 2, set<std::int32_t>(0, 20'000));
}

}  // namespace
}  // namespace kasen::testing
