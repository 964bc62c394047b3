// Checks operators along axes of an array: scan, sort, argsort, take, reduce_by (libcore/ir/axis_ops.h).
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "libcore/ir/axis_ops.h"
#include "libcore/ir/observed.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

class AxisCheck {
 public:
  AxisCheck(const Module& module, const Op& op, Faults& faults) : m_(module), op_(op), faults_(faults) {}

  // A relayout, which may rearrange.
  void relayout() {
    if (rearranges_on_the_way(op_)) return rearrangement();
    if (op_.operands.size() != 1) {
      return faults_.add(op_, fmt::format("{} operands", op_.operands.size()), "it takes one, but for a concatenation");
    }
    if (array().sparse || array().compressed) return faults_.add(op_, name(0) + " has the default layout alone");
    if (result().dims != array().dims) return other_result("its operand's");
    gives(array().element);
  }

  void run() {
    if (is_grouping(op_)) return grouping();
    if (is_rearrangement(op_)) return rearrangement();
    if (op_.over.size() != 1) {
      return faults_.add(op_, fmt::format("it names {} dimensions", op_.over.size()), "it works along one");
    }
    const std::vector<DimId>& dims = array().dims;
    if (std::count(dims.begin(), dims.end(), worked_dim(op_)) != 1) {
      return faults_.add(op_, fmt::format("{} is not over its dimension '{}', once", name(0), along().name));
    }
    if (!plain()) return;
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

  // No operand is compressed, and the result has each dimension once, unless it `may_repeat` one.
  bool plain(bool may_repeat = false) {
    for (std::size_t i = 0; i < op_.operands.size(); ++i) {
      const Type& type = m_.type(op_.operands[i]);
      if (type.compressed || type.sparse) {
        faults_.add(op_, fmt::format("{} is {}", name(i), type.sparse ? "sparse" : "compressed"));
        return false;
      }
    }
    if (may_repeat || !stands_twice(result().dims)) return true;
    faults_.add(op_, value_text(m_, op_.results[0]) + " has a dimension twice",
                "arrays meet by the names of dimensions");
    return false;
  }

  // Whether the dimension of a rearrangement is derived so.
  [[nodiscard]] bool is_derived_so() const {
    const Derivation& derived = m_.dim(op_.dim).derived;
    switch (rearrangement_of(m_, op_)) {
      case OpCode::slice:
        return op_.over.size() == 1 && is_part(m_, op_.dim, op_.over[0]);
      case OpCode::concat:
        return derived.kind == Derivation::Kind::sum && derived.sources == op_.over;
      default:
        return is_product_of(m_, op_.dim, op_.over);
    }
  }

  void pick() {
    const Type& mask = m_.type(op_.operands[1]);
    const bool along =
        op_.over.size() == 1 && m_.dim(op_.dim).is_observed() && m_.dim(op_.dim).derived.sources == op_.over;
    if (!along) {
      return faults_.add(op_, fmt::format("'{}' is not some of the dimension that it names", m_.dim(op_.dim).name));
    }
    if (!mask.element.is(Scalar::boolean) || mask.dims != op_.over || mask.sparse || mask.compressed) {
      return faults_.add(op_, fmt::format("{} is {}", name(1), type_text(m_, mask)),
                         fmt::format("a mask is bool[{}]", along_name()));
    }
    const Type& number = m_.type(op_.operands[2]);
    if (!number.element.is(Scalar::i64) || !number.dims.empty()) {
      return faults_.add(op_, fmt::format("{} is {}", name(2), type_text(m_, number)),
                         "a number of elements is an i64");
    }
    if (!plain()) return;
    const auto wanted = with_replaced(array().dims, op_.over, {op_.dim});
    if (!wanted || stands_twice(array().dims)) {
      return faults_.add(op_, fmt::format("{} is not over '{}', once", name(0), along_name()));
    }
    if (result().dims != *wanted) return other_result("its operand's, with the one that it makes");
    gives(array().element);
  }

  [[nodiscard]] const std::string& along_name() const { return m_.dim(op_.over[0]).name; }

  void rearrangement() {
    if (rearrangement_of(m_, op_) == OpCode::pick) return pick();
    const Dimension& dim = m_.dim(op_.dim);
    const bool reshape = rearrangement_of(m_, op_) == OpCode::reshape;
    if (!is_derived_so()) {
      return faults_.add(op_, fmt::format("'{}' is not derived so from the dimensions that it names", dim.name));
    }
    const bool concat = rearrangement_of(m_, op_) == OpCode::concat;
    if (op_.operands.size() != (concat ? op_.over.size() : 1)) {
      return faults_.add(op_, fmt::format("{} operands", op_.operands.size()),
                         concat ? fmt::format("'{}' is a sum of {} dimensions", dim.name, op_.over.size())
                                : std::string("it takes one"));
    }
    if (!plain(reshape) || !displaced_inside()) return;
    for (std::size_t i = 0; i < op_.operands.size(); ++i) {
      const Type& type = m_.type(op_.operands[i]);
      if (!reshape && stands_twice(type.dims)) return faults_.add(op_, name(i) + " has a dimension twice");
      const auto wanted = with_replaced(type.dims, worked_dims(m_, op_, i), made_dims(m_, op_));
      if (!wanted) {
        return faults_.add(op_, fmt::format("{} is {}", name(i), type_text(m_, type)),
                           "it is over the dimensions that the operator names, as neighbours, once");
      }
      if (result().dims != *wanted) return other_result("its operand's, with those that the operator makes");
      gives(type.element);
    }
  }

  // A slice alone is displaced, and within its operand's dimension, as far as sizes are known.
  bool displaced_inside() {
    if (op_.literal.empty()) return true;
    if (rearrangement_of(m_, op_) != OpCode::slice || op_.literal.size() > 1) {
      faults_.add(op_, fmt::format("{} displacements", op_.literal.size()), "a slice has at most one");
      return false;
    }
    OutsideFault fault =
        outside_fault(m_, op_.dim, worked_dim(op_), displacement(op_), [&](DimId d) { return m_.dim(d).size; });
    if (fault.what.empty()) return true;
    faults_.add(op_, fault.what, std::move(fault.why), std::move(fault.remedy));
    return false;
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

  void grouping() {
    if (!plain()) return;
    const std::size_t walked = walked_operand(m_, op_);
    const std::vector<DimId>&dims = m_.type(op_.operands[walked]).dims, &keys = m_.type(op_.operands[1]).dims;
    if (stands_twice(dims) || stands_twice(keys)) return faults_.add(op_, "an operand has a dimension twice");
    const auto within = [](const std::vector<DimId>& some, const std::vector<DimId>& all) {
      return std::all_of(some.begin(), some.end(), [&](DimId d) { return contains(all, d); });
    };
    if (op_.over.empty() || stands_twice(op_.over) || !within(op_.over, keys) || !within(keys, dims)) {
      return faults_.add(op_, "the dimensions that keys replace are not those of keys and array",
                         "keys are over each of them, and over no dimension that the array lacks");
    }
    const std::size_t place = key_place(m_, op_);
    const bool there = place < result().dims.size();
    if (!there || result().dims != grouped_dims(dims, op_.over, result().dims[place])) {
      return other_result("the array's, with that of the keys in the stead of the replaced ones");
    }
    const ElementType& key = m_.type(op_.operands[1]).element;
    if (!key.is(Scalar::i64) && !key.is(Scalar::i32) && key != ElementType::id(result().dims[place])) {
      return faults_.add(op_, fmt::format("{} holds {}", name(1), text(key)),
                         fmt::format("keys are id[{}], i64 or i32", m_.dim(result().dims[place]).name));
    }
    scan();  // its function and its result are those of a scan
  }

  void scan() {
    const ScalarFunction& fn = m_.fn(op_.fns[0]);
    const ElementType& element = array().element;
    const bool fits =
        fn.params.size() == 2 && fn.params[0].type == element && fn.params[1].type == element && fn.result() == element;
    if (!fits) {
      return faults_.add(op_, fmt::format("{} holds {}", name(0), text(element)),
                         fmt::format("it takes a function of two {0} that gives {0}", text(element)));
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

namespace {

void require_single_i64(const Module& module, const Op& op, std::string_view what, Faults& faults) {
  for (const ValueId v : {op.operands.at(0), op.results.at(0)}) {
    const Type& type = module.type(v);
    if (type.element.is(Scalar::i64) && type.dims.empty() && type.list == 0) continue;
    faults.add(op, fmt::format("{} is {}", value_text(module, v), type_text(module, type)),
               fmt::format("{} is a single i64", what));
  }
}

}  // namespace

void verify_single(const Module& module, const Op& op, Faults& faults) {
  if (op.code == OpCode::within) return require_single_i64(module, op, "an index", faults);
  const Dimension& dim = module.dim(op.dim);
  if (!dim.is_observed()) {
    return faults.add(op, fmt::format("dimension '{}' has no size that a run finds", dim.name),
                      "it is not declared as some of another one's indices");
  }
  if (observation_of(module, op.dim) != &op) faults.add(op, fmt::format("'{}' has its size already", dim.name));
  require_single_i64(module, op, "a size", faults);
}

void verify_relayout(const Module& module, const Op& op, Faults& faults) { AxisCheck(module, op, faults).relayout(); }

}  // namespace kasen
