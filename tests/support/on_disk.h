// Runs whose arrays are on a simulated disk, in as little memory as they say that they need.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "libcore/run/executor.h"
#include "libcore/stream/simulated_tier.h"
#include "libcore/transport/transport.h"

namespace kasen::testing {

inline void leave_entries(PartMatrix& matrix) {
  if (matrix.entries() == 0) return;
  EntriesOnDisk gone;
  gone.in_column.assign(static_cast<std::size_t>(1 + *std::max_element(matrix.columns.begin(), matrix.columns.end())),
                        0);
  for (const std::int32_t column : matrix.columns) ++gone.in_column[static_cast<std::size_t>(column)];
  Array columns(ElementType::of(Scalar::i32), std::ssize(matrix.columns));
  std::copy(matrix.columns.begin(), matrix.columns.end(), columns.as<std::int32_t>());
  gone.columns = stream::simulated_disk(columns);
  if (matrix.element.bytes() > 0) gone.values = stream::simulated_disk(matrix.values);
  matrix.columns = {};
  matrix.values = {};
  matrix.on_disk = std::make_shared<const EntriesOnDisk>(std::move(gone));
}

// Dense inputs that are cut leave memory; with matrices, the nonzeros do instead. Beside batches all stays in memory.
inline std::vector<Part> on_disk(std::vector<Part>&& parts) {
  for (Part& part : parts) {
    const auto has_batches = [](const auto& entry) { return entry.second.batches != 1; };
    if (std::any_of(part.matrices.begin(), part.matrices.end(), has_batches)) continue;
    for (auto& [name, matrix] : part.matrices) leave_entries(matrix);
    if (!part.matrices.empty()) continue;
    for (auto& [name, array] : part.arrays) {
      const bool cut = std::any_of(array.dims.begin(), array.dims.end(),
                                   [&](const std::string& dim) { return !part.dims.at(dim).local; });
      if (!cut || array.data.count == 0 || array.compressed) continue;
      array.on_disk = stream::simulated_disk(array.data);
      array.data.bytes = Bytes();
    }
  }
  return std::move(parts);
}

struct Limited {
  std::int64_t memory = 0;
  std::int64_t pass_bytes = 1;  // that are brought at a time
  bool spills = true;
};

inline RunResult run_limited(const Module& plan, const std::vector<Part>& parts, KernelSet& kernels,
                             const Limited& limit) {
  const auto tier = stream::make_simulated_tier();
  const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
  RunOptions options;
  options.memory = limit.memory;
  options.pass_bytes = limit.pass_bytes;
  options.spill = limit.spills ? tier.get() : nullptr;
  return execute(plan, parts, *transport, kernels, options);
}

// The bytes that a run asks for which gets none.
inline std::int64_t needed_bytes(const Module& plan, const std::vector<Part>& parts, KernelSet& kernels,
                                 Limited limit) {
  limit.memory = 1;
  try {
    (void)run_limited(plan, parts, kernels, limit);
  } catch (const UserError& error) {
    const std::string text = error.what();
    const std::size_t at = text.find("needs ");
    if (at == std::string::npos) throw;
    return std::stoll(text.substr(at + 6));
  }
  return 1;
}

}  // namespace kasen::testing
