// What a plan is expected to take, as one number: the measure by which the optimizer compares plans. By the model that
// also tells times (time_model.h), with the sizes at hand and a machine profile.
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

// Of the whole program, over all workers. Rounds: exchanges one after another; a shared's takes log2(P) of them.
struct Price {
  double memory_bytes = 0, network_bytes = 0, rounds = 0;
  double seconds = 0;  // what computing takes beyond its bytes included
  double workers = 1;
};

// One operator's part of the whole program: bytes that pass by in order, and what is computed meanwhile.
struct PriceRow {
  Polynomial memory;
  Work work;
  [[nodiscard]] bool operator<(const PriceRow& other) const;
};

// The same as polynomials, turns put in where the program tells them. `memory`: all bytes touched; `starts`: loops;
// `held`: bytes of all arrays and matrices.
struct PricePolynomials {
  std::vector<PriceRow> rows;
  Polynomial memory, network, rounds, shared_rounds, starts, held;
};

struct PlanPrice {
  Price model, actual;
  PricePolynomials model_form, actual_form;
};

// `a` costs at most what `b` does on this machine, whatever the sizes: term by term.
[[nodiscard]] bool never_dearer(const PricePolynomials& a, const PricePolynomials& b, const MachineProfile& machine);
// Dearer by more than rounding.
[[nodiscard]] inline bool dearer(double a, double b) { return a > b * (1 + 1e-12); }

class Pricing {
 public:
  // `sizes` gives the numbers known for a plan (symbols hold operator numbers, so each plan has its own); empty: none.
  Pricing(std::function<Sizes(const Module&)> sizes, const MachineProfile& machine)
      : sizes_(std::move(sizes)), machine_(machine) {}

  [[nodiscard]] PlanPrice operator()(const Module& plan);
  // Who computes, and a number for each polynomial of this plan, as the price takes them. The plan has to stay.
  [[nodiscard]] TimeCase time_case(const Module& plan);
  // "N = 1,000,000": what was not known and taken as a default, for all plans so far, in the order of names.
  [[nodiscard]] std::vector<std::string> defaults() const;

 private:
  std::function<Sizes(const Module&)> sizes_;
  MachineProfile machine_;
  std::map<std::string, std::int64_t> defaults_;
};

}  // namespace kasen
