#include "libopt/cost/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/liveness.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/cost/extent.h"
#include "libopt/cost/rules.h"
#include "libopt/cost/sizes.h"

namespace kasen {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string op_text(const Module& module, const Op& op) {
  const auto names = [&](const std::vector<ValueId>& values) {
    std::vector<std::string> list;
    for (const ValueId v : values) list.push_back(module.value(v).name);
    return joined(list);
  };
  std::string text;
  if (!op.results.empty()) text = names(op.results) + " = ";
  text += row(op.code).name;
  if (op.code == OpCode::region) text += fmt::format(" {}", region_name(op.kind));
  std::vector<std::string> functions;
  for (const FnId fn : op.fns) functions.push_back(module.fn(fn).name);
  const bool labels = row(op.code).text == TextForm::labels;
  if (!functions.empty()) text += fmt::format("[{}{}]", joined(functions), labels ? "; " + op.name : "");
  if (!op.name.empty() && !labels) text += fmt::format(" \"{}\"", op.name);
  if (!op.operands.empty()) text += fmt::format(" {}", names(op.operands));
  return text;
}

std::string states_text(const Module& module, const Op& op) {
  std::vector<std::string> states;
  for (const ValueId v : op.results) {
    if (module.type(v).state.placed()) states.push_back(state_text(module, module.type(v).state));
  }
  return joined(states);
}

class Measurement {
 public:
  explicit Measurement(const Module& module) : module_(module), context_(cost_context(module)), liveness_(module) {
    report_.program = module.name;
    report_.level = module.level;
    report_.unplaced = module.level < 2;
    for_each_op(module, [&](const Op& op, int, int) {
      if (op.code == OpCode::size) sizes_[op.results.at(0)] = op.dim;
      if ((op.code != OpCode::literal && op.code != OpCode::param) || op.literal.size() != 1) return;
      (op.code == OpCode::literal ? literals_ : defaults_)[op.results.at(0)] = op.literal[0].i;
    });
  }

  CostReport run() {
    walk(module_.body, Frame{});
    add_up();
    return std::move(report_);
  }

 private:
  struct Frame {
    int parent = -1, loop = -1, region = -1, depth = 0;
    Polynomial executions = 1;
  };

  void walk(const Block& block, const Frame& frame) {
    for (const Op& op : block.ops) {
      const int number = static_cast<int>(report_.rows.size());
      add_row(op, number, frame);
      const OpLiveness& handed_on = liveness_.at(number);
      const std::array ends{op.code == OpCode::if_else ? &handed_on.then_branch : &handed_on.back,
                            &handed_on.else_branch};
      for (size_t b = 0; b < op.blocks.size(); ++b) {
        walk(op.blocks[b], inside(op, number, b, frame));
        const int yield = static_cast<int>(report_.rows.size()) - 1;
        EndCost end{yield, copy_cost(context_, *ends.at(b))};
        if (end.actual != Cost{}) report_.rows[static_cast<size_t>(number)].ends.push_back(std::move(end));
      }
    }
  }

  void add_row(const Op& op, int number, const Frame& frame) {
    CostRow made;
    made.number = number;
    made.depth = frame.depth;
    made.parent = frame.parent;
    made.loop = frame.loop;
    made.region = frame.region;
    made.code = op.code;
    made.text = op_text(module_, op);
    made.state = states_text(module_, op);
    made.where = op.where;
    made.speculated = op.speculated;
    made.executions = frame.executions;
    take_batches(op, made);
    if (frame.region < 0) {
      made.model = model_cost(context_, op);
      made.actual = actual_cost(context_, op);
      const OpLiveness& copies = liveness_.at(number);
      for (const auto* group : {&copies.entry, &copies.exit, &copies.element}) {
        made.actual += copy_cost(context_, *group);
      }
      made.actual += copy_cost(context_, copies.list, 1);  // put and push replace one array
      made.actual += view_cost(op);
    }
    report_.rows.push_back(std::move(made));
  }

