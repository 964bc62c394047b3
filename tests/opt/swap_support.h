// Task graphs for tests of swap plans, and a checker that knows plans and times alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "libopt/swap/search.h"

namespace kasen::swap {

// The toy network of the thesis's Figure 4.1: two branches from A0, joined by a concatenation. All are of one megabyte,
// but A2 and A5 of two. Nothing may be lost: a backward pass would read it.
inline TaskGraph toy_network() {
  TaskGraph graph;
  graph.name = "toy";
  std::map<std::string, TensorId> of;
  for (const auto& [name, bytes] :
       std::vector<std::pair<std::string, int>>{{"A0", 1}, {"A1", 1}, {"A2", 2}, {"A3", 1}, {"A4", 1}, {"A5", 2}})
    of[name] = graph.add(Tensor{name, bytes, TensorKind::made, true, name == "A0"});
  for (const std::string name : {"W1", "W2", "W3", "W4"}) of[name] = graph.add(Tensor{name, 1, TensorKind::parameter});
  graph.add(Task{"conv1", 1, {of["A0"], of["W1"]}, {of["A1"]}});
  graph.add(Task{"conv2", 1, {of["A0"], of["W2"]}, {of["A2"]}});
  graph.add(Task{"conv3", 1, {of["A2"], of["W3"]}, {of["A3"]}});
  graph.add(Task{"conv4", 1, {of["A3"], of["W4"]}, {of["A4"]}});
  graph.add(Task{"concat", 1, {of["A1"], of["A4"]}, {of["A5"]}});
  return graph;
}

// Random graphs of so many tasks: each reads up to two of the tensors before it and perhaps a parameter, and makes one
// or two. Some tasks write a parameter in place, or add to a tensor. Times and sizes are small whole numbers.
inline TaskGraph random_tasks(Random& random, std::size_t tasks) {
  TaskGraph graph;
  graph.name = "random";
  std::vector<TensorId> made, parameters;
  const auto size = [&] { return static_cast<std::int64_t>(1 + draw(random, 3)); };
  for (std::size_t i = 0; i < 1 + draw(random, 3); ++i)
    parameters.push_back(graph.add(Tensor{"p" + std::to_string(i), size(), TensorKind::parameter}));
  made.push_back(graph.add(Tensor{"data", size(), TensorKind::input}));
  for (std::size_t t = 0; t < tasks; ++t) {
    Task task{"t" + std::to_string(t), static_cast<double>(1 + draw(random, 3)), {}, {}};
    for (std::size_t i = 0; i < 1 + draw(random, 2); ++i) task.reads.push_back(made[draw(random, made.size())]);
    if (draws(random, 0.5)) task.reads.push_back(parameters[draw(random, parameters.size())]);
    if (draws(random, 0.15)) task.writes.push_back(parameters[draw(random, parameters.size())]);
    if (draws(random, 0.2) && made.size() > 1) {  // in place
      task.reads.push_back(made[1 + draw(random, made.size() - 1)]);
      task.writes.push_back(task.reads.back());
    }
    if (task.writes.empty() || draws(random, 0.7)) {
      const bool kept = draws(random, 0.2);
      made.push_back(graph.add(Tensor{"m" + std::to_string(t), size(), TensorKind::made, kept}));
      task.writes.push_back(made.back());
    }
    graph.add(task);
  }
  return graph;
}

// Follows a plan in time: tasks read what is there and whole, places hold one tensor at a time and no more than the
// allocation has, nothing that is needed later is lost, streams do one thing at a time, and the end is as the
// beginning.
class Checker {
 public:
  Checker(const TaskGraph& graph, const SwapPlan& plan, const Timeline& timeline, const PlanOptions& options)
      : graph_(graph), plan_(plan), timeline_(timeline), options_(options), sizes_(graph) {}

  void check() {
    ASSERT_TRUE(is_order(graph_, plan_.order));
    streams();
    apart();
    places();
    contents();
    EXPECT_LE(most_held(), memory(sizes_, plan_.allocation));
  }

 private:
  enum Kind { ends_task, ends_move, begins_move, begins_task };
  struct Event {
    double time;
    Kind kind;
    int place;
  };

  void streams() {
    std::vector<Span> in, out;
    for (std::size_t m = 0; m < plan_.moves.size(); ++m) (plan_.moves[m].in ? in : out).push_back(timeline_.moves[m]);
    for (std::vector<Span> stream : {in, out, timeline_.tasks}) {
      std::sort(stream.begin(), stream.end(), [](Span a, Span b) { return a.begin < b.begin; });
      for (std::size_t i = 1; i < stream.size(); ++i) EXPECT_LE(stream[i - 1].end, stream[i].begin);
    }
    for (std::size_t at = 1; at < timeline_.tasks.size(); ++at)
      EXPECT_LE(timeline_.tasks[at - 1].end, timeline_.tasks[at].begin);
  }

  // What a task touches does not move while it runs.
  void apart() {
    for (std::size_t m = 0; m < plan_.moves.size(); ++m)
      for (std::size_t at = 0; at < plan_.order.size(); ++at) {
        const std::vector<TensorId>& touched = graph_.touched(plan_.order[at]);
        if (!std::binary_search(touched.begin(), touched.end(), plan_.moves[m].tensor)) continue;
        EXPECT_TRUE(timeline_.moves[m].end <= timeline_.tasks[at].begin ||
                    timeline_.tasks[at].end <= timeline_.moves[m].begin)
            << graph_.tensors()[plan_.moves[m].tensor].name << " moves while it is used";
      }
  }

