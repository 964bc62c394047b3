#include "libcomm/data/results/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/system/reserved.h"

namespace kasen {
namespace {

// A run of consecutive elements: from element `local` of a share to position `place` of the file.
struct Run {
  std::int64_t place = 0, local = 0, count = 0;
};

// The runs of one share within a window, by ascending position.
template <class Each>
void for_each_run(const ResultTable& table, const ResultShare& share, const WindowRange& window, const Each& each) {
  const std::int64_t begin = window.first, end = window.first + window.count;
  if (share.places) {
    std::int64_t local = share.places->lower_bound(begin);
    const auto take = [&](std::int64_t place, std::int64_t count) {
      each(Run{place, local, count});
      local += count;
    };
    return share.places->for_each_run(local, share.places->lower_bound(end), take);
  }
  if (share.masters == nullptr) return each(Run{begin, begin, window.count});
  const std::int64_t outer = table.outer(), extent = table.extent(), inner = table.inner();
  if (extent == 0 || inner == 0) return;
  Run run;
  const auto add = [&](std::int64_t place, std::int64_t local, std::int64_t count) {
    const std::int64_t from = std::max(place, begin), to = std::min(place + count, end);
    const Run next{from, local + from - place, to - from};
    if (run.place + run.count == next.place && run.local + run.count == next.local) {
      run.count += next.count;
      return;
    }
    if (run.count > 0) each(run);
    run = next;
  };
  for (std::int64_t o = begin / (extent * inner); o < outer && o * extent * inner < end; ++o) {
    const std::int64_t base = o * extent * inner;
    std::int64_t k = share.masters->lower_bound(std::max<std::int64_t>(0, begin - base) / inner);
    const std::int64_t last = share.masters->lower_bound((end - base + inner - 1) / inner);
    share.masters->for_each_run(k, std::max(k, last), [&](std::int64_t first, std::int64_t count) {
      if (outer == 1) add(base + first * inner, k * inner, count * inner);
      for (std::int64_t i = 0; i < count && outer > 1; ++i)
        add(base + (first + i) * inner, ((k + i) * outer + o) * inner, inner);
      k += count;
    });
  }
  if (run.count > 0) each(run);
}

template <class T>
void copy_plane(std::byte* to, const std::byte* from, std::int64_t count, std::int64_t step) {
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * step, from + i * std::int64_t{sizeof(T)}, sizeof(T));
}

// Copies a run's elements of one column, coordinates last.
void copy_run(const ResultColumn& column, const ResultShare& share, const Run& run, std::byte* to) {
  const std::int64_t width = scalar_bytes(column.scalar), step = column.bytes();
  for (std::int64_t p = 0; p < column.coordinates; ++p) {
    const std::byte* from = share.planes[static_cast<std::size_t>(column.first_plane + p)] + run.local * width;
    if (width == 8) copy_plane<std::uint64_t>(to + p * width, from, run.count, step);
    if (width == 4) copy_plane<std::uint32_t>(to + p * width, from, run.count, step);
    if (width == 1) copy_plane<std::uint8_t>(to + p * width, from, run.count, step);
    if (share.in_file) leave_pages(from, run.count * width);
  }
}

// Precedes the elements of each run in a message; the columns follow one another.
struct RunHead {
  std::uint32_t offset, count;  // within the window
};

void append_run(const ResultTable& table, const ResultShare& share, const Run& run, std::int64_t first,
                std::string& message) {
  const RunHead head{static_cast<std::uint32_t>(run.place - first), static_cast<std::uint32_t>(run.count)};
  std::size_t at = message.size();
  message.resize(at + sizeof head + static_cast<std::size_t>(run.count * table.element_bytes()));
  std::memcpy(message.data() + at, &head, sizeof head);
  at += sizeof head;
  for (const ResultColumn& column : table.columns) {
    copy_run(column, share, run, reinterpret_cast<std::byte*>(message.data() + at));
    at += static_cast<std::size_t>(run.count * column.bytes());
  }
}

}  // namespace

WindowPlan::WindowPlan(const ResultTable& table, int ranks, Order order, std::int64_t window_bytes)
    : order_(order), ranks_(ranks), elements_(table.elements()) {
  constexpr std::int64_t longest = std::int64_t{1} << 31;
  const std::int64_t most = window_bytes / std::max<std::int64_t>(table.element_bytes(), 1);
  const std::int64_t share = (elements_ + ranks - 1) / ranks;
  length_ = std::max<std::int64_t>(1, std::min({most, share, longest}));
  rounds_ = (share + length_ - 1) / length_;
}

WindowRange WindowPlan::window(std::int64_t round, int rank) const {
  const bool ranges = order_ == Order::ranges;
  const std::int64_t first = ranges ? begin_of(rank) + round * length_ : (round * ranks_ + rank) * length_;
  const std::int64_t end = ranges ? begin_of(rank + 1) : elements_;
  return {first, std::clamp<std::int64_t>(end - first, 0, length_)};
}

// The first elements % ranks runs are longer by one.
std::int64_t WindowPlan::begin_of(int rank) const {
  return elements_ / ranks_ * rank + std::min<std::int64_t>(rank, elements_ % ranks_);
}

// Packs the elements of this rank's shares for every rank's window; those of its own window go to `own`.
std::vector<std::string> TableSpread::pack(std::int64_t round, ResultWindow& own) const {
  std::vector<std::string> messages(static_cast<std::size_t>(ranks_.ranks()));
  for (int to = 0; to < ranks_.ranks(); ++to) {
    const WindowRange window = plan_.window(round, to);
    if (window.count == 0) continue;
    for (const ResultShare& share : shares_) {
      for_each_run(table_, share, window, [&](const Run& run) {
        if (to != ranks_.rank())
          return append_run(table_, share, run, window.first, messages[static_cast<std::size_t>(to)]);
        for (std::size_t c = 0; c < table_.columns.size(); ++c)
          copy_run(table_.columns[c], share, run,
                   own.columns[c].data() + (run.place - window.first) * table_.columns[c].bytes());
        own.count += run.count;
      });
    }
  }
  return messages;
}

void TableSpread::unpack(const std::vector<std::string>& received, ResultWindow& own) const {
  for (const std::string& message : received) {
    for (std::size_t at = 0; at < message.size();) {
      RunHead head{};
      std::memcpy(&head, message.data() + at, sizeof head);
      at += sizeof head;
      for (std::size_t c = 0; c < table_.columns.size(); ++c) {
        const auto step = static_cast<std::size_t>(table_.columns[c].bytes());
        if (step == 0) continue;
        std::memcpy(own.columns[c].data() + head.offset * step, message.data() + at, head.count * step);
        at += head.count * step;
      }
      own.count += head.count;
    }
  }
}

ResultWindow TableSpread::window(std::int64_t round) const {
  const WindowRange range = plan_.window(round, ranks_.rank());
  ResultWindow own{range.first, 0, {}};
  std::vector<std::string> messages;
  ranks_.together([&] {
    for (const ResultColumn& column : table_.columns)
      own.columns.emplace_back(static_cast<std::size_t>(range.count * column.bytes()));
    messages = pack(round, own);
  });
  unpack(ranks_.exchange(std::move(messages)), own);
  if (own.count != range.count)
    throw InternalError(fmt::format("output '{}': {} of the {} elements from {} on came", table_.name, own.count,
                                    range.count, range.first));
  return own;
}

}  // namespace kasen
