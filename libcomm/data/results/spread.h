// Moves workers' elements to windows of a file: each rank receives the elements of its own window, from whichever rank
// has them; private to results. Beside its workers' elements, a rank holds one window and the messages for it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libcomm/data/results/ranks.h"
#include "libcomm/data/results/table.h"

namespace kasen {

struct WindowRange {
  std::int64_t first = 0, count = 0;  // elements in the order of the file
};

// Gives a file's elements to ranks, window by window.
class WindowPlan {
 public:
  // With ranges, each rank has one contiguous run of the file, and goes through it. With stripes, the ranks' windows
  // follow one another in each round, so that a file whose offsets depend on earlier content can be written, too.
  enum class Order : std::uint8_t { ranges, stripes };
  WindowPlan(const ResultTable& table, int ranks, Order order, std::int64_t window_bytes);

  [[nodiscard]] std::int64_t rounds() const { return rounds_; }
  [[nodiscard]] WindowRange window(std::int64_t round, int rank) const;
  // Order::ranges: the beginning of a rank's run; for `ranks`, the end.
  [[nodiscard]] std::int64_t begin_of(int rank) const;

 private:
  Order order_;
  int ranks_;
  std::int64_t elements_, length_, rounds_;
};

struct ResultWindow {
  std::int64_t first = 0, count = 0;
  std::vector<std::vector<std::byte>> columns;  // elements one after the other, coordinates last
};

// A table on its way from the workers' shares to the ranks' windows.
class TableSpread {
 public:
  // `shares` are this rank's. The table, the data of the shares and `ranks` must outlive it.
  TableSpread(const ResultTable& table, std::vector<ResultShare> shares, WindowPlan::Order order,
              std::int64_t window_bytes, ResultRanks& ranks)
      : table_(table), shares_(std::move(shares)), ranks_(ranks), plan_(table, ranks.ranks(), order, window_bytes) {}

  [[nodiscard]] const WindowPlan& plan() const { return plan_; }
  // Collective: this rank's window of a round. InternalError if elements are missing.
  [[nodiscard]] ResultWindow window(std::int64_t round) const;

 private:
  [[nodiscard]] std::vector<std::string> pack(std::int64_t round, ResultWindow& own) const;
  void unpack(const std::vector<std::string>& received, ResultWindow& own) const;

  const ResultTable& table_;
  std::vector<ResultShare> shares_;
  ResultRanks& ranks_;
  WindowPlan plan_;
};

}  // namespace kasen
