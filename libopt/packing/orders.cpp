#include "libopt/packing/orders.h"

#include <algorithm>
#include <numeric>

namespace kasen::packing {
namespace {

enum class Key { size, area, lifetime, contention };
using Keys = std::array<Key, 3>;

// Contention, area and lifetime, in three orders, are what Moffitt (packing/search.h) sorts by.
constexpr std::array order_keys{
    Keys{Key::contention, Key::area, Key::lifetime}, Keys{Key::area, Key::lifetime, Key::contention},
    Keys{Key::lifetime, Key::area, Key::contention}, Keys{Key::size, Key::lifetime, Key::contention},
    Keys{Key::contention, Key::lifetime, Key::area}, Keys{Key::lifetime, Key::size, Key::contention},
    Keys{Key::contention, Key::size, Key::area},
};

class Measures {
 public:
  explicit Measures(const Problem& problem) : problem_(problem), live_(problem.sections.size(), 0) {
    for (std::size_t s = 0; s < problem.sections.size(); ++s) {
      for (const int i : problem.sections[s]) live_[s] += problem.items[static_cast<std::size_t>(i)].size;
    }
  }

  [[nodiscard]] double of(Key key, const Item& item) const {
    const double size = static_cast<double>(item.size), sections = item.last - item.first;
    switch (key) {
      case Key::size:
        return size;
      case Key::area:
        return size * sections;
      case Key::lifetime:
        return sections;
      case Key::contention:
        break;
    }
    return static_cast<double>(*std::max_element(live_.begin() + item.first, live_.begin() + item.last));
  }

  [[nodiscard]] Ranks ranks(const Keys& keys) const {
    std::vector<std::array<double, 3>> values;
    for (const Item& item : problem_.items) values.push_back({of(keys[0], item), of(keys[1], item), of(keys[2], item)});
    std::vector<int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return values[static_cast<std::size_t>(a)] > values[static_cast<std::size_t>(b)];
    });
    return in_order(order);
  }

 private:
  const Problem& problem_;
  std::vector<std::int64_t> live_;
};

}  // namespace

std::vector<Ranks> orders_of(const Problem& problem) {
  const Measures measures(problem);
  std::vector<Ranks> orders;
  for (const Keys& keys : order_keys) orders.push_back(measures.ranks(keys));
  return orders;
}

// The inverse of a permutation, so it also turns an order into ranks.
std::vector<int> in_order(const Ranks& ranks) {
  std::vector<int> order(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) order[static_cast<std::size_t>(ranks[i])] = static_cast<int>(i);
  return order;
}

}  // namespace kasen::packing
