// Hands out the values of a run at a border, and restores them.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

std::int64_t elements_of(const Execution& run, const HeldValue& held, int part) {
  const Storage& storage = run.storage;
  const std::int64_t indices = held.slaves ? storage.indices(held.value, part) : storage.masters(held.value, part);
  return checked_mul(indices, storage.inner(held.value, part), "the content of a border");
}

// Copies an array between the numbering's order and the data's order. A border holds arrays in the data's order.
void move_array(const Execution& run, const HeldValue& held, int part, const View& from, const View& to, bool forth) {
  const ElementType& element = run.module.type(held.value).element;
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

class RunBorder : public Border {
 public:
  RunBorder(Execution& run, const HeldAtBorder& held, BorderPlace place)
      : run_(run), held_(held), place_(std::move(place)) {}

  [[nodiscard]] const BorderPlace& place() const override { return place_; }
  [[nodiscard]] std::span<const HeldValue> values() const override { return held_.values; }
  [[nodiscard]] std::int64_t count(const HeldValue& held, int part) const override {
    const bool stands_for_all = run_.parts[static_cast<size_t>(part)].worker == 0;
    return held.shared && !stands_for_all ? 0 : elements_of(run_, held, part);
  }
  [[nodiscard]] Array read(const HeldValue& held, std::int64_t array, int part) const override {
    Array copy(run_.module.type(held.value).element, count(held, part));
    if (copy.count == 0) return copy;
    const int slot = run_.storage.info(held.value).slot + static_cast<int>(array);
    move_array(run_, held, part, run_.storage.view_of(slot, part), {copy.bytes.data(), copy.count}, false);
    return copy;
  }

 private:
  Execution& run_;
  const HeldAtBorder& held_;
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
  return std::make_unique<RunBorder>(run, held, std::move(whole));
}

const HeldAtBorder& Execution::held_at(int loop) {
  const auto known = held_.find(loop);
  return known != held_.end() ? known->second : held_.emplace(loop, held_at_border(plan, live, loop)).first->second;
}

void Execution::tell_border(int loop) {
  BorderPlace at;
  at.loop = loop;
  at.step = place.step;
  at.iterations = place.iterations[0];
  at.lo = lo_;
  at.hi = hi_;
  options.on_border(*make_border(*this, held_at(loop), at));
}

// ---- resuming

// The ghosts of one array of a consistent value: a scatter of it into itself restores them.
struct Resumption::Slaves {
  Op op;
  ValueId value = no_value;
  std::int64_t array = 0;
  std::unique_ptr<Step> step;
};

Resumption::Resumption(Execution& run, const ResumePoint& from) : from_(from) {
  const BorderPlace& place = from.place;
  const auto wrong = [](const std::string& what) {
    fail(ExitStatus::bad_input, what, "it was saved by another plan", "begin from the start");
  };
  if (!is_outermost_loop(run.plan, place.loop)) wrong(fmt::format("the plan has no outermost loop {}", place.loop));
  if (place.iterations < 0 || (place.hi > place.lo && place.iterations > place.hi - place.lo))
    wrong(fmt::format("a loop from {} to {} has no iteration {}", place.lo, place.hi, place.iterations));
  held_ = held_at_border(run.plan, run.live, place.loop);
  if (place.looks.size() != held_.views.size()) wrong("the border shows other arrays of lists");
  for (const HeldValue& held : held_.values) {
    const Type& type = run.module.type(held.value);
    if (Layout(run.module, type).is_shared() || !type.state.is_cons() || type.state.slaves.empty()) continue;
    for (std::int64_t array = 0; array < held.arrays; ++array) {
      auto made = std::make_unique<Slaves>();
      made->op.code = OpCode::scatter;
      made->op.operands = made->op.results = {held.value};
      made->value = held.value;
      made->array = array;
      made->step = make_transition_step(run, made->op, place.loop);
      slaves_.push_back(std::move(made));
    }
  }
}

Resumption::~Resumption() = default;

std::vector<Bytes> Resumption::packing(const Execution& run) const {
  std::vector<Bytes> areas;
  for (int p = 0; p < run.part_count(); ++p) {
    std::int64_t largest = 0;
    for (const auto& slaves : slaves_) largest = std::max(largest, slaves->step->packing_bytes(p));
    areas.emplace_back(largest);
  }
  return areas;
}

bool Resumption::is_made_again(const Op& op) const {
  return std::any_of(op.results.begin(), op.results.end(), [&](ValueId result) {
    return std::binary_search(held_.made_again.begin(), held_.made_again.end(), result);
  });
}

void Resumption::read(Execution& run, const HeldValue& held) const {
  for (std::int64_t array = 0; array < held.arrays; ++array) {
    const int slot = run.storage.info(held.value).slot + static_cast<int>(array);
    if (run.storage.slot(slot).form < 0) continue;  // an input's own memory, which is there
    for (int p = 0; p < run.part_count(); ++p) {
      const std::int64_t count = elements_of(run, held, p);
      Array saved = from_.read(held, array, p, count);
      if (saved.count != count || saved.element != run.module.type(held.value).element)
        throw InternalError(fmt::format("%{} comes back otherwise than it is", run.module.value(held.value).name));
      if (count > 0) move_array(run, held, p, {saved.bytes.data(), count}, run.storage.view_of(slot, p), true);
    }
  }
}

void Resumption::restore(Execution& run) {
  for (const HeldValue& held : held_.values) read(run, held);
  for (const auto& slaves : slaves_) {
    // A scatter finds a list's arrays by the list's name, which is set to each array in turn.
    const int first = run.storage.info(slaves->value).slot;
    run.storage.look_at(slaves->value, first + static_cast<int>(slaves->array));
    slaves->step->run(run);
    run.storage.look_at(slaves->value, first);
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