  // Costs are exact where all that it goes over are batches of one loop, and nothing but loops of known turns stand
  // between.
  void take_batches(const Op& op, CostRow& made) const {
    std::set<int> loops;
    for (const ValueId v : op.operands) {
      if (const auto batch = context_.batches.find(v); batch != context_.batches.end()) loops.insert(batch->second);
    }
    made.of_batches = !loops.empty();
    if (loops.size() != 1 || *loops.begin() < 0) return;
    for (int at = made.parent; at >= 0; at = report_.rows[static_cast<size_t>(at)].parent) {
      if (at == *loops.begin()) made.each_batch = at;
      const auto loop =
          std::find_if(report_.loops.begin(), report_.loops.end(), [&](const LoopCost& l) { return l.number == at; });
      if (made.each_batch >= 0 || loop == report_.loops.end() || !loop->trips.constant()) return;
    }
  }

  // A view that its list's owner would overwrite is copied where it is made.
  Cost view_cost(const Op& op) const {
    if (op.code != OpCode::get || !liveness_.copied_view(op.results.at(0))) return {};
    return copy_cost(context_, std::array{Binding{op.results[0], op.results[0], Handover::copy}});
  }

  Frame inside(const Op& op, int number, size_t block, const Frame& frame) {
    Frame inner = frame;
    inner.parent = number;
    ++inner.depth;
    if (op.code == OpCode::region) inner.region = number;
    if (op.code == OpCode::while_loop || op.code == OpCode::for_loop) {
      report_.loops.push_back(loop(op, number, frame.loop));
      inner.loop = number;
      inner.executions = frame.executions * report_.loops.back().trips;
    }
    if (op.code == OpCode::if_else) {
      const Polynomial taken(Symbol{SymbolKind::taken, "", {}, number});
      inner.executions = frame.executions * (block == 0 ? taken : Polynomial(1) - taken);
    }
    return inner;
  }

  LoopCost loop(const Op& op, int number, int parent) const {
    LoopCost made;
    made.number = number;
    made.parent = parent;
    made.where = op.where;
    made.trips = Polynomial(Symbol{SymbolKind::trips, "", {}, number});
    if (op.code == OpCode::for_loop) {
      const auto lo = bound(op.operands.at(0)), hi = bound(op.operands.at(1));
      if (const auto size = sizes_.find(op.operands[1]); lo.value == 0 && !lo.is_default && size != sizes_.end()) {
        made.trips = whole_size(module_, size->second);
        return made;
      }
      if (lo.value && hi.value) {
        const std::int64_t iterations = std::max<std::int64_t>(*hi.value - *lo.value, 0);
        if (!lo.is_default && !hi.is_default) {
          made.trips = Polynomial(iterations);
          return made;
        }
        made.expected = iterations;
      }
    }
    if (op.expect >= 0) made.expected = op.expect;
    return made;
  }

  // A bound of a `for` as far as the text states it: a literal, or a parameter's default.
  struct Bound {
    std::optional<std::int64_t> value;
    bool is_default = false;
  };
  Bound bound(ValueId value) const {
    if (const auto it = literals_.find(value); it != literals_.end()) return {it->second, false};
    if (const auto it = defaults_.find(value); it != defaults_.end()) return {it->second, true};
    return {};
  }

  // Executions of a row in one iteration of a loop around it: those in the run without the factors of that loop and of
  // all outer ones. They are products, so it is enough to build them again from the inside out.
  // `without`: a loop whose own factor is left out, too; `loop` -1: in the run.
  Polynomial per_iteration(const CostRow& row, int loop, int without = -1) const {
    Polynomial times(1);
    int child = row.number;
    for (int at = row.parent; at >= 0; at = report_.rows[static_cast<size_t>(at)].parent) {
      if (at == loop) return times;
      if (at != without) times *= block_executions(at, child);
      child = at;
    }
    if (loop < 0) return times;
    throw InternalError("a row outside the loop that it is charged to");
  }

  // Executions of the block of `parent` that holds `child`, for one execution of `parent`.
  Polynomial block_executions(int parent, int child) const {
    for (const LoopCost& l : report_.loops) {
      if (l.number == parent) return l.trips;
    }
    if (report_.rows[static_cast<size_t>(parent)].code != OpCode::if_else) return 1;
    const Polynomial taken(Symbol{SymbolKind::taken, "", {}, parent});
    return in_first_block(parent, child) ? taken : Polynomial(1) - taken;
  }

