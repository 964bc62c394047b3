// Repeated entries. Entries in strictly ascending order, as in most files, take one pass; others are sorted, group by
// group of rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/read/entries.h"
#include "libcomm/data/read/regroup.h"
#include "libcore/base/checked.h"

namespace kasen {
namespace {

using Pair = std::pair<std::int64_t, std::int64_t>;  // row and column

bool strictly_ascending(const EntryList& list) {
  struct Ends {
    Pair first, last;
    bool ascending = true;
  };
  std::vector<Ends> ends(list.chunks.size());
  parallel_for(static_cast<std::int64_t>(ends.size()), [&](std::int64_t c, int) {
    const LooseEntries loose(list.chunks[static_cast<size_t>(c)]);
    Ends& mine = ends[static_cast<size_t>(c)];
    for (size_t k = 1; k < loose.rows.size() && mine.ascending; ++k)
      mine.ascending = loose.rows[k - 1] < loose.rows[k] ||
                       (loose.rows[k - 1] == loose.rows[k] && loose.cols[k - 1] < loose.cols[k]);
    mine.first = {loose.rows.front(), loose.cols.front()};
    mine.last = {loose.rows.back(), loose.cols.back()};
  });
  for (size_t c = 0; c < ends.size(); ++c)
    if (!ends[c].ascending || (c > 0 && ends[c - 1].last >= ends[c].first)) return false;
  return true;
}

constexpr size_t groups = 64;

// Rows that cut the entries into groups of about equal size, according to a sample.
std::vector<std::int64_t> row_bounds(const EntryList& list) {
  constexpr size_t samples = 64 * groups;
  std::vector<std::int64_t> sample;
  const size_t per_chunk = std::max<size_t>(1, samples / list.chunks.size());
  for (size_t c = 0; c < list.chunks.size(); c += std::max<size_t>(1, list.chunks.size() / samples)) {
    const LooseEntries loose(list.chunks[c]);
    for (size_t k = 0; k < per_chunk; ++k) sample.push_back(loose.rows[k * loose.rows.size() / per_chunk]);
  }
  std::sort(sample.begin(), sample.end());
  std::vector<std::int64_t> bounds;
  for (size_t g = 1; g < groups; ++g) bounds.push_back(sample[g * sample.size() / groups]);
  return bounds;
}

// Groups of rows between bounds.
class RowGroups : public Grouping {
 public:
  explicit RowGroups(const EntryList& list) : bounds_(row_bounds(list)) {}

  [[nodiscard]] std::int32_t whole(const EntryChunk& chunk) const override {
    const std::int32_t group = group_of(chunk.rows.smallest());
    return group == group_of(chunk.rows.largest()) ? group : -1;
  }
  void find(const LooseEntries& entries, std::vector<std::int32_t>& to) const override {
    for (size_t k = 0; k < to.size(); ++k) to[k] = group_of(entries.rows[k]);
  }

 private:
  // The number of the groups - 1 bounds that are not larger. It has no branch, which would be mispredicted every other
  // time.
  [[nodiscard]] std::int32_t group_of(std::int64_t row) const {
    size_t group = 0;
    for (size_t step = groups / 2; step > 0; step /= 2) group += bounds_[group + step - 1] <= row ? step : 0;
    return static_cast<std::int32_t>(group);
  }

  std::vector<std::int64_t> bounds_;
};

// Groups of pairs between bounds, as many as it takes for each to have so many entries: one row may have more.
class PairGroups : public Grouping {
 public:
  PairGroups(const EntryList& list, std::int64_t most) {
    const std::int64_t wanted = (list.count() + most - 1) / most;
    std::vector<Pair> sample;
    constexpr std::int64_t samples = 64;  // of each group
    const std::int64_t step = std::max<std::int64_t>(1, list.count() / (samples * wanted));
    std::int64_t next = 0;  // the entry of the list that is in the sample next
    std::int64_t before = 0;
    for (const EntryChunk& chunk : list.chunks) {
      const std::int64_t end = before + chunk.count();
      const LooseEntries loose = next < end ? LooseEntries(chunk) : LooseEntries();
      for (; next < end; next += step) {
        const auto at = static_cast<size_t>(next - before);
        sample.emplace_back(loose.rows[at], loose.cols[at]);
      }
      before = end;
    }
    std::sort(sample.begin(), sample.end());
    for (std::int64_t g = 1; g < wanted; ++g)
      bounds_.push_back(sample[static_cast<size_t>(g * std::ssize(sample) / wanted)]);
  }

  [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(bounds_.size()) + 1; }
  [[nodiscard]] std::int32_t whole(const EntryChunk& chunk) const override {
    const std::int32_t group = group_of({chunk.rows.smallest(), chunk.cols.smallest()});
    return group == group_of({chunk.rows.largest(), chunk.cols.largest()}) ? group : -1;
  }
  void find(const LooseEntries& entries, std::vector<std::int32_t>& to) const override {
    for (size_t k = 0; k < to.size(); ++k) to[k] = group_of({entries.rows[k], entries.cols[k]});
  }

