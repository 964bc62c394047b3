// Costs of plans that name layouts (libcore/analysis/boxes.h). All workers compute and copy the same elements of their
// boxes, so that sums over the workers are the array's elements times the number of workers that have each. Internal to
// the cost model.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "libcore/analysis/box_form.h"
#include "libcore/data/run_result.h"
#include "libopt/cost/cost.h"
#include "libopt/cost/footprint.h"
#include "libopt/cost/sizes.h"

namespace kasen {

class BoxCosts {
 public:
  explicit BoxCosts(const Module& module);

  // Both columns for an operator of the module, without the copies of carried values.
  [[nodiscard]] Cost model(const Op& op) const;
  [[nodiscard]] Cost actual(const Op& op) const;
  // All elements that the workers store of a value.
  [[nodiscard]] Polynomial stored(ValueId value) const;
  [[nodiscard]] Polynomial buffer_bytes(const BufferDecl& buffer) const;
  // As footprint() (footprint.h).
  [[nodiscard]] Footprint footprint() const;

 private:
  struct Place {
    const Op* op;  // of the form
    int number;
  };

  // The elements of a box, or of a value or stand-in of the form, on all workers that are first along some mesh axes.
  [[nodiscard]] Polynomial elements(const Type& type, const Box& box, MeshAxes first_along = 0) const;
  [[nodiscard]] Polynomial form_bytes(ValueId value) const;
  [[nodiscard]] Polynomial sent_elements(const Op& op, int number) const;
  [[nodiscard]] bool same_buffer(ValueId a, ValueId b) const;
  [[nodiscard]] Cost blocks(int number) const;  // of a region of blocks
  void add_move(ValueId value, const Polynomial& read, const Polynomial& written, Cost& cost) const;
  void add_transition(const Op& op, int number, Cost& cost) const;
  void add_sort(const Op& op, int number, Cost& cost) const;
  void add_stand_ins(const Op& op, Cost& cost) const;
  [[nodiscard]] Polynomial carried_elements(const Op& scan) const;
  void add_carries(const Op& scan, int number, Cost& cost) const;
  void add_onto(const Op& op, const Place& place, Cost& cost) const;

  const Module& module_;
  BoxForm form_;
  std::map<const Op*, Place> places_;  // by operator of the module
};

// The module with the sizes of its data and a mesh of as many workers; UserError (bad_input) if these do not fit.
[[nodiscard]] Module sized_module(const Module& module, const Sizes& sizes);
// By value: whether a region makes it inside, where it has no memory.
[[nodiscard]] IdMap<ValueId, bool> made_in_regions(const Module& module);
// The elements that stay where they are in a relayout, or as they are in a scan whose lines are cut, and the number of
// the operator, by name (SymbolKind::stay). Of a sort across workers data decide that: the fewest, and what its workers
// tell each other besides (SymbolKind::agree).
void bind_stays(const Module& module, Sizes& sizes);
// The same where no element of a sort moves: a run counts those that did.
[[nodiscard]] Polynomial::Bindings with_sorts_at_rest(const Module& module, const Sizes& sizes);
// The bytes of a value's array, or of all arrays of a list, on a worker. Sizes are known.
[[nodiscard]] std::int64_t box_bytes(const Module& sized, ValueId value, int worker);
// As predict_parts (footprint.h).
[[nodiscard]] std::vector<PartCount> predict_box_parts(const Module& module, const Sizes& sizes);

}  // namespace kasen
