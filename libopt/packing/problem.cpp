#include "libopt/packing/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/base/printable.h"

namespace kasen::packing {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 61, most_pairs = std::int64_t{1} << 24;

[[noreturn]] void fail_buffer(const Buffer& buffer, std::string why, std::string remedy) {
  fail(ExitStatus::bad_input, fmt::format("buffer '{}' cannot be packed", printable(buffer.name)), std::move(why),
       std::move(remedy));
}

void require_possible(const Buffer& buffer) {
  if (buffer.lower >= buffer.upper)
    fail_buffer(buffer, fmt::format("it lives from {} up to {}, which is no time", buffer.lower, buffer.upper),
                "let it end after it begins, or leave it out");
  if (buffer.size < 0) fail_buffer(buffer, fmt::format("its size is {}", buffer.size), "give a size of at least 0");
  if (buffer.alignment < 1)
    fail_buffer(buffer, fmt::format("its alignment is {}", buffer.alignment), "give an alignment of at least 1");
}

// Indices of the buffers that take memory, in an order that does not depend on that of the list.
std::vector<std::size_t> canonical_order(const std::vector<Buffer>& buffers) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    require_possible(buffers[i]);
    if (buffers[i].size > 0) order.push_back(i);
  }
  const auto key = [&](std::size_t i) {
    const Buffer& b = buffers[i];
    return std::tuple(b.lower, b.upper, b.size, b.alignment, i);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

// The least sum that a stack of the live buffers reaches: all but the topmost round up to the divisor of alignments.
class LiveSum {
 public:
  explicit LiveSum(std::int64_t divisor) : divisor_(divisor) {}
  void add(std::int64_t size) {
    const std::int64_t up = checked_add(size, divisor_ - 1, "the size of a live set") / divisor_ * divisor_;
    sum_ = checked_add(sum_, up, "the size of a live set");
    spare_ = std::max(spare_, up - size);
  }
  [[nodiscard]] std::int64_t least() const { return sum_ - spare_; }

 private:
  std::int64_t divisor_, sum_ = 0, spare_ = 0;
};

// Numbers the maximal live sets from 0 and tells each item which of them it is in. Items are in order of `lower`. A set
// is maximal where the next event behind a beginning is an end.
class Sections {
 public:
  Sections(const std::vector<Buffer>& buffers, Problem& problem) : buffers_(buffers), problem_(problem) {
    std::vector<int> ends(problem.items.size());
    std::iota(ends.begin(), ends.end(), 0);
    std::sort(ends.begin(), ends.end(), [&](int a, int b) { return upper(a) < upper(b); });
    std::size_t end = 0;
    for (int next = 0; next < problem.size(); ++next) {
      while (upper(ends[end]) <= lower(next)) leave(ends[end++]);
      enter(next);
    }
    while (end < ends.size()) leave(ends[end++]);
  }

 private:
  [[nodiscard]] const Buffer& buffer(int item) const {
    return buffers_[problem_.buffers[static_cast<std::size_t>(item)]];
  }
  [[nodiscard]] std::int64_t lower(int item) const { return buffer(item).lower; }
  [[nodiscard]] std::int64_t upper(int item) const { return buffer(item).upper; }

  void enter(int item) {
    problem_.items[static_cast<std::size_t>(item)].first = count_;
    grown_ = true;
  }
  void leave(int item) {
    if (grown_) ++count_;
    grown_ = false;
    problem_.items[static_cast<std::size_t>(item)].last = count_;
  }

  const std::vector<Buffer>& buffers_;
  Problem& problem_;
  int count_ = 0;
  bool grown_ = false;  // since the last end
};

// The largest unit in which all sizes and all offsets are whole; each alignment divides the unit, or is whole as well.
std::int64_t common_unit(const std::vector<Buffer>& buffers, const std::vector<std::size_t>& chosen) {
  std::int64_t unit = 0;
  for (const std::size_t i : chosen) unit = std::gcd(unit, buffers[i].size);
  for (std::int64_t before = 0; before != unit;) {
    before = unit;
    for (const std::size_t i : chosen) {
      if (unit % buffers[i].alignment != 0) unit = std::gcd(unit, buffers[i].alignment);
    }
  }
  return unit;
}

void require_size(const std::vector<Buffer>& buffers, const std::vector<std::size_t>& chosen) {
  constexpr std::string_view what = "the sum of the sizes of buffers";
  std::int64_t sum = 0;
  for (const std::size_t i : chosen) {
    sum = checked_add(sum, checked_add(buffers[i].size, buffers[i].alignment - 1, what), what);
    if (sum >= most_bytes) throw_size_overflow(what);
  }
}

void list_sections(Problem& problem) {
  std::int64_t divisor = 0;
  for (const Item& item : problem.items) divisor = std::gcd(divisor, item.alignment);
  const int count =
      problem.items.empty()
          ? 0
          : std::max_element(problem.items.begin(), problem.items.end(), [](const Item& a, const Item& b) {
              return a.last < b.last;
            })->last;
  problem.sections.resize(static_cast<std::size_t>(count));
  std::vector<LiveSum> sums(problem.sections.size(), LiveSum(divisor));
  for (int i = 0; i < problem.size(); ++i) {
    const Item& item = problem.items[static_cast<std::size_t>(i)];
    for (int s = item.first; s < item.last; ++s) {
      problem.sections[static_cast<std::size_t>(s)].push_back(i);
      sums[static_cast<std::size_t>(s)].add(item.size);
    }
  }
  for (const LiveSum& sum : sums) problem.bound = std::max(problem.bound, sum.least());
}

// Sorts items by section, so that twins are side by side, and links these.
void link_twins(Problem& problem) {
  for (int i = 0; i + 1 < problem.size(); ++i) {
    Item& one = problem.items[static_cast<std::size_t>(i)];
    const Item& next = problem.items[static_cast<std::size_t>(i) + 1];
    const bool equal =
        one.first == next.first && one.last == next.last && one.size == next.size && one.alignment == next.alignment;
    if (equal) one.twin = i + 1;
  }
}

void sort_items(Problem& problem) {
  std::vector<std::size_t> order(problem.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const Item& item = problem.items[i];
    return std::tuple(item.first, item.last, item.size, item.alignment);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  Problem sorted;
  for (const std::size_t i : order) {
    sorted.items.push_back(problem.items[i]);
    sorted.buffers.push_back(problem.buffers[i]);
  }
  problem.items = std::move(sorted.items);
  problem.buffers = std::move(sorted.buffers);
}

// Of items that begin in order, those behind one that begin before it ends.
void list_meetings(Problem& problem) {
  problem.meets.resize(problem.items.size());
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    for (std::size_t j = i + 1; j < problem.items.size() && problem.items[j].first < problem.items[i].last; ++j) {
      problem.meets[i].push_back(static_cast<int>(j));
      problem.meets[j].push_back(static_cast<int>(i));
    }
  }
}

Problem make_part(const std::vector<Buffer>& buffers, std::vector<std::size_t> chosen) {
  require_size(buffers, chosen);
  Problem part;
  part.unit = common_unit(buffers, chosen);
  for (const std::size_t i : chosen) {
    const Buffer& b = buffers[i];
    part.items.push_back({b.size / part.unit, part.unit % b.alignment == 0 ? 1 : b.alignment / part.unit});
  }
  part.buffers = std::move(chosen);
  Sections(buffers, part);
  sort_items(part);
  link_twins(part);
  list_sections(part);
  list_meetings(part);
  return part;
}

// Pairs that live at once, counted before they are listed.
void require_pairs(const std::vector<Buffer>& buffers, const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> ends;
  for (const std::size_t i : order) ends.push_back(buffers[i].upper);
  std::sort(ends.begin(), ends.end());
  std::int64_t pairs = 0, ended = 0, begun = 0;
  for (const std::size_t i : order) {
    while (ends[static_cast<std::size_t>(ended)] <= buffers[i].lower) ++ended;
    pairs += begun++ - ended;
    if (pairs > most_pairs)
      fail(ExitStatus::limit, "too many buffers live at once", fmt::format("over {} pairs do", most_pairs),
           "pack fewer buffers, or cut their times into parts");
  }
}

}  // namespace

std::int64_t pool_size(const Problem& problem, const Offsets& offsets) {
  std::int64_t size = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) size = std::max(size, offsets[i] + problem.items[i].size);
  return size;
}

std::vector<Problem> parts_of(const std::vector<Buffer>& buffers) {
  const std::vector<std::size_t> order = canonical_order(buffers);
  require_pairs(buffers, order);
  std::vector<Problem> parts;
  std::vector<std::size_t> chosen;
  std::int64_t end = 0;
  for (const std::size_t i : order) {
    if (!chosen.empty() && buffers[i].lower >= end) parts.push_back(make_part(buffers, std::exchange(chosen, {})));
    end = chosen.empty() ? buffers[i].upper : std::max(end, buffers[i].upper);
    chosen.push_back(i);
  }
  if (!chosen.empty()) parts.push_back(make_part(buffers, std::move(chosen)));
  return parts;
}

std::int64_t largest_live_set(const std::vector<Buffer>& buffers) {
  std::int64_t largest = 0;
  for (const Problem& part : parts_of(buffers)) largest = std::max(largest, part.bound * part.unit);
  return largest;
}

}  // namespace kasen::packing
