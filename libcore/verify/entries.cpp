// The types and shapes of folds (entries.h).
#include "libcore/ir/entries.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/ir/products.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

class FoldCheck {
 public:
  FoldCheck(const Module& module, const Op& op, Faults& faults)
      : m_(module), op_(op), faults_(faults), fn_(module.fn(op.fns.at(0))) {}

  void run() {
    if (!matrix() || !entry()) return;
    bool across = false;
    for (size_t i = 1; i < op_.operands.size(); ++i) {
      if (!operand(i)) return;
      across = across || is_across(m_, op_, i);
    }
    const bool along = !gives_entries(op_) || op_.at_rows > 0;
    if (across && along) return gives_entries(op_) ? stored() : result();
    faults_.add(op_, fmt::format("its nonzeros have no operand at their {}", across ? "rows" : "other side"),
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
    if (!t.sparse || t.dims.size() != 2 || sparse_source(m_, op_.operands[0]).input == nullptr) {
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

  // The operands after the matrix are arrays over its rows (`at_rows` of them), arrays over its columns, sparse values,
  // and shareds.
  bool operand(size_t i) {
    const Type& t = type(i);
    const EntrySide side = entry_side(m_, op_, i);
    if (side == EntrySide::shared) {
      const bool last = i > static_cast<size_t>(op_.at_rows) && t.dims.empty();
      return last ? takes(i, t.element) : fault(name(i) + " is a shared", "shareds of rank 0 stand behind the arrays");
    }
    const bool behind = i > 1 && entry_side(m_, op_, i - 1) > side;
    if (side == EntrySide::entries) return sparse_value(i, behind);
    const DimId dim = type(0).dims[side == EntrySide::rows ? 0 : 1];
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

  // A sparse value lies at the nonzeros of this matrix; it stands behind the arrays of both sides.
  bool sparse_value(size_t i, bool behind) {
    const Type& t = type(i);
    if (has_entries(t) && !behind && i > static_cast<size_t>(op_.at_rows)) return takes(i, t.element);
    return fault(fmt::format("{} is {}", name(i), type_text(m_, t)),
                 fmt::format("values at the nonzeros of {} stand between the arrays over its columns and the shareds",
                             matrix_name(m_, op_.operands[0])));
  }

  [[nodiscard]] bool has_entries(const Type& t) const {
    return is_over_entries(m_, t) && t.list == 0 && m_.dim(t.dims[0]).entries_of == matrix_name(m_, op_.operands[0]);
  }

  void stored() {
    const Type& made = m_.type(op_.results[0]);
    if (!has_entries(made)) {
      (void)fault("its result is " + type_text(m_, made),
                  fmt::format("it gives an element for each nonzero of {}", matrix_name(m_, op_.operands[0])));
    } else if (fn_.result() != made.element) {
      (void)fault("its result is " + type_text(m_, made),
                  fmt::format("{} gives {} for each entry", fn_.name, shown(fn_.result())));
    }
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
    const ScalarFunction& combine = m_.fn(op_.fns.at(1));
    const bool reduces =
        combine.params.size() == 2 && combine.params[0].type == made.element && combine.result() == made.element;
    if (reduces) return;
    (void)fault(fmt::format("{} does not combine two {}", combine.name, shown(made.element)),
                "the reducer takes the columns of the result one by one");
  }

  const Module& m_;
  const Op& op_;
  Faults& faults_;
  const ScalarFunction& fn_;
};

}  // namespace

void verify_fold(const Module& module, const Op& op, Faults& faults) {
  if (!is_fold(op)) return verify_join(module, op, faults);
  FoldCheck(module, op, faults).run();
}

}  // namespace kasen
