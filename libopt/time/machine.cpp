#include "libopt/time/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kasen {
namespace {

using Machine = MachineProfile;

// clang-format off
constexpr std::array rates{
  MachineKey{"memory_bandwidth",  "bytes a second that one worker reads",                                [](Machine& m) -> double& { return m.memory_bandwidth; }, false},
  MachineKey{"write_bandwidth",   "bytes a second that it writes; 0: as it reads",                       [](Machine& m) -> double& { return m.write_bandwidth; }, true},
  MachineKey{"row_bandwidth",     "bytes a second of a pass over a dense matrix's rows; 0: as it reads", [](Machine& m) -> double& { return m.row_bandwidth; }, true},
  MachineKey{"narrow_row_bandwidth", "bytes a second of a pass over rows of ten f64; 0: as over others", [](Machine& m) -> double& { return m.narrow_row_bandwidth; }, true},
  MachineKey{"fresh_bandwidth",   "bytes a second of memory that is touched for the first time; 0: in no time", [](Machine& m) -> double& { return m.fresh_bandwidth; }, true},
  MachineKey{"cache_bytes",       "bytes that stay in the caches; 0: none",                              [](Machine& m) -> double& { return m.cache_bytes; }, true},
  MachineKey{"cache_bandwidth",   "bytes a second where all arrays stay there",                          [](Machine& m) -> double& { return m.cache_bandwidth; }, false},
  MachineKey{"loop_latency",      "seconds in which an operator's loop starts and ends",                 [](Machine& m) -> double& { return m.loop_latency; }, true},
  MachineKey{"near_entry",        "seconds of a product's nonzero, its vector of 256 KiB",            [](Machine& m) -> double& { return m.near_entry; }, true},
  MachineKey{"middle_entry",      "seconds of a product's nonzero, its vector of 8 MiB; 0: between the two", [](Machine& m) -> double& { return m.middle_entry; }, true},
  MachineKey{"far_entry",         "seconds of a product's nonzero, its vector of 256 MiB",                [](Machine& m) -> double& { return m.far_entry; }, true},
  MachineKey{"plain_operation",   "seconds of a sum, comparison or choice of f64, and the like",         [](Machine& m) -> double& { return m.seconds(ScalarWork::plain); }, true},
  MachineKey{"compound_operation", "seconds of a minimum or maximum, or of a sum or product of integers", [](Machine& m) -> double& { return m.seconds(ScalarWork::compound); }, true},
  MachineKey{"division",          "seconds of a quotient or a square root",                              [](Machine& m) -> double& { return m.seconds(ScalarWork::division); }, true},
  MachineKey{"exp",               "seconds of exp, expm1",                                               [](Machine& m) -> double& { return m.seconds(ScalarWork::exp); }, true},
  MachineKey{"log",               "seconds of log, log1p",                                               [](Machine& m) -> double& { return m.seconds(ScalarWork::log); }, true},
  MachineKey{"erf",               "seconds of erf",                                                      [](Machine& m) -> double& { return m.seconds(ScalarWork::erf); }, true},
  MachineKey{"tanh",              "seconds of tanh",                                                     [](Machine& m) -> double& { return m.seconds(ScalarWork::tanh); }, true},
  MachineKey{"sine",              "seconds of sin, cos",                                                 [](Machine& m) -> double& { return m.seconds(ScalarWork::sine); }, true},
  MachineKey{"power",             "seconds of pow",                                                      [](Machine& m) -> double& { return m.seconds(ScalarWork::power); }, true},
  MachineKey{"dense_term",        "seconds of a multiplication and an addition of a product with a dense matrix", [](Machine& m) -> double& { return m.seconds(ScalarWork::term); }, true},
  MachineKey{"threads",           "threads of these measurements; 0: not known",                        [](Machine& m) -> double& { return m.threads; }, true},
  MachineKey{"disk_read_bandwidth", "bytes a second that a process reads from a disk, past the system's cache", [](Machine& m) -> double& { return m.disk_read_bandwidth; }, false},
  MachineKey{"disk_write_bandwidth", "bytes a second that it writes there",                           [](Machine& m) -> double& { return m.disk_write_bandwidth; }, false},
  MachineKey{"network_bandwidth", "bytes a second that one worker sends",                                [](Machine& m) -> double& { return m.network_bandwidth; }, false},
  MachineKey{"network_latency",   "seconds that a message takes beside its bytes",                       [](Machine& m) -> double& { return m.network_latency; }, false},
};
constexpr std::array trials{
#define CHOICE(name, first_key, one, second_key, other, timed)                                                                                         \
  MachineKey{#first_key,  "seconds of " timed ": " one,  [](Machine& m) -> double& { return m.trials.trials[Choice::name].first; },  true}, \
  MachineKey{#second_key, "seconds of " timed ": " other, [](Machine& m) -> double& { return m.trials.trials[Choice::name].second; }, true},
#include "libcore/kernels/choices.def"
#undef CHOICE
};
// clang-format on

constexpr auto keys = [] {
  std::array<MachineKey, rates.size() + trials.size()> all{};
  std::copy(trials.begin(), trials.end(), std::copy(rates.begin(), rates.end(), all.begin()));
  return all;
}();

}  // namespace

std::span<const MachineKey> machine_keys() { return keys; }

std::string machine_lines(MachineProfile machine, bool (*wanted)(const MachineKey& key)) {
  std::string text;
  if (const TrialProfile& made = machine.trials; !made.processor.empty() && wanted(trials[0])) {
    text += fmt::format("processor: \"{}\"  # of the trials below\nbuild: \"{}\"  # that made them\n", made.processor,
                        made.build);
  }
  for (const MachineKey& key : keys) {
    if (wanted(key)) text += fmt::format("{}: {:.4g}  # {}\n", key.name, key.of(machine), key.doc);
  }
  return text;
}

// Between a narrow row and a wide one the time of a byte changes with the logarithm of the row's size.
double MachineProfile::bandwidth_of_rows(double row) const {
  const double wide = row_bandwidth > 0 ? row_bandwidth : memory_bandwidth;
  if (narrow_row_bandwidth <= 0 || row >= wide_row) return wide;
  const double far = std::max(0.0, std::log(row / narrow_row) / std::log(wide_row / narrow_row));
  return 1 / ((1 - far) / narrow_row_bandwidth + far / wide);
}

// Between two measured spans the time of a read grows with the logarithm of the span.
double MachineProfile::entry_seconds(double span) const {
  const auto between = [&](double from, double to, double shorter, double longer) {
    const double far = std::clamp(std::log(span / from) / std::log(to / from), 0.0, 1.0);
    if (shorter <= 0) return far > 0 ? longer : shorter;
    return shorter * std::pow(longer / shorter, far);
  };
  if (span <= near_span) return near_entry;
  if (middle_entry <= 0) return between(near_span, far_span, near_entry, far_entry);
  return span < middle_span ? between(near_span, middle_span, near_entry, middle_entry)
                            : between(middle_span, far_span, middle_entry, far_entry);
}

MachineProfile MachineProfile::part(double share) const {
  MachineProfile made = *this;
  for (double* rate : {&made.memory_bandwidth, &made.write_bandwidth, &made.row_bandwidth, &made.narrow_row_bandwidth,
                       &made.fresh_bandwidth, &made.cache_bandwidth, &made.cache_bytes, &made.threads})
    *rate *= share;
  for (double* seconds : {&made.near_entry, &made.middle_entry, &made.far_entry}) *seconds /= share;
  for (double& seconds : made.operation) seconds /= share;
  return made;
}

}  // namespace kasen
