// Hands out the values of a run at a border, and restores them.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <list>
#include <optional>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libcore/run/executor_boxes.h"
#include "libcore/system/fault.h"

namespace kasen::executor {
namespace {

PlaceList in_a_row(std::int64_t count) { return PlaceList({{IndexList::run(0, count), count}}); }

int worker_of(const Execution& run, int part) { return run.parts[static_cast<size_t>(part)].worker; }

// The elements that a part gets back.
std::int64_t elements_of(const Execution& run, const HeldValue& held, int part) {
  const Storage& storage = run.storage;
  if (run.forms.are_boxes()) return needed_elements(run.plan, run.plan.type(held.value), worker_of(run, part)).count();
  const std::int64_t indices = held.slaves ? storage.indices(held.value, part) : storage.masters(held.value, part);
  return checked_mul(indices, storage.inner(held.value, part), "the content of a border");
}

// Copies an array between the numbering's order and the data's order. A border holds arrays in the data's order.
void move_array(const Execution& run, const HeldValue& held, int part, const View& from, const View& to, bool forth) {
  const ElementType& element = run.module.type(held.value).element;
  if (run.forms.are_boxes()) return copy_elements(element, from, to, 0, elements_of(run, held, part));
  const ValueInfo& info = run.storage.info(held.value);
  const std::int64_t masters = run.storage.masters(held.value, part) * run.storage.inner(held.value, part);
  const bool ordered = info.cut == no_dim || run.numbering.order(info.cut, part).empty();
  if (ordered) {
    copy_elements(element, from, to, 0, masters);
  } else {
    move_rows(element, info.inner, run.numbering.order(info.cut, part), from, to, forth);
  }
  copy_elements(element, from, to, masters, elements_of(run, held, part));
}

// Memory for an array that lies on a disk, while this lives. Its names find it there.
class BroughtArray {
 public:
  BroughtArray(Execution& run, const HeldValue& held, int slot, int part)
      : run_(run),
        slot_(slot),
        part_(part),
        place_(run.storage.view_of(slot, part).data),
        elements_(run.storage.elements(held.value, part)),
        element_(run.module.type(held.value).element),
        memory_(storage_bytes(element_, run.storage.view_of(slot, part).capacity)) {
    run.storage.lies_at(slot, part, memory_.data());
  }
  ~BroughtArray() { run_.storage.lies_at(slot_, part_, place_); }
  BroughtArray(const BroughtArray&) = delete;
  BroughtArray& operator=(const BroughtArray&) = delete;

  void load() { run_.tier_mover->load_now(place_, here(), elements_); }
  void store() { run_.tier_mover->store_now(place_, here(), elements_); }

 private:
  [[nodiscard]] ElementMemory here() const {
    const View& view = run_.storage.view_of(slot_, part_);
    return {view.data, element_, view.capacity};
  }

  Execution& run_;
  const int slot_, part_;
  std::byte* const place_;
  const std::int64_t elements_;
  const ElementType element_;
  Bytes memory_;
};

class RunBorder : public Border {
 public:
  // What it holds is found when somebody asks.
  RunBorder(Execution& run, std::function<const HeldAtBorder&()> held, BorderPlace place)
      : run_(run), held_(std::move(held)), place_(std::move(place)) {}

  [[nodiscard]] const BorderPlace& place() const override { return place_; }
  [[nodiscard]] std::span<const HeldValue> values() const override { return held_().values; }
  [[nodiscard]] std::int64_t count(const HeldValue& held, int part) const override {
    if (run_.forms.are_boxes())
      return saved_elements(run_.plan, run_.plan.type(held.value), worker_of(run_, part)).count();
    const bool stands_for_all = worker_of(run_, part) == 0;
    return held.shared && !stands_for_all ? 0 : elements_of(run_, held, part);
  }
  [[nodiscard]] Array read(const HeldValue& held, std::int64_t array, int part) const override {
    Array copy(run_.module.type(held.value).element, count(held, part));
    if (copy.count == 0) return copy;
    const int slot = run_.storage.info(held.value).slot + static_cast<int>(array);
    if (run_.tier_mover != nullptr) run_.tier_mover->finish();
    std::optional<BroughtArray> brought;
    if (run_.storage.slot(slot).on_disk) brought.emplace(run_, held, slot, part).load();
    const View &from = run_.storage.view_of(slot, part), to{copy.bytes.data(), copy.count};
    if (run_.forms.are_boxes()) {
      read_box(held, part, from, to);
    } else {
      move_array(run_, held, part, from, to, false);
    }
    return copy;
  }

