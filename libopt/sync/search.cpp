#include "libopt/sync/search.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "libcore/base/error.h"
#include "libcore/ir/module.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/sync/placer.h"
#include "libopt/sync/plan_memo.h"
#include "libopt/sync/plan_notes.h"
#include "libopt/sync/units.h"
#include "libopt/time/price.h"

namespace kasen {
namespace {

constexpr std::array order{SyncMode::hybrid, SyncMode::eager, SyncMode::lazy};
using Modes = std::vector<SyncMode>;  // by unit

class Search {
 public:
  Search(const Module& module, const SyncUnits& units, PassContext& context)
      : module_(module),
        units_(units),
        context_(context),
        tried_(quiet(context.options)),
        memo_(context.options.memo ? context.options.memo : std::make_shared<PlanMemo>()),
        spaces_differ_(context.options.strategy != Strategy::none && Needs(module) != Needs(module, true)),
        operators_(operators_of(module)),
        by_values_(units_by_values(units)) {}

  // Returns true if there is a choice where the ways are forced.
  [[nodiscard]] bool spaces_differ() const { return spaces_differ_; }
  [[nodiscard]] Placement placement(const Modes& by_unit) {
    const bool in_one_space = spaces_differ_ && known(by_unit).in_one_space;
    return {by_value(by_unit), in_one_space};
  }
  // Notes the sizes that decided whether operands have common ghosts.
  void tell_spaces(const Modes& chosen) {
    PlanNotes& notes = *context_.options.notes;
    if (!known(chosen).decided_by_form) notes.assume(trials().pricing.defaults());
  }

  Modes best() {
    double combinations = 1;
    for (int u = 0; u < units_.count(); ++u) combinations *= static_cast<double>(order.size());
    Modes chosen(static_cast<size_t>(units_.count()), order[0]);
    if (chosen.empty()) return chosen;
    const bool few = combinations <= most_combinations && combinations * operators_ <= most_operators;
    exhaustive_ = true;
    // Others take long, and greedy's trials serve all strategies that are compared.
    const bool small = few && combinations * operators_ <= most_of_any_strategy;
    if (!small && tried_.strategy != Strategy::none) tried_.strategy = Strategy::greedy;
    if (few) return every(chosen, 0, chosen);
    for (const SyncMode mode : order) take_cheaper(Modes(chosen.size(), mode), chosen);
    exhaustive_ = false;
    while (improve(chosen)) {
    }
    return chosen;
  }

  // Notes the cost of each unit in other modes, with the others as they are.
  void tell(const Modes& chosen, bool searched) {
    PlanNotes& notes = *context_.options.notes;
    notes.machine = context_.options.machine;
    bool sizes_decide = false;
    for (int u = 0; u < units_.count(); ++u) {
      SyncNote note{units_.unit(u), chosen[static_cast<size_t>(u)], {}};
      for (size_t k = 0; k < order.size(); ++k) {
        Modes other = chosen;
        other[static_cast<size_t>(u)] = order.at(k);
        if (may_price(other)) note.prices.emplace_back(order.at(k), price(other).actual);
      }
      notes.sync.push_back(std::move(note));
    }
    notes.sync_cut = searched && cut_;
    for (const auto& [modes, made] : known_) {
      sizes_decide = sizes_decide || !never_dearer(price(chosen).actual_form, made.price.actual_form, notes.machine);
    }
    notes.sync_candidates = searched ? static_cast<int>(known_.size()) : 0;
    notes.taken = trials().pricing.defaults();
    if (searched && sizes_decide) notes.assume(notes.taken);
  }

 private:
  struct Way {
    PlanPrice price;
    bool in_one_space = false;
    bool decided_by_form = true;  // for all sizes
  };

  const PlanPrice& price(const Modes& modes) { return known(modes).price; }

  // A plan takes time with each of its operators. Of large programs only some are priced.
  [[nodiscard]] bool may_price(const Modes& modes) {
    const bool may = exhaustive_ || planned_ < most_operators || known_.count(modes) > 0;
    cut_ = cut_ || !may;
    return may;
  }

  const Way& known(const Modes& modes) {
    const auto [place, fresh] = known_.try_emplace(modes);
    Way& way = place->second;
    if (!fresh) return way;
    way.price = priced({by_value(modes), false});
    if (!spaces_differ_) return way;
    const PlanPrice& common = priced({by_value(modes), true});
    const MachineProfile& machine = context_.options.machine;
    way.in_one_space = dearer(way.price.actual.seconds, common.actual.seconds);
    const PlanPrice& other = way.in_one_space ? way.price : common;
    const PlanPrice& taken = way.in_one_space ? common : way.price;
    way.decided_by_form = never_dearer(taken.actual_form, other.actual_form, machine);
    way.price = taken;
    return way;
  }

