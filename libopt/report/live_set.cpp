#include "libopt/report/live_set.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/liveness.h"
#include "libcore/base/checked.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/tiers.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/footprint.h"
#include "libopt/rewrite/lifetimes.h"

namespace kasen {
namespace {

// Memory of one name: values that have one buffer hold it one after another, or together where one is bound to the
// other.
struct Held {
  ValueId value = no_value;
  int name = -1;
  int begin = 0, end = 0;  // as Lifetimes counts
};

class LiveSets {
 public:
  explicit LiveSets(const Module& module) : liveness_(module), lives_(module, liveness_) {
    int own = static_cast<int>(module.buffers.size());  // names of values without a buffer
    const IdMap<ValueId, bool> on_disk = values_on_disk(module);
    for (const ValueId v : lives_.owners()) {
      if (on_disk[v]) continue;
      const BufferId buffer = module.value(v).buffer;
      all_.push_back({v, buffer == no_buffer ? own++ : static_cast<int>(buffer), lives_.begin(v), lives_.end(v)});
    }
    std::stable_sort(all_.begin(), all_.end(), [](const Held& a, const Held& b) { return a.begin < b.begin; });
  }

  [[nodiscard]] const std::vector<Held>& all() const { return all_; }

  // Calls visit(sets, number) for each live set: those of all() that are open, and the operator at which they are.
  template <class Visit>
  void for_each_set(const Visit& visit) const {
    std::vector<std::size_t> open;
    for (std::size_t first = 0, end = 0; first < all_.size(); first = end) {
      const int now = all_[first].begin;  // a live set grows where lives begin
      while (end < all_.size() && all_[end].begin == now) ++end;
      std::erase_if(open, [&](std::size_t k) { return !is_needed(k, first, end); });
      for (std::size_t i = first; i < end; ++i) open.push_back(i);
      visit(open, now / 2);
    }
  }

 private:
  // True if value k is needed when those of first .. end - 1 begin: later, or now, and none of them may be written over
  // it.
  [[nodiscard]] bool is_needed(std::size_t k, std::size_t first, std::size_t end) const {
    const int now = all_[first].begin;
    if (all_[k].end >= now || all_[k].end < now - 1) return all_[k].end >= now;
    return std::all_of(all_.begin() + static_cast<std::ptrdiff_t>(first),
                       all_.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const Held& made) { return lives_.interfere(all_[k].value, made.value); });
  }

  Liveness liveness_;
  Lifetimes lives_;
  std::vector<Held> all_;
};

// `bytes` of each of live.all().
LiveSet largest_of(const LiveSets& live, const std::vector<std::int64_t>& bytes) {
  LiveSet most;
  live.for_each_set([&](const std::vector<std::size_t>& open, int number) {
    std::map<int, std::int64_t> names;
    for (const std::size_t k : open) {
      std::int64_t& name = names[live.all()[k].name];
      name = std::max(name, bytes[k]);
    }
    std::int64_t sum = 0;
    for (const auto& [name, size] : names) sum = checked_add(sum, size, "a plan's memory");
    if (sum > most.bytes) most = {sum, number};
  });
  return most;
}

// True, or false, or not known.
std::optional<bool> is_larger(const Polynomial& one, const Polynomial& other, const NumberOf& number_of) {
  const auto a = number_of(one), b = number_of(other);
  if (a && b) return *a > *b;
  const Polynomial difference = one - other;
  bool more = false, less = false;
  for (const auto& [term, factor] : difference.terms()) (factor > 0 ? more : less) = true;
  if (more && less) return std::nullopt;
  return more;
}

// The sum of the largest form of each name.
std::optional<Polynomial> sum_of(const LiveSets& live, const std::vector<std::size_t>& open,
                                 const std::vector<Polynomial>& forms, const NumberOf& number_of) {
  std::map<int, const Polynomial*> names;
  for (const std::size_t k : open) {
    const Polynomial*& name = names[live.all()[k].name];
    const auto larger = name == nullptr ? true : is_larger(forms[k], *name, number_of);
    if (!larger) return std::nullopt;
    if (*larger) name = &forms[k];
  }
  Polynomial sum;
  for (const auto& [name, form] : names) sum += *form;
  return sum;
}

}  // namespace

std::optional<LiveForm> largest_live_form(const Module& module, const NumberOf& number_of) {
  const LiveSets live(module);
  std::vector<ValueId> values;
  for (const Held& held : live.all()) values.push_back(held.value);
  const std::vector<Polynomial> forms = value_forms(module, values);
  std::vector<LiveForm> tops;  // none is known to be at most another one
  bool known = true;
  live.for_each_set([&](const std::vector<std::size_t>& open, int number) {
    const auto sum = known ? sum_of(live, open, forms, number_of) : std::nullopt;
    known = sum.has_value();
    const auto exceeds = [&](const Polynomial& one, const Polynomial& other) {
      return is_larger(one, other, number_of).value_or(true);
    };
    if (!known || std::any_of(tops.begin(), tops.end(), [&](const LiveForm& top) { return !exceeds(*sum, top.bytes); }))
      return;
    std::erase_if(tops, [&](const LiveForm& top) { return !exceeds(top.bytes, *sum); });
    tops.push_back({*sum, number});
  });
  if (!known || tops.size() > 1) return std::nullopt;
  return tops.empty() ? LiveForm{} : tops[0];
}

std::vector<LiveSet> largest_live_sets(const Module& module, const Sizes& sizes) {
  const LiveSets live(module);
  const auto boxes = names_layouts(module) ? std::optional(sized_module(module, sizes)) : std::nullopt;
  std::set<ValueId> in_inputs;  // they take no memory of their own
  if (boxes) {
    for_each_op(*boxes, [&](const Op& op, int, int) {
      if (stands_in_input(*boxes, op)) in_inputs.insert(op.results[0]);
    });
  }
  const auto bytes_on = [&](ValueId v, int worker) {
    if (in_inputs.contains(v)) return std::int64_t{0};
    return boxes ? box_bytes(*boxes, v, worker) : value_bytes(module, v, sizes, worker);
  };
  std::vector<LiveSet> sets;
  for (int worker = 0; worker < sizes.workers; ++worker) {
    std::vector<std::int64_t> bytes;
    for (const Held& held : live.all()) bytes.push_back(bytes_on(held.value, worker));
    sets.push_back(largest_of(live, bytes));
  }
  return sets;
}

}  // namespace kasen
