// Random buffers for tests of packings, some of a known smallest pool.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "libopt/packing/packing.h"

namespace kasen::packing::testing {

inline constexpr std::int64_t pool = 1 << 20;

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  // From low up to high, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(std::int64_t percent) { return between(1, 100) <= percent; }

 private:
  std::mt19937_64 random_;
};

struct Rectangle {
  std::int64_t lower = 0, upper = 0, bottom = 0, top = 0;
  [[nodiscard]] std::int64_t area() const { return (upper - lower) * (top - bottom); }
};

struct Cutting {
  std::size_t pieces = 100;
  std::int64_t times = 200;     // width of the rectangle
  std::int64_t unit = 1;        // cuts of memory are at its multiples
  std::int64_t pinwheels = 20;  // per cent of the cuts; the others go across
  std::int64_t shares = 0;      // cuts are at multiples of 1 / shares of a piece, so that sizes repeat; 0: anywhere
};

// Cuts a rectangle of `times` by `pool` without waste, so that no packing of the pieces is smaller.
class Cutter {
 public:
  Cutter(Random& random, const Cutting& cutting) : random_(random), cutting_(cutting) {
    pieces_.push_back({0, cutting.times, 0, pool});
    for (int failed = 0; pieces_.size() < cutting.pieces && failed < 1000; ++failed) {
      if (random_.chance(cutting.pinwheels) ? pinwheel(take()) : across(take())) failed = 0;
    }
    std::shuffle(pieces_.begin(), pieces_.end(), std::mt19937(7));
  }
  [[nodiscard]] const std::vector<Rectangle>& pieces() const { return pieces_; }

 private:
  // The largest of a few.
  Rectangle take() {
    std::size_t chosen = 0;
    for (int i = 0; i < 4; ++i) {
      const auto one = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(pieces_.size()) - 1));
      if (i == 0 || pieces_[one].area() > pieces_[chosen].area()) chosen = one;
    }
    const Rectangle piece = pieces_[chosen];
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(chosen));
    return piece;
  }

  // Strictly inside; `low` where there is no room.
  std::int64_t cut(std::int64_t low, std::int64_t high, std::int64_t unit) {
    const std::int64_t first = low / unit + 1, last = (high - 1) / unit;
    if (first > last) return low;
    if (cutting_.shares == 0) return unit * random_.between(first, last);
    const std::int64_t at = low + (high - low) * random_.between(1, cutting_.shares - 1) / cutting_.shares;
    return unit * std::clamp(at / unit, first, last);
  }

  bool keep(const Rectangle& piece) {
    pieces_.push_back(piece);
    return false;
  }

  bool across(const Rectangle& r) {
    const bool in_time = random_.chance(50);
    const std::int64_t at = in_time ? cut(r.lower, r.upper, 1) : cut(r.bottom, r.top, cutting_.unit);
    if (at == (in_time ? r.lower : r.bottom)) return keep(r);
    keep(in_time ? Rectangle{r.lower, at, r.bottom, r.top} : Rectangle{r.lower, r.upper, r.bottom, at});
    keep(in_time ? Rectangle{at, r.upper, r.bottom, r.top} : Rectangle{r.lower, r.upper, at, r.top});
    return true;
  }

  // Four pieces around a fifth, in one of two directions.
  bool pinwheel(const Rectangle& r) {
    std::int64_t x = cut(r.lower, r.upper, 1), x2 = cut(r.lower, r.upper, 1);
    std::int64_t y = cut(r.bottom, r.top, cutting_.unit), y2 = cut(r.bottom, r.top, cutting_.unit);
    if (x > x2) std::swap(x, x2);
    if (y > y2) std::swap(y, y2);
    if (x == r.lower || y == r.bottom || x == x2 || y == y2) return keep(r);
    if (random_.chance(50)) {
      for (const Rectangle& one : {Rectangle{r.lower, x, r.bottom, y2},
                                   {r.lower, x2, y2, r.top},
                                   {x2, r.upper, y, r.top},
                                   {x, r.upper, r.bottom, y},
                                   {x, x2, y, y2}})
        keep(one);
    } else {
      for (const Rectangle& one : {Rectangle{r.lower, x2, r.bottom, y},
                                   {x2, r.upper, r.bottom, y2},
                                   {x, r.upper, y2, r.top},
                                   {r.lower, x, y, r.top},
                                   {x, x2, y, y2}})
        keep(one);
    }
    return true;
  }

  Random& random_;
  const Cutting& cutting_;
  std::vector<Rectangle> pieces_;
};

