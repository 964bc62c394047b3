#include "libcore/stream/simulated_tier.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "libcore/base/error.h"

namespace kasen::stream {
namespace {

// Copies elements [begin, end) of each plane; returns their bytes.
std::int64_t copy_planes(const ElementMemory& from, const ElementMemory& to, std::int64_t begin, std::int64_t end) {
  std::int64_t bytes = 0;
  for (std::int64_t p = 0; p < from.element.planes() && begin < end; ++p) {
    const std::int64_t width = scalar_bytes(from.element.plane_scalar(p));
    std::memcpy(to.data + plane_offset(to.element, to.capacity, p) + begin * width,
                from.data + plane_offset(from.element, from.capacity, p) + begin * width,
                static_cast<std::size_t>((end - begin) * width));
    bytes += (end - begin) * width;
  }
  return bytes;
}

class SimulatedElements final : public SpilledElements {
 public:
  SimulatedElements(const ElementType& element, std::int64_t capacity, DiskEvent event)
      : disk_(element, capacity), stored_(static_cast<std::size_t>(capacity), 0), event_(std::move(event)) {}
  void fill(const Array& array) {
    const ElementMemory from{const_cast<std::byte*>(array.bytes.data()), array.element, array.count};
    (void)copy_planes(from, memory(), 0, array.count);
    std::fill_n(stored_.begin(), array.count, 1);
  }

  void begin(std::int64_t first, std::int64_t last) override {
    next_ = first;
    last_ = last;
  }
  void load(std::int64_t end, const ElementMemory& to) override {
    if (event_) event_(end);
    end = std::min(end, last_);
    if (std::any_of(stored_.begin() + next_, stored_.begin() + end, [](char stored) { return stored == 0; }))
      throw InternalError("elements come back that were never stored");
    const std::int64_t bytes = bytes_of(next_, end);
    if (bytes > 0) timed(true, bytes, [&] { read_ += copy_planes(memory(), to, next_, end); });
    next_ = std::max(next_, end);
  }
  void end() override { next_ = last_; }
  [[nodiscard]] std::int64_t bytes_of(std::int64_t first, std::int64_t last) const override {
    return std::max<std::int64_t>(0, last - first) * disk_.element.bytes();
  }
  [[nodiscard]] std::int64_t staging_bytes() const override { return 0; }
  [[nodiscard]] std::int64_t read_bytes() const override { return read_; }

  void begin_store(std::int64_t first, std::int64_t last) override {
    if (first % group != 0) throw InternalError("a store that begins within a group");
    store_next_ = first;
    store_last_ = last;
  }
  std::int64_t store(std::int64_t end, const ElementMemory& from) override {
    if (event_) event_(end);
    const std::int64_t to = end >= store_last_ ? store_last_ : std::max(store_next_, end / group * group);
    const std::int64_t bytes = bytes_of(store_next_, to);
    if (bytes > 0) timed(false, bytes, [&] { written_ += copy_planes(from, memory(), store_next_, to); });
    std::fill(stored_.begin() + store_next_, stored_.begin() + to, 1);
    return store_next_ = to;
  }
  [[nodiscard]] std::int64_t written_bytes() const override { return written_; }
  [[nodiscard]] Bytes pages(std::int64_t count) override {
    const std::int64_t bytes = count * disk_.element.bytes();
    Bytes copy(storage_bytes(disk_.element, count));
    std::memcpy(copy.data(), disk_.bytes.data(), static_cast<std::size_t>(bytes));
    return copy;
  }

 private:
  [[nodiscard]] ElementMemory memory() { return {disk_.bytes.data(), disk_.element, disk_.count}; }
  Array disk_;
  std::vector<char> stored_;
  DiskEvent event_;
  std::int64_t next_ = 0, last_ = 0, store_next_ = 0, store_last_ = 0, read_ = 0, written_ = 0;
};

class SimulatedTier final : public Tier {
 public:
  explicit SimulatedTier(DiskEvent event) : event_(std::move(event)) {}
  [[nodiscard]] std::shared_ptr<SpilledElements> make(const ElementType& element, std::int64_t capacity) override {
    return std::make_shared<SimulatedElements>(element, capacity, event_);
  }

 private:
  DiskEvent event_;
};

}  // namespace

std::unique_ptr<Tier> make_simulated_tier(DiskEvent event) { return std::make_unique<SimulatedTier>(std::move(event)); }

std::shared_ptr<DiskElements> simulated_disk(const Array& array, DiskEvent event) {
  auto disk = std::make_shared<SimulatedElements>(array.element, array.count, std::move(event));
  disk->fill(array);
  return disk;
}

}  // namespace kasen::stream
