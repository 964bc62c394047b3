// The types and shapes of folds (entries.h).
#include "libcore/ir/entries.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/verify/rules.h"

namespace kasen {
namespace {

class FoldCheck {
 public:
  FoldCheck(const Module& module, const Op& op, Faults& faults)
      : m_(module), op_(op), faults_(faults), fn_(module.fn(op.fns.at(0))), combine_(module.fn(op.fns.at(1))) {}

  void run() {
    if (!matrix() || !entry()) return;
    bool across = false;
    for (size_t i = 1; i < op_.operands.size(); ++i) {
      if (!operand(i)) return;
      across = across || is_across(m_, op_, i);
    }
    if (across) return result();
    faults_.add(op_, "its nonzeros have no operand at their other side",
                "an operand gives that dimension its numbering", "add a fill over it");
  }

 private:
  [[nodiscard]] const Type& type(size_t i) const { return m_.type(op_.operands[i]); }
  [[nodiscard]] std::string name(size_t i) const { return value_text(m_, op_.operands[i]); }
  [[nodiscard]] std::string shown(const ElementType& element) const { return print_element_type(m_, element); }

  bool fault(const std::string& what, const std::string& why, const std::string& remedy = {}) {
    faults_.add(op_, what, why, remedy);
    return false;
  }

  bool takes(size_t i, const ElementType& element) {
    if (fn_.params[i].type == element) return true;
    return fault(fmt::format("{} gives {}", name(i), shown(element)),
                 fmt::format("parameter '{}' of {} is {}", fn_.params[i].name, fn_.name, shown(fn_.params[i].type)));
  }

  bool matrix() {
    const Type& t = type(0);
    if (!t.sparse || t.dims.size() != 2 || find_input(m_, op_.operands[0]) == nullptr) {
      return fault(name(0) + " is no sparse matrix of the bundle", "a fold visits stored nonzeros");
    }
    if (fn_.params.size() == op_.operands.size()) return true;
    return fault(fmt::format("{} has {} parameters", fn_.name, fn_.params.size()),
                 fmt::format("it is given {}", op_.operands.size()));
  }

  bool entry() {
    const ElementType& seen = fn_.params[0].type;
    if (!type(0).element.is(Scalar::null)) return takes(0, type(0).element);
    if (seen.is_scalar() && (is_numeric(seen.scalar()) || seen.is(Scalar::boolean))) return true;
    return fault(fmt::format("parameter '{}' of {} is {}", fn_.params[0].name, fn_.name, shown(seen)),
                 "an entry of a null matrix is the constant 1");
  }

  // The operands after the matrix are arrays over its rows (`at_rows` of them), arrays over its columns, and shareds.
  bool operand(size_t i) {
    const Type& t = type(i);
    const EntrySide side = entry_side(m_, op_, i);
    if (side == EntrySide::shared) {
      const bool last = i > static_cast<size_t>(op_.at_rows) && t.dims.empty();
      return last ? takes(i, t.element) : fault(name(i) + " is a shared", "shareds of rank 0 stand behind the arrays");
    }
    const DimId dim = type(0).dims[side == EntrySide::rows ? 0 : 1];
    const bool behind = i > 1 && entry_side(m_, op_, i - 1) == EntrySide::shared;
    if (t.sparse || behind || !is_over(t, dim)) {
      return fault(fmt::format("{} is {}", name(i), type_text(m_, t)),
                   fmt::format("operand {} of this fold is over {} and local dimensions", i, m_.dim(dim).name));
    }
    const auto seen = seen_element(m_, t);
    if (seen) return takes(i, *seen);
    return fault(fmt::format("{} is {}, which is no array of points", name(i), type_text(m_, t)),
                 fmt::format("a point is made of scalars, at most {} of them, as many as the program says",
                             most_point_coordinates));
  }

  [[nodiscard]] bool is_over(const Type& t, DimId dim) const {
    return !t.dims.empty() && t.dims[0] == dim &&
           std::all_of(t.dims.begin() + 1, t.dims.end(), [&](DimId d) { return m_.dim(d).local; });
  }

  void result() {
    const Type& made = m_.type(op_.results[0]);
    const DimId dim = type(0).dims[result_side(op_) == EntrySide::rows ? 0 : 1];
    if (!is_over(made, dim)) {
      (void)fault("its result is " + type_text(m_, made),
                  fmt::format("it gives elements, or points, over {}", m_.dim(dim).name));
      return;
    }
    const auto seen = seen_element(m_, made);
    if (!seen || fn_.result() != *seen) {
      (void)fault("its result is " + type_text(m_, made),
                  fmt::format("{} gives {} for each entry", fn_.name, shown(fn_.result())));
      return;
    }
    const bool reduces =
        combine_.params.size() == 2 && combine_.params[0].type == made.element && combine_.result() == made.element;
    if (reduces) return;
    (void)fault(fmt::format("{} does not combine two {}", combine_.name, shown(made.element)),
                "the reducer takes the columns of the result one by one");
  }

  const Module& m_;
  const Op& op_;
  Faults& faults_;
  const ScalarFunction &fn_, &combine_;
};

}  // namespace

void verify_fold(const Module& module, const Op& op, Faults& faults) { FoldCheck(module, op, faults).run(); }

}  // namespace kasen
