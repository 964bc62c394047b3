#include "libcore/sorting/selection.h"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cstddef>
#include <tuple>
#include <utility>

#include "libcore/axis/element_order.h"

namespace kasen {
namespace {

// Between its bounds a worker's elements are blocks of so many, the last one of fewer. The sample of a block is its
// last element.
std::int64_t block_size(const SplitBounds& bounds, std::int64_t samples) {
  return bounds.open() == 0 ? 1 : (bounds.open() + samples - 1) / samples;
}

std::int64_t block_end(const SplitBounds& bounds, std::int64_t size, std::int64_t block) {
  return std::min(bounds.low + (block + 1) * size, bounds.high);
}

// One splitter in one line.
template <class Key>
class Narrower {
 public:
  Narrower(std::span<const ShownSamples> workers, std::int64_t line) : workers_(workers), line_(line) {}

  void narrow(std::int64_t rank) {
    std::int64_t open = 0, wanted = rank;
    for (const ShownSamples& worker : workers_) {
      open += bounds_of(worker).open();
      wanted -= bounds_of(worker).low;
    }
    if (wanted > 0 && wanted < open) {
      collect();
      cut(wanted);
      open = 0;
      wanted = rank;
      for (const ShownSamples& worker : workers_) {
        open += bounds_of(worker).open();
        wanted -= bounds_of(worker).low;
      }
    }
    for (const ShownSamples& worker : workers_) {
      SplitBounds& bounds = bounds_of(worker);
      if (wanted == 0) bounds.high = bounds.low;
      if (wanted == open) bounds.low = bounds.high;
    }
  }

 private:
  struct Sample {
    Key key;
    std::size_t worker;
    std::int64_t block;
    friend bool operator<(const Sample& a, const Sample& b) {
      return std::tie(a.key, a.worker, a.block) < std::tie(b.key, b.worker, b.block);
    }
  };

  [[nodiscard]] SplitBounds& bounds_of(const ShownSamples& worker) const { return worker.bounds[line_]; }

  void collect() {
    samples_.clear();
    sizes_.clear();
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      const SplitBounds& bounds = bounds_of(workers_[w]);
      const std::int64_t size = block_size(bounds, workers_[w].samples);
      const Key* const keys = reinterpret_cast<const Key*>(workers_[w].keys) + line_ * workers_[w].samples;
      for (std::int64_t block = 0; block * size < bounds.open(); ++block) samples_.push_back({keys[block], w, block});
      sizes_.push_back(size);
    }
    std::sort(samples_.begin(), samples_.end());
  }

  // Elements of a worker's block; none behind the last one.
  [[nodiscard]] std::int64_t elements(std::size_t worker, std::int64_t block) const {
    return std::clamp<std::int64_t>(bounds_of(workers_[worker]).open() - block * sizes_[worker], 0, sizes_[worker]);
  }
  // Elements of the next block that may come before a sample of another worker: not its last one.
  [[nodiscard]] std::int64_t perhaps(std::size_t worker, std::int64_t block) const {
    return std::max<std::int64_t>(elements(worker, block) - 1, 0);
  }

  // The splitter is behind the sample with which all elements that may come before it are still too few, and not behind
  // the first one with which those that do come before it are enough.
  void cut(std::int64_t wanted) {
    const std::size_t count = workers_.size();
    std::vector<std::int64_t> passed(count, 0);  // blocks
    std::int64_t least = 0, more = 0;            // elements up to the sample, and perhaps more
    for (std::size_t w = 0; w < count; ++w) more += perhaps(w, 0);
    std::size_t behind = 0;  // so many samples, surely
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const std::size_t w = samples_[i].worker;
      more -= perhaps(w, samples_[i].block);
      least += elements(w, samples_[i].block);
      passed[w] = samples_[i].block + 1;
      if (least >= wanted) return close(passed, behind, w);
      if (least + more < wanted) behind = i + 1;
      more += perhaps(w, passed[w]);
    }
  }

  void close(const std::vector<std::int64_t>& passed, std::size_t behind, std::size_t last) {
    std::vector<std::int64_t> below(workers_.size(), 0);
    for (std::size_t i = 0; i < behind; ++i) below[samples_[i].worker] = samples_[i].block + 1;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      SplitBounds& bounds = bounds_of(workers_[w]);
      const std::int64_t next = w == last ? 0 : perhaps(w, passed[w]);
      const std::int64_t high = passed[w] == 0 ? bounds.low : block_end(bounds, sizes_[w], passed[w] - 1);
      const std::int64_t low = below[w] == 0 ? bounds.low : block_end(bounds, sizes_[w], below[w] - 1);
      bounds = {low, high + next};
    }
  }

  std::span<const ShownSamples> workers_;
  std::int64_t line_;
  std::vector<Sample> samples_;
  std::vector<std::int64_t> sizes_;  // of blocks, by worker
};

template <class T>
class LinesSorter {
 public:
  LinesSorter(const T* array, const SortedLines& to) : array_(array), to_(to), keys_(reinterpret_cast<Key*>(to.keys)) {}

