// What keeps the operators of a block in order beside the arrays that may leave memory: scalars, arrays that stay, and
// reductions over the workers that travel together.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen::swapping {

class OperatorEdges {
 public:
  // `staying`: buffers that stay in memory. Operators that touch one of them keep their order.
  OperatorEdges(const Module& module, const Block& block, const std::set<BufferId>& staying);

  // The operators of the block that must have ended before this one, ascending, each once.
  [[nodiscard]] const std::vector<std::size_t>& before(std::size_t op) const { return before_.at(op); }
  // An order that keeps what before() says and what arrays in memory ask for, with those that travel together side by
  // side. `order` has each operator once, but for some at the end of the block, which stay there.
  [[nodiscard]] std::vector<std::size_t> joined(const std::vector<std::size_t>& order) const;

 private:
  void find_groups();
  [[nodiscard]] std::set<std::size_t> reads_of(std::size_t op) const;
  void touch(std::size_t op, std::set<std::size_t>& before);

  const Module& m_;
  const Block& block_;
  const std::set<BufferId>& staying_;
  std::vector<std::size_t> group_;  // of each operator: the first one that travels with it, or itself
  std::map<ValueId, std::size_t> makers_;
  std::map<BufferId, std::size_t> touched_;  // the latest operator there
  std::vector<std::vector<std::size_t>> before_;
};

}  // namespace kasen::swapping
