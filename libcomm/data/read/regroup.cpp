#include "libcomm/data/read/regroup.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "libcomm/data/base/parallel.h"

namespace kasen {
namespace {

constexpr std::int64_t waiting_entries = std::int64_t{1} << 18;  // of all groups together, about
constexpr std::int64_t fewest_in_chunk = 64, most_in_chunk = 8192;
constexpr std::int64_t fewest_in_piece = 4096, most_in_piece = std::int64_t{1} << 16;  // of chunks in a file

// to[k] = from[order[k]]
void permute_plane(std::byte* to, const std::byte* from, std::int64_t width, std::span<const std::uint32_t> order) {
  const auto copy = [&](auto* target, const auto* source) {
    for (std::size_t k = 0; k < order.size(); ++k) target[k] = source[order[k]];
  };
  if (width == 8) copy(reinterpret_cast<std::uint64_t*>(to), reinterpret_cast<const std::uint64_t*>(from));
  if (width == 4) copy(reinterpret_cast<std::uint32_t*>(to), reinterpret_cast<const std::uint32_t*>(from));
  if (width == 1) copy(to, from);
}

// A chunk's entries by group: group g has begin[g] to begin[g + 1]; or all belong to one group, and stay packed.
struct Sorted {
  std::vector<std::int64_t> rows, cols, begin;
  PackedValues values;
  EntryChunk whole;
  std::int32_t group = 0;
};

Sorted sort_chunk(EntryChunk&& chunk, const ElementType& element, std::int32_t groups, const Grouping& grouping) {
  Sorted sorted;
  sorted.group = grouping.whole(chunk);
  if (sorted.group >= 0) {
    sorted.whole = std::move(chunk);
    return sorted;
  }
  const LooseEntries loose(chunk);
  std::vector<std::int32_t> group(loose.rows.size());
  grouping.find(loose, group);
  if (std::adjacent_find(group.begin(), group.end(), std::not_equal_to<>()) == group.end()) {
    sorted.group = group.empty() ? 0 : group[0];
    sorted.whole = std::move(chunk);
    return sorted;
  }
  sorted.begin.assign(static_cast<std::size_t>(groups) + 1, 0);
  for (const std::int32_t g : group) ++sorted.begin[static_cast<std::size_t>(g) + 1];
  for (std::size_t g = 1; g < sorted.begin.size(); ++g) sorted.begin[g] += sorted.begin[g - 1];
  std::vector<std::int64_t> next(sorted.begin.begin(), sorted.begin.end() - 1);
  std::vector<std::uint32_t> order(group.size());
  for (std::size_t k = 0; k < group.size(); ++k)
    order[static_cast<std::size_t>(next[static_cast<std::size_t>(group[k])]++)] = static_cast<std::uint32_t>(k);
  sorted.rows.resize(order.size());
  sorted.cols.resize(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    sorted.rows[k] = loose.rows[order[k]];
    sorted.cols[k] = loose.cols[order[k]];
  }
  if (element.bytes() == 0) return sorted;
  sorted.values = PackedValues(element, chunk.count());
  PackedValues room;
  const PackedValues& values = chunk.values.held(room);
  for (std::int64_t p = 0; p < element.planes(); ++p)
    permute_plane(sorted.values.plane(element, p), values.plane(element, p), scalar_bytes(element.plane_scalar(p)),
                  order);
  return sorted;
}

// A group while it grows: entries wait until they fill a chunk.
class Growing {
 public:
  void take(const Sorted& from, std::int64_t begin, std::int64_t end, const ElementType& element, std::int64_t full) {
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t count = std::min(end - at, full - static_cast<std::int64_t>(rows_.size()));
      rows_.insert(rows_.end(), from.rows.begin() + at, from.rows.begin() + at + count);
      cols_.insert(cols_.end(), from.cols.begin() + at, from.cols.begin() + at + count);
      for (std::int64_t p = 0; element.bytes() > 0 && p < element.planes(); ++p) {
        planes_.resize(static_cast<std::size_t>(element.planes()));
        const std::int64_t width = scalar_bytes(element.plane_scalar(p));
        const std::byte* plane = from.values.plane(element, p);
        std::vector<std::byte>& to = planes_[static_cast<std::size_t>(p)];
        to.insert(to.end(), plane + at * width, plane + (at + count) * width);
      }
      at += count;
      if (static_cast<std::int64_t>(rows_.size()) == full) pack(element);
    }
  }

  void take(EntryChunk&& whole, const ElementType& element) {
    if (!rows_.empty()) pack(element);
    done_.chunks.push_back(std::move(whole));
  }

