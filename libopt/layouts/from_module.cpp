#include "libopt/layouts/from_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "libcore/analysis/boxes.h"
#include "libcore/ir/layout.h"

namespace kasen {

using tiling::Assignment;
using tiling::VariableId;

namespace {

// Choices of one variable beyond these are left out; the most useful copies stay.
constexpr std::size_t most_options = 24;

std::string option_name(const Module& module, const std::vector<DimId>& dims, const TilingOption& option) {
  std::string text = cuts_text(module, dims, option.cuts);
  for (const CopyForm& form : option.kept) {
    text += " + " + cuts_text(module, dims, form.cuts);
    if (form.held != 0) text += " held along " + mesh_axes_text(module, form.held);
  }
  return text;
}

}  // namespace

TilingProblem::TilingProblem(const Module& sized, LawChecker& laws, TilingInput input)
    : m_(sized), input_(std::move(input)), choices_(m_, input_.fixed), moves_(m_) {
  readings_ = readings_of(m_, laws, moves_, choices_);
  note_runs();
  group_values();
  make_variables();
  make_factors();
}

// ---- variables

void TilingProblem::join(ValueId a, ValueId b) {
  const auto root = [&](ValueId v) {
    while (leader_[v] != v) v = leader_[v];
    return v;
  };
  leader_[root(b)] = root(a);
}

void TilingProblem::group_values() {
  leader_.resize(m_.values.size(), no_value);
  for (const ValueId v : m_.values.ids()) leader_[v] = v;
  for_each_op(m_, [&](const Op& op, int, int) {
    if (op.code == OpCode::put || op.code == OpCode::push) join(op.operands[0], op.results[0]);
    if (op.code != OpCode::while_loop && op.code != OpCode::for_loop) return;
    const std::size_t first_arg = op.code == OpCode::for_loop ? 1 : 0;
    for (std::size_t k = 0; k < op.results.size(); ++k) join(op.blocks[0].args[first_arg + k], op.results[k]);
  });
}

void TilingProblem::note_runs() {
  made_runs_.resize(m_.values.size(), 1);
  std::map<const Op*, int> numbers;
  for_each_op(m_, [&](const Op& op, int number, int) { numbers[&op] = number; });
  for_each_op(m_, [&](const Op& op, int number, int) {
    for (const ValueId v : op.results) made_runs_[v] = input_.runs(number);
    for (const Block& block : op.blocks) {  // its arguments are made as often as its last operator runs
      for (const ValueId arg : block.args) made_runs_[arg] = input_.runs(numbers.at(&block.ops.back()));
    }
  });
}

void TilingProblem::make_variables() {
  variable_of_.resize(m_.values.size(), VariableId(-1));
  for (const ValueId v : m_.values.ids()) {
    if (possible_cuts(m_, m_.type(v).dims).empty()) continue;
    ValueId root = v;
    while (leader_[root] != root) root = leader_[root];
    if (variable_of_[root] < 0) variable_of_[root] = variables_.push_back({root, {}});
    variable_of_[v] = variable_of_[root];
    TilingVariable& variable = variables_[variable_of_[v]];
    if (made_runs_[v] > made_runs_[variable.main]) variable.main = v;
    if (const auto it = input_.fixed.find(v); it != input_.fixed.end()) fixed_[variable_of_[v]] = it->second;
  }
  readers_.resize(variables_.size());
  for (std::size_t r = 0; r < readings_.size(); ++r) {
    for (const ValueId v : readings_[r].read) {
      std::vector<std::size_t>& readers = readers_[variable_of_[v]];
      if (variables_[variable_of_[v]].main == v && !contains(readers, r)) readers.push_back(r);
    }
  }
  for (const VariableId id : variables_.ids()) {
    TilingVariable& variable = variables_[id];
    variable.options = options_of(id);
    const Type& type = m_.type(variable.main);
    tiling::Variable made{m_.value(variable.main).name, {}};
    for (const TilingOption& option : variable.options) {
      made.choices.push_back({option_name(m_, type.dims, option), memory(id, option)});
    }
    (void)graph_.add(std::move(made));
  }
}

// Forms in which several readers may want the variable's main value; with a budget, cuts that one wants more often than
// the value is made.
std::vector<CopyForm> TilingProblem::shared_forms(VariableId id) const {
  const ValueId main = variables_[id].main;
  std::map<CopyForm, std::set<std::size_t>> wanted;
  for (const std::size_t r : readers_[id]) {
    const Reading& reading = readings_[r];
    for (std::size_t k = 0; k < reading.read.size(); ++k) {
      if (reading.read[k] != main) continue;
      const bool often = input_.budget && input_.runs(reading.op) > made_runs_[main];
      for (const std::vector<ReadingWay>& ways : reading.ways) {
        for (const ReadingWay& way : ways) {
          wanted[way.forms[k]].insert(2 * r);
          if (often && way.forms[k].held == 0) wanted[way.forms[k]].insert(2 * r + 1);
        }
      }
    }
  }
  std::vector<std::pair<std::size_t, CopyForm>> forms;
  for (const auto& [form, readers] : wanted) {
    if (readers.size() > 1) forms.emplace_back(readers.size(), form);
  }
  std::stable_sort(forms.begin(), forms.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<CopyForm> sorted;
  for (auto& [readers, form] : forms) sorted.push_back(std::move(form));
  return sorted;
}

// Where several workers can make the value themselves, for its one reader (Reading::made_along).
std::vector<TilingOption> TilingProblem::repeated_options(VariableId id, const std::vector<TilingOption>& alone) const {
  std::vector<TilingOption> options;
  for (const Reading& reading : readings_) {
    if (reading.result != variables_[id].main) continue;
    for (const auto& made : reading.made_along) {
      const auto [place, axes] = made.first;
      const auto same_cuts = [at = place](const TilingOption& option) { return option.place == at; };
      const auto one = std::find_if(alone.begin(), alone.end(), same_cuts);
      if (one != alone.end()) options.push_back({one->cuts, place, {{one->cuts, axes}}, axes});
    }
  }
  return options;
}

std::vector<TilingOption> TilingProblem::options_of(VariableId id) const {
  const ValueId main = variables_[id].main;
  const std::vector<Cuts> cuts = choices_.of(m_.type(main).dims);  // those in blocks may please neighbours
  const std::size_t possible = possible_cuts(m_, m_.type(main).dims).size();
  const auto fixed = fixed_.find(id);
  std::vector<TilingOption> options;
  for (std::size_t place = 0; place < cuts.size(); ++place) {
    const bool asked = fixed != fixed_.end();
    if (asked ? fixed->second == cuts[place] : place < possible || has_blocks(cuts[place]))
      options.push_back({cuts[place], place, {}});
  }
  if (m_.type(main).list > 0) return options;
  const std::size_t alone = options.size();
  if (std::vector<TilingOption> more = repeated_options(id, options); !more.empty()) {
    options.insert(options.end(), more.begin(), more.end());
    return options;
  }
  for (const CopyForm& form : shared_forms(id)) {
    for (std::size_t i = 0; i < alone; ++i) {
      if (options.size() >= std::max(alone, most_options)) return options;
      if (form.held == 0 && form.cuts == options[i].cuts) continue;
      options.push_back({options[i].cuts, options[i].place, {form}});
    }
  }
  return options;
}

double TilingProblem::kept_cost(VariableId id, const TilingOption& option) const {
  const ValueId main = variables_[id].main;
  double cost = 0;
  if (option.made != 0) return 0;  // its operator's ways have the price
  for (const CopyForm& form : option.kept)
    cost += form_cost(main, {option.cuts, option.place, {}}, form, made_runs_[main]);
  return cost;
}

// Bytes on a worker.
double TilingProblem::memory(VariableId id, const TilingOption& option) const {
  if (!input_.budget) return 0;
  double bytes = 0;
  for (const CopyForm& form : option.kept) {
    if (form.cuts != option.cuts) bytes += moves_.array(m_.type(variables_[id].main)) / mesh_workers(m_);
  }
  return std::ceil(bytes);
}

// ---- factors

const TilingOption& TilingProblem::option(ValueId value, const Assignment& choices) const {
  const VariableId id = variable_of_[value];
  return variables_[id].options.at(choices[id]);
}

// Bytes to make a form of a value, `runs` times.
double TilingProblem::form_cost(ValueId value, const TilingOption& option, const CopyForm& form, double runs) const {
  const bool main = variables_[variable_of_[value]].main == value;
  bool moved = form.cuts == option.cuts;
  if (moved && form.held == 0) return 0;
  const Type& type = m_.type(value);
  if (!moved && type.list > 0) return tiling::forbidden;
  for (const CopyForm& kept : option.kept) {
    if (!main) break;
    if (kept == form) return 0;
    moved = moved || kept.cuts == form.cuts;
  }
  double cost = moves_.along(type, is_uncut(form.cuts) ? all_mesh_axes(m_) : form.held);
  if (!moved) cost += moves_.relayout(type, option.cuts, form.cuts);
  return cost * runs;
}

// With a budget, a copy with other cuts that is not kept.
bool TilingProblem::is_made_anew(ValueId value, const TilingOption& option, const Cuts& cuts) const {
  if (!input_.budget || cuts == option.cuts) return false;
  const bool main = variables_[variable_of_[value]].main == value;
  const auto same_cuts = [&](const CopyForm& kept) { return kept.cuts == cuts; };
  return !main || std::none_of(option.kept.begin(), option.kept.end(), same_cuts);
}

// The same forms stand in many ways: each is priced once for each option of its value.
TilingProblem::FormCosts TilingProblem::form_costs(const Reading& reading) const {
  const double runs = input_.runs(reading.op);
  FormCosts made;
  made.costs.resize(reading.read.size());
  std::vector<std::map<CopyForm, std::size_t>> places(reading.read.size());
  const auto place_of = [&](std::size_t k, const CopyForm& form) {
    const auto [it, is_new] = places[k].try_emplace(form, places[k].size());
    if (!is_new) return it->second;
    const ValueId v = reading.read[k];
    std::vector<double>& costs = made.costs[k].emplace_back();
    for (const TilingOption& from : variables_[variable_of_[v]].options) {
      const bool anew = is_made_anew(v, from, form.cuts);
      costs.push_back(form_cost(v, from, form, anew ? std::max(runs, made_runs_[v]) : made_runs_[v]));
    }
    return it->second;
  };
  const auto add = [&](const std::vector<ReadingWay>& ways) {
    std::vector<std::size_t>& forms = made.forms[ways.data()];
    for (const ReadingWay& way : ways) {
      for (std::size_t k = 0; k < way.forms.size(); ++k) forms.push_back(place_of(k, way.forms[k]));
    }
  };
  for (const std::vector<ReadingWay>& ways : reading.ways) add(ways);
  for (const auto& [how, ways] : reading.made_along) add(ways);
  return made;
}

const std::vector<ReadingWay>& TilingProblem::ways_of(const Reading& reading, const Assignment& choices) const {
  if (reading.result == no_value) return reading.ways.at(0);
  const TilingOption& made = option(reading.result, choices);
  return made.made == 0 ? reading.ways.at(made.place) : reading.made_along.at({made.place, made.made});
}

TilingProblem::Priced TilingProblem::best(const Reading& reading, const FormCosts& forms,
                                          const Assignment& choices) const {
  const std::vector<ReadingWay>& ways = ways_of(reading, choices);
  const double runs = input_.runs(reading.op);
  Priced least{nullptr, tiling::forbidden};
  auto form = forms.forms.at(ways.data()).begin();
  for (const ReadingWay& way : ways) {
    double cost = way.moved * runs;
    for (std::size_t k = 0; k < way.forms.size(); ++k, ++form)
      cost += forms.costs[k][*form][choices[variable_of_[reading.read[k]]]];
    if (cost < least.cost) least = {&way, cost};
  }
  return least;
}

void TilingProblem::make_factors() {
  const auto add = [&](int op, const std::vector<VariableId>& among, const auto& price) {
    std::optional<tiling::Factor> factor = priced_factor(graph_, among, price);
    if (!factor) return;
    graph_.add(*std::move(factor));
    ops_.push_back(op);
  };
  for (const VariableId id : variables_.ids()) {
    add(-1, {id}, [&](const Assignment& at) { return kept_cost(id, variables_[id].options[at[id]]); });
  }
  for (const Reading& reading : readings_) {
    std::vector<VariableId> among;
    for (const ValueId v : reading.read) {
      if (!contains(among, variable_of_[v])) among.push_back(variable_of_[v]);
    }
    if (reading.result != no_value && !contains(among, variable_of_[reading.result])) {
      among.push_back(variable_of_[reading.result]);
    }
    const FormCosts forms = form_costs(reading);
    add(reading.op, among, [&](const Assignment& at) { return best(reading, forms, at).cost; });
  }
}

// ---- what an assignment means

TilingDecisions TilingProblem::decisions(const Assignment& choices) const {
  TilingDecisions decided;
  for (const ValueId v : m_.values.ids()) {
    if (variable_of_[v] >= 0) decided.cuts[v] = option(v, choices).cuts;
  }
  for (const Reading& reading : readings_) {
    const ReadingWay* const way = best(reading, form_costs(reading), choices).way;
    if (way == nullptr) continue;
    if (way->straight) decided.straight.insert(reading.op);
    for (std::size_t k = 0; k < reading.read.size(); ++k) {
      const ValueId v = reading.read[k];
      const Cuts& cuts = way->forms[k].cuts;
      if (reading.decides) decided.read[{reading.op, reading.operands[k]}] = cuts;
      const TilingOption& from = option(v, choices);
      if (is_made_anew(v, from, cuts)) decided.anew.insert({v, cuts});
    }
  }
  return decided;
}

}  // namespace kasen
