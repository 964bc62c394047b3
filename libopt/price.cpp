#include "libopt/price.h"

#include <algorithm>
#include <cmath>

#include "libcore/executor.h"
#include "libopt/report_parts.h"

namespace kasen {
namespace {

// Sizes that nobody gave. Large data, cut well: docs/cost.md names them.
constexpr std::int64_t default_indices = 1'000'000, default_local = 100, default_entries = 16, default_workers = 16,
                       default_trips = 10;

Symbol size_of(const std::string& dim) { return {SymbolKind::size, dim, {}, -1}; }

// The value of every symbol of one plan.
class Numbers {
 public:
  Numbers(const Module& plan, const CostReport& report, Sizes sizes, std::map<std::string, std::int64_t>& defaults)
      : plan_(plan), names_(plan), known_(std::move(sizes.totals)), defaults_(defaults) {
    for (const LoopCost& loop : report.loops) {
      if (loop.expected) known_.emplace(Symbol{SymbolKind::trips, "", {}, loop.number}, *loop.expected);
    }
    for_each_op(plan, [&](const Op& op, int, int) {
      if (op.code == OpCode::input) rows_of_[op.name] = plan.dim(plan.type(op.results.at(0)).dims.at(0)).name;
    });
  }

  [[nodiscard]] bool knows(const Symbol& symbol) const { return known_.contains(symbol); }

  std::int64_t operator()(const Symbol& symbol) {
    if (const auto it = known_.find(symbol); it != known_.end()) return it->second;
    const std::int64_t value = assumed(symbol);
    known_.emplace(symbol, value);
    return value;
  }

  double evaluate(const Polynomial& polynomial) {
    double sum = 0;
    for (const auto& [monomial, coefficient] : polynomial.terms()) {
      double term = static_cast<double>(coefficient);
      for (const Symbol& symbol : monomial) term *= static_cast<double>((*this)(symbol));
      sum += term;
    }
    return sum;
  }

 private:
  std::int64_t assumed(const Symbol& symbol) {
    switch (symbol.kind) {
      case SymbolKind::taken:
        return 1;
      case SymbolKind::slaves:  // of a set: all of the dimension's
        if (!symbol.set.empty()) return (*this)({SymbolKind::slaves, symbol.name, {}, -1});
        return told(symbol, (*this)(size_of(symbol.name)));
      case SymbolKind::waiting:  // one row for each slave
        return std::min((*this)(size_of(symbol.name)), (*this)({SymbolKind::slaves, symbol.name, symbol.set, -1}));
      case SymbolKind::size:
      case SymbolKind::whole:
        return indices(symbol);
      case SymbolKind::entries: {
        const auto rows = rows_of_.find(symbol.name);
        return told(symbol,
                    default_entries * (rows == rows_of_.end() ? default_indices : (*this)(size_of(rows->second))));
      }
      case SymbolKind::workers:
        return told(symbol, default_workers);
      case SymbolKind::trips:
        return told(symbol, default_trips);
    }
    throw InternalError("a symbol outside the table");
  }

  std::int64_t indices(const Symbol& symbol) {
    if (symbol.kind == SymbolKind::whole) return (*this)(size_of(symbol.name));
    const DimId d = plan_.find_dim(symbol.name);
    if (d == no_dim) return told(symbol, default_indices);
    const Dimension& dim = plan_.dim(d);
    return dim.size >= 0 ? dim.size : told(symbol, dim.local ? default_local : default_indices);
  }

  std::int64_t told(const Symbol& symbol, std::int64_t value) {
    defaults_.emplace(names_(symbol), value);
    return value;
  }

  const Module& plan_;
  SymbolNames names_;
  Polynomial::Bindings known_;
  std::map<std::string, std::string> rows_of_;
  std::map<std::string, std::int64_t>& defaults_;
};

bool is_transition(const CostRow& row) { return kasen::row(row.code).group == OpGroup::transition; }

// Turns that the program tells are numbers, and an `if` runs its first branch: what is left are sizes.
Polynomial with_turns(const Polynomial& polynomial, Numbers& numbers) {
  return polynomial.replace([&](const Symbol& symbol) {
    const bool turns = symbol.kind == SymbolKind::trips && numbers.knows(symbol);
    return turns || symbol.kind == SymbolKind::taken ? Polynomial(numbers(symbol)) : Polynomial(symbol);
  });
}

Price evaluated(const PricePolynomials& form, const MachineProfile& machine, Numbers& numbers) {
  const double workers = std::max<double>(1, static_cast<double>(numbers({SymbolKind::workers, "", {}, -1})));
  Price price;
  price.workers = workers;
  price.memory_bytes = numbers.evaluate(form.memory);
  price.network_bytes = numbers.evaluate(form.network);
  price.rounds = numbers.evaluate(form.rounds) + std::ceil(std::log2(workers)) * numbers.evaluate(form.shared_rounds);
  price.seconds = price.memory_bytes / workers / machine.memory_bandwidth +
                  price.network_bytes / workers / machine.network_bandwidth + price.rounds * machine.network_latency;
  return price;
}

bool no_positive(const Polynomial& polynomial) {
  // P is at least 1: in P - 1 and the like it stands for 1 + (P - 1).
  const Polynomial shifted = polynomial.replace([](const Symbol& symbol) {
    return symbol.kind == SymbolKind::workers ? Polynomial(symbol) + Polynomial(1) : Polynomial(symbol);
  });
  const auto& terms = shifted.terms();
  return std::all_of(terms.begin(), terms.end(), [](const auto& term) { return term.second <= 0; });
}

}  // namespace

bool never_dearer(const PricePolynomials& a, const PricePolynomials& b) {
  return no_positive(a.memory - b.memory) && no_positive(a.network - b.network) && no_positive(a.rounds - b.rounds) &&
         no_positive(a.shared_rounds - b.shared_rounds);
}

PlanPrice Pricing::operator()(const Module& plan) {
  const CostReport report = measure(plan);
  Numbers numbers(plan, report, sizes_ ? sizes_(plan) : Sizes{}, defaults_);
  Polynomial rounds, shared_rounds;
  for_each_op(plan, [&](const Op& op, int number, int) {
    const CostRow& made = report.rows[static_cast<size_t>(number)];
    if (!is_transition(made)) return;
    (is_shared(plan, plan.type(op.operands.at(0))) ? shared_rounds : rounds) += made.executions;
  });
  const auto form = [&](const Cost& cost) {
    return PricePolynomials{with_turns(cost.read + cost.written, numbers), with_turns(cost.network, numbers),
                            with_turns(rounds, numbers), with_turns(shared_rounds, numbers)};
  };
  PlanPrice price;
  price.model_form = form(report.model);
  price.actual_form = form(report.actual);
  price.model = evaluated(price.model_form, machine_, numbers);
  price.actual = evaluated(price.actual_form, machine_, numbers);
  return price;
}

std::vector<std::string> Pricing::defaults() const {
  std::vector<std::string> texts;
  for (const auto& [name, value] : defaults_) texts.push_back(name + " = " + grouped(value));
  return texts;
}

}  // namespace kasen
