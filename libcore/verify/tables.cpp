// Checks the parts of the module beside its operators: dimensions, functions, values' types, buffers and laws.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "libcore/ir/derived_dims.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/observed.h"
#include "libcore/ir/products.h"
#include "libcore/scalar/element_range.h"
#include "libcore/scalar/loops.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

constexpr int most_loops = 60;  // nested loops of one scalar function
constexpr std::int64_t most_planes = 1 << 20;

struct TableCheck {
  const Module& m;
  Faults& faults;

  template <class Range, class Name>
  void unique(const Range& range, const char* kind, Name name_of) {
    std::set<std::string> seen;
    for (const auto& item : range) {
      const std::string& name = name_of(item);
      if (name.empty()) faults.add(fmt::format("a {} without a name", kind));
      if (!seen.insert(name).second) faults.add(fmt::format("{} '{}' is defined twice", kind, name));
    }
  }

  [[nodiscard]] bool dim_known(DimId d) const { return m.dims.contains(d); }
  [[nodiscard]] bool fn_known(FnId f) const { return m.functions.contains(f); }

  void dimension(DimId id) {
    const Dimension& d = m.dim(id);
    if (d.size < -1) faults.add(fmt::format("dimension '{}' has size {}", d.name, d.size));
    if (d.is_entries()) nonzeros(id);
    if (!d.is_derived()) return;
    const auto wrong = [&](const char* why) {
      faults.add(fmt::format("dimension '{}' is derived wrongly", d.name), why);
    };
    const Derivation& derived = d.derived;
    const bool slice = derived.kind == Derivation::Kind::slice, quotient = derived.kind == Derivation::Kind::quotient;
    if (d.is_workers()) {
      if (d.local || !derived.sources.empty()) wrong("a dimension of workers is cut, and has no source");
      return;
    }
    for (const DimId source : derived.sources) {
      if (source < 0 || source >= id) return wrong("its sources are dimensions before it");
    }
    const size_t count = derived.sources.size();
    if (slice || d.is_observed() ? count != 1 : quotient ? count != 2 : count < 2) {
      return wrong("a slice has one source, a quotient two, a product or sum at least two");
    }
    const auto observed = [&](DimId source) { return follows_observed(m.dims, source); };
    if (quotient && std::any_of(derived.sources.begin(), derived.sources.end(), observed)) {
      return wrong("a quotient has sources whose sizes are known before the run");
    }
    if (slice && derived.step == 0) return wrong("a slice of step 0");
    const bool one = derived.step == 1 || fills(derived);
    if (!slice && (derived.begin || derived.end || !one)) return wrong("bounds are for slices");
    const std::int64_t size = derived_size(derived, [&](DimId source) { return m.dim(source).size; });
    const bool known = d.is_observed() ? may_have_size(derived, d.size, size) : size < 0 || size == d.size;
    if (!known) wrong("its size is not that of its sources");
    if (!is_quotient(derived) || size < 0) return;
    const std::int64_t whole = m.dim(derived.sources[0]).size, parts = m.dim(derived.sources[1]).size;
    if (parts == 0 ? whole != 0 : whole % parts != 0) wrong("a quotient is of equal parts");
  }

  void nonzeros(DimId id) {
    const Dimension& d = m.dim(id);
    const auto wrong = [&](const std::string& why) {
      faults.add(fmt::format("dimension '{}' is no dimension of nonzeros", d.name), why);
    };
    const bool read = std::any_of(m.body.ops.begin(), m.body.ops.end(), [&](const Op& op) {
      return op.code == OpCode::input && op.name == d.entries_of && op.results.size() == 1 &&
             m.values.contains(op.results[0]) && m.type(op.results[0]).sparse && !has_batches(m.type(op.results[0]));
    });
    if (!read) wrong(fmt::format("'{}' is no sparse input, or one with batches", d.entries_of));
    if (d.local || d.is_derived()) wrong("it is cut as the nonzeros are, and has no source");
    if (entries_dim(m, d.entries_of) != id) wrong(fmt::format("'{}' has one already", d.entries_of));
  }

