// How variables are eliminated, by the scopes of tables alone: in which order, which tables meet, and how large those
// are that they make. So the search knows what an elimination takes before it begins one.
#pragma once

#include <random>

#include "libopt/tiling/solve/problem.h"

namespace kasen::tiling {

// The least cost of some tables of a bucket over its variable's choices: a table over their other variables.
struct Message {
  std::vector<std::size_t> from;   // tables of the bucket
  std::vector<std::size_t> scope;  // ascending
};

// The tables of which the variable is the first to be eliminated. One message is exact; several are a lower bound,
// since each takes the choice that is best for itself (mini-buckets).
struct Bucket {
  std::size_t variable = 0;
  std::vector<std::size_t> tables;  // numbers: first the tables of the part, then messages as they are made
  std::vector<Message> messages;
  std::size_t first = 0;  // the number of the first message
};

struct Plan {
  std::vector<std::size_t> given;  // the problem's tables
  std::vector<Bucket> buckets;     // in the order of elimination
  std::size_t exact = 0;           // the buckets before the first one with several messages
  double entries = 0;              // of all messages
  double work = 0;                 // values read to make them

  // Eight values are read for one that is kept.
  [[nodiscard]] bool takes_at_most(double most) const { return work <= most && entries <= most / 8; }
  [[nodiscard]] bool is_exact() const { return exact == buckets.size(); }
};

// Returns the part's variables as they are eliminated: always the one whose elimination makes the smallest table, the
// least of equal ones.
[[nodiscard]] std::vector<std::size_t> elimination_order(const Problem& problem, const Part& part);

// Returns some of the part's variables as they are eliminated. Where a table would have more entries than `most`, a
// random variable that is left stays out.
[[nodiscard]] std::vector<std::size_t> narrow_order(const Problem& problem, const Part& part, std::uint64_t most,
                                                    std::mt19937& random);

// Splits a bucket where its message would have more entries than `most`.
[[nodiscard]] Plan plan_of(const Problem& problem, const Part& part, const std::vector<std::size_t>& order,
                           std::uint64_t most);

// Returns the plan with the largest tables, none above Limits::table_entries, that takes at most `work` times as much.
[[nodiscard]] Plan affordable_plan(const Problem& problem, const Part& part, const std::vector<std::size_t>& order,
                                   const Limits& limits, double work);

}  // namespace kasen::tiling
