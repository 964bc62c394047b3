// The searches for a plan, one behind another: a beam, the genetic search that begins with what the beam found, and
// small changes to the best plans of both.
#pragma once

#include <cstdint>

#include "libopt/swap/beam.h"
#include "libopt/swap/improve.h"
#include "libopt/swap/search.h"

namespace kasen::swap {

enum class Way { both, genetic, beam };

struct FindOptions {
  Way way = Way::both;
  BeamOptions beam;        // it makes no more plans than its share of all
  std::int64_t plans = 0;  // that are made in all, at most; 0: fewer for larger graphs, so that a minute is enough
};

// The course goes over all searches. Throws UserError(limit) with the least capacity if no allocation fits.
[[nodiscard]] Found find_plan(const TaskGraph& graph, const SearchOptions& options, const FindOptions& find);

// The plans that it may make; the beam and the generations of the genetic search that their shares of these are enough
// for.
[[nodiscard]] std::int64_t plans_of(const TaskGraph& graph, const FindOptions& find);
[[nodiscard]] BeamOptions beam_part(const TaskGraph& graph, const FindOptions& find);
[[nodiscard]] int generations_of(const TaskGraph& graph, const SearchOptions& options, const FindOptions& find);

}  // namespace kasen::swap
