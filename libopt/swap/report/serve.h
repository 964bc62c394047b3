// Several models for inference on one device: how long requests wait and run, if memory is partitioned, or if one model
// after another has all of it (Huang, thesis, section 5.3). Either way models run one at a time, in the order in which
// requests arrive: they share computation by time. Requests are a Poisson process; each is for one of the models,
// equally likely.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libopt/swap/search.h"

namespace kasen::swap {

struct ServedModel {
  std::string name;
  double whole = 0;        // seconds of an iteration with all memory, its parameters in place
  double cold = 0;         // the same with none of them in place: they come while it runs
  double in_share = 0;     // in its share of memory, where memory is partitioned
  double load = 0;         // seconds in which its parameters come, while nothing runs,
  double unload = 0;       // and in which those that it changes leave
  std::int64_t stays = 0;  // bytes of parameters that stay in memory between its iterations, with all memory
  std::int64_t pool = 0;   // bytes that it takes while it runs, with all memory, with those
  std::int64_t share = 0;  // its bytes, where memory is partitioned
  friend bool operator==(const ServedModel&, const ServedModel&) = default;
};

using FindPlan = std::function<Found(const TaskGraph& graph, const SearchOptions& options)>;  // search() is one

// Plans each graph for all memory, and for its share. There are so many models of each graph, with parameters of their
// own. A share is what a model needs at least, and a part of what is left in proportion to what it can use beyond.
// Throws UserError(limit) if the least does not fit.
[[nodiscard]] std::vector<ServedModel> models_to_serve(const std::vector<TaskGraph>& graphs, int copies,
                                                       const SearchOptions& options, const FindPlan& find);

enum class Serving : std::uint8_t {
  alone,        // as if the parameters of all models were in place: no way takes less ("not shared")
  partitioned,  // each model has a share of memory, and swaps in it (SwapAdvisor's way)
  time_shared,  // each has all memory; its parameters come before it runs (the thesis's baseline)
  foreseeing,   // the same; they come while the request before it runs, if there is room, and while it runs
};
inline constexpr std::array servings{Serving::alone, Serving::partitioned, Serving::time_shared, Serving::foreseeing};
[[nodiscard]] std::string name_of(Serving serving);

struct ServeOptions {
  double rate = 1;                  // requests a second
  std::int64_t requests = 100'000;  // that are followed
  std::uint64_t seed = 1;           // equal seeds draw equal requests
  std::int64_t capacity = 0;        // bytes
};

struct Served {
  double mean = 0, p50 = 0, p99 = 0;  // seconds from arrival to end
  double waiting = 0;                 // of these, in the mean, before the request's turn
  double throughput = 0;              // requests a second, until the last one ends
  double busy = 0;                    // the part of that time in which a request has its turn
  std::int64_t loads = 0;             // how often parameters of a model came
};

// Memory keeps the parameters of the models that ran last, as many as fit beside the one that runs, each whole. It
// begins with those of the first models.
[[nodiscard]] Served serve(const std::vector<ServedModel>& models, Serving serving, const ServeOptions& options);

// Tables by rate, for people and for other programs (docs/swap.md has the keys).
struct ServedRate {
  double rate = 0;
  std::array<Served, servings.size()> by;  // in the order of `servings`
};
[[nodiscard]] std::string serve_text(const std::vector<ServedModel>& models, const ServeOptions& options,
                                     const std::vector<ServedRate>& rates);
[[nodiscard]] std::string serve_json(const std::vector<ServedModel>& models, const ServeOptions& options,
                                     const std::vector<ServedRate>& rates);

}  // namespace kasen::swap
