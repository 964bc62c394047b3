#include "libcore/stream/tier_mover.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/data/data.h"

namespace kasen::stream {
namespace {

constexpr std::int64_t group = SpilledElements::group;

std::int64_t rounded(std::int64_t elements) { return (elements + group - 1) / group * group; }

// The disk has groups of elements, in pages; memory ends where the array does. What does not fit goes through an area
// that is laid out like the disk, some groups at a time.
class Crossing {
 public:
  Crossing(SpilledElements& disk, std::int64_t capacity, const ElementMemory& memory, std::int64_t elements)
      : disk_(disk), memory_(memory), elements_(elements), area_{nullptr, memory.element, capacity} {}

  void store() {
    disk_.begin_store(0, rounded(elements_));
    const std::int64_t direct = direct_elements();
    if (direct > 0) (void)disk_.store(direct, memory_);
    in_parts(direct, [&](std::int64_t begin, std::int64_t end, std::int64_t groups) {
      copy(memory_, area_, begin, end);
      clear(end, groups);
      (void)disk_.store(groups, area_);
    });
  }

  void load() {
    disk_.begin(0, rounded(elements_));
    const std::int64_t direct = direct_elements();
    if (direct > 0) disk_.load(direct, memory_);
    in_parts(direct, [&](std::int64_t begin, std::int64_t end, std::int64_t groups) {
      disk_.load(groups, area_);
      copy(area_, memory_, begin, end);
    });
    disk_.end();
  }

 private:
  // Whole groups of one plane that lies in pages of its own.
  [[nodiscard]] std::int64_t direct_elements() const {
    const bool pages = reinterpret_cast<std::uintptr_t>(memory_.data) % 4096 == 0;
    return pages && memory_.element.planes() == 1 ? elements_ / group * group : 0;
  }

  template <class Part>
  void in_parts(std::int64_t from, const Part& part) {
    if (from >= elements_) return;
    const Reserved area(storage_bytes(area_.element, area_.capacity));
    area_.data = area.data();
    const std::int64_t width = std::max<std::int64_t>(1, area_.element.bytes());
    const std::int64_t some = std::max<std::int64_t>(1, TierMover::staging_bytes / (group * width)) * group;
    for (std::int64_t begin = from; begin < elements_; begin += some) {
      const std::int64_t end = std::min(elements_, begin + some), groups = rounded(end);
      part(begin, end, groups);
      leave(begin, groups);
    }
  }

  [[nodiscard]] std::int64_t width(std::int64_t plane) const { return scalar_bytes(area_.element.plane_scalar(plane)); }
  [[nodiscard]] static std::byte* plane(const ElementMemory& memory, std::int64_t p) {
    return memory.data + plane_offset(memory.element, memory.capacity, p);
  }
  void copy(const ElementMemory& from, const ElementMemory& to, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t p = 0; p < area_.element.planes(); ++p) {
      std::memcpy(plane(to, p) + begin * width(p), plane(from, p) + begin * width(p),
                  static_cast<std::size_t>((end - begin) * width(p)));
    }
  }
  void clear(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t p = 0; p < area_.element.planes(); ++p) {
      std::memset(plane(area_, p) + begin * width(p), 0, static_cast<std::size_t>((end - begin) * width(p)));
    }
  }
  void leave(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t p = 0; p < area_.element.planes(); ++p) {
      leave_pages(plane(area_, p) + begin * width(p), (end - begin) * width(p));
    }
  }

  SpilledElements& disk_;
  const ElementMemory memory_;
  const std::int64_t elements_;
  ElementMemory area_;
};

}  // namespace

TierMover::~TierMover() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

std::byte* TierMover::add(const ElementType& element, std::int64_t capacity, Tier& tier) {
  const std::int64_t groups = rounded(std::max<std::int64_t>(1, capacity));
  std::shared_ptr<SpilledElements> disk = tier.make(element, groups);
  auto* const address = reinterpret_cast<std::byte*>(disk.get());
  places_.emplace(address, Place{std::move(disk), groups});
  return address;
}

