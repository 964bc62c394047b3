#include "libcore/stream/residency.h"

#include <algorithm>
#include <numeric>

#include "libcore/base/checked.h"

namespace kasen::stream {
namespace {

constexpr std::int64_t usual_times = 64;  // what is brought at a time, in a window of the usual size
constexpr const char* what = "the rows of arrays on disk";

std::int64_t bytes_of(const ArrayOnDisk& array) { return checked_mul(array.rows, array.row_bytes, what); }

// Of one pass: the rows that one thread holds, those that come, and those that leave.
std::int64_t least_window(std::span<const ArrayOnDisk> arrays, const Passage& passage, std::int64_t brought) {
  std::int64_t row = 0, all = 0, units = 0;
  for (const int a : passage.arrays) {
    const ArrayOnDisk& array = arrays[static_cast<std::size_t>(a)];
    if (array.whole) continue;
    row = checked_add(row, array.row_bytes, what);
    all = checked_add(all, bytes_of(array), what);
    units = checked_add(units, checked_mul(array.unit, array.row_bytes, what), what);
  }
  const std::int64_t held = checked_mul(checked_mul(3, passage.at_once, what), row, what);
  return std::min(checked_add(checked_add(held, 4 * brought, what), units, what), all + row);
}

// Beside rows: of the pass that takes most, or of an array that is read whole.
std::int64_t staging_of(std::span<const ArrayOnDisk> arrays, std::span<const Passage> passages) {
  std::int64_t most = 0;
  for (const ArrayOnDisk& array : arrays) most = std::max(most, array.staging);
  for (const Passage& passage : passages) {
    std::int64_t sum = 0;
    for (const int a : passage.arrays) sum = checked_add(sum, arrays[static_cast<std::size_t>(a)].staging, what);
    most = std::max(most, sum);
  }
  return most;
}

// Those that are read most often first. Takes their bytes from `left`.
std::vector<std::int64_t> kept_rows(std::span<const ArrayOnDisk> arrays, const std::vector<double>& times,
                                    std::int64_t& left) {
  std::vector<std::size_t> order(arrays.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] > times[b]; });
  std::vector<std::int64_t> kept(arrays.size(), -1);
  for (const std::size_t a : order) {
    if (kept[a] >= 0) continue;
    const ArrayOnDisk& array = arrays[a];
    if (array.whole) {
      kept[a] = array.rows;
      continue;
    }
    std::vector<std::size_t> all{a};
    for (std::size_t b = 0; b < arrays.size() && array.together >= 0; ++b)
      if (b != a && arrays[b].together == array.together) all.push_back(b);
    const std::int64_t row = checked_mul(std::ssize(all), array.row_bytes, what);
    const std::int64_t fitting = row == 0 ? array.rows : left / row;
    const std::int64_t rows = fitting >= array.rows ? array.rows : fitting / array.unit * array.unit;
    for (const std::size_t b : all) kept[b] = rows;
    left -= rows * row;
  }
  return kept;
}

}  // namespace

Needs needs_of(std::span<const ArrayOnDisk> arrays, std::span<const Passage> passages, std::int64_t brought) {
  Needs needs;
  for (const ArrayOnDisk& array : arrays) {
    const std::int64_t bytes = bytes_of(array);
    needs.all = checked_add(needs.all, bytes, what);
    if (array.whole) needs.whole += bytes;
    needs.forming = std::max(needs.forming, array.forming);
  }
  needs.staging = staging_of(arrays, passages);
  for (const Passage& passage : passages) needs.window = std::max(needs.window, least_window(arrays, passage, brought));
  return needs;
}

Shares share_among_parts(std::span<const Needs> parts, std::int64_t room, std::int64_t brought) {
  Shares shares;
  std::int64_t all = 0, whole = 0, forming = 0, staging = 0, least = 0, usual = 0;
  const auto count = std::max<std::int64_t>(std::ssize(parts), 1);
  for (const Needs& part : parts) {
    all = checked_add(all, part.all, what);
    whole += part.whole;
    forming = std::max(forming, part.forming);
    staging = std::max(staging, part.staging);
    least = std::max(least, checked_add(part.window, part.staging, what));
    const std::int64_t window = std::min({usual_times * brought, room / count / 8, part.all - part.whole});
    usual = std::max(usual, std::max(part.window, window) + part.staging);
  }
  const std::int64_t loaded = checked_add(all, forming, what);
  shares.least = std::min(checked_add(whole, least, what), loaded);
  if (shares.least > room) return shares;
  const bool streams = checked_add(all, staging, what) > room;
  shares.whole = streams && loaded <= room;
  shares.aside = shares.whole ? forming : streams ? usual : staging;
  // A usual window is not worth more than what must be there.
  if (whole > room - shares.aside) shares.aside = least;
  std::int64_t left = room - shares.aside - whole, behind = count;
  for (const Needs& part : parts) {
    const std::int64_t stay = std::min(part.all, part.whole + left / behind--);
    shares.stay.push_back(shares.whole ? part.all : stay);
    left -= stay - part.whole;
  }
  return shares;
}

Residency keep_rows(std::span<const ArrayOnDisk> arrays, const Needs& needs, std::span<const Passage> passages,
                    std::int64_t stay, std::int64_t aside, std::int64_t brought) {
  Residency found;
  if (needs.all <= stay) {
    for (const ArrayOnDisk& array : arrays) found.kept.push_back(array.rows);
    found.bytes = needs.all;
    return found;
  }
  std::vector<double> times(arrays.size(), 0);
  for (const Passage& passage : passages)
    for (const int a : passage.arrays) times[static_cast<std::size_t>(a)] += passage.times;
  const std::int64_t window = std::min({usual_times * brought, aside - needs.staging, needs.all - needs.whole});
  found.window = std::max(needs.window, window);
  std::int64_t left = stay - needs.whole;
  found.kept = kept_rows(arrays, times, left);
  found.bytes = stay - left;
  return found;
}

}  // namespace kasen::stream
