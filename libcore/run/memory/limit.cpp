// The memory of a run: what it takes, whether that is there, and what stays of arrays that are on a disk.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/entries.h"
#include "libcore/run/executor_steps.h"
#include "libcore/system/memory_limit.h"

namespace kasen::executor {
namespace {

// Bytes of matrices' nonzeros and arrays' elements.
std::int64_t data_bytes(const Part& part) {
  std::int64_t bytes = 0;
  for (const auto& [name, m] : part.matrices) {
    bytes += 8 * std::ssize(m.row_pointers) + 4 * std::ssize(m.columns) + m.values.bytes.size();
    if (m.on_disk != nullptr) bytes += 4 * std::ssize(m.on_disk->in_column);
  }
  for (const auto& [name, array] : part.arrays) {
    bytes += array.data.bytes.size() + (array.compressed ? array.compressed->stored_bytes() : 0);
  }
  return bytes;
}

// More workers make smaller parts.
std::int64_t workers_that_fit(std::int64_t workers, std::int64_t largest, std::int64_t room) {
  const double times = static_cast<double>(largest) / static_cast<double>(std::max<std::int64_t>(room, 1));
  return static_cast<std::int64_t>(std::min(1e15, std::ceil(static_cast<double>(workers) * times)));
}

// Processes of one machine share its memory, so more of them help where a limit is each one's own, or on more machines.
std::string more_workers_text(std::int64_t workers, std::int64_t fitting, bool limited) {
  constexpr std::int64_t sensible = 16;  // times as many workers: beyond that, what each has in any case is in the way
  const std::string none = workers == 1 ? "the part does not fit" : fmt::format("not one of {} parts fits", workers);
  if (limited && fitting / sensible >= workers) return fmt::format("{} by far: allow more (--memory)", none);
  if (limited) return fmt::format("{}: allow more, or partition for some {} workers, one a process", none, fitting);
  return fmt::format("{}: it needs some {} machines like this one, with a worker on each; partition for as many", none,
                     fitting);
}

}  // namespace

void Execution::allocate(Execution* before) {
  if (before != nullptr) storage.adopt(before->storage);
  std::vector<std::int64_t> packing(parts.size(), 0);
  for (int p = 0; p < part_count(); ++p) {
    for (const Step* step : all_) {
      std::int64_t& largest = packing[static_cast<size_t>(p)];
      largest = std::max(largest, step->packing_bytes(p));
    }
  }
  share_out_memory(packing);
  check_memory(packing);
  check_pool();
  storage.allocate();
  for (int p = 0; p < part_count(); ++p) {
    PartCount& count = result.parts[static_cast<size_t>(p)];
    packing_.emplace_back(packing[static_cast<size_t>(p)]);
    count.exchange_bytes += packing_.back().size() + storage.whole_bytes(p);
    count.buffer_bytes = storage.pool_bytes(p);
    count.matrix_bytes += matrices_.bytes(*this, p);
    count.input_bytes = storage.passing(p).kept_bytes();
    if (!storage.passing(p).empty()) count.input_bytes += std::exchange(aside_bytes_, 0);  // for all parts in turn
    count.list_bytes = list_bytes(parts[static_cast<size_t>(p)]) + numbering.list_bytes(p);
    for_each_op(module, [&](const Op& op, int, int) {
      if (op.code != OpCode::input || module.type(op.results.at(0)).sparse) return;
      if (gives_values(module, op)) {
        count.input_bytes += parts[static_cast<size_t>(p)].matrices.at(op.name).values.bytes.size();
        return;
      }
      const PartArray& array = parts[static_cast<size_t>(p)].arrays.at(op.name);
      const Array& data = array.data;
      if (array.compressed) count.input_bytes += array.compressed->stored_bytes();
      const bool again = is_reordered(module, op.results[0]);
      count.input_bytes += data.bytes.size() + (again ? storage_bytes(data.element, data.count) : 0);
    });
  }
  matrices_.build(*this);
}

// The bytes that a part takes: its data, which are in memory already, and everything that the run allocates for it.
std::int64_t Execution::part_bytes(size_t part, std::int64_t packing, bool with_data) const {
  const int p = static_cast<int>(part);
  std::int64_t bytes = checked_add(storage.planned_bytes(p), matrices_.bytes(*this, p), "the run's memory");
  bytes = checked_add(bytes, packing, "the run's memory");
  for (const Step* step : all_) bytes = checked_add(bytes, step->own_bytes(), "the run's memory");
  return with_data ? checked_add(bytes, data_bytes(parts[part]), "the run's memory") : bytes - storage.adopted_bytes(p);
}

// The processes of a machine share memory that no limit of a process covers. The free memory is read before they meet,
// so that none of them has taken its own yet.
void Execution::check_machine_memory(std::int64_t needed) const {
  if (!options.sum_on_machine) return;
  const auto room = shared_memory();
  std::array<std::int64_t, 2> sums{needed, 1};
  options.sum_on_machine(sums);
  if (options.memory > 0 || !room || sums[0] <= *room) return;
  fail(ExitStatus::limit,
       fmt::format("the run needs {} bytes of memory on this machine, {} are available", sums[0], *room),
       fmt::format("{} processes on it take {} each on average, at the same time", sums[1], sums[0] / sums[1]),
       *room > 0 ? fmt::format("{} such machines would be enough: spread the processes over more of them",
                               (sums[0] - 1) / *room + 1)
                 : "end other processes there");
}

void Execution::check_memory(std::span<const std::int64_t> packing) const {
  const bool limited = options.memory > 0;
  std::int64_t fixed = 0, largest = 1;
  for (size_t p = 0; p < parts.size(); ++p) {
    const std::int64_t bytes = part_bytes(p, packing[p], limited);
    fixed = checked_add(fixed, bytes, "the run's memory");
    largest = std::max(largest, bytes);
  }
  const std::int64_t needed = limited ? least_ : fixed;
  const auto room = limited ? std::optional(options.memory) : available_memory();
  check_machine_memory(needed);
  if (!room || needed <= *room) return;
  if (storage.has_passing()) {
    fail(ExitStatus::limit,
         fmt::format("the run needs {} bytes of memory on this process, {} are allowed (--memory)", needed, *room),
         fmt::format("{} of them for rows that go by from a disk, and what needs arrays whole", needed - fixed),
         "allow as much, or use more processes");
  }
  const std::int64_t workers = transport.workers(), fitting = *room / largest;
  fail(ExitStatus::limit,
       fmt::format("the run needs {} bytes of memory on this process, {} are {}", needed, *room,
                   limited ? "allowed (--memory)" : "available"),
       fmt::format("its {} part{} {} up to {} bytes each, held at once", parts.size(), parts.size() == 1 ? "" : "s",
                   parts.size() == 1 ? "takes" : "take", largest),
       fitting > 0
           ? fmt::format("so much is enough for {} of the {} parts: use {} processes or more, each with as much",
                         fitting, workers, (workers + fitting - 1) / fitting)
           : more_workers_text(workers, workers_that_fit(workers, largest, *room), limited));
}

}  // namespace kasen::executor
