// The memo table of partial fusion plans (Boehm et al., section 3.1). It has a group for each operator, and in it an
// entry for each way in which a fused operator may end there. An entry states which inputs are absorbed and which are
// read from memory. Entries refer to groups, not to entries: alternatives below are not multiplied out.
#pragma once

#include <string>
#include <vector>

#include "libopt/fusion/templates.h"

namespace kasen::fusion {

struct Entry {
  TemplateId type = TemplateId::cell;
  std::vector<NodeId> refs;  // by input: its group, or no_node if the input is read from memory
  Close close = Close::open_valid;

  [[nodiscard]] size_t references() const;
  [[nodiscard]] bool refers_to(NodeId node) const;
  friend bool operator==(const Entry&, const Entry&) = default;
};
[[nodiscard]] std::string text(const Entry& entry);  // "R(10,-1)"; "R(-1|x)" if it is no entry point

using Group = std::vector<Entry>;

// Some templates, one bit each.
class TemplateSet {
 public:
  void insert(TemplateId id) { bits_ |= bit(id); }
  [[nodiscard]] bool contains(TemplateId id) const { return (bits_ & bit(id)) != 0; }

 private:
  static unsigned bit(TemplateId id) { return 1U << static_cast<unsigned>(id); }
  unsigned bits_ = 0;
};

struct Memo {
  IdMap<NodeId, Group> groups;         // empty if no template covers it together with anything else
  IdMap<NodeId, TemplateSet> covered;  // by those that cover it, with others or alone
  std::int64_t asked = 0;              // the number of template conditions that were evaluated: linear in the operators

  [[nodiscard]] const Group& operator[](NodeId node) const { return groups[node]; }
  [[nodiscard]] Group& operator[](NodeId node) { return groups[node]; }
  [[nodiscard]] int group_count() const;
  [[nodiscard]] int entry_count() const;
};

// Returns true if `a` makes `b` needless for a heuristic that materializes nothing, or operators with several consumers
// and nothing else (section 3.2). Both are of one template, and `a` has more references. The references that `b` lacks
// are to operators that are consumed once.
[[nodiscard]] bool dominates(const Dag& dag, const Entry& a, const Entry& b);
// Drops the entries that another entry of their group dominates. Only the heuristics use this table.
[[nodiscard]] Memo without_dominated(const Dag& dag, const Memo& memo);

// Prints one line for each operator, the last first, as in the paper's Figure 5 (docs/fusion.md).
[[nodiscard]] std::string memo_text(const Dag& dag, const Memo& memo);

}  // namespace kasen::fusion