  const PlanPrice& priced(Placement placement) {
    Module plan = module_;
    Placer(plan, context_.laws, context_.options, std::move(placement)).run();
    const std::string text = print_module(plan, false);
    const auto [same, unseen] = by_text_.try_emplace(text, nullptr);  // many ways give one placement
    if (unseen) {
      same->second = &planned(std::move(plan), text);
      planned_ += same->second->operators;
    }
    return same->second->price;
  }

  const PlanMemo::Plan& planned(Module plan, const std::string& text) {
    const auto [known, fresh] = trials().by_text.try_emplace(text);
    if (fresh) {
      PassContext quietly{context_.laws, tried_};
      run_behind("place", plan, quietly);
      known->second = {trials().pricing(plan), operators_of(plan)};
    }
    return known->second;
  }

  PlanMemo::Trials& trials() {
    const std::pair way{tried_.strategy, tried_.move_statements};
    const auto known = memo_->trials.find(way);
    if (known != memo_->trials.end()) return known->second;
    Pricing pricing(context_.options.sizes, context_.options.machine);
    return memo_->trials.emplace(way, PlanMemo::Trials{std::move(pricing), {}}).first->second;
  }

  [[nodiscard]] IdMap<ValueId, SyncMode> by_value(const Modes& by_unit) const {
    IdMap<ValueId, SyncMode> modes;
    for (const ValueId v : module_.values.ids()) {
      const int unit = units_.of(v);
      modes.push_back(unit < 0 ? SyncMode::hybrid : by_unit[static_cast<size_t>(unit)]);
    }
    return modes;
  }

  bool take_cheaper(const Modes& other, Modes& chosen) {
    if (!may_price(other)) return false;
    if (!dearer(price(chosen).actual.seconds, price(other).actual.seconds)) return false;
    chosen = other;
    return true;
  }

  Modes every(Modes modes, size_t unit, Modes chosen) {
    if (unit == modes.size()) {
      take_cheaper(modes, chosen);
      return chosen;
    }
    for (const SyncMode mode : order) {
      modes[unit] = mode;
      chosen = every(modes, unit + 1, std::move(chosen));
    }
    return chosen;
  }

  bool improve(Modes& chosen) {
    bool better = false;
    for (const size_t u : by_values_) {
      for (const SyncMode mode : order) {
        Modes other = chosen;
        other[u] = mode;
        better = take_cheaper(other, chosen) || better;
      }
    }
    return better;
  }

  [[nodiscard]] static int operators_of(const Module& module) {
    int operators = 0;
    for_each_op(module, [&](const Op& /*op*/, int /*number*/, int /*depth*/) { ++operators; });
    return operators;
  }

  // Those with most values come first; of equal ones, in program order.
  [[nodiscard]] static std::vector<size_t> units_by_values(const SyncUnits& units) {
    std::vector<size_t> places(static_cast<size_t>(units.count()));
    std::iota(places.begin(), places.end(), size_t{0});
    std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) {
      return units.unit(static_cast<int>(a)).names.size() > units.unit(static_cast<int>(b)).names.size();
    });
    return places;
  }

  const Module& module_;
  const SyncUnits& units_;
  PassContext& context_;
  OptimizeOptions tried_;
  const std::shared_ptr<PlanMemo> memo_;
  bool spaces_differ_;
  const int operators_;
  const std::vector<size_t> by_values_;  // units
  int planned_ = 0;                      // operators of the plans so far
  bool exhaustive_ = false;              // any way may be priced
  bool cut_ = false;                     // some way was not priced
  std::map<Modes, Way> known_;
  std::map<std::string, const PlanMemo::Plan*> by_text_;
};

}  // namespace

Placement choose_sync(const Module& module, PassContext& context) {
  const OptimizeOptions& options = context.options;
  const bool search = options.sync == SyncMode::automatic;
  const bool explain = options.notes != nullptr && options.notes->explain;
  const SyncUnits units(module);
  Search prices(module, units, context);
  if (!search && !explain && !prices.spaces_differ())
    return {IdMap<ValueId, SyncMode>(module.values.size(), options.sync), false};
  const Modes chosen = search ? prices.best() : Modes(static_cast<size_t>(units.count()), options.sync);
  Placement placement = prices.placement(chosen);
  if (!search) placement.modes.assign(module.values.size(), options.sync);
  if (options.notes == nullptr) return placement;
  if (search || explain) prices.tell(chosen, search);
  if (prices.spaces_differ()) prices.tell_spaces(chosen);
  return placement;
}

}  // namespace kasen
