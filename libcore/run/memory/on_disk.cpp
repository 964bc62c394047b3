// Arrays that are on a disk: which operators they go by, what of them stays in memory, and which arrays that the run
// makes are among them.
#include <algorithm>
#include <set>

#include "libcore/base/checked.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/observed.h"
#include "libcore/ir/tiers.h"
#include "libcore/run/executor_steps.h"
#include "libcore/run/memory/passes.h"

namespace kasen::executor {
namespace {

std::vector<stream::PassingUse> uses_of(stream::PassingSet& set, const PassingEntries& entries) {
  std::vector<stream::PassingUse> uses;
  for (const int array : entries.arrays) uses.push_back({&set.array(array), true, false});
  return uses;
}

// The same for a product that a matrix goes by.
void add_entries_use(Execution& run, const Step& step, int part, DiskUse& use) {
  const std::optional<EntryUse> entries = step.entries(run, part);
  if (!entries) return;
  for (const stream::PassingUse& one : uses_of(run.storage.passing(part), *entries->passing)) {
    for (size_t c = 1; c < entries->cuts.size(); ++c) {
      const std::int64_t first = std::max(entries->cuts[c - 1], one.array->kept), last = entries->cuts[c];
      if (first >= last) continue;
      use.first_read += one.array->disk->bytes_of(first, last);
      use.read += one.array->disk->bytes_of(first, last);
    }
    use.kept += one.array->kept * one.array->row_bytes();
  }
}

// One execution of a step. `loaded`: the rows of each array that are there before, and then behind it.
void add_disk_use(Execution& run, const Step& step, int part, std::vector<std::int64_t>& loaded, DiskUse& use) {
  stream::PassingSet& set = run.storage.passing(part);
  for (const ArrayPass& pass : passes_of(run, set, step, part)) {
    for (const stream::PassingUse& one : pass.uses) {
      const stream::PassingArray& array = *one.array;
      std::int64_t& there = loaded[static_cast<size_t>(set.find(array.memory.data))];
      const auto bytes = [&](std::int64_t first, std::int64_t last) {
        return array.disk->bytes_of(first * array.inner, last * array.inner);
      };
      if (array.spilled != nullptr && step.hands_over(run, part)) {
        use.written += bytes(0, array.kept);
        use.first_read += bytes(0, array.rows);
        use.read += bytes(0, array.rows);
        there = 0;
        continue;
      }
      if (one.read) {
        use.first_read += there < array.rows ? bytes(there, array.rows) : 0;
        use.read += array.kept < array.rows ? bytes(array.kept, array.rows) : 0;
      }
      if (one.written && array.kept < array.rows) use.written += bytes(array.kept, array.rows);
      use.kept += array.kept * array.row_bytes();
      there = array.kept;
    }
  }
}

void note_arrays(Execution& run, int part, std::vector<ArrayOnDiskUse>& arrays) {
  stream::PassingSet& set = run.storage.passing(part);
  std::set<int> known;
  for (const ValueId v : run.module.values.ids()) {
    if (run.module.type(v).sparse || run.storage.info(v).slot < 0) continue;
    const int number = set.find(run.storage.view(v, part).data);
    if (number < 0 || !known.insert(number).second) continue;
    const stream::PassingArray& array = set.array(number);
    if (array.kept == array.rows) continue;
    arrays.push_back({run.module.value(v).name, array.spilled != nullptr, run.parts[static_cast<size_t>(part)].worker,
                      array.rows * array.row_bytes(), array.kept * array.row_bytes()});
  }
}

}  // namespace

void Execution::note_passages(int part) {
  constexpr double often = 16;  // a loop's iterations, where nobody knows them
  stream::PassingSet& set = storage.passing(part);
  set.clear_passages();
  for (const Step* step : all_) {
    const double times = step->in_loop ? often : 1;
    for (const ArrayPass& pass : passes_of(*this, set, *step, part)) {
      stream::Passage passage{{}, pass.at_once, times};
      for (const stream::PassingUse& use : pass.uses) {
        const int number = set.find(use.array->memory.data);
        if (use.array->spilled != nullptr && step->hands_over(*this, part)) continue;
        if (passage.at_once == 0) set.needs_whole(number);
        if (use.read && use.written) set.add_passage({{number}, 1, times});  // it goes both ways
        passage.arrays.push_back(number);
      }
      if (passage.at_once > 0 && !passage.arrays.empty()) set.add_passage(std::move(passage));
    }
    if (const auto entries = step->entries(*this, part))
      set.add_passage({entries->passing->arrays, entries->passing->at_once, times});
  }
}

// What the arrays on a disk need on each part that has some.
std::vector<stream::Needs> Execution::disk_needs() {
  std::vector<stream::Needs> needs;
  for (int p = 0; p < part_count(); ++p) {
    if (storage.passing(p).empty()) continue;
    note_passages(p);
    needs.push_back(storage.passing(p).needs(options.pass_bytes));
  }
  return needs;
}

// The memory that the run needs beside arrays on a disk.
std::int64_t Execution::fixed_bytes(std::span<const std::int64_t> packing) const {
  std::int64_t bytes = 0;
  for (size_t p = 0; p < parts.size(); ++p)
    bytes = checked_add(bytes, part_bytes(p, packing[p], true), "the run's memory");
  return bytes;
}

// The memory that is enough, with the arrays on a disk that there are now.
std::int64_t Execution::enough_memory(std::span<const std::int64_t> packing) {
  const stream::Shares shares = stream::share_among_parts(disk_needs(), 0, options.pass_bytes);
  return checked_add(fixed_bytes(packing), shares.least, "the run's memory");
}

// Parts share what the others leave. Arrays that the run makes go to the disk only if it does not fit without. What is
// not enough stays unshared, and the least that is enough is in `least_`.
void Execution::share_out_memory(std::span<const std::int64_t> packing) {
  if (options.memory <= 0) return;
  least_ = enough_memory(packing);
  if (least_ > options.memory) {
    if (!spill_buffers()) return;
    least_ = std::min(least_, enough_memory(packing));
  }
  const std::int64_t room = options.memory - fixed_bytes(packing);
  const stream::Shares shares = stream::share_among_parts(disk_needs(), room, options.pass_bytes);
  size_t number = 0;
  for (int p = 0; p < part_count() && !shares.stay.empty(); ++p)
    if (!storage.passing(p).empty()) storage.passing(p).keep(shares, number++, options.pass_bytes);
  aside_bytes_ = shares.aside;
}

void Execution::bring_whole() {
  for (int p = 0; p < part_count(); ++p) {
    for (int array = 0; array < storage.passing(p).count(); ++array) storage.passing(p).bring_whole(array);
  }
}

// True if some buffers go to the disk from now on.
bool Execution::spill_buffers() {
  const bool whole = forms.are_boxes() || options.on_border || options.resume != nullptr || observes(plan);
  if (options.spill == nullptr || whole) return false;
  const PassingSlots slots = passing_slots(*this, all_);
  for (const auto& [slot, value] : slots.values) storage.spill(slot, value, *options.spill);
  for (int p = 0; p < part_count(); ++p) {
    for (const std::set<int>& one : slots.classes) {
      std::vector<int> arrays;
      for (const int slot : one) arrays.push_back(storage.passing(p).find(storage.view_of(slot, p).data));
      storage.passing(p).tie(arrays);
    }
  }
  return !slots.values.empty();
}

std::unique_ptr<stream::RowWindow> Execution::pass(const Step& step, int part) {
  stream::PassingSet& set = storage.passing(part);
  if (set.empty()) return nullptr;
  const std::int64_t read = set.read_bytes(), written = set.written_bytes();
  std::unique_ptr<stream::RowWindow> window =
      set.pass(uses_of(*this, set, step.op, part), step.rows_at_once(*this, part));
  if (window == nullptr) return nullptr;
  count(step.number).disk_read_bytes -= read;
  count(step.number).disk_written_bytes -= written;
  return window;
}

bool Execution::copy_by_rows(ValueId from, const View& source, ValueId to, const View& target, int part, int number) {
  stream::PassingSet& set = storage.passing(part);
  const std::int64_t some = set.empty() ? 0 : rows_of_copy(*this, from, to, part);
  if (some == 0) return false;
  std::vector<stream::PassingUse> uses;
  if (const int array = set.find(source.data); array >= 0) uses.push_back({&set.array(array), true, false});
  if (const int array = set.find(target.data); array >= 0) uses.push_back({&set.array(array), false, true});
  const std::int64_t read = set.read_bytes(), written = set.written_bytes();
  const std::unique_ptr<stream::RowWindow> window = set.pass(std::move(uses), some);
  if (window == nullptr) return false;
  const std::int64_t inner = storage.inner(to, part), rows = storage.masters(to, part);
  for (std::int64_t begin = 0; begin < rows; begin += some) {
    const std::int64_t end = std::min(rows, begin + some);
    window->enter(begin, end);
    copy_elements(module.type(to).element, source, target, begin * inner, end * inner);
    window->leave(begin, end);
  }
  window->finish();
  count(number).disk_read_bytes += set.read_bytes() - read;
  count(number).disk_written_bytes += set.written_bytes() - written;
  return true;
}

std::unique_ptr<stream::RowWindow> Execution::pass_some(const Step& step, int part, const PassingEntries& entries,
                                                        std::int64_t first, std::int64_t last) {
  stream::PassingSet& set = storage.passing(part);
  const std::int64_t read = set.read_bytes(), written = set.written_bytes();
  std::unique_ptr<stream::RowWindow> window = set.pass_some(uses_of(set, entries), first, last, entries.at_once);
  if (window == nullptr) return nullptr;
  count(step.number).disk_read_bytes -= read;
  count(step.number).disk_written_bytes -= written;
  return window;
}

void Execution::end_pass(const Step& step, int part, stream::RowWindow& window) {
  window.finish();
  count(step.number).disk_read_bytes += storage.passing(part).read_bytes();
  count(step.number).disk_written_bytes += storage.passing(part).written_bytes();
}

Bytes Execution::hand_over(const Step& step, int part, const std::byte* data, std::int64_t elements) {
  stream::PassingSet& set = storage.passing(part);
  const std::int64_t before = set.written_bytes();
  const int number = set.find(data);
  Bytes pages = set.hand_over(number, elements);
  count(step.number).disk_read_bytes += set.array(number).disk->bytes_of(0, elements);  // by those who write it
  count(step.number).disk_written_bytes += set.written_bytes() - before;
  return pages;
}

// The forms of matrices: nonzeros, as products take them.
void Execution::note_forms(int part, MemoryPlan& made) {
  matrices_.each_passing(part, [&](int form_at, const std::string& name) {
    made.matrices.insert(name);
    ArrayOnDiskUse use{name, true, parts[static_cast<size_t>(part)].worker, 0, 0};
    for (const stream::PassingUse& one : uses_of(storage.passing(part), matrices_.entries(form_at, part))) {
      use.bytes += one.array->rows * one.array->row_bytes();
      use.kept += one.array->kept * one.array->row_bytes();
    }
    if (use.kept < use.bytes) made.arrays.push_back(std::move(use));
  });
}

// An input's operator reads what others need whole.
MemoryPlan Execution::memory_plan() {
  MemoryPlan made;
  made.parts = result.parts;
  made.ops.resize(result.ops.size());
  for (int p = 0; p < part_count(); ++p) {
    stream::PassingSet& set = storage.passing(p);
    note_arrays(*this, p, made.arrays);
    note_forms(p, made);
    std::vector<std::int64_t> loaded;
    for (int a = 0; a < set.count(); ++a)  // names that exchange their memory have what was written to others
      loaded.push_back(set.is_tied(a) ? set.array(a).kept : set.array(a).loaded);
    for (const Step* step : all_) {
      DiskUse& use = made.ops[static_cast<size_t>(step->number)];
      if (moves_tier(step->op)) {
        const ValueId v = step->op.operands[0];
        const std::int64_t bytes = stream::TierMover::moved_bytes(module.type(v).element, storage.elements(v, p));
        (step->op.code == OpCode::load ? use.read : use.written) += bytes;
        if (step->op.code == OpCode::load) use.first_read += bytes;
        continue;
      }
      if (step->op.code != OpCode::input) {
        add_disk_use(*this, *step, p, loaded, use);
        add_entries_use(*this, *step, p, use);
        if (use.read > 0) use.ahead = std::max(use.ahead, set.window());
        continue;
      }
      const ValueId v = step->op.results[0];
      matrices_.each_passing(p, [&](int form_at, const std::string& name) {
        if (name != step->op.name) return;
        const MatrixStore::DiskBytes bytes = matrices_.bytes_to_bring(*this, form_at, p);
        use.first_read += bytes.read;
        use.written += bytes.written;
      });
      if (p == 0) use.first_read += count(step->number).disk_read_bytes;  // numbering them has read, on all parts
      const PartArray* const input =
          module.type(v).sparse ? nullptr : &parts[static_cast<size_t>(p)].arrays.at(step->op.name);
      if (input == nullptr || input->on_disk == nullptr) continue;
      const int number = set.find(storage.view(v, p).data);
      if (number >= 0 && !set.is_whole(number)) continue;
      use.first_read += input->on_disk->bytes_of(0, input->data.count);
      if (number >= 0) loaded[static_cast<size_t>(number)] = set.array(number).rows;
    }
  }
  made.least = least_memory();
  return made;
}

std::int64_t Execution::least_memory() {
  std::vector<std::int64_t> packing;
  for (const Bytes& one : packing_) packing.push_back(one.size());
  (void)spill_buffers();
  return std::min(least_, enough_memory(packing));
}

}  // namespace kasen::executor
