/// \file
/// The rates of a machine, by which bytes and operations become seconds (docs/cost.md, "Time"). The built-in numbers
/// are those of a small cluster (configs/machine.yaml has them to edit); only their ratios decide between plans. Rates
/// are those of one process with all the threads that it has.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "libcore/kernels/choices.h"
#include "libcore/scalar/scalar_work.h"
#include "libopt/cost/reach.h"

namespace kasen {

/// Bytes of a matrix's row that a pass reads slowly, and of one that it reads as fast as any.
inline constexpr double narrow_row = 10 * 8, wide_row = 50 * 8;

struct MachineProfile {
  double memory_bandwidth = 10e9;     ///< bytes a second that one worker reads
  double write_bandwidth = 0;         ///< bytes a second that it writes to other memory; 0: as it reads
  double row_bandwidth = 0;           ///< bytes a second of a pass over a dense matrix's rows; 0: as it reads
  double narrow_row_bandwidth = 0;    ///< the same with rows of narrow_row bytes; 0: as with others
  double fresh_bandwidth = 0;         ///< bytes a second of memory that is written for the first time; 0: in no time
  double disk_read_bandwidth = 1e9;   ///< bytes a second that a process reads from a disk, past the system's cache
  double disk_write_bandwidth = 1e9;  ///< bytes a second that it writes there
  double network_bandwidth = 1.25e9;  ///< bytes a second that one worker sends
  double network_latency = 20e-6;     ///< seconds that a message takes beside its bytes
  double cache_bytes = 0;             ///< the bytes that the caches hold (0: no array is expected to stay there)
  double cache_bandwidth = 40e9;      ///< bytes a second of a program whose arrays all fit in there
  double loop_latency = 5e-6;         ///< seconds that the loop of an operator or a region takes to start and to end
  double near_entry = 0.5e-9;         ///< seconds of a product for each nonzero, its vector of near_span
  double middle_entry = 0;            ///< the same with a vector of middle_span; 0: between near and far ones
  double far_entry = 1.2e-9;          ///< the same with a vector of far_span
  /// Seconds of one scalar operation (f64), by ScalarWork.
  std::array<double, scalar_works> operation{0,      0.1e-9, 0.4e-9, 0.5e-9, 0.5e-9, 0.6e-9,
                                             0.8e-9, 2e-9,   1e-9,   2e-9,   0.2e-9};
  double threads = 0;   ///< the threads of the measurement; 0: not known
  TrialProfile trials;  ///< by which generated kernels choose on that processor

  [[nodiscard]] double bandwidth_of_writes() const { return write_bandwidth > 0 ? write_bandwidth : memory_bandwidth; }
  /// Of rows of so many bytes.
  [[nodiscard]] double bandwidth_of_rows(double row) const;
  /// For each nonzero of a product, with a vector of so many bytes.
  [[nodiscard]] double entry_seconds(double span) const;
  [[nodiscard]] double& seconds(ScalarWork work) { return operation.at(static_cast<std::size_t>(work)); }
  /// Returns the profile of a process with only this share of the machine's threads. Messages and starts stay.
  [[nodiscard]] MachineProfile part(double share) const;
};

/// The names of a profile's numbers in its file: one row each.
struct MachineKey {
  std::string_view name, doc;
  double& (*of)(MachineProfile& machine);
  bool may_be_zero;
};
[[nodiscard]] std::span<const MachineKey> machine_keys();
/// Returns "exp: 5.1e-10 # seconds of one exponential" for each key for which `wanted` holds, and two lines with the
/// processor and the build of the trials, if they are known and `wanted` holds for the keys of trials.
[[nodiscard]] std::string machine_lines(MachineProfile machine, bool (*wanted)(const MachineKey& key));

}  // namespace kasen