  [[nodiscard]] std::string element_fault(const ElementType& type) const {
    if (type.components.empty()) return "an element type without components";
    if (!type.tuple && type.components.size() != 1) return "several components that are no tuple";
    std::int64_t planes = 0;
    for (const Component& c : type.components) {
      if (c.count < 0 || c.count > most_planes) return fmt::format("a small array of {} scalars", c.count);
      planes += c.planes();
      if (planes > most_planes) return fmt::format("an element of more than {} scalars", most_planes);
      const bool plain_null = c.scalar == Scalar::null && (type.tuple || c.count > 0);
      if (plain_null) return "null inside of a tuple or small array";
      if (c.scalar == Scalar::id && !dim_known(c.id_of)) return "an id of an unknown dimension";
    }
    return {};
  }

  // True if the builders would make this tree. `open` has a bit for each loop around `e`, by its variable.
  [[nodiscard]] std::string expression_fault(const ScalarFunction& fn, const Expr& e, std::uint64_t open) const {
    if (std::string fault = element_fault(e.type); !fault.empty()) return fault;
    if (e.op == ScalarOp::param) {
      const bool right = e.index >= 0 && static_cast<size_t>(e.index) < fn.params.size() &&
                         fn.params[static_cast<size_t>(e.index)].type == e.type;
      if (!right) return "it uses a parameter that it does not have";
    }
    const auto is_open = [&] { return (open >> e.index & 1) != 0; };
    if (e.op == ScalarOp::loop_var && (e.index < 0 || e.index >= most_loops || !is_open())) {
      return fmt::format("${} is the variable of no loop around it", e.index);
    }
    const int arity = row(e.op).arity;
    if (arity >= 0 && e.args.size() != static_cast<size_t>(arity)) {
      return fmt::format("'{}' with {} arguments", row(e.op).name, e.args.size());
    }
    const bool loop = is_coordinate_loop(e.op);
    if (loop && (e.count < 1 || e.index < 0 || e.index >= most_loops)) {
      return "loops over coordinates that are empty or nested too deeply";
    }
    if (loop && is_open()) return fmt::format("${} is the variable of two loops, one in the other", e.index);
    const std::uint64_t inside = loop ? open | std::uint64_t{1} << e.index : open;
    for (const Expr& arg : e.args) {
      if (std::string fault = expression_fault(fn, arg, inside); !fault.empty()) return fault;
    }
    return {};
  }

  void functions() {
    for (const ScalarFunction& fn : m.functions) {
      std::string fault;
      for (const ScalarParam& param : fn.params) {
        if (fault.empty()) fault = element_fault(param.type);
        const bool fits = param.range.empty() || param.range.size() == places_of(param.type);
        if (fault.empty() && !fits) fault = "a range with another number of places than its parameter has";
      }
      if (fault.empty()) fault = expression_fault(fn, fn.body, 0);
      if (!fault.empty()) faults.add(fmt::format("function '{}' is malformed", fn.name), fault);
    }
  }

  [[nodiscard]] std::string dims_fault(const std::vector<DimId>& dims, bool sparse) const {
    for (const DimId d : dims) {
      if (!dim_known(d)) return "a dimension that is not declared";
    }
    return sparse ? sparse_fault(dims) : "";
  }

  // Of the three dimensions of batches the first is local.
  [[nodiscard]] std::string sparse_fault(const std::vector<DimId>& dims) const {
    const auto local = [&](DimId d) { return m.dim(d).local; };
    const bool batches = dims.size() == 3;
    if (batches && (!local(dims[0]) || dims[0] == dims[1] || dims[0] == dims[2])) {
      return "the first dimension of a sparse matrix with batches is local, and no other one is the same";
    }
    const bool whole = std::all_of(dims.begin() + (batches ? 1 : 0), dims.end(), local);
    if ((batches || dims.size() == 2) && !whole) return {};
    return "a sparse matrix has two dimensions, one of them local at most, behind one of batches at most";
  }

