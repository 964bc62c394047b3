// Checks contractions: one label for each axis, each over one dimension, and functions of the right types.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/contraction.h"
#include "libcore/ir/products.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

class ContractCheck {
 public:
  ContractCheck(const Module& module, const Op& op, Faults& faults) : m_(module), op_(op), faults_(faults) {}

  bool labels_fit() {
    const std::optional<Labels> labels = parse_labels(op_.name);
    if (!labels || labels->operands.size() != 2) {
      return wrong(fmt::format("its labels are '{}'", op_.name), "two operands have two groups of letters",
                   "write them like ij, jk -> ik");
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (!axes_fit(labels->operands[i], op_.operands[i])) return false;
    }
    if (!axes_fit(labels->result, op_.results[0])) return false;
    if (is_onto(op_) && !axes_fit(labels->result, op_.operands[2])) return false;
    std::string result = labels->result;
    std::sort(result.begin(), result.end());
    const auto twice = std::adjacent_find(result.begin(), result.end());
    if (twice == result.end()) return true;
    return wrong(fmt::format("its result has the label '{}' twice", *twice), "elements off the diagonal have no value");
  }

  void functions() {
    const bool sums = !labels_of(m_, op_).summed().empty();
    if (op_.fns.size() != (sums ? 2U : 1U)) {
      wrong(fmt::format("it names {} functions", op_.fns.size()),
            sums ? "it needs a multiplier and a reducer" : "no label is summed, so it needs a multiplier alone");
      return;
    }
    const ScalarFunction& multiply = m_.fn(op_.fns[0]);
    for (std::size_t i = 0; i < 2; ++i) {
      const ValueId operand = op_.operands[i];
      if (!takes(multiply, i, m_.type(operand).element, value_text(m_, operand))) return;
    }
    if (sums && !batches_fit()) return;
    const ScalarFunction& last = m_.fn(op_.fns.back());
    if (sums && !takes(last, 0, multiply.result(), "the result of " + multiply.name)) return;
    if (last.result() == m_.type(op_.results[0]).element) return sums_onto(sums);
    wrong("its result holds " + print_element_type(m_, m_.type(op_.results[0]).element),
          fmt::format("{} gives {}", last.name, print_element_type(m_, last.result())));
  }

 private:
  void sums_onto(bool sums) {
    if (!is_onto(op_)) return;
    if (!sums) {
      wrong("no label is summed", "there are no terms to reduce onto " + value_text(m_, op_.operands[2]));
      return;
    }
    const ElementType& element = m_.type(op_.operands[2]).element;
    if (element == m_.type(op_.results[0]).element) return;
    wrong(fmt::format("{} holds {}", value_text(m_, op_.operands[2]), print_element_type(m_, element)),
          "terms are reduced onto elements of the result's type");
  }

  // A product for each index of some labels: the elements of one lie behind those of another, in all planes alike.
  bool batches_fit() {
    const Labels labels = labels_of(m_, op_);
    const std::string both = only_labels(labels.operands[0], labels.operands[1]);
    if (only_labels(both, labels.result).empty()) return true;
    std::vector<ValueId> values = op_.operands;
    values.push_back(op_.results[0]);
    for (const ValueId v : values) {
      const ElementType& element = m_.type(v).element;
      for (std::int64_t p = 1; p < element.planes(); ++p) {
        if (scalar_bytes(element.plane_scalar(p)) == scalar_bytes(element.plane_scalar(0))) continue;
        return wrong(fmt::format("{} holds {}", value_text(m_, v), print_element_type(m_, element)),
                     "a contraction with a label of both operands and the result takes scalars of one size",
                     "convert them to one type, or contract the components one by one");
      }
    }
    return true;
  }

  bool axes_fit(const std::string& labels, ValueId id) {
    const Type& type = m_.type(id);
    const std::string name = value_text(m_, id);
    if (type.compressed) return wrong(name + " is compressed", "contractions read elements");
    if (labels.size() != type.dims.size()) {
      return wrong(fmt::format("{} is {}, but has {} labels", name, type_text(m_, type), labels.size()),
                   "there is one for each of its dimensions");
    }
    for (std::size_t axis = 0; axis < labels.size(); ++axis) {
      const DimId known = dims_.emplace(labels[axis], type.dims[axis]).first->second;
      if (known == type.dims[axis]) continue;
      return wrong(fmt::format("label '{}' is over '{}' and over '{}'", labels[axis], m_.dim(known).name,
                               m_.dim(type.dims[axis]).name),
                   "axes of one label have one dimension");
    }
    return true;
  }

  bool takes(const ScalarFunction& fn, std::size_t i, const ElementType& element, const std::string& what) {
    if (i < fn.params.size() && fn.params[i].type == element && fn.params.size() == 2) return true;
    return wrong(fmt::format("{} holds {}", what, print_element_type(m_, element)),
                 fmt::format("{} takes {}", fn.name, parameters(fn)));
  }

  [[nodiscard]] std::string parameters(const ScalarFunction& fn) const {
    std::string text;
    for (const ScalarParam& p : fn.params) text += (text.empty() ? "" : ", ") + print_element_type(m_, p.type);
    return '(' + text + ')';
  }

  bool wrong(const std::string& what, const std::string& why, const std::string& remedy = "") {
    faults_.add(op_, what, why, remedy);
    return false;
  }

  const Module& m_;
  const Op& op_;
  Faults& faults_;
  std::map<char, DimId> dims_;
};

}  // namespace

void verify_contract(const Module& module, const Op& op, Faults& faults) {
  ContractCheck check(module, op, faults);
  if (check.labels_fit()) check.functions();
}

}  // namespace kasen
