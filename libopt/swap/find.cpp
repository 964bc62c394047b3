#include "libopt/swap/find.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kasen::swap {
namespace {

// Of all plans; small changes make the others. Where both searches run, the beam finds more of what a plan needs.
constexpr double share_of_beam = 0.5;
double share_of_genetic(const FindOptions& find) { return find.way == Way::both ? 0.1 : 0.5; }

class Finder {
 public:
  Finder(const TaskGraph& graph, const SearchOptions& options, const FindOptions& find)
      : graph_(graph), options_(options), own_(options), find_(find), plans_(plans_of(graph, find)) {
    own_.generations = generations_of(graph, options, find);
    own_.watch = [this](int, const Generation& made) { note(made); };
  }

  Found run() {
    if (find_.way != Way::genetic) take(beam(graph_, own_, beam_part(graph_, find_)));
    if (find_.way != Way::beam) {
      own_.start = found_.best;
      take(search(graph_, own_));
    }
    const std::int64_t left = plans_ - before_;
    if (left > 0) take(improve(graph_, own_, found_.best, {.evaluations = left}));
    found_.course = std::move(course_);
    found_.turns = "turns";
    return std::move(found_);
  }

 private:
  void take(Found found) {
    before_ += found.course.back().evaluated;
    if (found_.course.empty() || found.timeline.seconds <= found_.timeline.seconds) {
      found_ = std::move(found);
      return;
    }
    found_.best.insert(found_.best.end(), found.best.begin(), found.best.end());
  }

  // Plans of earlier searches count, too.
  void note(Generation made) {
    made.evaluated += before_;
    if (!course_.empty()) made.best = std::min(made.best, course_.back().best);
    course_.push_back(made);
    if (options_.watch) options_.watch(static_cast<int>(course_.size()) - 1, made);
  }

  const TaskGraph& graph_;
  const SearchOptions& options_;
  SearchOptions own_;
  const FindOptions& find_;
  std::int64_t plans_, before_ = 0;
  Found found_;
  std::vector<Generation> course_;
};

}  // namespace

Found find_plan(const TaskGraph& graph, const SearchOptions& options, const FindOptions& find) {
  return Finder(graph, options, find).run();
}

std::int64_t plans_of(const TaskGraph& graph, const FindOptions& find) {
  if (find.plans > 0) return find.plans;
  const auto tasks = std::max<std::int64_t>(std::ssize(graph.tasks()), 1);
  constexpr std::int64_t tasks_of_all = 50'000'000, most = 60'000, most_a_task = 3'000;
  return std::min({tasks_of_all / tasks + 1, most, tasks * most_a_task});
}

BeamOptions beam_part(const TaskGraph& graph, const FindOptions& find) {
  const double plans = static_cast<double>(plans_of(graph, find)) * share_of_beam;
  return {find.beam.width, std::min<std::int64_t>(find.beam.evaluations, std::llround(plans))};
}

int generations_of(const TaskGraph& graph, const SearchOptions& options, const FindOptions& find) {
  const double plans = static_cast<double>(plans_of(graph, find)) * share_of_genetic(find) - options.population;
  return static_cast<int>(
      std::clamp(plans / (2.0 * options.population), 0.0, static_cast<double>(options.generations)));
}

}  // namespace kasen::swap
