// reduce_by: places in the result, a few thousand at a time, for the compiled loop that combines listed elements.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "libcore/axis/grouping.h"
#include "libcore/data/data.h"
#include "libkernels/axis/run_axis.h"
#include "libkernels/move/movers.h"

namespace kasen {
namespace {

constexpr std::int64_t listed = 4096;  // elements for a call of the loop
constexpr std::int64_t widest = std::int64_t{std::numeric_limits<std::int32_t>::max()};  // of a window

// Elements first to last - 1 of the result, which are memory at `to`.
struct Window {
  View to;
  std::int64_t first = 0, last = 0;
};

// What one thread needs to reduce elements of the walk.
class Grouper {
 public:
  Grouper(const GroupWalk& walk, const AxisCall& call, CombineFunction function, std::byte* scratch)
      : walk_(walk),
        element_(call.module->fn(call.op->fns.at(0)).result()),
        from_(call.inputs[0]),
        function_(function),
        scratch_(scratch),
        places_(static_cast<std::size_t>(listed)),
        packed_(storage_bytes(element_, listed)) {
    for (std::int64_t p = 0; p < element_.planes() && walk.single(); ++p) repeat_single(p);
  }

  // Elements begin to end - 1 whose places are in the window, in their order. Stops at a key outside.
  [[nodiscard]] std::optional<OutsidePlace> run(std::int64_t begin, std::int64_t end, const Window& window) {
    const bool whole = window.first == 0 && window.last == walk_.results();
    for (std::int64_t i = begin; i < end; i += listed) {
      const std::span places = std::span(places_).first(static_cast<std::size_t>(std::min(listed, end - i)));
      if (const auto outside = walk_.targets(i, places)) return outside;
      if (!whole) {
        combine_packed(i, places, window);
        continue;
      }
      std::transform(places.begin(), places.end(), list_.begin(), [](auto k) { return static_cast<std::int32_t>(k); });
      const bool single = walk_.single();
      combine(window, single ? packed() : from_, single ? 0 : i, std::ssize(places));
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] View packed() { return {packed_.data(), listed}; }

  void repeat_single(std::int64_t p) {
    const auto size = static_cast<std::size_t>(scalar_bytes(element_.plane_scalar(p)));
    const std::byte* const from = from_.data + plane_offset(element_, from_.capacity, p);
    std::byte* const to = packed_.data() + plane_offset(element_, listed, p);
    for (std::size_t k = 0; k < static_cast<std::size_t>(listed); ++k) std::memcpy(to + k * size, from, size);
  }

  void combine_packed(std::int64_t begin, std::span<const std::int64_t> places, const Window& window) {
    std::size_t found = 0;
    for (std::size_t k = 0; k < places.size(); ++k) {
      list_[found] = static_cast<std::int32_t>(places[k] - window.first);
      sources_[found] = static_cast<std::int32_t>(k);
      found += static_cast<std::size_t>(static_cast<int>(places[k] >= window.first) &
                                        static_cast<int>(places[k] < window.last));
    }
    for (std::int64_t p = 0; p < element_.planes() && !walk_.single(); ++p) {
      const std::int64_t size = scalar_bytes(element_.plane_scalar(p));
      const std::byte* const from = from_.data + plane_offset(element_, from_.capacity, p) + begin * size;
      std::byte* const to = packed_.data() + plane_offset(element_, listed, p);
      if (size == 8) pack<std::uint64_t>(from, to, found);
      if (size == 4) pack<std::uint32_t>(from, to, found);
      if (size == 1) pack<std::uint8_t>(from, to, found);
    }
    combine(window, packed(), 0, static_cast<std::int64_t>(found));
  }

  template <class T>
  void pack(const std::byte* from, std::byte* to, std::size_t count) const {
    const T* const elements = reinterpret_cast<const T*>(from);
    T* const made = reinterpret_cast<T*>(to);
    for (std::size_t k = 0; k < count; ++k) made[k] = elements[sources_[k]];
  }

  // Elements `begin` on of `from` onto the listed ones.
  void combine(const Window& window, const View& from, std::int64_t begin, std::int64_t count) {
    words_.clear();
    append_array(words_, element_, window.to);
    append_array(words_, element_, from);
    std::size_t at = 0;
    for (const std::int64_t moved : {window.first, begin}) {
      for (const Component& c : element_.components) {
        words_[at] += moved * scalar_bytes(c.scalar);
        at += 2;
      }
    }
    function_(words_.data(), list_.data(), 0, count, scratch_);
  }

  const GroupWalk& walk_;
  const ElementType& element_;
  const View& from_;
  CombineFunction function_;
  std::byte* scratch_;
  std::vector<std::int64_t> places_, words_;
  Bytes packed_;  // elements in a window, or the single one repeated
  std::array<std::int32_t, static_cast<std::size_t>(listed)> list_{}, sources_{};
};

class GroupRun {
 public:
  GroupRun(Workshop& shop, CombineFunction function, const AxisCall& call)
      : shop_(shop),
        function_(function),
        call_(call),
        walk_(call),
        element_(call.module->fn(call.op->fns.at(0)).result()),
        blocks_(group_blocks(walk_)) {}

