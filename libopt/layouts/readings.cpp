#include "libopt/layouts/readings.h"

#include <map>
#include <optional>
#include <set>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/sync/box_products.h"

namespace kasen {
namespace {

class Readings {
 public:
  Readings(Module& module, LawChecker& laws, Moves& moves, const CutChoices& choices)
      : m_(module), laws_(laws), moves_(moves), choices_(choices), sizes_({}) {}

  std::vector<Reading> all() {
    for_each_op(m_, [&](const Op& op, int number, int) { numbers_[&op] = number; });
    note_readers();
    for_each_op(m_, [&](const Op& op, int number, int) {
      number_ = number;
      one(op);
    });
    return std::move(readings_);
  }

 private:
  void note_readers() {
    std::map<ValueId, int> uses;
    for_each_op(m_, [&](const Op& op, int, int) {
      for (const ValueId v : op.operands) {
        if (++uses[v] == 1 && is_contraction(m_, op)) {
          only_reader_.insert(v);
        } else {
          only_reader_.erase(v);
        }
      }
    });
  }

  void one(const Op& op) {
    switch (row(op.code).group) {
      case OpGroup::vector:
      case OpGroup::shared:
        if (op.code == OpCode::reduce || is_view(op)) return passed_on(op);
        return elementwise(op);
      case OpGroup::axis:
        return is_grouping(op) ? grouping(op) : elementwise(op);
      case OpGroup::linear:
        return elementwise(op);
      case OpGroup::product:
      case OpGroup::contraction:
        return contraction(op);
      case OpGroup::list:
        return list(op);
      case OpGroup::control:
        return control(op);
      default:
        return;
    }
  }

  // ---- types as they are tried

  [[nodiscard]] bool is_cut(ValueId v) const { return !choices(v).empty(); }
  [[nodiscard]] std::vector<Cuts> choices(ValueId v) const { return choices_.of(m_.type(v).dims); }
  void set(ValueId v, const Cuts& cuts) { m_.value(v).type.cuts = cuts; }

  Reading& start(const Op& op, std::vector<std::size_t> operands, ValueId result) {
    Reading& reading = readings_.emplace_back();
    reading.op = number_;
    reading.operands = std::move(operands);
    for (const std::size_t i : reading.operands) reading.read.push_back(op.operands[i]);
    reading.result = result != no_value && is_cut(result) ? result : no_value;
    return reading;
  }

  // Tries the cuts of the result; `ways` gives those of each.
  template <class Ways>
  void for_results(Reading& reading, const Ways& ways) {
    if (reading.result == no_value) return reading.ways.push_back(ways(Cuts()));
    for (const Cuts& cuts : choices(reading.result)) {
      set(reading.result, cuts);
      reading.ways.push_back(ways(cuts));
    }
    set(reading.result, {});
  }

  // Shareds go on to all workers.
  [[nodiscard]] double to_all(ValueId made) const {
    return is_cut(made) ? 0 : moves_.along(m_.type(made), all_mesh_axes(m_));
  }

  // ---- operators

  // Each operand by itself. It is held along the axes that cut the operator otherwise, or is rearranged or sorted on
  // its way, or the parts of a scan take up carries.
  void elementwise(const Op& op) {
    const std::vector<State> states(op.operands.size(), State::part());
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      const ValueId v = op.operands[i];
      if (!is_cut(v)) continue;
      Reading& reading = start(op, {i}, op.results[0]);
      reading.decides = true;
      for_results(reading, [&](const Cuts& wanted) {
        std::vector<ReadingWay> ways;
        const double moved = i == 0 ? made_otherwise(op, wanted) : 0;
        const Cuts runs = lines_in_runs(m_, op, wanted);
        const double behind = runs == wanted ? 0 : moves_.relayout(m_.type(op.results[0]), runs, wanted);
        for (const Cuts& cuts : choices(v)) {
          set(v, cuts);
          const bool sorts = op.code == OpCode::sort || op.code == OpCode::argsort;
          if ((sorts || op.code == OpCode::scan) && !wanted.empty()) set(op.results[0], made_cuts(m_, op, wanted));
          const bool mask = op.code == OpCode::pick && i == 1;  // all workers have it, however elements go
          const MeshAxes held = is_uncut(cuts) ? 0 : mask ? all_mesh_axes(m_) : needed_axes(m_, op, i, states);
          ReadingWay whole{{{cuts, held}}, moved};
          if (!wanted.empty()) set(op.results[0], runs);
          if (const MeshAxes axes = wanted.empty() ? 0 : carried_axes(m_, op); axes != 0) {
            const MeshAxes apart = is_uncut(cuts) ? 0 : needed_axes(m_, op, i, states);
            ways.push_back({{{cuts, apart}}, moves_.carried(op, axes) + behind, true});
          }
          const bool straight = goes_straight(m_, op, i);
          // A concatenation that sends one operand straight sends all of them.
          const bool alone = op.operands.size() == 1 || op.code == OpCode::pick;
          if (!straight || alone) ways.push_back(std::move(whole));
          if (straight) ways.push_back({{{cuts, 0}}, moves_.rearranged(op, i, cuts, wanted), true});
          if (sorts_across(m_, op)) ways.push_back({{{cuts, 0}}, moves_.sorted(op) + behind, true});
        }
        set(v, {});
        return ways;
      });
    }
  }

