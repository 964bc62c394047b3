#include "libkernels/jit/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <locale>
#include <sstream>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>

#include <fstream>
#endif

#include "libcore/base/built_from.h"
#include "libcore/system/hardware.h"
#include "libkernels/jit/code_digest.h"
#include "libkernels/jit/trials.h"

namespace kasen {
namespace {

#if defined(__x86_64__)
constexpr bool x86 = true;

// What the compiler asks as well; GCC's answer, too, counts registers only if the system saves them.
int vector_bits_here() {
  __builtin_cpu_init();
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  return wide ? 512 : __builtin_cpu_supports("avx2") ? 256 : 128;
}

bool fuses_here() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("fma");
}

// The leaves of CPUID that tell model and features.
std::string processor_here() {
  std::string text;
  for (const auto& [leaf, sub] : {std::pair{0U, 0U}, {1U, 0U}, {7U, 0U}, {7U, 1U}, {0x80000001U, 0U}}) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(leaf, sub, &a, &b, &c, &d) == 0) continue;
    if (leaf == 1) b = 0;  // of this core alone
    text += fmt::format("{:x}.{:x} {:x} {:x} {:x} {:x}\n", leaf, sub, a, b, c, d);
  }
  return text;
}

// "AMD EPYC 9R14 (family 25, model 17)": virtual machines of several processors may have one name.
std::string model_here() {
  std::string name;
  for (unsigned leaf = 0x80000002U; leaf <= 0x80000004U; ++leaf) {
    std::array<unsigned, 4> words{};
    if (__get_cpuid(leaf, &words[0], &words[1], &words[2], &words[3]) == 0) break;
    for (const unsigned word : words) {
      for (unsigned shift = 0; shift < 32; shift += 8) name += static_cast<char>(word >> shift & 0xffU);
    }
  }
  name.resize(std::min(name.find('\0'), name.size()));
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  unsigned a = 0, b = 0, c = 0, d = 0;
  __get_cpuid(1, &a, &b, &c, &d);
  const unsigned base = a >> 8 & 0xfU, family = base + (base == 15 ? a >> 20 & 0xffU : 0);
  const unsigned model = (a >> 4 & 0xfU) + (base == 6 || base == 15 ? (a >> 16 & 0xfU) << 4 : 0);
  return fmt::format("{} (family {}, model {})", name.empty() ? "x86-64" : name, family, model);
}
#else
constexpr bool x86 = false;

int vector_bits_here() { return 128; }
bool fuses_here() { return true; }

std::string processor_here() {
  std::string model;
  std::getline(std::ifstream("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"), model);
  return fmt::format("{} {:x} {:x}\n", model, getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}

std::string model_here() {
  const std::string text = processor_here();
  return text.substr(0, text.find('\n'));
}
#endif

int vector_bits_of(Level level) {
  switch (level) {
    case Level::native:
      return vector_bits_here();
    case Level::x86_64_v4:
      return 512;
    case Level::x86_64_v3:
      return 256;
    default:
      return 128;
  }
}

bool fuses_of(Level level) { return level == Level::native ? fuses_here() : level != Level::x86_64_v2; }

// A trial near the limit would choose now this, now that, and kernels that are kept would not fit the next run.
TrialTimes kept_trials(int bits, const CodeStore* store) {
  if (store == nullptr || !store->open()) return trials_here(bits);
  const std::string key = code_digest({"trials\n", built_from(), "\n", std::to_string(bits), "\n", processor_here()});
  if (const auto text = store->find(key)) {
    std::istringstream numbers(*text);
    numbers.imbue(std::locale::classic());
    TrialTimes kept;
    for (WayTimes& trial : kept.values) numbers >> trial.first >> trial.second;
    if (numbers) return kept;
  }
  const TrialTimes& made = trials_here(bits);
  std::string text;
  for (const WayTimes& trial : made.values) text += fmt::format("{} {}\n", trial.first, trial.second);
  store->keep(key, text);
  return made;
}

// A level without gathers or scatters has one way.
void require_one_by_one(Ways& ways, int bits) {
  if (bits < 256) ways[Choice::reads] = Way::second;
  if (bits < 512) ways[Choice::writes] = Way::second;
}

}  // namespace

Target::Target(const std::optional<Ways>& ways, const std::optional<TrialProfile>& profile, const CodeStore* store,
               Level level)
    : level_(level), widest_bits_(vector_bits_of(level)), fuses_(fuses_of(level)) {
  const bool pinned =
      profile && !profile->empty() && reason_against(*profile).empty() && widest_bits_ == vector_bits_here();
  if (pinned) {
    trials_ = profile->trials;
  } else if (lacking(level).empty()) {
    trials_ = kept_trials(widest_bits_, store);
  }
  ways_ = ways ? *ways : chosen(trials_);
  require_one_by_one(ways_, widest_bits_);
  by_ = ways ? "request" : pinned ? "profile" : "trial";
}

int Target::vector_bits() const { return widest_bits_ < 512 || takes_first(Choice::vectors) ? widest_bits_ : 256; }

// AVX-512 has 32 registers of any width, other processors here have 16.
int Target::registers() const { return (widest_bits_ == 512 ? 32 : 16) * vector_bits() / 512; }

bool Target::is_open(Choice choice) const { return by_ != "request" && trials_[choice] == WayTimes(); }

std::vector<MadeChoice> Target::choices() const {
  std::vector<MadeChoice> made;
  for (std::size_t k = 0; k < choice_rows.size(); ++k) {
    const auto choice = static_cast<Choice>(k);
    made.push_back(made_choice(choice, ways_[choice], trials_[choice], is_open(choice) ? "default" : by_));
  }
  return made;
}

std::string Target::reason_against(const TrialProfile& profile) {
  if (profile.processor != name()) return fmt::format("they are of {}", profile.processor);
  if (profile.build != built_from()) return "another build of Kasen made them";
  return {};
}

std::string Target::name() { return fmt::format("{}, {}-bit vectors", model_here(), vector_bits_here()); }

bool Target::is_x86() const { return level_ == Level::native ? x86 : level_ != Level::aarch64; }

// AVX2 has them for words of 4 and 8 bytes, AVX-512 for all and for vectors of any width.
bool Target::masks(std::int64_t bytes) const {
  return is_x86() && (widest_bits_ == 512 || (widest_bits_ == 256 && bytes >= 4));
}

std::int64_t Target::last_level_cache() {
  static const std::int64_t bytes = last_level_caches().value_or(std::int64_t{32} << 20);
  return bytes;
}

std::string Target::description(const std::string& cpu) const {
  return fmt::format("{}{}, {}-bit vectors", cpu, level_ == Level::native ? "" : " by --target", vector_bits());
}

std::string Target::identity() const {
  std::string text = fmt::format("{}{} {} bits, ways", processor_here(), name_of(level_), widest_bits_);
  for (const Way way : ways_.values) text += fmt::format(" {}", static_cast<int>(way));
  return text + '\n';
}

}  // namespace kasen
