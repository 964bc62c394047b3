#include "libopt/tiling/solve/elimination.h"

#include <algorithm>
#include <cmath>

namespace kasen::tiling {
namespace {

using Tables = std::vector<const Table*>;

// Runs over the entries of a scope, and knows where each table stands.
class Walk {
 public:
  Walk(const Problem& problem, const std::vector<std::size_t>& scope, const Tables& tables) : places_(tables.size()) {
    for (std::size_t i = scope.size(); i-- > 0;) {
      Digit digit{0, problem.choices[scope[i]].size(), {}};
      for (const Table* table : tables) digit.strides.push_back(table->stride(scope[i]));
      digits_.push_back(std::move(digit));
    }
  }

  [[nodiscard]] const std::vector<std::size_t>& places() const { return places_; }

  void next() {
    for (Digit& digit : digits_) {
      const bool carries = ++digit.at == digit.count;
      for (std::size_t t = 0; t < places_.size(); ++t) {
        places_[t] = carries ? places_[t] - digit.strides[t] * (digit.count - 1) : places_[t] + digit.strides[t];
      }
      if (!carries) return;
      digit.at = 0;
    }
  }

 private:
  struct Digit {
    std::size_t at, count;
    std::vector<std::size_t> strides;  // by table
  };
  std::vector<Digit> digits_;  // the last variable's first
  std::vector<std::size_t> places_;
};

// A message in the making: the sum of its tables for each choice of the variable.
class Joint {
 public:
  Joint(const Problem& problem, const Message& message, Tables tables, std::size_t variable)
      : problem_(problem), message_(message), tables_(std::move(tables)), shift_(problem.choices[variable].size(), 0) {
    for (const Table* table : tables_) strides_.push_back(table->stride(variable));
  }

  // Returns the least sum of each choice.
  [[nodiscard]] std::vector<double> least_by_choice() const {
    std::vector<double> least(shift_.size(), forbidden);
    run([&](std::size_t, std::size_t choice, double sum) { least[choice] = std::min(least[choice], sum); });
    return least;
  }

  void shift(std::size_t choice, double by) { shift_[choice] += by; }

  [[nodiscard]] Table least() const {
    Table table = table_over(problem_, message_.scope);
    std::fill(table.values.begin(), table.values.end(), forbidden);
    run([&](std::size_t entry, std::size_t, double sum) { table.values[entry] = std::min(table.values[entry], sum); });
    return table;
  }

 private:
  template <class Visit>
  void run(Visit visit) const {
    Walk walk(problem_, message_.scope, tables_);
    const std::uint64_t entries = entries_of(problem_, message_.scope);
    for (std::size_t entry = 0; entry < entries; ++entry, walk.next()) {
      const std::vector<std::size_t>& places = walk.places();
      for (std::size_t choice = 0; choice < shift_.size(); ++choice) {
        double sum = shift_[choice];
        for (std::size_t t = 0; t < tables_.size(); ++t) sum += tables_[t]->values[places[t] + choice * strides_[t]];
        visit(entry, choice, sum);
      }
    }
  }

  const Problem& problem_;
  const Message& message_;
  const Tables tables_;
  std::vector<std::size_t> strides_;  // by table: of the variable
  std::vector<double> shift_;         // by choice
};

// Messages of one bucket may exchange costs by choice: their sum stays. With equal least costs, they agree more often
// on the best choice, and the bound is higher. The parts are multiples of a 16th of the unit, so that sums stay exact.
void level(std::vector<Joint>& joints, std::size_t choices, double unit) {
  std::vector<std::vector<double>> least;
  for (const Joint& joint : joints) least.push_back(joint.least_by_choice());
  for (std::size_t choice = 0; choice < choices; ++choice) {
    double mean = 0;
    for (const std::vector<double>& of : least) mean += of[choice] / static_cast<double>(joints.size());
    if (mean == forbidden) {  // for one, so for all
      for (Joint& joint : joints) joint.shift(choice, forbidden);
      continue;
    }
    double rest = 0;
    for (std::size_t j = 0; j + 1 < joints.size(); ++j) {
      double share = mean - least[j][choice];
      if (unit > 0) share = std::floor(share / unit * 16) * (unit / 16);
      joints[j].shift(choice, share);
      rest -= share;
    }
    joints.back().shift(choice, rest);
  }
}

}  // namespace

Elimination::Elimination(const Problem& problem, const Plan& plan, double unit) : problem_(problem), plan_(plan) {
  for (const std::size_t t : plan.given) tables_.push_back(&problem.tables[t]);
  for (const Bucket& bucket : plan.buckets) make(bucket, unit);
}

void Elimination::make(const Bucket& bucket, double unit) {
  std::vector<Joint> joints;
  for (const Message& message : bucket.messages) {
    joints.emplace_back(problem_, message, all_of(message.from), bucket.variable);
  }
  if (joints.size() > 1) level(joints, problem_.choices[bucket.variable].size(), unit);
  for (const Joint& joint : joints) {
    made_.push_back(joint.least());
    tables_.push_back(&made_.back());
    if (made_.back().scope.empty()) bound_ += made_.back().values[0];
  }
}

std::vector<const Table*> Elimination::all_of(const std::vector<std::size_t>& numbers) const {
  Tables all;
  for (const std::size_t number : numbers) all.push_back(tables_[number]);
  return all;
}

void Elimination::rises(std::size_t bucket, const Choices& at, std::vector<double>& out) const {
  const Bucket& of = plan_.buckets[bucket];
  double counted = 0;  // by the bound so far
  for (std::size_t i = 0; i < of.messages.size(); ++i) counted += tables_[of.first + i]->at(at);
  out.assign(problem_.choices[of.variable].size(), 0);
  for (const std::size_t number : of.tables) {
    const Table& table = *tables_[number];
    const std::size_t place = table.place(at, of.variable), stride = table.stride(of.variable);
    for (std::size_t choice = 0; choice < out.size(); ++choice) out[choice] += table.values[place + choice * stride];
  }
  for (double& rise : out) rise = counted < forbidden ? rise - counted : forbidden;
}

void Elimination::complete(std::size_t end, Choices& at) const {
  std::vector<double> rise;
  for (std::size_t bucket = end; bucket-- > 0;) {
    rises(bucket, at, rise);
    const auto least = std::min_element(rise.begin(), rise.end());
    at[plan_.buckets[bucket].variable] = static_cast<std::size_t>(least - rise.begin());
  }
}

}  // namespace kasen::tiling
