/// \file
/// Elements of an array that lie on a disk, the slower of two tiers of memory. They come into memory for those who pass
/// over them, from the first to the last. What is clean is dropped then, and what was written is stored before
/// (SwapAdvisor, section 4.3).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "libcore/base/types.h"
#include "libcore/system/memory.h"

namespace kasen {

/// Memory for an array: planes as in Array, for `capacity` elements.
struct ElementMemory {
  std::byte* data = nullptr;
  ElementType element;
  std::int64_t capacity = 0;
};

/// Is told when disks are busy. Calls come from any thread.
class DiskWatch {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~DiskWatch() = default;
  /// The number of the array with this name, a new one if the name is.
  [[nodiscard]] virtual int array(const std::string& name) = 0;
  /// Bytes of an array were read (else written) in this time. Of one array, reads do not overlap, nor do writes.
  virtual void moved(int array, bool read, Clock::time_point begin, Clock::time_point end, std::int64_t bytes) = 0;
};

/// One pass at a time, whose calls come from one thread.
class DiskElements {
 public:
  virtual ~DiskElements() = default;
  /// From now on `watch` is told what moves, as this array's; null: nobody is. Not owned. Between passes.
  void tell(DiskWatch* watch, int array) {
    watch_ = watch;
    array_ = array;
  }
  /// A pass over elements [first, last) begins. They may be read ahead.
  virtual void begin(std::int64_t first, std::int64_t last) = 0;
  /// Brings the pass's next elements, those before `end` and perhaps some more, to their places in the array.
  /// UserError: bad_input (they are not what they were), io.
  virtual void load(std::int64_t end, const ElementMemory& to) = 0;
  /// The pass is over, also before its last element.
  virtual void end() = 0;
  /// The bytes that a pass over [first, last) reads from the disk.
  [[nodiscard]] virtual std::int64_t bytes_of(std::int64_t first, std::int64_t last) const = 0;
  /// Bytes of memory that passes take beside the array's.
  [[nodiscard]] virtual std::int64_t staging_bytes() const = 0;
  /// Read so far; between passes.
  [[nodiscard]] virtual std::int64_t read_bytes() const = 0;

 protected:
  /// Moves bytes of the disk, and tells of it.
  template <class Move>
  void timed(bool read, std::int64_t bytes, const Move& move) {
    if (watch_ == nullptr) return move();
    const DiskWatch::Clock::time_point begin = DiskWatch::Clock::now();
    move();
    watch_->moved(array_, read, begin, DiskWatch::Clock::now(), bytes);
  }

 private:
  DiskWatch* watch_ = nullptr;
  int array_ = -1;
};

/// Elements that a run makes: they go to the disk and come back.
class SpilledElements : public DiskElements {
 public:
  /// Elements go to the disk in groups of so many, from multiples of it on. Each plane's capacity is a multiple, too.
  static constexpr std::int64_t group = 8192;
  /// The bytes of the groups that have an element of [first, last): what is read and written of them.
  [[nodiscard]] static std::int64_t bytes_of_groups(const ElementType& element, std::int64_t first, std::int64_t last) {
    const std::int64_t groups = (last + group - 1) / group - first / group;
    return groups > 0 ? groups * group * element.bytes() : 0;
  }
  /// The elements from `first` on, a multiple of `group`, will be stored in ascending order; `last` is their end.
  virtual void begin_store(std::int64_t first, std::int64_t last) = 0;
  /// Stores the next elements, those before `end`, in whole groups. Returns up to which element they are on the disk:
  /// `last`, or a multiple of `group`. UserError: io.
  virtual std::int64_t store(std::int64_t end, const ElementMemory& from) = 0;
  [[nodiscard]] virtual std::int64_t written_bytes() const = 0;
  /// Of elements of one plane that are all on the disk: `count` of them, as memory that takes none to speak of.
  [[nodiscard]] virtual Bytes pages(std::int64_t count) = 0;
};

/// The slower tier: where arrays go for which memory has no room.
class Tier {
 public:
  virtual ~Tier() = default;
  /// Room for an array of planes with this capacity. UserError: cannot_create, io.
  [[nodiscard]] virtual std::shared_ptr<SpilledElements> make(const ElementType& element, std::int64_t capacity) = 0;
};

}  // namespace kasen
