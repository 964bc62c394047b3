// Repeated entries. Entries in strictly ascending order, as in most files, take one pass; others are sorted, group by
// group of rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
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

// One group in order, each entry once.
class Group {
 public:
  Group(const EntryList& list, Repeats how, bool refuse)
      : entries_(list), values_(list.values()), order_(sorted_order(entries_.rows, entries_.cols)) {
    size_t kept = 0;
    for (size_t k = 1; k < order_.size(); ++k) {
      if (pair(k) != pair(kept)) {
        order_[++kept] = order_[k];
      } else if (refuse) {
        repeated.insert(pair(k));
      } else if (values_.element.bytes() > 0) {
        combine_values(values_, order_[kept], order_[k], how);
      }
    }
    if (!order_.empty()) order_.resize(kept + 1);
  }

  [[nodiscard]] EntryChunk pack() const {
    std::vector<std::int64_t> ids(order_.size());
    const auto packed = [&](const std::vector<std::int64_t>& from) {
      for (size_t k = 0; k < order_.size(); ++k) ids[k] = from[order_[k]];
      return PackedIds(std::span<const std::int64_t>(ids));
    };
    EntryChunk chunk{packed(entries_.rows), packed(entries_.cols), {}};
    const ElementType& element = values_.element;
    if (element.bytes() == 0) return chunk;
    chunk.values = PackedValues(element, chunk.count());
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const auto width = static_cast<size_t>(scalar_bytes(element.plane_scalar(p)));
      std::byte* to = chunk.values.plane(element, p);
      for (size_t k = 0; k < order_.size(); ++k, to += width)
        std::copy_n(values_.plane(p) + order_[k] * width, width, to);
    }
    return chunk;
  }

  std::set<Pair> repeated;  // if they are refused

 private:
  [[nodiscard]] Pair pair(size_t k) const { return {entries_.rows[order_[k]], entries_.cols[order_[k]]}; }

  LooseEntries entries_;
  Array values_;
  std::vector<std::uint32_t> order_;
};

// Reads the file again and reports, of these pairs, the one that is repeated first.
[[noreturn]] void fail_repeated(const std::set<Pair>& repeated, const ElementType& element, const EntryShape& shape,
                                const TextSource& text) {
  constexpr const char* what = "the entry is repeated";
  constexpr const char* remedy = "say how repeats combine: --repeats sum, first, last, smallest or largest";
  std::map<Pair, std::int64_t> seen;  // the line of each
  TextBlock block;
  BlockEntries entries;
  std::optional<TextSource> again;
  if (text.can_be_read_again()) again.emplace(text.path());
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

}  // namespace

void combine_repeats(EntryList& list, const ReadOptions& options, const EntryShape& shape, const TextSource& text) {
  if (strictly_ascending(list)) return;
  const bool refuse = options.repeats == Repeats::refuse && list.valued();
  const ElementType element = list.element;
  const RowGroups by_rows(list);
  std::vector<EntryList> grouped = regroup(std::move(list), static_cast<std::int32_t>(groups), by_rows);
  list = EntryList(element);
  list.chunks.resize(groups);
  std::mutex mutex;
  std::set<Pair> repeated;
  parallel_for(static_cast<std::int64_t>(groups), [&](std::int64_t g, int) {
    EntryList mine = std::move(grouped[static_cast<size_t>(g)]);
    Group group(mine, options.repeats, refuse);
    mine = {};
    release_freed_memory();
    list.chunks[static_cast<size_t>(g)] = group.pack();
    const std::scoped_lock lock(mutex);
    repeated.merge(group.repeated);
  });
  if (!repeated.empty()) fail_repeated(repeated, element, shape, text);
  std::erase_if(list.chunks, [](const EntryChunk& chunk) { return chunk.count() == 0; });
}

}  // namespace kasen