  void run() {
    if (walk_.count() == 0 && call_.gate == nullptr) return;
    outside_.resize(static_cast<std::size_t>(blocks_));
    if (blocks_ > 1) make_blocks();
    if (call_.gate != nullptr) {
      for_each_piece(call_, walk_, [&](std::int64_t b, std::int64_t begin, std::int64_t end) {
        in_windows(b, begin, end);
        if (const auto& found = outside_[static_cast<std::size_t>(b)]) refuse_key(call_, found->place);
      });
    } else {
      blocks_ > 1 ? in_blocks() : in_windows(0, 0, walk_.count());
    }
    for (const auto& found : outside_) {  // blocks are ascending
      if (found) refuse_key(call_, found->place);
    }
    if (blocks_ > 1) join_blocks();
  }

 private:
  [[nodiscard]] View block(std::int64_t b) const {
    return b == 0 ? call_.output : View{partials_ + (b - 1) * bytes_, walk_.results()};
  }

  // Each block has an array of its own, which is filled with the identities that are there.
  void make_blocks() {
    bytes_ = (storage_bytes(element_, walk_.results()) + 63) / 64 * 64;
    partials_ = shop_.partials((blocks_ - 1) * bytes_);
    for (std::int64_t b = 1; b < blocks_; ++b) fill(block(b));
  }

  void in_blocks() {
    share_out(shop_.pool, blocks_, [&](int thread, std::int64_t b) {
      Grouper grouper(walk_, call_, function_, shop_.scratch(thread));
      outside_[static_cast<std::size_t>(b)] =
          grouper.run(walk_.count() * b / blocks_, walk_.count() * (b + 1) / blocks_, {block(b), 0, walk_.results()});
    });
  }

  void fill(const View& to) const {
    for (std::int64_t p = 0; p < element_.planes(); ++p) {
      const std::byte* const from = call_.output.data + plane_offset(element_, call_.output.capacity, p);
      std::memcpy(to.data + plane_offset(element_, to.capacity, p), from,
                  static_cast<std::size_t>(walk_.results() * scalar_bytes(element_.plane_scalar(p))));
    }
  }

  void join_blocks() {
    std::vector<std::int32_t> places(static_cast<std::size_t>(walk_.results()));
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<std::int32_t>(k);
    for (std::int64_t b = 1; b < blocks_; ++b) {
      std::vector<std::int64_t> words;
      append_array(words, element_, call_.output);
      append_array(words, element_, block(b));
      in_parts(shop_.pool, walk_.results(), [&](int thread, std::int64_t begin, std::int64_t end) {
        function_(words.data(), places.data(), begin, end, shop_.scratch(thread));
      });
    }
  }

  // Each thread reads all keys, and reduces the elements of its part of a block's result, in the order of all.
  void in_windows(std::int64_t b, std::int64_t begin, std::int64_t end) {
    const std::int64_t threads = end - begin <= little_work ? 1 : shop_.pool.threads();
    const std::int64_t windows = std::max(threads, (walk_.results() + widest - 1) / widest);
    std::vector<std::optional<OutsidePlace>> outside(static_cast<std::size_t>(windows));
    const auto one = [&](int thread, std::int64_t w) {
      Grouper grouper(walk_, call_, function_, shop_.scratch(thread));
      const Window window{block(b), walk_.results() * w / windows, walk_.results() * (w + 1) / windows};
      outside[static_cast<std::size_t>(w)] = grouper.run(begin, end, window);
    };
    if (windows == 1) {
      one(0, 0);
    } else {
      share_out(shop_.pool, windows, one);
    }
    outside_[static_cast<std::size_t>(b)] = outside[0];  // each has read the same keys
  }

  Workshop& shop_;
  CombineFunction function_;
  const AxisCall& call_;
  const GroupWalk walk_;
  const ElementType& element_;
  const std::int64_t blocks_;
  std::int64_t bytes_ = 0;
  std::byte* partials_ = nullptr;
  std::vector<std::optional<OutsidePlace>> outside_;  // of each block
};

}  // namespace

void run_grouping(Workshop& shop, CombineFunction function, const AxisCall& call) {
  GroupRun(shop, function, call).run();
}

}  // namespace kasen
