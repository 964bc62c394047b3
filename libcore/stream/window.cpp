#include "libcore/stream/window.h"

#include <sys/mman.h>

#include <algorithm>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/data/data.h"

namespace kasen::stream {

HeldArray hold_array(const ElementType& element, std::int64_t rows, std::int64_t inner) {
  constexpr const char* size = "an array's size";
  constexpr std::int64_t group = SpilledElements::group;
  const std::int64_t count = checked_mul(rows, inner, size);
  const std::int64_t capacity = checked_add(count, group - 1, size) / group * group;
  HeldArray held{Reserved(checked_add(storage_bytes(element, capacity), group, size)), {}};
  held.array.memory = {held.addresses.data(), element, capacity};
  held.array.inner = inner;
  held.array.rows = rows;
  return held;
}

Array array_in(const ElementMemory& memory) {
  std::shared_ptr<const void> nobody(memory.data, [](const void*) {});
  return {memory.element, memory.capacity,
          Bytes(std::move(nobody), memory.data, storage_bytes(memory.element, memory.capacity))};
}

void drop_elements(const PassingArray& array, std::int64_t begin, std::int64_t end) {
  constexpr std::uintptr_t page = 4096;
  const ElementMemory& memory = array.memory;
  const std::int64_t kept = array.kept * array.inner, count = array.rows * array.inner;
  begin = std::max(begin, kept);
  if (begin >= end) return;
  for (std::int64_t p = 0; p < memory.element.planes(); ++p) {
    const std::int64_t scalar = scalar_bytes(memory.element.plane_scalar(p));
    const std::byte* const plane = memory.data + plane_offset(memory.element, memory.capacity, p);
    const auto down = [&](std::int64_t e) {
      return reinterpret_cast<std::uintptr_t>(plane + e * scalar) / page * page;
    };
    const auto up = [&](std::int64_t e) {
      return (reinterpret_cast<std::uintptr_t>(plane + e * scalar) + page - 1) / page * page;
    };
    // What was given back before may end in the page of the last kept element.
    const std::uintptr_t first = std::max(down(begin), up(kept)), last = end == count ? up(end) : down(end);
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
}

void drop_all(const PassingArray& array) {
  PassingArray none = array;
  none.kept = 0;
  drop_elements(none, 0, array.rows * array.inner);
}

RowWindow::RowWindow(std::vector<PassingUse> uses, std::int64_t first, std::int64_t last, std::int64_t at_once,
                     std::int64_t bytes, std::int64_t brought)
    : uses_(std::move(uses)), first_(first), last_(last), bytes_(bytes), there_(last), frontier_(first) {
  try {
    start(at_once, brought);
  } catch (...) {
    stop();
    throw;
  }
}

void RowWindow::start(std::int64_t at_once, std::int64_t brought) {
  std::int64_t row = 1, going = 0;
  for (const PassingUse& use : uses_) {
    const PassingArray& array = *use.array;
    if (first_ > 0 && (use.written || array.loaded != array.kept))
      throw InternalError("a pass over some rows of an array that is not as passes leave it");
    there_ = std::min(there_, use.read ? array.loaded : array.kept);
    row += array.row_bytes();
    if (array.kept < last_) going += array.row_bytes();
    gone_.push_back(first_ / SpilledElements::group * SpilledElements::group);  // groups come as a whole
  }
  there_ = std::max(there_, first_);
  step_ = std::clamp<std::int64_t>(brought / row, 1, std::max<std::int64_t>(last_ - first_, 1));
  if (going > 0 && std::min(at_once + 2 * step_, last_ - first_) > bytes_ / going)
    throw InternalError("a window that is smaller than what goes through it");
  for (const PassingUse& use : uses_) {
    const PassingArray& array = *use.array;
    if (use.read && array.loaded < last_)
      array.disk->begin(std::max(array.loaded, first_) * array.inner, last_ * array.inner);
    if (use.written && array.kept < last_) array.spilled->begin_store(array.kept * array.inner, last_ * array.inner);
  }
  if (there_ < last_) {
    loader_ = std::thread([this] { guarded([this] { bring_all(); }); });
    taker_ = std::thread([this] { guarded([this] { take_away(); }); });
  }
}

RowWindow::~RowWindow() { stop(); }

void RowWindow::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  went_.notify_all();
  left_some_.notify_all();
  if (loader_.joinable()) loader_.join();
  if (taker_.joinable()) taker_.join();
  for (const PassingUse& use : uses_)
    if (use.read) use.array->disk->end();
}

template <class Work>
void RowWindow::guarded(const Work& work) {
  try {
    work();
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    if (!fault_) fault_ = std::current_exception();
  }
  came_.notify_all();
  went_.notify_all();
  left_some_.notify_all();
}

void RowWindow::enter(std::int64_t /*begin*/, std::int64_t end) {
  std::unique_lock lock(mutex_);
  came_.wait(lock, [&] { return there_ >= end || fault_; });
  if (there_ < end) std::rethrow_exception(fault_);
}

void RowWindow::leave(std::int64_t begin, std::int64_t end) {
  {
    const std::scoped_lock lock(mutex_);
    left_.emplace(begin, end);
    while (!left_.empty() && left_.begin()->first == frontier_) {
      frontier_ = left_.begin()->second;
      left_.erase(left_.begin());
    }
  }
  left_some_.notify_one();
}

// Bytes of rows that do not stay, with those before `end`.
std::int64_t RowWindow::held(std::int64_t end) const {
  std::int64_t bytes = 0;
  for (std::size_t u = 0; u < uses_.size(); ++u) {
    const PassingArray& array = *uses_[u].array;
    bytes += std::max<std::int64_t>(0, end - std::max({gone_[u], array.kept, first_})) * array.row_bytes();
  }
  return bytes;
}

void RowWindow::bring(std::int64_t end) const {
  for (const PassingUse& use : uses_)
    if (use.read && end > use.array->loaded) use.array->disk->load(end * use.array->inner, use.array->memory);
}

void RowWindow::bring_all() {
  for (std::int64_t at = there_; at < last_;) {
    const std::int64_t next = std::min(last_, at + step_);
    {
      std::unique_lock lock(mutex_);
      went_.wait(lock, [&] { return stop_ || fault_ || held(next) <= bytes_; });
      if (stop_ || fault_) return;
    }
    bring(next);
    {
      const std::scoped_lock lock(mutex_);
      there_ = next;
    }
    came_.notify_all();
    at = next;
  }
}

// Rows that are left go to the disk, if they were written, and out of memory; then others have room.
void RowWindow::take_away() {
  for (std::int64_t seen = first_; seen < last_;) {
    {
      std::unique_lock lock(mutex_);
      left_some_.wait(lock, [&] { return stop_ || fault_ || frontier_ == last_ || frontier_ >= seen + step_; });
      if (fault_ || (stop_ && frontier_ < last_)) return;
      seen = frontier_;
    }
    take_rows(seen);
    went_.notify_all();
  }
}

// Takes rows away that are left, those before `end`.
void RowWindow::take_rows(std::int64_t end) {
  for (std::size_t u = 0; u < uses_.size(); ++u) {
    const PassingArray& array = *uses_[u].array;
    std::int64_t last = end * array.inner;
    if (end > array.kept) {
      if (uses_[u].written) last = array.spilled->store(last, array.memory);
      drop_elements(array, gone_[u] * array.inner, last);
    }
    const std::scoped_lock lock(mutex_);
    gone_[u] = last / array.inner;
  }
}

void RowWindow::finish() {
  const bool all = [&] {
    const std::scoped_lock lock(mutex_);
    return frontier_ == last_;
  }();
  if (all && taker_.joinable()) taker_.join();
  stop();
  if (fault_) std::rethrow_exception(fault_);
  if (!all) throw InternalError("rows of a pass that nobody left");
  for (const PassingUse& use : uses_) {
    PassingArray& array = *use.array;
    if (first_ == 0) array.loaded = std::max(std::min(array.loaded, array.kept), std::min(array.kept, last_));
  }
}

}  // namespace kasen::stream