  // The first block ends with the first yield directly below the `if`.
  bool in_first_block(int parent, int child) const {
    for (size_t n = static_cast<size_t>(parent) + 1; n < report_.rows.size(); ++n) {
      const CostRow& row = report_.rows[n];
      if (row.parent == parent && row.code == OpCode::yield) return child <= static_cast<int>(n);
    }
    throw InternalError("an if without a yield");
  }

  void add_up() {
    for (const CostRow& row : report_.rows) {
      charge(row, row.model, row.actual);
      for (const EndCost& end : row.ends) charge(report_.rows[static_cast<size_t>(end.yield)], {}, end.actual);
    }
  }

  // Charges costs that arise each time `row` runs to the program and to every loop around it.
  void charge(const CostRow& row, const Cost& model, const Cost& actual) {
    const auto all = [&](const Cost& cost, const Polynomial& times, int loop) {
      if (row.each_batch < 0 || (loop >= 0 && !encloses(loop, report_.rows[static_cast<size_t>(row.each_batch)])))
        return repeated(cost, times);
      return repeated_by_batches(cost, times, per_iteration(row, loop, row.each_batch));
    };
    report_.model += all(model, row.executions, -1);
    report_.actual += all(actual, row.executions, -1);
    for (LoopCost& l : report_.loops) {
      if (!encloses(l.number, row)) continue;
      const Polynomial& times = l.runs.try_emplace(row.number, per_iteration(row, l.number)).first->second;
      l.model += all(model, times, l.number);
      l.actual += all(actual, times, l.number);
    }
  }

  bool encloses(int loop, const CostRow& row) const {
    for (int at = row.parent; at >= 0; at = report_.rows[static_cast<size_t>(at)].parent) {
      if (at == loop) return true;
    }
    return false;
  }

  const Module& module_;
  CostContext context_;
  Liveness liveness_;
  CostReport report_;
  std::map<ValueId, std::int64_t> literals_, defaults_;
  std::map<ValueId, DimId> sizes_;  // of dimensions
};

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  read += other.read;
  written += other.written;
  network += other.network;
  buffers += other.buffers;
  read_elements += other.read_elements;
  written_elements += other.written_elements;
  network_elements += other.network_elements;
  return *this;
}

Cost repeated(const Cost& cost, const Polynomial& times) {
  return {cost.read * times,          cost.written * times,          cost.network * times,         cost.buffers,
          cost.read_elements * times, cost.written_elements * times, cost.network_elements * times};
}

CostReport measure(const Module& module) { return Measurement(module).run(); }

CostReport measure(const Module& module, const Sizes& sizes) {
  if (sizes.workers != 1 || !module.mesh.empty() || !names_layouts(module)) return measure(module);
  Module alone = module;
  alone.mesh = mesh_of(module, 1);
  return measure(alone);
}

Polynomial printed_form(const Polynomial& polynomial) {
  return polynomial.replace([](const Symbol& symbol) {
    if (symbol.kind == SymbolKind::slaves && is_all(symbol.set)) {
      const Polynomial workers(Symbol{SymbolKind::workers, "", {}, -1});
      return (workers - Polynomial(1)) * Polynomial(Symbol{SymbolKind::size, symbol.name, {}, -1});
    }
    return Polynomial(symbol.kind == SymbolKind::whole ? Symbol{SymbolKind::size, symbol.name, {}, -1} : symbol);
  });
}

Polynomial paper_form(const Polynomial& polynomial) {
  return printed_form(polynomial).replace([](const Symbol& symbol) {
    return Polynomial(symbol.kind == SymbolKind::slaves ? Symbol{SymbolKind::slaves, symbol.name, {}, -1} : symbol);
  });
}

Cost copy_cost(const CostContext& c, std::span<const Binding> bindings, std::int64_t spared) {
  Cost cost;
  for (const Binding& binding : bindings) {
    if (binding.how != Handover::copy || c.type(binding.to).dims.empty() || c.type(binding.to).sparse) continue;
    const Polynomial arrays(std::max<std::int64_t>(c.type(binding.from).list, 1) - spared);
    cost.read += stored_bytes(c, binding.from) * arrays;
    cost.written += stored_bytes(c, binding.to) * arrays;
  }
  return cost;
}

}  // namespace kasen
