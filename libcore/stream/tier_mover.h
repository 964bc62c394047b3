/// \file
/// Moves whole arrays between memory and a disk, beside what else the process does: one thread stores, one loads. Both
/// run jobs in the order in which they were given; a job waits for earlier ones of the other thread that have the same
/// memory or the same place on the disk.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "libcore/data/disk_elements.h"
#include "libcore/system/reserved.h"

namespace kasen::stream {

class TierMover {
 public:
  TierMover() = default;
  ~TierMover();  // jobs that have not begun are left out
  TierMover(const TierMover&) = delete;
  TierMover& operator=(const TierMover&) = delete;

  /// A place on the disk for an array. The address stands for it, and nothing lies there. UserError: cannot_create, io.
  [[nodiscard]] std::byte* add(const ElementType& element, std::int64_t capacity, Tier& tier);

  /// From now on `watch` is told what moves, as the array that each `op` has here. Before the first job; not owned.
  void tell(DiskWatch* watch, std::map<int, int> arrays) {
    watch_ = watch;
    watched_ = std::move(arrays);
  }

  /// `elements` of `memory` go to a place, or come from there, once those before them have. `op` is counted for them.
  void store(const std::byte* place, const ElementMemory& memory, std::int64_t elements, int op);
  void load(const std::byte* place, const ElementMemory& memory, std::int64_t elements, int op);
  /// Waits until what is loaded to this address is there. Throws what kept a job from being done, also below.
  void await_reading(const std::byte* memory) { await(memory, false); }
  /// The same, and until what is stored from there is on the disk.
  void await_writing(const std::byte* memory) { await(memory, true); }
  void finish();  ///< all of them
  /// The same at once, when all of them are done. Nothing counts or watches it.
  void store_now(const std::byte* place, const ElementMemory& memory, std::int64_t elements);
  void load_now(const std::byte* place, const ElementMemory& memory, std::int64_t elements);

  struct Moved {
    int op = -1;
    std::int64_t read = 0, written = 0;  ///< bytes of the disk
  };
  /// What has been done since the last call.
  [[nodiscard]] std::vector<Moved> take_moved();
  /// The bytes that a job moves from or to the disk.
  [[nodiscard]] static std::int64_t moved_bytes(const ElementType& element, std::int64_t elements) {
    return SpilledElements::bytes_of_groups(element, 0, elements);
  }
  /// Bytes of memory that each thread takes for an array of which one plane alone has no pages of its own.
  static constexpr std::int64_t staging_bytes = std::int64_t{1} << 20;

 private:
  struct Place {
    std::shared_ptr<SpilledElements> disk;
    std::int64_t capacity = 0;
  };
  struct Job {
    std::int64_t number = 0;
    bool in = false;
    const std::byte* place = nullptr;
    ElementMemory memory;
    std::int64_t elements = 0;
    int op = -1;
  };
  [[nodiscard]] const Place& place_of(const Job& job) const;
  void add_job(Job job);
  void move_now(const Job& job);
  void await(const std::byte* memory, bool writing);
  void work(bool in);
  [[nodiscard]] bool is_blocked(const Job& job) const;
  void end(const Job& job, const Moved& moved);

  std::map<const std::byte*, Place> places_;  // complete before the first job
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<std::deque<Job>, 2> jobs_;  // out and in; the first one may be at work
  std::array<std::thread, 2> threads_;
  std::vector<Moved> moved_;
  std::exception_ptr fault_;
  std::int64_t next_ = 0;
  bool stop_ = false;
  DiskWatch* watch_ = nullptr;
  std::map<int, int> watched_;
};

}  // namespace kasen::stream