  [[nodiscard]] double begin_of(const Stay& stay) const {
    if (stay.in >= 0) return timeline_.moves[static_cast<std::size_t>(stay.in)].begin;
    return stay.first < 0 ? 0 : timeline_.tasks[static_cast<std::size_t>(stay.first)].begin;
  }
  [[nodiscard]] double end_of(const Stay& stay) const {
    if (stay.to_end) return timeline_.seconds;
    if (stay.out >= 0) return timeline_.moves[static_cast<std::size_t>(stay.out)].end;
    return stay.last < 0 ? 0 : timeline_.tasks[static_cast<std::size_t>(stay.last)].end;
  }

  void places() {
    std::map<std::pair<int, int>, std::vector<Span>> by_object;
    for (const Stay& stay : plan_.stays) {
      const int c = plan_.allocation.classes[sizes_.of(stay.tensor)];
      EXPECT_LT(stay.object, plan_.allocation.counts[static_cast<std::size_t>(c)]);
      by_object[{c, stay.object}].push_back({begin_of(stay), end_of(stay)});
    }
    for (auto& [object, spans] : by_object) {
      std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.begin < b.begin; });
      for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].end, spans[i].begin);
    }
  }

  // What each memory holds of each tensor is a version: how many tasks have written it. -1: nothing.
  void contents() {
    IdMap<TensorId, int> here(graph_.tensors().size(), -1), far(here), newest(here.size(), 0);
    for (const TensorId tensor : graph_.tensors().ids()) {
      const Tensor& one = graph_.tensors()[tensor];
      const bool returns = std::binary_search(plan_.residents.begin(), plan_.residents.end(), tensor);
      if (one.kind != TensorKind::made && !(returns && graph_.is_written(tensor) && !options_.once)) far[tensor] = 0;
      if (returns || (one.resident && one.kind != TensorKind::parameter)) here[tensor] = 0;
    }
    for (const Event& event : events()) {
      const auto place = static_cast<std::size_t>(event.place);
      if (event.kind == begins_task) begin_task(plan_.order[place], here, newest);
      if (event.kind == ends_task)
        for (const TensorId tensor : graph_.tasks()[plan_.order[place]].writes) here[tensor] = ++newest[tensor];
      if (event.kind == begins_move || event.kind == ends_move) move(plan_.moves[place], event.kind, here, far, newest);
    }
    if (options_.once) return;
    for (const TensorId tensor : graph_.tensors().ids()) {
      const Tensor& one = graph_.tensors()[tensor];
      const bool returns = std::binary_search(plan_.residents.begin(), plan_.residents.end(), tensor);
      const bool lives_on = one.kind == TensorKind::parameter || one.kept;
      EXPECT_TRUE(!returns || here[tensor] == newest[tensor]) << one.name << " is a resident again";
      EXPECT_TRUE(returns || !lives_on || far[tensor] == newest[tensor]) << one.name << " lives on";
    }
  }

  void begin_task(TaskId task, const IdMap<TensorId, int>& here, const IdMap<TensorId, int>& newest) const {
    for (const TensorId tensor : graph_.tasks()[task].reads)
      EXPECT_EQ(here[tensor], newest[tensor])
          << graph_.tasks()[task].name << " reads " << graph_.tensors()[tensor].name;
  }
  void move(const Move& move, Kind kind, IdMap<TensorId, int>& here, IdMap<TensorId, int>& far,
            const IdMap<TensorId, int>& newest) const {
    const std::string& name = graph_.tensors()[move.tensor].name;
    if (move.in) {
      if (kind == begins_move) here[move.tensor] = -1;
      EXPECT_EQ(far[move.tensor], newest[move.tensor]) << name << " comes in";
      if (kind == ends_move) here[move.tensor] = far[move.tensor];
    } else {
      EXPECT_EQ(here[move.tensor], newest[move.tensor]) << name << " goes out";
      if (kind == ends_move) far[move.tensor] = here[move.tensor];
      if (kind == ends_move && !move.stays) here[move.tensor] = -1;
    }
  }

  [[nodiscard]] std::vector<Event> events() const {
    std::vector<Event> all;
    for (std::size_t at = 0; at < timeline_.tasks.size(); ++at) {
      all.push_back({timeline_.tasks[at].begin, begins_task, static_cast<int>(at)});
      all.push_back({timeline_.tasks[at].end, ends_task, static_cast<int>(at)});
    }
    for (std::size_t m = 0; m < timeline_.moves.size(); ++m) {
      all.push_back({timeline_.moves[m].begin, begins_move, static_cast<int>(m)});
      all.push_back({timeline_.moves[m].end, ends_move, static_cast<int>(m)});
    }
    std::sort(all.begin(), all.end(), [](const Event& a, const Event& b) {
      return std::tuple(a.time, a.kind, a.place) < std::tuple(b.time, b.kind, b.place);
    });
    return all;
  }

  [[nodiscard]] std::int64_t most_held() const {
    std::int64_t most = 0;
    for (const Held& at : held(graph_, plan_, timeline_)) most = std::max(most, at.bytes);
    return most;
  }

  const TaskGraph& graph_;
  const SwapPlan& plan_;
  const Timeline& timeline_;
  const PlanOptions& options_;
  Sizes sizes_;
};

}  // namespace kasen::swap