struct Planting {
  std::size_t buffers = 250;
  std::int64_t times = 1000;
  std::int64_t unit = 1024;  // sizes and offsets are its multiples
  std::int64_t most = 24;    // units of a large buffer
  std::int64_t longs = 15;   // per cent of the buffers that live for a large part of the times
  std::int64_t full = 3;     // moments at which all of the pool is in use
  std::int64_t menu = 12;    // different sizes
};

// Buffers of a schedule, as of a compiler for accelerators: a few sizes, many short lives and some long ones, put into
// a pool where they have room. Then gaps of some moments are closed, so that no packing is smaller than the pool.
class Planter {
 public:
  Planter(Random& random, const Planting& planting) : random_(random), planting_(planting) {
    for (std::int64_t i = 0; i < planting.menu; ++i) sizes_.push_back(planting.unit * random.between(1, planting.most));
    for (int failed = 0; placed_.size() < planting.buffers && failed < 400; ++failed) {
      if (plant()) failed = 0;
    }
    for (std::int64_t i = 0; i < planting.full; ++i) fill(random.between(0, planting.times - 1));
    std::shuffle(placed_.begin(), placed_.end(), std::mt19937(7));
  }
  [[nodiscard]] const std::vector<Rectangle>& placed() const { return placed_; }

 private:
  using Gap = std::pair<std::int64_t, std::int64_t>;

  [[nodiscard]] std::vector<Gap> gaps(std::int64_t lower, std::int64_t upper) const {
    std::vector<Gap> taken, gaps;
    for (const Rectangle& r : placed_) {
      if (r.lower < upper && lower < r.upper) taken.emplace_back(r.bottom, r.top);
    }
    std::sort(taken.begin(), taken.end());
    std::int64_t top = 0;
    for (const auto& [bottom, end] : taken) {
      if (bottom > top) gaps.emplace_back(top, bottom);
      top = std::max(top, end);
    }
    if (top < pool) gaps.emplace_back(top, pool);
    return gaps;
  }

  // At an end of a gap, as the compiler's buffers lie side by side.
  bool plant() {
    const std::int64_t times = planting_.times,
                       size = sizes_[static_cast<std::size_t>(random_.between(0, planting_.menu - 1))];
    const std::int64_t life = random_.chance(planting_.longs)
                                  ? random_.between(times / 10, times / 2)
                                  : random_.between(1, std::max<std::int64_t>(1, times / 15));
    const std::int64_t lower = random_.between(0, times - 1), upper = std::min(times, lower + life);
    std::vector<Gap> wide;
    for (const Gap& gap : gaps(lower, upper)) {
      if (gap.second - gap.first >= size) wide.push_back(gap);
    }
    if (wide.empty()) return false;
    const Gap gap = wide[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(wide.size()) - 1))];
    const std::int64_t bottom = random_.chance(50) ? gap.first : gap.second - size;
    placed_.push_back({lower, upper, bottom, bottom + size});
    return true;
  }

  // Closes all gaps of a moment, for as long as they stay open.
  void fill(std::int64_t moment) {
    for (const Gap& gap : gaps(moment, moment + 1)) {
      Rectangle r{moment, moment + 1, gap.first, gap.second};
      for (const Rectangle& other : placed_) {
        if (other.top <= r.bottom || other.bottom >= r.top) continue;
        if (other.upper <= moment) low_ = std::max(low_, other.upper);
        if (other.lower > moment) high_ = std::min(high_, other.lower);
      }
      r.lower = low_;
      r.upper = std::min(high_, planting_.times);
      low_ = 0;
      high_ = std::numeric_limits<std::int64_t>::max();
      placed_.push_back(r);
    }
  }

  Random& random_;
  const Planting& planting_;
  std::vector<std::int64_t> sizes_;
  std::vector<Rectangle> placed_;
  std::int64_t low_ = 0, high_ = std::numeric_limits<std::int64_t>::max();
};

