// The expected cost of a plan as one number, by which the optimizer compares plans. It uses the model that also
// predicts times (time_model.h), with the sizes at hand and a machine profile.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "libopt/cost/cost.h"
#include "libopt/cost/sizes.h"
#include "libopt/cost/work.h"
#include "libopt/time/machine.h"
#include "libopt/time/time_model.h"

namespace kasen {

// The price of the whole program, over all workers. Rounds are exchanges one after another; a shared's takes log2(P) of
// them.
struct Price {
  double memory_bytes = 0, network_bytes = 0, rounds = 0;
  double seconds = 0;        // computing beyond the time of the reads is included
  double local_seconds = 0;  // without the bytes sent
  double workers = 1;
};

// One operator's part of the whole program: bytes that it streams, and the computing meanwhile.
struct PriceRow {
  Polynomial read, written;
  Work work;
  [[nodiscard]] bool operator<(const PriceRow& other) const;
};

// The same as polynomials, with the iterations that the program states. `memory` is all bytes touched, `starts` the
// number of loops, `held` the bytes of all arrays and matrices.
struct PricePolynomials {
  std::vector<PriceRow> rows;
  Polynomial memory, network, rounds, shared_rounds, starts, held;
};

struct PlanPrice {
  Price model, actual;
  PricePolynomials model_form, actual_form;
};

// Returns true if `a` costs at most as much as `b` on this machine for all sizes: term by term.
[[nodiscard]] bool never_dearer(const PricePolynomials& a, const PricePolynomials& b, const MachineProfile& machine);
// Returns true if `a` exceeds `b` by more than rounding.
[[nodiscard]] inline bool dearer(double a, double b) { return a > b * (1 + 1e-12); }

class Pricing {
 public:
  // `sizes` gives the numbers known for a plan (symbols hold operator numbers, so each plan has its own). It may be
  // empty.
  Pricing(std::function<Sizes(const Module&)> sizes, const MachineProfile& machine)
      : sizes_(std::move(sizes)), machine_(machine) {}

  [[nodiscard]] PlanPrice operator()(const Module& plan);
  // Returns the workers and a number for each polynomial of this plan, as the price takes them. The plan has to stay
  // alive.
  [[nodiscard]] TimeCase time_case(const Module& plan);
  // Adds the sizes that others' plans assumed.
  void assume(const Pricing& other) { defaults_.insert(other.defaults_.begin(), other.defaults_.end()); }
  // Returns "N = 1,000,000" for sizes that were not known and took a default, for all plans so far, in the order of
  // names.
  [[nodiscard]] std::vector<std::string> defaults() const;

 private:
  std::function<Sizes(const Module&)> sizes_;
  MachineProfile machine_;
  std::map<std::string, std::int64_t> defaults_;
};

}  // namespace kasen