  // Bytes of the result of an operator along an axis until it is cut as wanted. Its type is left as it is made.
  double made_otherwise(const Op& op, const Cuts& wanted) {
    if (row(op.code).group != OpGroup::axis || wanted.empty()) return 0;
    const Cuts made = made_cuts(m_, op, wanted);
    set(op.results[0], made);
    if (is_uncut(made)) return 0;  // all workers had the lines, and have the result
    return moves_.relayout(m_.type(op.results[0]), made, wanted);
  }

  // Reductions and views: the operand's cuts are the result's.
  void passed_on(const Op& op) {
    const ValueId v = op.operands[0], made = op.results[0];
    if (!is_cut(v)) return;
    Reading& reading = start(op, {0}, made);
    reading.decides = true;
    for_results(reading, [&](const Cuts& wanted) {
      std::vector<ReadingWay> ways;
      for (const Cuts& cuts : choices(v)) {
        set(v, cuts);
        ways.push_back({{{cuts, 0}}, behind(op, wanted)});
      }
      set(v, {});
      return ways;
    });
  }

  // A reduction whose keys are read beside its elements.
  void grouping(const Op& op) {
    const std::size_t walked = walked_operand(m_, op);
    const ValueId array = op.operands[walked], keys = op.operands[1];
    if (!is_cut(array)) return;
    const bool beside = walked == 0 && keys != array && is_cut(keys);
    Reading& reading =
        start(op, beside ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{walked}, op.results[0]);
    reading.decides = true;
    const std::vector<State> states(op.operands.size(), State::part());
    for_results(reading, [&](const Cuts& wanted) {
      std::vector<ReadingWay> ways;
      for (const Cuts& cuts : choices(array)) {
        set(array, cuts);
        const double moved = behind(op, wanted);
        for (const Cuts& others : beside ? choices(keys) : std::vector<Cuts>{Cuts()}) {
          ReadingWay way{{{cuts, 0}}, moved};
          if (beside) {
            set(keys, others);
            way.forms.push_back({others, is_uncut(others) ? 0 : needed_axes(m_, op, 1, states)});
          }
          ways.push_back(std::move(way));
        }
      }
      set(array, {});
      set(keys, {});
      return ways;
    });
  }

  // Bytes of a result of a reduction or view until it is cut as wanted.
  [[nodiscard]] double behind(const Op& op, const Cuts& wanted) {
    const Type& made = m_.type(op.results[0]);
    const bool reduces = op.code == OpCode::reduce || is_grouping(op);
    double moved = 0;
    if (reduces) {
      const Type& from = m_.type(op.operands[is_grouping(op) ? walked_operand(m_, op) : 0]);
      MeshAxes reduced = 0;
      for (std::size_t axis = 0; axis < from.dims.size(); ++axis) {
        if (op.over.empty() || contains(op.over, from.dims[axis])) reduced |= Layout(m_, from).cuts(axis);
      }
      moved = moves_.along(made, reduced) + (reduced == 0 ? 0 : to_all(op.results[0]));
    }
    if (wanted.empty()) return moved;
    const Cuts natural = reduces ? cuts_behind(m_, op, &wanted) : view_cuts(m_, op);
    return moved + moves_.relayout(made, natural, wanted);
  }

  // Both factors together. What the terms are reduced onto is cut as the result.
  void contraction(const Op& op) {
    Op factors = op;
    factors.operands.resize(2);
    std::vector<std::size_t> operands;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      if (is_cut(op.operands[i])) operands.push_back(i);
    }
    if (operands.empty()) return;
    Reading& reading = start(op, operands, op.results[0]);
    reading.decides = true;
    for_results(reading, [&](const Cuts& wanted) { return product_ways(factors, reading, wanted, 0); });
    if (only_reader_.contains(op.results[0])) repeated(op, factors, reading);
    if (is_onto(op) && is_cut(op.operands[2])) as_result(op, 2, op.results[0]);
  }