 private:
  [[nodiscard]] std::int32_t group_of(const Pair& pair) const {
    return static_cast<std::int32_t>(std::upper_bound(bounds_.begin(), bounds_.end(), pair) - bounds_.begin());
  }

  std::vector<Pair> bounds_;
};

template <class T>
T combine(T a, T b, Repeats how) {
  if (how == Repeats::first) return a;
  if (how == Repeats::last) return b;
  if (how == Repeats::sum) {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>) {
      T result = 0;
      if (__builtin_add_overflow(a, b, &result)) throw_size_overflow("the sum of repeated entries");
      return result;
    } else {
      return a + b;
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  }
  return (how == Repeats::smallest) == (b < a) ? b : a;
}

template <class T>
void combine_into(std::byte* plane, std::int64_t to, std::int64_t from, Repeats how) {
  T* values = reinterpret_cast<T*>(plane);
  values[to] = combine(values[to], values[from], how);
}

void combine_values(Array& values, std::int64_t to, std::int64_t from, Repeats how) {
  for (std::int64_t p = 0; p < values.element.planes(); ++p) {
    std::byte* plane = values.plane(p);
    switch (values.element.plane_scalar(p)) {
      case Scalar::f64:
        combine_into<double>(plane, to, from, how);
        break;
      case Scalar::f32:
        combine_into<float>(plane, to, from, how);
        break;
      case Scalar::i32:
        combine_into<std::int32_t>(plane, to, from, how);
        break;
      case Scalar::boolean:
        combine_into<bool>(plane, to, from, how);
        break;
      case Scalar::i64:
      case Scalar::id:
        combine_into<std::int64_t>(plane, to, from, how);
        break;
      case Scalar::null:
        break;
    }
  }
}

constexpr size_t most_repeated = size_t{1} << 20;  // that are remembered to report the first of them

// One group in order, each entry once.
class Group {
 public:
  Group(const EntryList& list, Repeats how, bool refuse)
      : entries_(list), values_(list.values()), order_(sorted_order(entries_.rows, entries_.cols)) {
    size_t kept = 0;
    for (size_t k = 1; k < order_.size(); ++k) {
      if (pair(k) != pair(kept)) {
        order_[++kept] = order_[k];
      } else if (refuse && repeated.size() < most_repeated) {
        repeated.insert(pair(k));
      } else if (values_.element.bytes() > 0) {
        combine_values(values_, order_[kept], order_[k], how);
      }
    }
    if (!order_.empty()) order_.resize(kept + 1);
  }

  // All of them, or in pieces of about so many that end where a row does.
  [[nodiscard]] EntryList pack(size_t most = std::numeric_limits<size_t>::max()) const {
    EntryList list(values_.element);
    for (size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
      end = begin + std::min(most, order_.size() - begin);
      while (end < order_.size() && pair(end).first == pair(end - 1).first) ++end;
      list.chunks.push_back(pack(std::span(order_).subspan(begin, end - begin)));
    }
    return list;
  }

  std::set<Pair> repeated;  // if they are refused

 private:
  [[nodiscard]] EntryChunk pack(std::span<const std::uint32_t> order) const {
    std::vector<std::int64_t> ids(order.size());
    const auto packed = [&](const std::vector<std::int64_t>& from) {
      for (size_t k = 0; k < order.size(); ++k) ids[k] = from[order[k]];
      return PackedIds(std::span<const std::int64_t>(ids));
    };
    EntryChunk chunk{packed(entries_.rows), packed(entries_.cols), {}};
    const ElementType& element = values_.element;
    if (element.bytes() == 0) return chunk;
    chunk.values = PackedValues(element, chunk.count());
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const auto width = static_cast<size_t>(scalar_bytes(element.plane_scalar(p)));
      std::byte* to = chunk.values.plane(element, p);
      for (size_t k = 0; k < order.size(); ++k, to += width)
        std::copy_n(values_.plane(p) + order[k] * width, width, to);
    }
    return chunk;
  }

  [[nodiscard]] Pair pair(size_t k) const { return {entries_.rows[order_[k]], entries_.cols[order_[k]]}; }

