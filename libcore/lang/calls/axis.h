// Along one axis of an array: scan(f, A, over N), cumsum, cumprod, cummax, cummin, sort, argsort, take(A, k, over N),
// pick(A, mask, K).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/lang/calls/reducer.h"

namespace kasen::lang {

// True if a dimension stands twice: then names cannot say which axis is meant.
[[nodiscard]] bool stands_twice(std::vector<DimId> dims);

// Calls that name axes of their arrays by dimensions.
class NamedAxes : protected Part {
 protected:
  explicit NamedAxes(const Part& part) : Part(part) {}
  // The array of an argument; refused if a dimension stands twice.
  // `may_repeat`: it may have a dimension twice.
  [[nodiscard]] ValueId array(const Node& node, const Node& call, bool may_repeat = false);
  [[noreturn]] void refuse_point(const ElementType& type, const Node& node, const Node& call) const;
  // The array at the indices of a slice of its dimension `whole`, or a part of that sum, displaced by a number.
  [[nodiscard]] ValueId sliced(ValueId array, DimId part, DimId whole, std::int64_t by, Mark mark,
                               const std::string& hint);
};

class AlongAxis : NamedAxes {
 public:
  AlongAxis(const Part& part, Reducers& reducers);

 private:
  [[nodiscard]] Term scan_call(const Node& node, const std::string& hint);
  [[nodiscard]] Term cumulated(const Node& node, const std::string& hint);  // cumsum, ...
  [[nodiscard]] Term scan(const Node& fn, const Node& array, const Node* over, const Node& call,
                          const std::string& hint);
  [[nodiscard]] Term sort(const Node& node, const std::string& hint);  // and argsort
  [[nodiscard]] Term take(const Node& node, const std::string& hint);
  [[nodiscard]] Term pick(const Node& node, const std::string& hint);
  // The number of true elements, which becomes the size of a dimension.
  [[nodiscard]] ValueId observed(ValueId mask, DimId dim, const Node& call);
  // The dimension that is named, or the only one.
  [[nodiscard]] DimId along(ValueId array, const Node* over, const Node& call) const;

  Reducers& reducers_;
};

}  // namespace kasen::lang