 private:
  void read_box(const HeldValue& held, int part, const View& from, const View& to) const {
    const Type& type = run_.plan.type(held.value);
    const int worker = worker_of(run_, part);
    const Elements stored = kasen::elements_of(run_.plan, stored_box(run_.plan, type), worker);
    copy_places(run_, type.element, from, places_in(saved_elements(run_.plan, type, worker), stored), to,
                in_a_row(to.capacity));
  }

  Execution& run_;
  std::function<const HeldAtBorder&()> held_;
  BorderPlace place_;
};

// The index in its list of the first array that a view shows.
std::int64_t shown_array(const Execution& run, ValueId view) {
  return run.storage.info(view).slot - run.storage.info(run.live.viewed_list(view)).slot;
}

}  // namespace

std::unique_ptr<Border> make_border(Execution& run, const HeldAtBorder& held, const BorderPlace& place) {
  BorderPlace whole = place;
  for (const ValueId view : held.views) whole.looks.push_back(shown_array(run, view));
  return std::make_unique<RunBorder>(
      run, [&held]() -> const HeldAtBorder& { return held; }, std::move(whole));
}

const HeldAtBorder& Execution::held_at(int op, bool behind) {
  const std::pair key(op, behind);
  const auto known = held_.find(key);
  return known != held_.end() ? known->second
                              : held_.emplace(key, held_at_border(plan, live, op, behind)).first->second;
}

void Execution::tell_border(int loop) {
  BorderPlace at;
  at.op = loop;
  at.step = place.step;
  at.iterations = place.iterations[0];
  at.lo = lo_;
  at.hi = hi_;
  options.on_border(*make_border(*this, held_at(loop, false), at));
}

// Each border stands at the last line of the operators up to it.
void Execution::mark_borders() {
  std::vector<Line>& lines = steps_.lines;
  size_t at = 0;
  for (const int op : borders_behind(plan)) {
    while (at < lines.size() && (lines[at].step == nullptr || lines[at].step->number <= op)) ++at;
    if (at == 0) throw InternalError("a border behind nothing");
    lines[at - 1].border = op;
  }
}

void Execution::pass_border(int op) {
  (void)pass_point(FaultPoint::border);  // nothing can fail here
  if (!options.on_border) return;
  BorderPlace at;
  at.op = op;
  at.behind = true;
  at.step = place.step;
  const auto held = [this, op]() -> const HeldAtBorder& { return held_at(op, true); };
  const auto shows = [](const Op& before) { return before.code == OpCode::get; };
  const bool views = std::any_of(plan.body.ops.begin(), plan.body.ops.end(), shows);
  if (views) return options.on_border(*make_border(*this, held(), at));  // its place says what they show
  options.on_border(RunBorder(*this, held, at));
}

// ---- resuming

// The ghosts of one array of a consistent value: a scatter of it into itself restores them.
struct Resumption::Slaves {
  Op op;
  std::unique_ptr<Step> step;
};

Resumption::Resumption(Execution& run, const ResumePoint& from) : from_(from) {
  const BorderPlace& place = from.place;
  const auto wrong = [](const std::string& what) {
    fail(ExitStatus::bad_input, what, "it was saved by another plan", "begin from the start");
  };
  const std::vector<int> behind = borders_behind(run.plan);
  if (place.behind && !std::binary_search(behind.begin(), behind.end(), place.op))
    wrong(fmt::format("the plan has no border behind operator {}", place.op));
  if (!place.behind && !is_outermost_loop(run.plan, place.op))
    wrong(fmt::format("the plan has no outermost loop {}", place.op));
  if (place.iterations < 0 || (place.hi > place.lo && place.iterations > place.hi - place.lo))
    wrong(fmt::format("a loop from {} to {} has no iteration {}", place.lo, place.hi, place.iterations));
  held_ = held_at_border(run.plan, run.live, place.op, place.behind);
  if (place.looks.size() != held_.views.size()) wrong("the border shows other arrays of lists");
  for_each_op(run.plan, [&](const Op& op, int number, int) {
    const auto again = [&](ValueId result) {
      return std::binary_search(held_.made_again.begin(), held_.made_again.end(), result);
    };
    if (std::any_of(op.results.begin(), op.results.end(), again)) made_again_.insert(number);
  });
  if (run.forms.are_boxes()) return;  // copies come back as they are
  for (const HeldValue& held : held_.values) {
    const Type& type = run.module.type(held.value);
    if (Layout(run.module, type).is_shared() || !type.state.is_cons() || type.state.slaves.empty()) continue;
    for (std::int64_t array = 0; array < held.arrays; ++array) {
      auto made = std::make_unique<Slaves>();
      made->op.code = OpCode::scatter;
      made->op.operands = made->op.results = {held.value};
      made->step = make_transition_step(run, made->op, place.op);
      slaves_.emplace(std::pair(held.value, array), std::move(made));
    }
  }
}

Resumption::~Resumption() = default;

std::vector<Bytes> Resumption::packing(const Execution& run) const {
  std::vector<Bytes> areas;
  for (int p = 0; p < run.part_count(); ++p) {
    std::int64_t largest = 0;
    for (const auto& [array, slaves] : slaves_) largest = std::max(largest, slaves->step->packing_bytes(p));
    areas.emplace_back(largest);
  }
  return areas;
}

void Resumption::read(Execution& run, const HeldValue& held, std::int64_t array, int slot) const {
  for (int p = 0; p < run.part_count(); ++p) {
    const std::int64_t count = elements_of(run, held, p);
    Array saved = from_.read(held, array, p, count);
    if (saved.count != count || saved.element != run.module.type(held.value).element)
      throw InternalError(fmt::format("%{} comes back otherwise than it is", run.module.value(held.value).name));
    if (count > 0) move_array(run, held, p, {saved.bytes.data(), count}, run.storage.view_of(slot, p), true);
  }
}

// A scatter finds a list's arrays by the list's name, which is set to each array in turn.
void Resumption::restore_slaves(Execution& run, const HeldValue& held, std::int64_t array) {
  const auto it = slaves_.find({held.value, array});
  if (it == slaves_.end()) return;
  const int first = run.storage.info(held.value).slot;
  run.storage.look_at(held.value, first + static_cast<int>(array));
  it->second->step->run(run);
  run.storage.look_at(held.value, first);
}

void Resumption::restore(Execution& run, const HeldValue& held, std::int64_t array) {
  const int slot = run.storage.info(held.value).slot + static_cast<int>(array);
  std::list<BroughtArray> brought;
  for (int p = 0; p < run.part_count() && run.storage.slot(slot).on_disk; ++p) brought.emplace_back(run, held, slot, p);
  if (run.storage.slot(slot).form >= 0) read(run, held, array, slot);  // an input's own memory has it
  restore_slaves(run, held, array);
  for (BroughtArray& place : brought) place.store();
}

void Resumption::restore(Execution& run) {
  for (const HeldValue& held : held_.values) {
    for (std::int64_t array = 0; array < held.arrays; ++array) restore(run, held, array);
  }
  for (size_t v = 0; v < held_.views.size(); ++v) {
    const ValueId view = held_.views[v];
    const ValueInfo& list = run.storage.info(run.live.viewed_list(view));
    const std::int64_t array = from_.place.looks[v];
    if (array < 0 || array >= list.slots)
      fail(ExitStatus::bad_input, fmt::format("a list of {} arrays has no array {}", list.slots, array),
           "it was saved by another plan", "begin from the start");
    run.storage.look_at(view, list.slot + static_cast<int>(array));
  }
}

void Step::run_rows(Execution& /*run*/, LineRows /*rows*/) { throw InternalError("a step that has no rows apart"); }
void Step::start(Execution& /*run*/) { throw InternalError("a step without an exchange"); }
void Step::wait(Execution& /*run*/) { throw InternalError("a step without an exchange"); }
void Step::resume(Execution& /*run*/) { throw InternalError("a step without a loop cannot go on from a border"); }

}  // namespace kasen::executor