inline std::vector<Buffer> buffers_of(const std::vector<Rectangle>& pieces, std::int64_t alignment = 1) {
  std::vector<Buffer> buffers;
  for (const Rectangle& r : pieces)
    buffers.push_back({"b" + std::to_string(buffers.size()), r.lower, r.upper, r.top - r.bottom, alignment});
  return buffers;
}

// A rectangle without waste.
inline std::vector<Buffer> cut_rectangle(Random& random, const Cutting& cutting) {
  return buffers_of(Cutter(random, cutting).pieces());
}

// A schedule's buffers whose smallest pool is known.
inline std::vector<Buffer> planted(Random& random, const Planting& planting) {
  return buffers_of(Planter(random, planting).placed());
}

// The same as a rectangle, of which some per cent of the pieces are missing, but none of those that live at one moment.
inline std::vector<Buffer> cut_with_holes(Random& random, const Cutting& cutting, std::int64_t missing) {
  std::vector<Rectangle> pieces = Cutter(random, cutting).pieces();
  const std::int64_t full = random.between(0, cutting.times - 1);
  std::erase_if(pieces,
                [&](const Rectangle& r) { return (r.lower > full || r.upper <= full) && random.chance(missing); });
  return buffers_of(pieces);
}

// Removes, flattens or shortens pieces that do not live at a moment, until some per cent of the area are free.
inline void loosen(Random& random, std::vector<Rectangle>& pieces, std::int64_t full, std::int64_t percent,
                   std::int64_t unit) {
  std::int64_t area = 0;
  for (const Rectangle& piece : pieces) area += piece.area();
  std::int64_t excess = area / 100 * percent;
  for (int tries = 0; excess > 0 && tries < 10'000; ++tries) {
    Rectangle& piece =
        pieces[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(pieces.size()) - 1))];
    if (piece.lower <= full && full < piece.upper) continue;
    const std::int64_t before = piece.area(), height = piece.top - piece.bottom;
    if (before > 2 * excess) continue;
    const std::int64_t way = random.between(0, 2);
    if (way == 1 && height >= 2 * unit) piece.top -= unit * random.between(1, height / unit / 2);
    if (way == 2 && piece.upper - piece.lower >= 2) piece.upper -= random.between(1, (piece.upper - piece.lower) / 2);
    excess -= before - (way == 0 ? 0 : piece.area());
    if (way == 0) pieces.erase(pieces.begin() + (&piece - pieces.data()));
  }
}

// Buffers as of a compiled program whose smallest pool is known: sizes and lifetimes of few values, long and small ones
// beside short and large ones, and at most a tenth of the memory free over time.
inline std::vector<Buffer> program_buffers(Random& random, std::size_t count) {
  const Cutting cutting{.pieces = count,
                        .times = random.between(60, 230),
                        .unit = std::int64_t{1024} << random.between(0, 2),
                        .pinwheels = random.between(0, 1) * 20,
                        .shares = random.between(3, 8)};
  std::vector<Rectangle> pieces = Cutter(random, cutting).pieces();
  loosen(random, pieces, random.between(0, cutting.times - 1), random.between(0, 10), cutting.unit);
  return buffers_of(pieces);
}

// Layers forward, then backward. What a layer makes lives until its step backward; beside it are gradients and
// workspaces that live for a step or a few.
inline std::vector<Buffer> training_network(Random& random, std::int64_t layers) {
  std::vector<Buffer> buffers;
  const auto add = [&](std::int64_t lower, std::int64_t upper, std::int64_t size) {
    buffers.push_back({"b" + std::to_string(buffers.size()), lower, upper, size});
  };
  const std::int64_t end = 2 * layers;
  for (std::int64_t k = 0; k < layers; ++k) {
    const std::int64_t size = 256 * random.between(1, 16) << random.between(0, 6);
    add(k, end - k + random.between(0, 1), size);
    if (random.chance(60)) add(k, k + random.between(1, 6), 256 * random.between(1, 400));
    if (random.chance(60)) add(end - k - 1, end - k + random.between(1, 2), size);
    if (random.chance(40)) add(end - k - 1, end - k + random.between(0, 5), 256 * random.between(1, 400));
  }
  return buffers;
}

}  // namespace kasen::packing::testing