void TierMover::store(const std::byte* place, const ElementMemory& memory, std::int64_t elements, int op) {
  add_job({0, false, place, memory, elements, op});
}

void TierMover::load(const std::byte* place, const ElementMemory& memory, std::int64_t elements, int op) {
  add_job({0, true, place, memory, elements, op});
}

void TierMover::store_now(const std::byte* place, const ElementMemory& memory, std::int64_t elements) {
  move_now({0, false, place, memory, elements, -1});
}

void TierMover::load_now(const std::byte* place, const ElementMemory& memory, std::int64_t elements) {
  move_now({0, true, place, memory, elements, -1});
}

const TierMover::Place& TierMover::place_of(const Job& job) const {
  const auto place = places_.find(job.place);
  if (place == places_.end() || job.elements > place->second.capacity)
    throw InternalError("an array moves where it has no place on a disk");
  return place->second;
}

void TierMover::move_now(const Job& job) {
  finish();
  if (job.elements == 0) return;
  const Place& place = place_of(job);
  place.disk->tell(nullptr, 0);
  Crossing crossing(*place.disk, place.capacity, job.memory, job.elements);
  job.in ? crossing.load() : crossing.store();
}

void TierMover::add_job(Job job) {
  if (job.elements == 0) return;
  (void)place_of(job);
  {
    const std::lock_guard lock(mutex_);
    if (fault_) std::rethrow_exception(fault_);
    job.number = next_++;
    std::thread& thread = threads_.at(job.in ? 1 : 0);
    if (!thread.joinable()) thread = std::thread([this, in = job.in] { work(in); });
    jobs_.at(job.in ? 1 : 0).push_back(std::move(job));
  }
  changed_.notify_all();
}

void TierMover::await(const std::byte* memory, bool writing) {
  std::unique_lock lock(mutex_);
  const auto touches = [&](const Job& job) { return job.memory.data == memory && (writing || job.in); };
  changed_.wait(lock, [&] {
    return fault_ || std::none_of(jobs_.begin(), jobs_.end(), [&](const std::deque<Job>& jobs) {
             return std::any_of(jobs.begin(), jobs.end(), touches);
           });
  });
  if (fault_) std::rethrow_exception(fault_);
}

void TierMover::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return fault_ || (jobs_[0].empty() && jobs_[1].empty()); });
  if (fault_) std::rethrow_exception(fault_);
}

std::vector<TierMover::Moved> TierMover::take_moved() {
  const std::lock_guard lock(mutex_);
  return std::exchange(moved_, {});
}

bool TierMover::is_blocked(const Job& job) const {
  const std::deque<Job>& others = jobs_.at(job.in ? 0 : 1);
  return std::any_of(others.begin(), others.end(), [&](const Job& other) {
    return other.number < job.number && (other.place == job.place || other.memory.data == job.memory.data);
  });
}

void TierMover::work(bool in) {
  std::deque<Job>& jobs = jobs_.at(in ? 1 : 0);
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || fault_ || (!jobs.empty() && !is_blocked(jobs.front())); });
      if (stop_ || fault_) return;
      job = jobs.front();
    }
    const Place& place = places_.at(job.place);
    const std::int64_t read = place.disk->read_bytes(), written = place.disk->written_bytes();
    if (watch_ != nullptr) place.disk->tell(watch_, watched_.at(job.op));
    try {
      Crossing crossing(*place.disk, place.capacity, job.memory, job.elements);
      in ? crossing.load() : crossing.store();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!fault_) fault_ = std::current_exception();
      changed_.notify_all();
      return;
    }
    end(job, {job.op, place.disk->read_bytes() - read, place.disk->written_bytes() - written});
  }
}

void TierMover::end(const Job& job, const Moved& moved) {
  {
    const std::lock_guard lock(mutex_);
    moved_.push_back(moved);
    jobs_.at(job.in ? 1 : 0).pop_front();
  }
  changed_.notify_all();
}

}  // namespace kasen::stream
