#include "libopt/swap/classes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/checked.h"
#include "libcore/base/sorted.h"

namespace kasen::swap {
namespace {

// The tensors of each class that live at once, while an order runs.
class Living {
 public:
  Living(const TaskGraph& graph, const Sizes& sizes, const Classes& classes)
      : sizes_(sizes),
        classes_(classes),
        now_(number_of(classes), 0),
        most_(now_),
        here_(graph.tensors().size(), false) {}

  void begin(TensorId tensor) {
    if (here_[tensor]) return;
    here_[tensor] = true;
    const std::size_t c = class_of(tensor);
    most_[c] = std::max(most_[c], ++now_[c]);
  }
  void end(TensorId tensor) {
    here_[tensor] = false;
    --now_[class_of(tensor)];
  }
  [[nodiscard]] const Counts& most() const { return most_; }

 private:
  [[nodiscard]] std::size_t class_of(TensorId tensor) const {
    return static_cast<std::size_t>(classes_[sizes_.of(tensor)]);
  }

  const Sizes& sizes_;
  const Classes& classes_;
  Counts now_, most_;
  IdMap<TensorId, bool> here_;
};

// Near 0, rarely beyond 3: a sum of twelve equal distributions, the same with every library.
double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
  return sum;
}

}  // namespace

Sizes::Sizes(const TaskGraph& graph) : of_(graph.tensors().size()) {
  for (const Tensor& tensor : graph.tensors()) bytes_.push_back(tensor.bytes);
  sort_unique(bytes_);
  for (const TensorId tensor : graph.tensors().ids()) {
    const auto place = std::lower_bound(bytes_.begin(), bytes_.end(), graph.tensors()[tensor].bytes);
    of_[tensor] = static_cast<std::size_t>(place - bytes_.begin());
  }
}

std::size_t number_of(const Classes& classes) {
  return classes.empty() ? 0 : static_cast<std::size_t>(*std::max_element(classes.begin(), classes.end())) + 1;
}

std::vector<std::int64_t> object_bytes(const Sizes& sizes, const Classes& classes) {
  std::vector<std::int64_t> bytes(number_of(classes), 0);
  for (std::size_t size = 0; size < classes.size(); ++size)
    bytes[static_cast<std::size_t>(classes[size])] = sizes.bytes(size);
  return bytes;
}

std::int64_t memory(const Sizes& sizes, const Allocation& allocation) {
  const std::vector<std::int64_t> bytes = object_bytes(sizes, allocation.classes);
  std::int64_t sum = 0;
  for (std::size_t c = 0; c < bytes.size(); ++c)
    sum = checked_add(sum, checked_mul(bytes[c], allocation.counts[c], "a class of objects"), "objects of all classes");
  return sum;
}

Counts least_counts(const TaskGraph& graph, const Sizes& sizes, const Classes& classes) {
  Counts least(number_of(classes), 0), now(least);
  for (const TaskId task : graph.tasks().ids()) {
    std::fill(now.begin(), now.end(), 0);
    for (const TensorId tensor : graph.touched(task)) ++now[static_cast<std::size_t>(classes[sizes.of(tensor)])];
    for (std::size_t c = 0; c < now.size(); ++c) least[c] = std::max(least[c], now[c]);
  }
  return least;
}

Allocation least_allocation(const TaskGraph& graph, const Sizes& sizes) {
  const std::size_t n = sizes.count();
  // For sizes `first` to `last`: the tensors of these sizes that one task touches, the most of any task.
  std::vector<std::int64_t> most(n * n, 0), now(n);
  for (const TaskId task : graph.tasks().ids()) {
    std::fill(now.begin(), now.end(), 0);
    for (const TensorId tensor : graph.touched(task)) ++now[sizes.of(tensor)];
    for (std::size_t first = 0; first < n; ++first) {
      std::int64_t sum = 0;
      for (std::size_t last = first; last < n; ++last)
        most[first * n + last] = std::max(most[first * n + last], sum += now[last]);
    }
  }
  // The fewest bytes for the sizes before each one, and where the last class of these begins.
  std::vector<std::int64_t> fewest(n + 1, std::numeric_limits<std::int64_t>::max());
  std::vector<std::size_t> begins(n + 1, 0);
  fewest[0] = 0;
  for (std::size_t end = 1; end <= n; ++end) {
    for (std::size_t first = 0; first < end; ++first) {
      const std::int64_t bytes = checked_add(
          fewest[first], checked_mul(most[first * n + end - 1], sizes.bytes(end - 1), "a class"), "all classes");
      if (bytes >= fewest[end]) continue;
      fewest[end] = bytes;
      begins[end] = first;
    }
  }
  std::vector<bool> starts(n, false);
  for (std::size_t end = n; end > 0; end = begins[end]) starts[begins[end]] = true;
  Allocation made;
  for (std::size_t size = 0, number = 0; size < n; ++size)
    made.classes.push_back(static_cast<int>(size > 0 && starts[size] ? ++number : number));
  made.counts = least_counts(graph, sizes, made.classes);
  return made;
}