  EntryList finish(const ElementType& element) {
    if (!rows_.empty()) pack(element);
    *this = Growing(std::move(done_));
    done_.element = element;
    return std::move(done_);
  }

  Growing() = default;
  explicit Growing(std::shared_ptr<PieceFile> spill) { done_.spill = std::move(spill); }

 private:
  explicit Growing(EntryList done) : done_(std::move(done)) {}

  void pack(const ElementType& element) {
    const auto count = static_cast<std::int64_t>(rows_.size());
    EntryChunk chunk{
        PackedIds(std::span<const std::int64_t>(rows_)), PackedIds(std::span<const std::int64_t>(cols_)), {}};
    if (element.bytes() > 0) chunk.values = PackedValues(element, count);
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      std::copy(planes_[p].begin(), planes_[p].end(), chunk.values.plane(element, static_cast<std::int64_t>(p)));
      planes_[p].clear();
    }
    if (done_.spill != nullptr) chunk.move_to(*done_.spill);
    done_.chunks.push_back(std::move(chunk));
    rows_.clear();
    cols_.clear();
  }

  EntryList done_;
  std::vector<std::int64_t> rows_, cols_;
  std::vector<std::vector<std::byte>> planes_;
};

// Sorts a row's positions by column; positions of equal columns stay in order.
class RowSorter {
 public:
  void sort(std::span<std::uint32_t> places, std::span<const std::int64_t> cols) {
    bool ascending = true;
    for (std::size_t k = 1; k < places.size() && ascending; ++k) ascending = cols[places[k - 1]] <= cols[places[k]];
    if (ascending) return;
    pairs_.clear();
    for (const std::uint32_t place : places) pairs_.emplace_back(cols[place], place);
    std::sort(pairs_.begin(), pairs_.end());
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = pairs_[k].second;
  }

 private:
  std::vector<std::pair<std::int64_t, std::uint32_t>> pairs_;
};

// The entries that may wait for their chunks where these go to a file.
std::int64_t waiting_in_room(const EntryList& list) {
  const std::int64_t bytes = 2 * (16 + list.element.bytes());  // vectors that grow have up to twice their room
  return list.spill->room().work() / 4 / bytes;
}

// The entries of a group that wait for their chunk.
std::int64_t full_chunk(const EntryList& list, std::int64_t groups) {
  if (list.spill == nullptr) return std::clamp(waiting_entries / groups, fewest_in_chunk, most_in_chunk);
  return std::clamp(waiting_in_room(list) / groups, fewest_in_chunk, most_in_piece);
}

// For rows so far apart that they are not counted.
std::vector<std::uint32_t> order_by_comparing(std::span<const std::int64_t> rows, std::span<const std::int64_t> cols) {
  std::vector<std::uint32_t> order(rows.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::uint32_t>(k);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return rows[a] != rows[b] ? rows[a] < rows[b] : cols[a] != cols[b] ? cols[a] < cols[b] : a < b;
  });
  return order;
}

}  // namespace

LooseEntries::LooseEntries(const EntryChunk& chunk)
    : rows(static_cast<std::size_t>(chunk.count())), cols(static_cast<std::size_t>(chunk.count())) {
  chunk.rows.unpack(rows.data());
  chunk.cols.unpack(cols.data());
}

void LooseEntries::load(const EntryList& list) {
  rows.resize(static_cast<std::size_t>(list.count()));
  cols.resize(rows.size());
  std::int64_t at = 0;
  for (const EntryChunk& chunk : list.chunks) {
    chunk.rows.unpack(rows.data() + at);
    chunk.cols.unpack(cols.data() + at);
    at += chunk.count();
  }
}

namespace {

// Groups base to base + width - 1 of others are one, and so on.
class Runs : public Grouping {
 public:
  Runs(const Grouping& of, std::int32_t base, std::int32_t width) : of_(of), base_(base), width_(width) {}
  [[nodiscard]] std::int32_t whole(const EntryChunk& chunk) const override {
    const std::int32_t group = of_.whole(chunk);
    return group < 0 ? group : (group - base_) / width_;
  }
  void find(const LooseEntries& entries, std::vector<std::int32_t>& groups) const override {
    of_.find(entries, groups);
    for (std::int32_t& group : groups) group = (group - base_) / width_;
  }

