// Splitters of lines that lie on several workers, found round by round, and lines made of sorted pieces: beside a
// stable sort of the whole line.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "libcore/sorting/selection.h"
#include "libcore/sorting/sort_plan.h"

namespace kasen {
namespace {

using Line = std::vector<std::int64_t>;

// One line on `workers`, in equal runs. Their keys are sorted already, so order_key is the number itself.
struct Spread {
  std::vector<Line> parts;
  std::vector<std::vector<PackedPlace>> places;
  std::int64_t length = 0;

  Spread(const Line& line, std::int64_t workers) : length(std::ssize(line)) {
    std::int64_t first = 0;
    for (std::int64_t w = 0; w < workers; ++w) {
      const std::int64_t count = length / workers + (w < length % workers ? 1 : 0);
      Line& keys = parts.emplace_back(static_cast<std::size_t>(count));
      std::vector<PackedPlace>& own = places.emplace_back(keys.size());
      sort_lines(Scalar::i64, reinterpret_cast<const std::byte*>(line.data() + first),
                 {1, count, 1, reinterpret_cast<std::byte*>(keys.data()), own.data()});
      first += count;
    }
  }
  [[nodiscard]] std::int64_t largest() const { return std::ssize(parts[0]); }
};

// How many of each worker's elements are among the first `rank` of the line, by stable sort.
std::vector<std::int64_t> exact(const Line& line, const Spread& spread, std::int64_t rank) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (std::size_t i = 0; i < line.size(); ++i) all.emplace_back(line[i], static_cast<std::int64_t>(i));
  std::stable_sort(all.begin(), all.end());
  std::vector<std::int64_t> counts(spread.parts.size(), 0);
  for (std::int64_t i = 0; i < rank; ++i) {
    std::int64_t place = all[static_cast<std::size_t>(i)].second;
    std::size_t worker = 0;
    while (place >= std::ssize(spread.parts[worker])) place -= std::ssize(spread.parts[worker++]);
    ++counts[worker];
  }
  return counts;
}

// The bounds of a splitter after all rounds.
std::vector<SplitBounds> selected(const Spread& spread, std::int64_t rank) {
  std::vector<SplitBounds> bounds;
  for (const Line& part : spread.parts) bounds.push_back({0, std::ssize(part)});
  for (int round = 0; round < selection_rounds(spread.length, spread.largest()); ++round) {
    std::vector<Line> samples(spread.parts.size(), Line(most_samples, -77));
    std::vector<ShownSamples> shown;
    for (std::size_t w = 0; w < spread.parts.size(); ++w) {
      const std::int64_t some = std::min(most_samples, std::ssize(spread.parts[w]));
      take_samples(Scalar::i64, reinterpret_cast<const std::byte*>(spread.parts[w].data()), std::ssize(spread.parts[w]),
                   {&bounds[w], 1}, some, reinterpret_cast<std::byte*>(samples[w].data()));
      shown.push_back({reinterpret_cast<const std::byte*>(samples[w].data()), some, &bounds[w]});
    }
    narrow(Scalar::i64, shown, 1, rank);
  }
  return bounds;
}

void check(const Line& line, std::int64_t workers) {
  const Spread spread(line, workers);
  for (const std::int64_t rank :
       {std::int64_t{0}, spread.length / workers, spread.length / 2, spread.length - 1, spread.length}) {
    if (rank < 0) continue;
    SCOPED_TRACE(::testing::Message() << line.size() << " on " << workers << ", rank " << rank);
    const std::vector<std::int64_t> wanted = exact(line, spread, rank);
    const std::vector<SplitBounds> bounds = selected(spread, rank);
    for (std::size_t w = 0; w < bounds.size(); ++w) {
      EXPECT_EQ(bounds[w].low, wanted[w]) << w;
      EXPECT_EQ(bounds[w].high, wanted[w]) << w;
    }
  }
}

// Lines that bring their elements close together: blocks of samples that stand for much, ties, turns of workers.
Line some_line(std::mt19937_64& random, std::int64_t length) {
  const std::uint64_t kind = random() % 6;
  const auto values = std::int64_t{1} << (random() % 40);
  Line line;
  for (std::int64_t i = 0; i < length; ++i) {
    const auto any = static_cast<std::int64_t>(random() >> 1);
    line.push_back(kind == 0   ? i
                   : kind == 1 ? -i
                   : kind == 2 ? 5
                   : kind == 3 ? i * 37 % std::max<std::int64_t>(length, 1)
                   : kind == 4 ? (any % 50 == 0 ? any : i / 100)
                               : any % values);
  }
  return line;
}

TEST(Sorting, SplittersAreExactAfterTheRounds) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    const auto most = std::uint64_t{1} << (random() % 15);
    check(some_line(random, static_cast<std::int64_t>(random() % most)), 1 + static_cast<std::int64_t>(random() % 7));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Sorting, RoundsGrowWithTheLogarithm) {
  EXPECT_EQ(selection_rounds(0, 0), 0);
  EXPECT_EQ(selection_rounds(64, 32), 1);
  EXPECT_EQ(selection_rounds(4000, 1000), 4);
  EXPECT_LE(selection_rounds(1'000'000'000'000, 1'000'000'000), 15);
}

TEST(Sorting, PlacesTravelIn48Bits) {
  for (const std::int64_t place : {std::int64_t{0}, std::int64_t{65536 * 3 + 5}, (std::int64_t{1} << 48) - 1}) {
    EXPECT_EQ(PackedPlace::of(place).value(), place);
  }
}

// Equal elements of one piece keep their order, those of an earlier piece come first.
TEST(Sorting, MergesPlacesAsAStableSort) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 50; ++i) {
    const Line line = some_line(random, static_cast<std::int64_t>(random() % 200));
    const Spread spread(line, 1 + static_cast<std::int64_t>(random() % 5));
    std::vector<SortedPiece> pieces;
    std::vector<std::int64_t> counts;
    for (const Line& part : spread.parts) counts.push_back(std::ssize(part));
    std::int64_t first = 0;
    for (std::size_t w = 0; w < counts.size(); first += counts[w++]) {
      pieces.push_back({reinterpret_cast<const std::byte*>(spread.parts[w].data()),
                        spread.places[w].data(),
                        first,
                        {&counts[w], 1}});
    }
    std::vector<std::int64_t> made(line.size());
    merge_lines(Scalar::i64, pieces, 1, 1, reinterpret_cast<std::byte*>(made.data()));
    std::vector<std::int64_t> wanted(line.size());
    std::iota(wanted.begin(), wanted.end(), 0);
    std::stable_sort(wanted.begin(), wanted.end(), [&](std::int64_t a, std::int64_t b) {
      return line[static_cast<std::size_t>(a)] < line[static_cast<std::size_t>(b)];
    });
    EXPECT_EQ(made, wanted);
  }
}

