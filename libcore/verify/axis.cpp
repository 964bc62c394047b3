// Checks operators along one axis of an array: scan, sort, argsort, take (libcore/ir/axis_ops.h).
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "libcore/ir/axis_ops.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

class AxisCheck {
 public:
  AxisCheck(const Module& module, const Op& op, Faults& faults) : m_(module), op_(op), faults_(faults) {}

  void run() {
    if (op_.over.size() != 1) {
      return faults_.add(op_, fmt::format("it names {} dimensions", op_.over.size()), "it works along one");
    }
    const std::vector<DimId>& dims = array().dims;
    if (std::count(dims.begin(), dims.end(), worked_dim(op_)) != 1) {
      return faults_.add(op_, fmt::format("{} is not over its dimension '{}', once", name(0), along().name));
    }
    for (std::size_t i = 0; i < op_.operands.size(); ++i) {
      if (m_.type(op_.operands[i]).compressed) return faults_.add(op_, name(i) + " is compressed");
    }
    if (stands_twice(result().dims)) {
      return faults_.add(op_, value_text(m_, op_.results[0]) + " has a dimension twice",
                         "arrays meet by the names of dimensions");
    }
    if (op_.code == OpCode::take) return take();
    if (result().dims != dims) return other_result("its operand's");
    if (op_.code == OpCode::scan) return scan();
    sort();
  }

 private:
  [[nodiscard]] const Type& array() const { return m_.type(op_.operands[0]); }
  [[nodiscard]] const Type& result() const { return m_.type(op_.results[0]); }
  [[nodiscard]] const Dimension& along() const { return m_.dim(worked_dim(op_)); }
  [[nodiscard]] std::string name(std::size_t i) const { return value_text(m_, op_.operands[i]); }
  [[nodiscard]] std::string text(const ElementType& type) const { return print_element_type(m_, type); }

  static bool stands_twice(std::vector<DimId> dims) {
    std::sort(dims.begin(), dims.end());
    return std::adjacent_find(dims.begin(), dims.end()) != dims.end();
  }

  void other_result(const char* wanted) {
    faults_.add(op_, fmt::format("{} is {}", value_text(m_, op_.results[0]), type_text(m_, result())),
                fmt::format("its dimensions are {}", wanted));
  }

  void gives(const ElementType& wanted) {
    if (result().element == wanted) return;
    faults_.add(op_, fmt::format("its result holds {}", text(result().element)),
                fmt::format("it gives {}", text(wanted)));
  }

  void scan() {
    const ScalarFunction& fn = m_.fn(op_.fns[0]);
    const ElementType& element = array().element;
    const bool fits =
        fn.params.size() == 2 && fn.params[0].type == element && fn.params[1].type == element && fn.result() == element;
    if (!fits) {
      return faults_.add(op_, fmt::format("{} holds {}", name(0), text(element)),
                         fmt::format("a scan takes a function of two {0} that gives {0}", text(element)));
    }
    gives(element);
  }

  void sort() {
    const ElementType& element = array().element;
    if (!element.is_scalar() || element.is(Scalar::null)) {
      return faults_.add(op_, fmt::format("{} holds {}", name(0), text(element)), "numbers have an order");
    }
    gives(op_.code == OpCode::sort ? element : ElementType::id(worked_dim(op_)));
  }

  void take() {
    const ElementType& place = m_.type(op_.operands[1]).element;
    const bool integer = place.is(Scalar::i64) || place.is(Scalar::i32);
    if (!integer && place != ElementType::id(worked_dim(op_))) {
      return faults_.add(op_, fmt::format("{} holds {}", name(1), text(place)),
                         fmt::format("places are id[{}], i64 or i32", along().name));
    }
    const std::vector<DimId>& places = m_.type(op_.operands[1]).dims;
    if (stands_twice(places)) return faults_.add(op_, name(1) + " has a dimension twice");
    if (result().dims != taken_dims(array().dims, worked_dim(op_), places)) {
      return other_result("the array's, with those of the places in its stead");
    }
    gives(array().element);
  }

  const Module& m_;
  const Op& op_;
  Faults& faults_;
};

}  // namespace

void verify_axis(const Module& module, const Op& op, Faults& faults) { AxisCheck(module, op, faults).run(); }

}  // namespace kasen
