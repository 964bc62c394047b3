// The tables that a plan of elimination makes, and what they say of choices.
#pragma once

#include <deque>

#include "libopt/tiling/solve/plan.h"

namespace kasen::tiling {

class Elimination {
 public:
  // `unit`: each cost is a multiple of it; 0 if that is not known.
  Elimination(const Problem& problem, const Plan& plan, double unit);

  // Returns what no assignment of the part costs less than. It is the least cost if the plan is exact.
  [[nodiscard]] double bound() const { return bound_; }

  [[nodiscard]] std::size_t count() const { return tables_.size(); }
  [[nodiscard]] const Table& table(std::size_t number) const { return *tables_[number]; }

  // Sets, by choice of the bucket's variable, how much the bound rises with it. Variables of later buckets have chosen.
  void rises(std::size_t bucket, const Choices& at, std::vector<double>& out) const;

  // Sets the choices of the buckets before `end`, from the last to the first: each the first one of the smallest rise.
  void complete(std::size_t end, Choices& at) const;

 private:
  void make(const Bucket& bucket, double unit);
  [[nodiscard]] std::vector<const Table*> all_of(const std::vector<std::size_t>& numbers) const;

  const Problem& problem_;
  const Plan& plan_;
  std::vector<const Table*> tables_;  // by number
  std::deque<Table> made_;
  double bound_ = 0;
};

}  // namespace kasen::tiling
