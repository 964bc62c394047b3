#include "libcore/sorting/sort_plan.h"

#include <algorithm>

#include "libcore/analysis/boxes.h"
#include "libcore/base/checked.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/sorting/selection.h"

namespace kasen {
namespace {

constexpr const char* what = "a sort's messages";

// True if both workers have parts of the same lines: they are at one place along all axes but those of `cuts`.
bool share_lines(const Module& module, MeshAxes cuts, int a, int b) {
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if ((cuts >> axis & 1) == 0 && mesh_place(module, a, axis) != mesh_place(module, b, axis)) return false;
  }
  return true;
}

std::int64_t place_bytes(const Op& op) { return op.code == OpCode::argsort ? std::int64_t{sizeof(PackedPlace)} : 0; }

class Areas {
 public:
  std::int64_t take(std::int64_t elements, std::int64_t bytes) {
    const std::int64_t at = next_;
    next_ = checked_add(next_, (checked_mul(elements, bytes, what) + 7) / 8 * 8, what);
    return at;
  }
  [[nodiscard]] std::int64_t next() const { return next_; }
  void back_to(std::int64_t at) { next_ = at; }

 private:
  std::int64_t next_ = 0;
};

// Messages among the members of one group.
void visit_messages(const SortPlan& plan, const std::function<void(const SortMessage&)>& visit) {
  const std::size_t members = plan.group.size();
  const auto add = [&](int exchange, std::size_t from, std::size_t to, std::int64_t bytes) {
    if (from != to && bytes > 0) visit({exchange, plan.group[from].worker, plan.group[to].worker, bytes});
  };
  for (int round = 0; round < plan.rounds; ++round) {
    for (std::size_t owner = 1; owner < members; ++owner) {
      for (std::size_t i = 0; i < members; ++i) {
        add(2 * round, i, owner, plan.sample_bytes(i));
        add(2 * round + 1, owner, i, plan.bounds_bytes(i));
      }
    }
  }
  for (std::size_t from = 0; from < members; ++from) {
    for (std::size_t to = 0; to < members; ++to) add(2 * plan.rounds, from, to, plan.count_bytes(from));
  }
}

// Calls use(plan) for one worker of each group.
template <class Use>
void for_each_group(const Module& module, const Op& op, const Use& use) {
  for (int worker = 0; worker < mesh_workers(module); ++worker) {
    const SortPlan plan = sort_plan(module, op, worker);
    if (!plan.group.empty() && plan.own == 0) use(plan);
  }
}

}  // namespace

std::int64_t SortPlan::sample_bytes(std::size_t from) const {
  return checked_mul(checked_mul(lines, group[from].samples(), what), key_bytes, what);
}

std::int64_t SortPlan::bounds_bytes(std::size_t to) const {
  return group[to].count == 0 ? 0 : checked_mul(lines, std::int64_t{sizeof(SplitBounds)}, what);
}

std::int64_t SortPlan::count_bytes(std::size_t from) const {
  return group[from].count == 0 ? 0 : checked_mul(lines, std::int64_t{sizeof(std::int64_t)}, what);
}

SortPlan sort_plan(const Module& module, const Op& op, int worker) {
  const Type& type = module.type(op.operands.at(0));
  const std::size_t along = worked_place(module, op);
  const MeshAxes cuts = Layout(module, type).cuts(along);
  const Box box = owned_box(module, type);
  SortPlan plan;
  plan.length = module.dim(worked_dim(op)).size;
  plan.key_bytes = type.element.bytes();
  plan.place_bytes = place_bytes(op);
  std::int64_t largest = 0, first = 0;
  for (int other = 0; other < mesh_workers(module); ++other) {  // ascending, as their runs are
    if (!share_lines(module, cuts, worker, other)) continue;
    if (other == worker) plan.own = plan.group.size();
    const std::int64_t count = count_of(runs_of(module, box.at(along), other));
    plan.group.push_back({other, first, count});
    first += count;
    largest = std::max(largest, count);
  }
  plan.rounds = selection_rounds(plan.length, largest);
  const Elements elements = owned_elements(module, type, worker);
  plan.lines = 1;
  for (std::size_t axis = 0; axis < elements.axes.size(); ++axis) {
    if (axis == along) continue;
    const std::int64_t size = count_of(elements.axes[axis]);
    plan.lines = checked_mul(plan.lines, size, what);
    if (axis > along) plan.inner *= size;
  }
  if (elements.none || plan.lines == 0 || plan.length == 0) {
    plan.group.clear();
    plan.lines = 0;
  }
  return plan;
}

// After a round at most 2 E + 2 g - 1 elements of a line are between the bounds of a splitter, where g is the largest
// number of elements that one sample stands for and E the sum of these numbers, less one each.
int selection_rounds(std::int64_t length, std::int64_t largest) {
  if (length == 0) return 0;
  int rounds = 1;
  for (std::int64_t open = length; largest > most_samples; ++rounds) {
    open = 2 * (open / most_samples) + 2 * ((std::min(largest, open) + most_samples - 1) / most_samples) - 1;
    largest = std::min(largest, open);
  }
  return rounds;
}

SortAreas sort_areas(const SortPlan& plan) {
  SortAreas at;
  if (plan.group.empty()) return at;
  const auto members = static_cast<std::int64_t>(plan.group.size());
  const std::int64_t lines = plan.lines, elements = plan.elements(), word = sizeof(std::int64_t);
  const std::int64_t bounds = checked_mul(lines, members, what);
  Areas areas;
  at.keys = areas.take(elements, plan.key_bytes);
  at.places = areas.take(elements, plan.place_bytes);
  at.bounds = areas.take(bounds, sizeof(SplitBounds));
  at.counts_sent = areas.take(bounds, word);
  at.counts_taken = areas.take(bounds, word);
  const std::int64_t kept = areas.next();
  at.samples_sent = areas.take(bounds, checked_mul(plan.group[plan.own].samples(), plan.key_bytes, what));
  if (plan.own > 0) {
    std::int64_t samples = 0;
    for (const SortMember& member : plan.group) samples += member.samples();
    at.samples_taken = areas.take(checked_mul(lines, samples, what), plan.key_bytes);
    at.all_bounds = areas.take(bounds, sizeof(SplitBounds));
  }
  const std::int64_t selecting = areas.next();
  areas.back_to(kept);
  const std::int64_t packed = lines > 1 ? elements : 0;
  at.keys_sent = areas.take(packed, plan.key_bytes);
  at.places_sent = areas.take(packed, plan.place_bytes);
  at.keys_taken = areas.take(elements, plan.key_bytes);
  at.places_taken = areas.take(elements, plan.place_bytes);
  at.total = std::max(selecting, areas.next());
  return at;
}

void for_each_agreement(const Module& module, const Op& op, const std::function<void(const SortMessage&)>& visit) {
  for_each_group(module, op, [&](const SortPlan& plan) { visit_messages(plan, visit); });
}

std::int64_t sorted_bytes(const Module& module, const Op& op) {
  return module.type(op.operands.at(0)).element.bytes() + place_bytes(op);
}

SortStay sort_stay(const Module& module, const Op& op) {
  SortStay stay;
  for_each_group(module, op, [&](const SortPlan& plan) {
    for (const SortMember& member : plan.group) {
      const std::int64_t least = std::max<std::int64_t>(2 * member.count - plan.length, 0);
      stay.least = checked_add(stay.least, checked_mul(plan.lines, least, what), what);
      const auto count = static_cast<double>(member.count);
      stay.mean += static_cast<double>(plan.lines) * count * count / static_cast<double>(plan.length);
    }
  });
  return stay;
}

}  // namespace kasen
