// Values that share a buffer (pass buffers).
#pragma once

#include <vector>

#include "libcore/analysis/liveness.h"
#include "libcore/ir/module.h"
#include "libopt/rewrite/lifetimes.h"

namespace kasen {

// Adds a set of ghosts to those for which a buffer has space. None of these contains another.
void add_set(std::vector<SlaveSet>& holds, const SlaveSet& set);

// Sets of values that certainly share a buffer: what transitions and bindings write in place, where lives do not meet,
// inner loops before outer ones. The module and its lives must outlive them.
class Webs {
 public:
  Webs(const Module& module, const Lifetimes& lives, const IdMap<ValueId, bool>& on_disk);

  [[nodiscard]] const std::vector<ValueId>& members(int web) const { return members_[static_cast<size_t>(web)]; }
  [[nodiscard]] int of(ValueId v) const { return web_[static_cast<size_t>(v)]; }
  [[nodiscard]] bool meet(int a, int b) const;  // the life of some member meets that of one of the other
  // Their buffers are of one kind: element, dimensions, cuts, the arrays of a list, and the tier.
  [[nodiscard]] bool alike(ValueId a, ValueId b) const;

 private:
  void join(ValueId a, ValueId b);

  const Module& m_;
  const Lifetimes& lives_;
  const IdMap<ValueId, bool>& on_disk_;
  std::vector<int> web_;  // named after one of the members
  std::vector<std::vector<ValueId>> members_;
};

// Webs between which bindings hand storage over, with the ghosts for which all of them need space.
class WebLinks {
 public:
  WebLinks(const Module& module, const Liveness& live, const Webs& webs);

  [[nodiscard]] bool linked(int web) const { return linked_[static_cast<size_t>(find(web))]; }
  [[nodiscard]] const std::vector<SlaveSet>& holds(int web) const { return holds_[static_cast<size_t>(find(web))]; }
  [[nodiscard]] bool covers(int web, int other) const;

 private:
  [[nodiscard]] int find(int web) const;
  void link(ValueId a, ValueId b);

  const Module& m_;
  const Webs& webs_;
  std::vector<int> group_;
  std::vector<bool> linked_;
  std::vector<std::vector<SlaveSet>> holds_;
};

}  // namespace kasen