TEST(Sorting, MergesPiecesInTheirOrder) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 50; ++i) {
    const auto lines = static_cast<std::int64_t>(1 + random() % 4), inner = random() % 2 == 0 ? lines : 1;
    const std::int64_t pieces = 1 + static_cast<std::int64_t>(random() % 5);
    std::vector<std::vector<double>> sorted(static_cast<std::size_t>(lines));
    std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(pieces));
    std::vector<Line> keys(counts.size());
    const std::int64_t length = 12;  // of each line
    for (std::int64_t line = 0; line < lines; ++line) {
      std::int64_t left = length;
      for (std::size_t p = 0; p < counts.size(); ++p) {
        const std::int64_t some = p + 1 == counts.size() ? left : static_cast<std::int64_t>(random() % 5) % (left + 1);
        left -= some;
        counts[p].push_back(some);
        Line piece;  // positive f64 are in the order of their bits
        for (std::int64_t k = 0; k < some; ++k) {
          const double value = static_cast<double>(random() % 6);
          sorted[static_cast<std::size_t>(line)].push_back(value);
          piece.push_back(std::bit_cast<std::int64_t>(value));
        }
        std::sort(piece.begin(), piece.end());
        keys[p].insert(keys[p].end(), piece.begin(), piece.end());
      }
      std::sort(sorted[static_cast<std::size_t>(line)].begin(), sorted[static_cast<std::size_t>(line)].end());
    }
    std::vector<SortedPiece> given;
    for (std::size_t p = 0; p < counts.size(); ++p) {
      given.push_back({reinterpret_cast<const std::byte*>(keys[p].data()), nullptr, 0, counts[p]});
    }
    std::vector<double> array(static_cast<std::size_t>(lines * length));
    merge_lines(Scalar::f64, given, lines, inner, reinterpret_cast<std::byte*>(array.data()));
    for (std::int64_t line = 0; line < lines; ++line) {
      for (std::int64_t k = 0; k < length; ++k) {
        const auto at = static_cast<std::size_t>(line / inner * length * inner + k * inner + line % inner);
        EXPECT_EQ(array[at], sorted[static_cast<std::size_t>(line)][static_cast<std::size_t>(k)]);
      }
    }
  }
}

}  // namespace
}  // namespace kasen
