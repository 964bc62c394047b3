// What kasen-run prints when it is done: the largest elements, the turns, where the time went, what was moved.
#pragma once

#include <string>
#include <vector>

#include "libcore/executor.h"
#include "libopt/run_report.h"

namespace kasen::tools {

// The largest elements of a vector of plain numbers, gathered worker by worker.
class TopElements {
 public:
  TopElements(std::string title, const ElementType& element, size_t count);
  // `dim`: the worker's share of the vector's dimension.
  void add(const Array& data, const PartDim& dim);
  [[nodiscard]] std::string text(const std::string& dim_name) const;

 private:
  struct Entry {
    Word value{};
    std::int64_t id = 0;
  };
  void keep_largest();
  [[nodiscard]] bool before(const Entry& a, const Entry& b) const;

  std::string title_;
  Scalar scalar_;
  size_t count_;
  std::vector<Entry> entries_;
};

struct RunTimes {
  double reading = 0, preparing = 0, writing = 0;  // seconds
};
[[nodiscard]] std::string summary_text(const Module& module, const RunReport& report, const RunTimes& times);

// One line for a finished turn of the outermost loop.
[[nodiscard]] std::string turn_text(const Turn& turn);

}  // namespace kasen::tools
