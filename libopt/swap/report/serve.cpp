#include "libopt/swap/report/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen::swap {
namespace {

constexpr double forever = std::numeric_limits<double>::infinity();
constexpr std::size_t no_model = std::numeric_limits<std::size_t>::max();

// The smallest pool of the plan and of known orders and allocations with which an iteration takes no longer: what the
// other models' parameters can have beside it is not lost to a pool with room to spare.
class Tight {
 public:
  Tight(const TaskGraph& graph, const SearchOptions& options, const Found& found)
      : graph_(graph), sizes_(graph), options_(options), best_(found.plan), seconds_(found.timeline.seconds) {
    for (const Order& order : {found.plan.order, program_order(graph), depth_first(graph), least_live(graph)})
      for (const Allocation& allocation : first_allocations(graph, sizes_, order, options.capacity))
        try_one(order, allocation);
  }

  [[nodiscard]] ServedModel model() const {
    ServedModel made{graph_.name};
    made.whole = seconds_;
    made.pool = memory(sizes_, best_.allocation);
    std::int64_t changed = 0;
    for (const TensorId tensor : best_.residents) {
      made.stays += graph_.tensors()[tensor].bytes;
      if (graph_.is_written(tensor)) changed += graph_.tensors()[tensor].bytes;
    }
    made.load = static_cast<double>(made.stays) / options_.links.in;
    made.unload = static_cast<double>(changed) / options_.links.out;
    made.cold = std::min(cold(), made.load + made.whole);
    return made;
  }

 private:
  void try_one(const Order& order, const Allocation& allocation) {
    if (memory(sizes_, allocation) >= memory(sizes_, best_.allocation)) return;
    SwapPlan plan;
    if (!make_plan(graph_, sizes_, order, allocation, options_.plan, plan)) return;
    if (simulate(graph_, plan, options_.links).seconds <= seconds_ * (1 + 1e-9)) best_ = std::move(plan);
  }
  [[nodiscard]] double cold() const {
    PlanOptions alone = options_.plan;
    alone.once = true;
    SwapPlan plan;
    if (!make_plan(graph_, sizes_, best_.order, best_.allocation, alone, plan)) return forever;
    return std::max(seconds_, simulate(graph_, plan, options_.links).seconds);
  }

  const TaskGraph& graph_;
  Sizes sizes_;
  const SearchOptions& options_;
  SwapPlan best_;
  double seconds_;
};

// The bytes of each graph's share. All of `wanted` if that fits.
std::vector<std::int64_t> shares_of(const std::vector<TaskGraph>& graphs, const std::vector<ServedModel>& wanted,
                                    int copies, std::int64_t capacity) {
  std::vector<std::int64_t> shares;
  std::int64_t least = 0;
  double more = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    shares.push_back(memory(Sizes(graphs[g]), least_allocation(graphs[g], Sizes(graphs[g]))));
    least = checked_add(least, checked_mul(shares[g], copies, "shares of memory"), "shares of memory");
    more += copies * static_cast<double>(wanted[g].pool - shares[g]);
  }
  if (least > capacity)
    fail(ExitStatus::limit,
         fmt::format("shares of {} bytes do not hold {} models", capacity, copies * std::ssize(graphs)),
         "each has a share of its own that it runs in", fmt::format("the least is {} bytes in all", least));
  const double part = more > 0 ? std::min(1.0, static_cast<double>(capacity - least) / more) : 0;
  for (std::size_t g = 0; g < graphs.size(); ++g)
    shares[g] += static_cast<std::int64_t>(part * static_cast<double>(wanted[g].pool - shares[g]));
  return shares;
}

// Whose parameters lie in memory, by when they ran last.
class Keeper {
 public:
  Keeper(const std::vector<ServedModel>& models, std::int64_t capacity) : models_(models), capacity_(capacity) {
    std::int64_t most = 0;
    for (const ServedModel& model : models) most = std::max(most, model.pool - model.stays);
    for (std::size_t m = 0; m < models.size() && bytes_ + models[m].stays <= capacity - most; ++m) keep(m);
  }

  [[nodiscard]] bool has(std::size_t model) const {
    return std::find(kept_.begin(), kept_.end(), model) != kept_.end();
  }
  // It runs now, and others that it leaves no room leave. Seconds in which what these changed leaves.
  double run(std::size_t model) {
    const double seconds = make_room(models_[model].pool - models_[model].stays, model, no_model);
    const auto place = std::find(kept_.begin(), kept_.end(), model);
    if (place != kept_.end()) std::rotate(place, place + 1, kept_.end());
    return seconds;
  }
  // Its parameters come while another one runs, or before it runs (no_model).
  double load(std::size_t model, std::size_t running) {
    const std::int64_t runs = running == no_model ? 0 : models_[running].pool - models_[running].stays;
    const double seconds = make_room(runs + models_[model].stays, model, running);
    keep(model);
    return seconds;
  }