  [[nodiscard]] std::string type_fault(const Type& type) const {
    if (std::string fault = element_fault(type.element); !fault.empty()) return fault;
    if (std::string fault = dims_fault(type.dims, type.sparse); !fault.empty()) return fault;
    if (type.list < 0 || type.list > most_planes) return "a list of no length";
    if (type.sparse && (type.list > 0 || !type.element.is_scalar())) return "a sparse matrix has scalar entries";
    if (!type.sparse && type.element.is(Scalar::null)) return "only sparse matrices hold null";
    return {};
  }

  void values() {
    for (const Value& v : m.values) {
      const std::string fault = type_fault(v.type);
      if (!fault.empty()) faults.add(fmt::format("the type of %{} is not possible", v.name), fault);
      if (v.buffer != no_buffer && (m.level < 3 || !m.buffers.contains(v.buffer))) {
        faults.add(fmt::format("the buffer of %{} does not exist", v.name), "only level 3 has buffers");
      }
    }
  }

  void buffers() {
    for (const BufferId b : m.buffers.ids()) {
      std::string fault = element_fault(m.buffers[b].element);
      if (fault.empty()) fault = dims_fault(m.buffers[b].dims, false);
      if (!fault.empty()) faults.add(fmt::format("buffer ~b{} is not possible", b), fault);
    }
    if (m.level < 3 && !m.buffers.empty()) faults.add("buffers are declared", "only level 3 has buffers");
    if (m.level < 3 && m.memory > 0) faults.add("the memory of buffers is limited", "only level 3 has buffers");
  }

  void ranges() {
    for (const RangeAssumption& word : m.ranges) {
      const auto names = [&](const Op& op) {
        return (op.code == OpCode::input || op.code == OpCode::param) && op.name == word.name;
      };
      const auto op = std::find_if(m.body.ops.begin(), m.body.ops.end(), names);
      if (op == m.body.ops.end()) {
        faults.add(fmt::format("a range of '{}' is assumed, which is no input or param", word.name));
      } else if (word.place >= static_cast<int>(places_of(m.type(op->results[0]).element))) {
        faults.add(fmt::format("a range of place {} of '{}' is assumed, which does not exist", word.place, word.name));
      } else if (is_empty(word.range, false)) {
        faults.add(fmt::format("no number is in the range that is assumed of '{}'", word.name));
      }
    }
  }

  void laws(const std::vector<LawUse>& list, const char* word) {
    for (const LawUse& use : list) {
      const bool map =
          use.kind == LawKind::exchange || use.kind == LawKind::pushdown || use.kind == LawKind::distributive;
      const bool right = fn_known(use.fn) && (use.reducer == no_fn ? !map : fn_known(use.reducer)) &&
                         use.operand >= 0 && (!map || static_cast<size_t>(use.operand) < m.fn(use.fn).params.size());
      if (!right)
        faults.add(fmt::format("a '{}' of the {} law names no function, reducer or operand", word, law_name(use.kind)));
    }
  }
};

}  // namespace

void verify_tables(const Module& module, Faults& faults) {
  TableCheck check{module, faults};
  if (module.level < 1 || module.level > 4) faults.add(fmt::format("there is no level {}", module.level));
  check.unique(module.dims, "dimension", [](const Dimension& d) -> const std::string& { return d.name; });
  check.unique(module.functions, "function", [](const ScalarFunction& f) -> const std::string& { return f.name; });
  check.unique(module.values, "value", [](const Value& v) -> const std::string& { return v.name; });
  for (const DimId d : module.dims.ids()) check.dimension(d);
  check.functions();
  check.values();
  check.buffers();
  check.laws(module.laws, "law");
  check.laws(module.assumptions, "assume");
  check.ranges();
  const bool maps =
      std::any_of(module.laws.begin(), module.laws.end(), [](const LawUse& u) { return u.reducer != no_fn; });
  if (module.level < 2 && maps) faults.add("laws of maps are listed", "level 1 relies on none");
}

}  // namespace kasen