 private:
  const Grouping& of_;
  std::int32_t base_, width_;
};

std::vector<EntryList> regroup_at_once(EntryList&& from, std::int32_t groups, const Grouping& grouping) {
  EntryList list = std::move(from);
  std::vector<EntryList> result(static_cast<std::size_t>(groups));
  if (groups == 1) {
    result[0] = std::move(list);
    return result;
  }
  const std::int64_t full = full_chunk(list, groups);
  const auto wave = static_cast<std::size_t>(data_threads());
  constexpr std::int64_t groups_at_once = 16;
  std::vector<Growing> growing;
  const std::shared_ptr<PieceFile> spill = list.spill != nullptr ? list.spill->another() : nullptr;
  for (std::int32_t g = 0; g < groups; ++g) growing.emplace_back(spill);
  std::vector<Sorted> sorted(wave);
  for (std::size_t first = 0; first < list.chunks.size(); first += wave) {
    const std::size_t count = std::min(wave, list.chunks.size() - first);
    parallel_for(static_cast<std::int64_t>(count), [&](std::int64_t k, int) {
      EntryChunk& chunk = list.chunks[first + static_cast<std::size_t>(k)];
      sorted[static_cast<std::size_t>(k)] = sort_chunk(std::move(chunk), list.element, groups, grouping);
      chunk = {};
    });
    parallel_for((groups + groups_at_once - 1) / groups_at_once, [&](std::int64_t slice, int) {
      const std::int64_t end = std::min<std::int64_t>(groups, (slice + 1) * groups_at_once);
      for (std::int64_t g = slice * groups_at_once; g < end; ++g) {
        const auto at = static_cast<std::size_t>(g);
        for (std::size_t k = 0; k < count; ++k) {
          Sorted& source = sorted[k];
          if (!source.begin.empty())
            growing[at].take(source, source.begin[at], source.begin[at + 1], list.element, full);
          else if (source.group == g)
            growing[at].take(std::move(source.whole), list.element);
        }
      }
    });
  }
  sorted.clear();
  for (std::size_t g = 0; g < growing.size(); ++g) result[g] = growing[g].finish(list.element);
  return result;
}

// Groups base to base + count - 1. More than memory has waiting entries for take several passes.
std::vector<EntryList> regroup_in_passes(EntryList&& from, std::int32_t base, std::int32_t count,
                                         const Grouping& grouping) {
  EntryList list = std::move(from);
  const auto at_once = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(waiting_in_room(list) / fewest_in_piece, 2, std::numeric_limits<std::int32_t>::max()));
  if (count <= at_once) return regroup_at_once(std::move(list), count, Runs(grouping, base, 1));
  const std::int32_t width = (count + at_once - 1) / at_once, runs = (count + width - 1) / width;
  std::vector<EntryList> result;
  std::int32_t first = base;
  for (EntryList& run : regroup_at_once(std::move(list), runs, Runs(grouping, base, width))) {
    const std::int32_t groups = std::min(width, base + count - first);
    for (EntryList& group : regroup_in_passes(std::move(run), first, groups, grouping))
      result.push_back(std::move(group));
    first += width;
  }
  return result;
}

}  // namespace

std::vector<EntryList> regroup(EntryList&& from, std::int32_t groups, const Grouping& grouping) {
  return from.spill != nullptr ? regroup_in_passes(std::move(from), 0, groups, grouping)
                               : regroup_at_once(std::move(from), groups, grouping);
}

bool in_order(std::span<const std::int64_t> rows, std::span<const std::int64_t> cols) {
  for (std::size_t k = 1; k < rows.size(); ++k)
    if (rows[k] < rows[k - 1] || (rows[k] == rows[k - 1] && cols[k] < cols[k - 1])) return false;
  return true;
}

std::vector<std::uint32_t> sorted_order(std::span<const std::int64_t> rows, std::span<const std::int64_t> cols) {
  if (in_order(rows, cols)) {
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  const auto [low, high] = std::minmax_element(rows.begin(), rows.end());
  const std::uint64_t range = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
  if (range > 4 * rows.size() + 1024) return order_by_comparing(rows, cols);
  const std::int64_t base = *low;
  std::vector<std::uint32_t> next(range + 2);
  for (const std::int64_t r : rows) ++next[static_cast<std::size_t>(r - base) + 1];
  for (std::size_t r = 1; r < next.size(); ++r) next[r] += next[r - 1];
  std::vector<std::uint32_t> order(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k)
    order[next[static_cast<std::size_t>(rows[k] - base)]++] = static_cast<std::uint32_t>(k);
  RowSorter sorter;
  for (std::size_t r = 0, begin = 0; r <= range; begin = next[r++])  // next[r] is now where row r ends
    sorter.sort(std::span(order).subspan(begin, next[r] - begin), cols);
  return order;
}

}  // namespace kasen