 private:
  void keep(std::size_t model) {
    kept_.push_back(model);
    bytes_ += models_[model].stays;
  }
  // What ran longest ago leaves, but not these two.
  double make_room(std::int64_t bytes, std::size_t one, std::size_t other) {
    double seconds = 0;
    for (std::size_t place = 0; place < kept_.size() && bytes_ + bytes > capacity_;) {
      const std::size_t model = kept_[place];
      if (model == one || model == other) {
        ++place;
        continue;
      }
      kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(place));
      bytes_ -= models_[model].stays;
      seconds += models_[model].unload;
    }
    return seconds;
  }

  const std::vector<ServedModel>& models_;
  std::int64_t capacity_;
  std::vector<std::size_t> kept_;
  std::int64_t bytes_ = 0;
};

// One request after another, first come, first served.
class Server {
 public:
  Server(const std::vector<ServedModel>& models, Serving serving, const ServeOptions& options)
      : models_(models), serving_(serving), options_(options), keeper_(models, options.capacity) {}

  Served run() {
    Random random(options_.seed);
    std::vector<double> latencies;
    latencies.reserve(static_cast<std::size_t>(options_.requests));
    double arrival = 0, busy = 0;
    for (std::int64_t i = 0; i < options_.requests; ++i) {
      arrival -= std::log((static_cast<double>(random() >> 11) + 1) * 0x1p-53) / options_.rate;
      const std::size_t model = draw(random, models_.size());
      const double begin = std::max(arrival, end_);
      const double seconds = seconds_of_turn(model, arrival, begin);
      last_ = model;
      last_begin_ = begin;
      end_ = begin + seconds;
      busy += seconds;
      made_.waiting += begin - arrival;
      latencies.push_back(end_ - arrival);
    }
    sum_up(latencies, busy);
    return made_;
  }

 private:
  double seconds_of_turn(std::size_t model, double arrival, double begin) {
    const ServedModel& one = models_[model];
    if (serving_ == Serving::alone) return one.whole;
    if (serving_ == Serving::partitioned) return one.in_share;
    double seconds = 0;
    if (!keeper_.has(model)) {
      ++made_.loads;
      seconds +=
          serving_ == Serving::foreseeing ? foreseen(model, arrival, begin) : keeper_.load(model, no_model) + one.load;
    }
    return seconds + keeper_.run(model) + one.whole;
  }

  // What a turn takes longer because the parameters are not there when it begins. They come from the time on at which
  // the request is known, the one before it runs, and the link is free.
  double foreseen(std::size_t model, double arrival, double begin) {
    const ServedModel& one = models_[model];
    const bool beside = last_ != no_model && models_[last_].pool + one.stays <= options_.capacity;
    const double from = beside ? std::max({arrival, last_begin_, link_free_}) : std::max(begin, link_free_);
    const double away = keeper_.load(model, beside && begin > from ? last_ : no_model);
    link_free_ = from + away + one.load;
    const double late = std::max(0.0, link_free_ - begin);
    return std::min(late, away + one.cold - one.whole);
  }

  void sum_up(std::vector<double>& latencies, double busy) {
    if (latencies.empty()) return;
    const auto many = static_cast<double>(latencies.size());
    for (const double latency : latencies) made_.mean += latency / many;
    made_.waiting /= many;
    made_.throughput = many / end_;
    made_.busy = busy / end_;
    const auto rank = [&](double part) {  // the smallest that so large a part does not exceed
      const auto place = static_cast<std::ptrdiff_t>(std::ceil(part * many)) - 1;
      std::nth_element(latencies.begin(), latencies.begin() + place, latencies.end());
      return latencies[static_cast<std::size_t>(place)];
    };
    made_.p50 = rank(0.5);
    made_.p99 = rank(0.99);
  }

  const std::vector<ServedModel>& models_;
  Serving serving_;
  const ServeOptions& options_;
  Keeper keeper_;
  Served made_;
  std::size_t last_ = no_model;
  double last_begin_ = 0, end_ = 0, link_free_ = 0;
};

}  // namespace

std::vector<ServedModel> models_to_serve(const std::vector<TaskGraph>& graphs, int copies, const SearchOptions& options,
                                         const FindPlan& find) {
  std::vector<ServedModel> kinds;
  for (const TaskGraph& graph : graphs) kinds.push_back(Tight(graph, options, find(graph, options)).model());
  const std::vector<std::int64_t> shares = shares_of(graphs, kinds, copies, options.capacity);
  std::vector<ServedModel> models;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    kinds[g].share = shares[g];
    SearchOptions part = options;
    part.capacity = shares[g];
    kinds[g].in_share = shares[g] == kinds[g].pool ? kinds[g].whole : find(graphs[g], part).timeline.seconds;
    models.insert(models.end(), static_cast<std::size_t>(copies), kinds[g]);
  }
  return models;
}

std::string name_of(Serving serving) {
  switch (serving) {
    case Serving::alone:
      return "alone";
    case Serving::partitioned:
      return "partitioned";
    case Serving::time_shared:
      return "time-shared";
    case Serving::foreseeing:
      return "foreseeing";
  }
  throw InternalError("a way to serve without a name");
}

Served serve(const std::vector<ServedModel>& models, Serving serving, const ServeOptions& options) {
  return Server(models, serving, options).run();
}

}  // namespace kasen::swap