  LooseEntries entries_;
  Array values_;
  std::vector<std::uint32_t> order_;
};

// Of an entry of a group: its row, column and place, a count of its row, and its value, all of it twice over while the
// entries are packed again.
std::int64_t combined_bytes(const ElementType& element) { return 60 + 2 * element.bytes(); }

// Reads the file again and reports, of these pairs, the one that is repeated first.
[[noreturn]] void fail_repeated(const std::set<Pair>& repeated, const ElementType& element, const EntryShape& shape,
                                const TextSource& text) {
  constexpr const char* what = "the entry is repeated";
  constexpr const char* remedy = "say how repeats combine: --repeats sum, first, last, smallest or largest";
  std::map<Pair, std::int64_t> seen;  // the line of each
  TextBlock block;
  BlockEntries entries;
  std::optional<TextSource> again;
  if (shape.in_lines && text.can_be_read_again()) again.emplace(text.path());
  while (again && again->next(block)) {
    parse_block(block, shape, element, entries);
    const std::int64_t start = block.number == 0 ? shape.from : 0;
    std::int64_t at = skip_comments(block.view(), start), line = block.first_line + 1;
    line += std::count(block.begin(), block.begin() + at, '\n');
    for (std::int64_t k = 0; k < entries.count; ++k) {
      const Pair pair{entries.rows[static_cast<size_t>(k)], entries.cols[static_cast<size_t>(k)]};
      const auto [first, added] = repeated.contains(pair) ? seen.try_emplace(pair, line) : std::pair(seen.end(), true);
      if (!added)
        fail_in_text(text.path(), block.view(), block.first_line, at, what,
                     fmt::format("line {} has the same row and column", first->second), remedy);
      const std::int64_t next = skip_comments(block.view(), next_line(block.view(), at));
      line += std::count(block.begin() + at, block.begin() + next, '\n');
      at = next;
    }
  }
  const auto& [row, col] = *repeated.begin();
  fail(ExitStatus::bad_input, what,
       fmt::format("row {} and column {} stand twice", row + shape.first_id, col + shape.first_id), remedy,
       {text.path()});
}

// The groups' entries once each, in the order of the groups.
class Combined {
 public:
  Combined(std::vector<EntryList> grouped, Repeats how, bool refuse)
      : groups_(std::move(grouped)), how_(how), refuse_(refuse), done_(groups_.size()) {}

  [[nodiscard]] EntryList take() {
    parallel_for(std::ssize(groups_), [&](std::int64_t g, int) { combine_group(static_cast<size_t>(g)); });
    EntryList list;
    for (EntryList& done : done_)
      for (EntryChunk& chunk : done.chunks) list.chunks.push_back(std::move(chunk));
    return list;
  }
  [[nodiscard]] const std::set<Pair>& repeated() const { return repeated_; }

 private:
  void combine_group(size_t g) {
    EntryList mine = std::move(groups_[g]);
    const std::shared_ptr<PieceFile> spill = mine.spill;
    if (spill != nullptr) fold(mine, spill->room().entries_at_a_time(combined_bytes(mine.element)));
    const Group group(mine, how_, refuse_);
    mine = {};
    release_freed_memory();
    done_[g] = spill != nullptr ? group.pack(piece) : group.pack();
    keep(group);
    if (spill == nullptr) return;
    const std::scoped_lock lock(mutex_);
    if (results_ == nullptr) results_ = spill->another();
    for (EntryChunk& chunk : done_[g].chunks) chunk.move_to(*results_);
  }

  // Where a group has many more entries than it should, some pair may stand there again and again: those so far are
  // combined before the next ones are looked at, which is the same as all at once.
  void fold(EntryList& group, std::int64_t most) {
    if (group.count() <= 2 * most) return;
    EntryList some(group.element);
    std::int64_t count = 0, enough = 2 * most;
    for (EntryChunk& chunk : group.chunks) {
      count += chunk.count();
      some.chunks.push_back(std::move(chunk));
      if (count < enough) continue;
      const Group folded(some, how_, refuse_);
      some = folded.pack(piece);
      keep(folded);
      count = some.count();
      enough = std::max(2 * most, 2 * count);
    }
    group = std::move(some);
  }

  void keep(const Group& group) {
    const std::scoped_lock lock(mutex_);
    for (const Pair& pair : group.repeated) {
      if (repeated_.size() >= most_repeated) break;
      repeated_.insert(pair);
    }
  }

  static constexpr size_t piece = size_t{1} << 16;

  std::vector<EntryList> groups_;
  Repeats how_;
  bool refuse_;
  std::vector<EntryList> done_;
  std::shared_ptr<PieceFile> results_;
  std::set<Pair> repeated_;
  std::mutex mutex_;
};

std::vector<EntryList> group_entries(EntryList&& list) {
  if (list.spill == nullptr) {
    const RowGroups by_rows(list);
    return regroup(std::move(list), static_cast<std::int32_t>(groups), by_rows);
  }
  // By a sample, groups are not quite alike.
  const std::int64_t most = 2 * list.spill->room().entries_at_a_time(combined_bytes(list.element)) / 3;
  const PairGroups by_pairs(list, std::max<std::int64_t>(1, most));
  return regroup(std::move(list), by_pairs.count(), by_pairs);
}

}  // namespace

void combine_repeats(EntryList& list, const ReadOptions& options, const EntryShape& shape, const TextSource& text) {
  if (strictly_ascending(list)) return;
  const bool refuse = options.repeats == Repeats::refuse && list.valued();
  const ElementType element = list.element;
  const std::shared_ptr<PieceFile> spill = list.spill;
  Combined combined(group_entries(std::move(list)), options.repeats, refuse);
  list = combined.take();
  list.element = element;
  list.spill = spill;
  if (!combined.repeated().empty()) fail_repeated(combined.repeated(), element, shape, text);
  std::erase_if(list.chunks, [](const EntryChunk& chunk) { return chunk.count() == 0; });
}

}  // namespace kasen
