// The stages of the verifier, and what they share. verify.cpp runs them in order; each stage expects that earlier
// stages found no errors. Not for use outside libcore.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"

namespace kasen {

// The errors found so far. Every message begins with its operator, as the text form shows it.
class Faults {
 public:
  explicit Faults(const Module& module) : module_(module) {}

  void add(std::string what, std::string why = {}, std::string remedy = {});  // about the module as a whole
  void add(const Op& op, const std::string& what, std::string why = {}, std::string remedy = {}, int rule = -1);
  // Without the operator's text in front: for errors in the user's own code (a reducer that is none).
  void add_plain(const Op& op, std::string what, std::string why = {}, std::string remedy = {});
  // About a position in the program's text (line 0: the module as a whole).
  void add_at(Location where, std::string what, std::string why = {}, std::string remedy = {});

  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] size_t size() const { return list_.size(); }
  [[nodiscard]] std::vector<Diagnostic> take() { return std::move(list_); }

 private:
  const Module& module_;
  std::vector<Diagnostic> list_;
};

[[nodiscard]] std::string op_text(const Module& module, const Op& op);        // "%x = map[damp]"
[[nodiscard]] std::string value_text(const Module& module, ValueId value);    // "%x"
[[nodiscard]] std::string type_text(const Module& module, const Type& type);  // print_type without the state
[[nodiscard]] bool same_but_state(const Type& a, const Type& b);

// The input that makes this value, or null.
[[nodiscard]] const Op* find_input(const Module& module, ValueId value);

// The error in the types of a view; `what` is "" if there is none.
struct ViewFault {
  std::string what, why, remedy;
};
[[nodiscard]] ViewFault view_fault(const Module& module, const Op& view);

void verify_tables(const Module& module, Faults& faults);                // dimensions, functions, values, buffers, laws
void verify_mesh(const Module& module, Faults& faults);                  // the mesh, and the cuts of each type
void verify_structure(const Module& module, Faults& faults);             // counts, ids, blocks, SSA, scopes
void verify_types(const Module& module, Faults& faults);                 // elements, dimensions, shapes
void verify_batches(const Module& module, Faults& faults);               // batches of sparse inputs
void verify_fold(const Module& module, const Op& op, Faults& faults);    // for folds, and for align and meet
void verify_join(const Module& module, const Op& op, Faults& faults);    // for align and meet
void verify_patterns(const Module& module, Faults& faults);              // patterns that follow from those of inputs
void verify_linear(const Module& module, const Op& op, Faults& faults);  // for linear algebra
void verify_axis(const Module& module, const Op& op, Faults& faults);    // for operators along one axis
void verify_single(const Module& module, const Op& op, Faults& faults);  // for observe and within
void verify_relayout(const Module& module, const Op& op, Faults& faults);  // also one that rearranges
void verify_contract(const Module& module, const Op& op, Faults& faults);  // and for contract
void verify_blocks(const Module& module, Faults& faults);                  // regions of blocks
void verify_layouts(const Module& module, Faults& faults);                 // cuts that operators pass on
void verify_compressed(const Module& module, Faults& faults);              // the readers of compressed inputs
void verify_ranges(const Module& module, Faults& faults);  // ranges that functions declare for arguments
void verify_reducers(const Module& module, LawChecker& laws, Faults& faults);
void verify_states(const Module& module, LawChecker& laws, Faults& faults);  // level 2
void verify_regions(const Module& module, Faults& faults);                   // level 3
void verify_buffers(const Module& module, Faults& faults);                   // level 3
void verify_tiers(const Module& module, Faults& faults);     // level 3: what is on a disk, and the limit
void verify_schedule(const Module& module, Faults& faults);  // level 4

}  // namespace kasen