Counts most_counts(const TaskGraph& graph, const Sizes& sizes, const Classes& classes, const Order& order) {
  IdMap<TensorId, int> uses(graph.tensors().size(), 0);
  for (const TaskId task : order)
    for (const TensorId tensor : graph.touched(task)) ++uses[tensor];
  Living living(graph, sizes, classes);
  for (const TensorId tensor : graph.tensors().ids())
    if (graph.tensors()[tensor].kind == TensorKind::parameter || graph.tensors()[tensor].resident) living.begin(tensor);
  for (const TaskId task : order) {
    for (const TensorId tensor : graph.touched(task)) living.begin(tensor);
    for (const TensorId tensor : graph.touched(task)) {
      const Tensor& one = graph.tensors()[tensor];
      if (--uses[tensor] == 0 && one.kind != TensorKind::parameter && !one.kept) living.end(tensor);
    }
  }
  return living.most();
}

Classes repaired(Classes classes) {
  for (std::size_t i = 1; i < classes.size(); ++i) classes[i] = std::max(classes[i], classes[i - 1]);
  for (std::size_t i = classes.size(); i-- > 1;) classes[i - 1] = std::max(classes[i - 1], classes[i] - 1);
  const int first = classes.empty() ? 0 : classes.front();
  for (int& one : classes) one -= first;
  return classes;
}

bool fit(const Sizes& sizes, Allocation& allocation, const Counts& least, std::int64_t capacity) {
  const std::vector<std::int64_t> bytes = object_bytes(sizes, allocation.classes);
  for (std::size_t c = 0; c < least.size(); ++c) allocation.counts[c] = std::max(allocation.counts[c], least[c]);
  for (std::int64_t excess = memory(sizes, allocation) - capacity; excess > 0;
       excess = memory(sizes, allocation) - capacity) {
    const auto gives = [&](std::size_t c) { return allocation.counts[c] > least[c]; };
    std::int64_t givers = 0;
    for (std::size_t c = 0; c < least.size(); ++c) givers += gives(c) ? 1 : 0;
    if (givers == 0) return false;
    for (std::size_t c = 0; c < least.size(); ++c) {
      if (!gives(c)) continue;
      const std::int64_t share = ((excess - 1) / givers) / bytes[c] + 1;  // the quotient, rounded up
      allocation.counts[c] = std::max(least[c], allocation.counts[c] - share);
    }
  }
  return true;
}

void fill(const Sizes& sizes, Allocation& allocation, const Counts& most, std::int64_t capacity) {
  const std::vector<std::int64_t> bytes = object_bytes(sizes, allocation.classes);
  std::int64_t left = capacity - memory(sizes, allocation);
  for (std::size_t c = bytes.size(); c-- > 0;) {
    const std::int64_t more =
        std::clamp<std::int64_t>(left / bytes[c], 0, std::max<std::int64_t>(most[c] - allocation.counts[c], 0));
    allocation.counts[c] += more;
    left -= more * bytes[c];
  }
}

Classes renumbered(const Classes& classes) {
  std::vector<int> number(number_of(classes), -1);
  int next = 0;
  Classes made;
  for (const int one : classes) {
    int& its = number[static_cast<std::size_t>(one)];
    if (its < 0) its = next++;
    made.push_back(its);
  }
  return made;
}

Classes crossed(const Classes& first, const Classes& rest, std::size_t cut) {
  Classes made(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(cut));
  made.insert(made.end(), rest.begin() + static_cast<std::ptrdiff_t>(cut), rest.end());
  return repaired(std::move(made));
}

Counts crossed(const Allocation& first, const Allocation& rest, std::size_t cut, const Classes& classes) {
  Counts sums(number_of(classes), 0), sizes(sums);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const Allocation& from = i < cut ? first : rest;
    const auto c = static_cast<std::size_t>(classes[i]);
    sums[c] += from.counts[static_cast<std::size_t>(from.classes[i])];
    ++sizes[c];
  }
  for (std::size_t c = 0; c < sums.size(); ++c) sums[c] /= sizes[c];
  return sums;
}

Classes mutated(Classes classes, double probability, Random& random) {
  for (std::size_t i = 1; i < classes.size(); ++i) {
    if (!draws(random, probability)) continue;
    const int change = classes[i] == classes[i - 1] ? 1 : -1;
    for (std::size_t j = i; j < classes.size(); ++j) classes[j] += change;
  }
  return classes;
}

Counts mutated(Counts counts, double probability, Random& random) {
  for (std::int64_t& count : counts) {
    if (!draws(random, probability)) continue;
    const double moved = static_cast<double>(count) * (1 + normal(random) / 2);
    count = std::max<std::int64_t>(1, std::llround(moved));
  }
  return counts;
}

}  // namespace kasen::swap