  // A product that sums nothing, for another contraction that alone reads it: all workers along the axes that cut one
  // of its dimensions can make it themselves.
  void repeated(const Op& op, const Op& factors, Reading& reading) {
    const bool sums = !labels_of(m_, factors).summed().empty();
    // Without a mesh of its own a plan has products where their results are (state_rules.cpp, rule 17).
    const bool own_mesh = m_.mesh.size() != 1 || m_.mesh[0].name != mesh_axis_name(Module(), 0);
    if (sums || !own_mesh || is_onto(op) || reading.result == no_value || reading.read.size() != 2) return;
    const std::vector<Cuts> all = choices(reading.result);
    for (std::size_t place = 0; place < all.size(); ++place) {
      set(reading.result, all[place]);
      for (const AxisCut& cut : all[place]) {
        const MeshAxes axes = cut.axes;
        if (cut.is_whole()) continue;
        std::vector<ReadingWay> ways = product_ways(factors, reading, all[place], axes);
        if (!ways.empty()) reading.made_along[{place, axes}] = std::move(ways);
      }
    }
    set(reading.result, {});
  }

  // `along`: all workers along these axes make the result; 0: its owners do.
  std::vector<ReadingWay> product_ways(const Op& factors, const Reading& reading, const Cuts& wanted, MeshAxes along) {
    std::vector<ReadingWay> ways;
    std::vector<Cuts> first = choices(reading.read[0]);
    const bool twice = reading.read.size() == 2, same = twice && reading.read[0] == reading.read[1];
    std::vector<Cuts> second = twice && !same ? choices(reading.read[1]) : std::vector<Cuts>{Cuts()};
    for (const Cuts& one : first) {
      set(reading.read[0], one);
      for (const Cuts& other : second) {
        if (twice && !same) set(reading.read[1], other);
        if (auto way = product_way(factors, reading, wanted, along)) ways.push_back(*std::move(way));
      }
    }
    for (const ValueId v : reading.read) set(v, {});
    return ways;
  }

  std::optional<ReadingWay> product_way(const Op& factors, const Reading& reading, const Cuts& wanted, MeshAxes along) {
    const ValueId made = factors.results[0];
    std::optional<ProductWay> found = along == 0 ? way_with_cuts(m_, factors, wanted, sizes_, laws_)
                                                 : way_made_along(m_, factors, wanted, along, sizes_, laws_);
    ReadingWay way;
    if (!found && along != 0) return std::nullopt;
    if (!found) {
      found = best_way(m_, factors, wanted, sizes_, laws_);
      way.moved = moves_.relayout(m_.type(made), found->cuts, wanted);
      set(made, wanted);
    }
    way.moved += found->contributed;
    for (std::size_t k = 0; k < reading.read.size(); ++k) {
      const Cuts& cuts = m_.type(reading.read[k]).cuts;
      way.forms.push_back({cuts, is_uncut(cuts) ? 0 : found->held.at(reading.operands[k])});
    }
    way.moved += to_all(made);
    return way;
  }

  // A value that takes the cuts of another one.
  void as_result(const Op& op, std::size_t operand, ValueId like) {
    if (!is_cut(op.operands[operand])) return;
    Reading& reading = start(op, {operand}, like);
    for_results(reading, [&](const Cuts& cuts) { return std::vector<ReadingWay>{{{{cuts, 0}}, 0}}; });
  }

  void list(const Op& op) {
    if (op.code == OpCode::make_list) return as_result(op, 0, op.results[0]);
    if (op.code == OpCode::put) return as_result(op, 2, op.operands[0]);
    if (op.code == OpCode::push) return as_result(op, 1, op.operands[0]);
    if (op.code != OpCode::get || !is_cut(op.operands[0])) return;
    Reading& reading = start(op, {0}, op.results[0]);
    for_results(reading, [&](const Cuts& wanted) {
      std::vector<ReadingWay> ways;
      for (const Cuts& cuts : choices(op.operands[0])) {
        ways.push_back({{{cuts, 0}}, moves_.relayout(m_.type(op.results[0]), cuts, wanted)});
      }
      return ways;
    });
  }

  void control(const Op& op) {
    const bool branches = op.code == OpCode::if_else;
    const std::size_t bounds = op.code == OpCode::for_loop ? 2 : 0;
    if (!branches) {
      for (std::size_t k = 0; k < op.results.size(); ++k) as_result(op, bounds + k, op.results[k]);
    }
    for (const Block& block : op.blocks) {
      const Op& yield = block.ops.back();
      number_ = numbers_.at(&yield);
      for (std::size_t k = 0; k < op.results.size(); ++k) as_result(yield, k, op.results[k]);
    }
  }

  Module& m_;
  LawChecker& laws_;
  Moves& moves_;
  const CutChoices& choices_;
  const ProductSizes sizes_;
  std::map<const Op*, int> numbers_;
  int number_ = -1;                // of the operator at hand
  std::set<ValueId> only_reader_;  // values that one contraction alone reads, once
  std::vector<Reading> readings_;
};

}  // namespace

std::vector<Reading> readings_of(Module& sized, LawChecker& laws, Moves& moves, const CutChoices& choices) {
  return Readings(sized, laws, moves, choices).all();
}

}  // namespace kasen