  void line(std::int64_t number) {
    const std::int64_t first = number / to_.inner * to_.count * to_.inner + number % to_.inner;
    Key* const keys = keys_ + number * to_.count;
    const auto key = [&](std::int64_t k) { return order_key(array_[first + k * to_.inner]); };
    if (to_.places == nullptr) {
      for (std::int64_t k = 0; k < to_.count; ++k) keys[k] = key(k);
      return boost::sort::pdqsort(keys, keys + to_.count);
    }
    pairs_.resize(static_cast<std::size_t>(to_.count));
    for (std::int64_t k = 0; k < to_.count; ++k) pairs_[static_cast<std::size_t>(k)] = {key(k), k};
    boost::sort::pdqsort_branchless(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) {
      return static_cast<bool>(static_cast<int>(a.first < b.first) |
                               (static_cast<int>(a.first == b.first) & static_cast<int>(a.second < b.second)));
    });
    PackedPlace* const places = to_.places + number * to_.count;
    for (std::int64_t k = 0; k < to_.count; ++k) {
      keys[k] = pairs_[static_cast<std::size_t>(k)].first;
      places[k] = PackedPlace::of(pairs_[static_cast<std::size_t>(k)].second);
    }
  }

 private:
  using Key = decltype(order_key(T()));
  using Pair = std::pair<Key, std::int64_t>;

  const T* array_;
  const SortedLines& to_;
  Key* keys_;
  std::vector<Pair> pairs_;
};

// Merges the pieces of one line after another, each by a heap of their first elements.
template <class T>
class Merger {
 public:
  Merger(std::span<const SortedPiece> pieces, std::int64_t inner, std::byte* array)
      : pieces_(pieces), inner_(inner), array_(array), passed_(pieces.size(), 0) {}

  void line(std::int64_t number) {
    heads_.clear();
    std::int64_t length = 0;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      const std::int64_t count = pieces_[p].counts[static_cast<std::size_t>(number)];
      if (count > 0) heads_.push_back({keys_of(p)[passed_[p]], p, passed_[p], passed_[p] + count});
      passed_[p] += count;
      length += count;
    }
    std::make_heap(heads_.begin(), heads_.end());
    const std::int64_t first = number / inner_ * length * inner_ + number % inner_;
    for (std::int64_t k = 0; k < length; ++k) {
      put(first + k * inner_);
      advance();
    }
  }

 private:
  using Key = decltype(order_key(T()));
  struct Head {
    Key key;
    std::size_t piece;
    std::int64_t at, end;
    friend bool operator<(const Head& a, const Head& b) {  // the first one is at the top of a heap
      return a.key != b.key ? a.key > b.key : a.piece > b.piece;
    }
  };

  [[nodiscard]] const Key* keys_of(std::size_t piece) const {
    return reinterpret_cast<const Key*>(pieces_[piece].keys);
  }

  void put(std::int64_t to) const {
    const Head& head = heads_.front();
    const SortedPiece& piece = pieces_[head.piece];
    if (piece.places != nullptr) {
      reinterpret_cast<std::int64_t*>(array_)[to] = piece.first + piece.places[head.at].value();
    } else {
      reinterpret_cast<T*>(array_)[to] = from_key<T>(head.key);
    }
  }

  // The head's next element sinks to its place among the others.
  void advance() {
    Head head = heads_.front();
    if (++head.at == head.end) {
      std::pop_heap(heads_.begin(), heads_.end());
      return heads_.pop_back();
    }
    head.key = keys_of(head.piece)[head.at];
    std::size_t at = 0;
    for (std::size_t child = 1; child < heads_.size(); child = 2 * at + 1) {
      if (child + 1 < heads_.size() && heads_[child] < heads_[child + 1]) ++child;
      if (!(head < heads_[child])) break;
      heads_[at] = heads_[child];
      at = child;
    }
    heads_[at] = head;
  }

  std::span<const SortedPiece> pieces_;
  std::int64_t inner_;
  std::byte* array_;
  std::vector<std::int64_t> passed_;  // elements of lines before, by piece
  std::vector<Head> heads_;
};

}  // namespace

void take_samples(Scalar scalar, const std::byte* keys, std::int64_t count, std::span<const SplitBounds> bounds,
                  std::int64_t samples, std::byte* to) {
  with_type(scalar, [&](auto zero) {
    using Key = decltype(order_key(zero));
    const Key* line = reinterpret_cast<const Key*>(keys);
    Key* shown = reinterpret_cast<Key*>(to);
    for (const SplitBounds& own : bounds) {
      const std::int64_t size = block_size(own, samples);
      for (std::int64_t block = 0; block * size < own.open(); ++block)
        shown[block] = line[block_end(own, size, block) - 1];
      line += count;
      shown += samples;
    }
  });
}

void narrow(Scalar scalar, std::span<const ShownSamples> workers, std::int64_t lines, std::int64_t rank) {
  with_type(scalar, [&](auto zero) {
    for (std::int64_t line = 0; line < lines; ++line) Narrower<decltype(order_key(zero))>(workers, line).narrow(rank);
  });
}

void sort_lines(Scalar scalar, const std::byte* array, const SortedLines& to) {
  with_type(scalar, [&](auto zero) {
    using T = decltype(zero);
    LinesSorter<T> sorter(reinterpret_cast<const T*>(array), to);
    for (std::int64_t line = 0; line < to.lines; ++line) sorter.line(line);
  });
}

void merge_lines(Scalar scalar, std::span<const SortedPiece> pieces, std::int64_t lines, std::int64_t inner,
                 std::byte* array) {
  with_type(scalar, [&](auto zero) {
    Merger<decltype(zero)> merger(pieces, inner, array);
    for (std::int64_t line = 0; line < lines; ++line) merger.line(line);
  });
}

}  // namespace kasen
