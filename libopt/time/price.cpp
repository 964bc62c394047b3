#include "libopt/time/price.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

#include "libcore/ir/derived_dims.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/module.h"
#include "libcore/ir/products.h"
#include "libopt/cost/extent.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/imbalance.h"

namespace kasen {
namespace {

// Default sizes: large data, cut well. docs/cost.md names them.
constexpr std::int64_t default_indices = 1'000'000, default_local = 100, default_entries = 16, default_workers = 16,
                       default_trips = 10, default_compressed = 10'000'000, default_distinct = 100'000;

Symbol size_of(const std::string& dim) { return {SymbolKind::size, dim, {}, -1}; }

// Gives the value of every symbol of one plan.
class Numbers {
 public:
  Numbers(const Module& plan, const CostReport& report, Sizes sizes, std::map<std::string, std::int64_t>& defaults)
      : imbalance(kasen::imbalance(plan, sizes, sizes.workers)),
        plan_(plan),
        names_(plan),
        known_(std::move(sizes.totals)),
        defaults_(defaults) {
    for (const LoopCost& loop : report.loops) {
      if (loop.expected) known_.emplace(Symbol{SymbolKind::trips, "", {}, loop.number}, *loop.expected);
    }
    for_each_op(plan, [&](const Op& op, int, int) {
      if (op.code != OpCode::input || gives_values(plan, op)) return;
      const Type& type = plan.type(op.results.at(0));
      rows_of_[op.name] = plan.dim(has_batches(type) ? matrix_dims(type).front() : type.dims.at(0)).name;
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

  const double imbalance;

 private:
  std::int64_t assumed(const Symbol& symbol) {
    switch (symbol.kind) {
      case SymbolKind::taken:
        return 1;
      case SymbolKind::stay:
      case SymbolKind::agree:
      case SymbolKind::block_reads:
      case SymbolKind::block_writes:
      case SymbolKind::block_sends:
      case SymbolKind::block_elements:
        return reported(symbol, 0);
      case SymbolKind::slaves:  // for a set: all ghosts of the dimension
        if (!symbol.set.empty()) return (*this)({SymbolKind::slaves, symbol.name, {}, -1});
        return reported(symbol, (*this)(size_of(symbol.name)));
      case SymbolKind::waiting:  // one row for each ghost
        return std::min((*this)(size_of(symbol.name)), (*this)({SymbolKind::slaves, symbol.name, symbol.set, -1}));
      case SymbolKind::size:
      case SymbolKind::whole:
        return indices(symbol);
      case SymbolKind::entries: {
        const auto rows = rows_of_.find(symbol.name);
        return reported(symbol,
                        default_entries * (rows == rows_of_.end() ? default_indices : (*this)(size_of(rows->second))));
      }
      case SymbolKind::batch:
        return batch_of(symbol);
      case SymbolKind::compressed:
        return reported(symbol, default_compressed);
      case SymbolKind::distinct:
        return reported(symbol, default_distinct);
      case SymbolKind::workers:
        return reported(symbol, default_workers);
      case SymbolKind::trips:
        return reported(symbol, default_trips);
    }
    throw InternalError("a symbol outside the table");
  }

  // As many nonzeros as batches have on average.
  std::int64_t batch_of(const Symbol& symbol) {
    const DimId batches = batches_dim(plan_, symbol.name);
    if (batches == no_dim) throw InternalError("a batch of a matrix that has none");
    const std::int64_t all = (*this)({SymbolKind::entries, symbol.name, {}, -1});
    return mean_of_batches(all, (*this)(size_of(plan_.dim(batches).name)));
  }

  std::int64_t indices(const Symbol& symbol) {
    if (symbol.kind == SymbolKind::whole) return (*this)(size_of(symbol.name));
    const DimId d = plan_.find_dim(symbol.name);
    if (d == no_dim) return reported(symbol, default_indices);
    const Dimension& dim = plan_.dim(d);
    if (dim.is_workers()) return (*this)({SymbolKind::workers, "", {}, -1});
    if (dim.is_derived()) {
      return derived_size(dim.derived, [&](DimId source) { return (*this)(size_of(plan_.dim(source).name)); });
    }
    return dim.size >= 0 ? dim.size : reported(symbol, dim.local ? default_local : default_indices);
  }

  std::int64_t reported(const Symbol& symbol, std::int64_t value) {
    defaults_.emplace(names_(symbol), value);
    return value;
  }

  const Module& plan_;
  SymbolNames names_;
  Polynomial::Bindings known_;
  std::map<std::string, std::string> rows_of_;
  std::map<std::string, std::int64_t>& defaults_;
};

// Replaces iterations that the program states by numbers, and takes the first branch of an `if`. Only sizes remain.
Polynomial with_iterations(const Polynomial& polynomial, Numbers& numbers) {
  return polynomial.replace([&](const Symbol& symbol) {
    const bool iterations = symbol.kind == SymbolKind::trips && numbers.knows(symbol);
    return iterations || symbol.kind == SymbolKind::taken ? Polynomial(numbers(symbol)) : Polynomial(symbol);
  });
}

Work with_iterations(const Work& work, const Polynomial& times, Numbers& numbers) {
  Work all;
  for (size_t i = 0; i < all.operations.size(); ++i) {
    if (!work.operations.at(i).is_zero())
      all.operations.at(i) = with_iterations(work.operations.at(i) * times, numbers);
  }
  all.entries = with_iterations(work.entries * times, numbers);
  all.entry_bytes = with_iterations(work.entry_bytes * times, numbers);
  all.span = with_iterations(work.span, numbers);
  return all;
}

PricePolynomials forms(const TimeModel& model, const CostReport& report, bool paper, Numbers& numbers) {
  PricePolynomials form;
  for (const TimeRow& row : model.rows()) {
    const Polynomial& times = report.rows.at(static_cast<size_t>(row.runs)).executions;
    const TouchedBytes bytes = row.streamed(paper), &all = paper ? row.model : row.actual;
    PriceRow part{with_iterations(bytes.read * times, numbers), with_iterations(bytes.written * times, numbers),
                  with_iterations(row.work, times, numbers)};
    const bool idle = part.read.is_zero() && part.written.is_zero() && part.work.is_zero();
    if (!idle) form.rows.push_back(std::move(part));
    form.memory += (all.read + all.written) * times;
    form.network += row.network * times;
    if (row.exchange == Exchange::array) form.rounds += times;
    if (row.exchange == Exchange::carries) form.rounds += (row.places - Polynomial(1)) * times;
    if (row.exchange == Exchange::shared) form.shared_rounds += times;
    if (row.loops) form.starts += times;
  }
  for (Polynomial* sum : {&form.memory, &form.network, &form.rounds, &form.shared_rounds, &form.starts}) {
    *sum = with_iterations(*sum, numbers);
  }
  form.held = model.held();
  std::sort(form.rows.begin(), form.rows.end());
  return form;
}

// Each worker is a process.
TimeCase case_of(const std::shared_ptr<Numbers>& numbers, const MachineProfile& machine) {
  TimeCase in;
  in.value = [numbers](const Polynomial& polynomial) { return std::optional(numbers->evaluate(polynomial)); };
  in.machine = machine;
  in.workers = std::max<double>(1, static_cast<double>((*numbers)({SymbolKind::workers, "", {}, -1})));
  in.processes = in.workers;
  in.imbalance = numbers->imbalance;
  return in;
}

Price evaluated(const TimeModel& model, const CostReport& report, const PricePolynomials& form, TimeCase& in,
                Numbers& numbers) {
  Price price;
  price.workers = in.workers;
  price.memory_bytes = numbers.evaluate(form.memory);
  price.network_bytes = numbers.evaluate(form.network);
  price.rounds = numbers.evaluate(form.rounds) + rounds_of_tree(in.workers) * numbers.evaluate(form.shared_rounds);
  const auto time = model.program(report, in);
  if (!time) throw InternalError("a price without a number");
  price.seconds = time->sum();
  price.local_seconds = price.seconds - time->network;
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

// Seconds as a sum of terms with coefficients that are not integers.
using Seconds = std::map<Polynomial::Monomial, double>;

Seconds times(const Polynomial& polynomial, double each) {
  Seconds seconds;
  for (const auto& [monomial, coefficient] : polynomial.terms()) {
    seconds[monomial] = static_cast<double>(coefficient) * each;
  }
  return seconds;
}

void add(Seconds& sum, const Seconds& other) {
  for (const auto& [monomial, seconds] : other) sum[monomial] += seconds;
}

// Returns an upper bound of both for all sizes.
Seconds upper(Seconds a, const Seconds& b) {
  for (const auto& [monomial, seconds] : b) a[monomial] = std::max(a[monomial], seconds);
  return a;
}

bool at_most(const Seconds& a, const Seconds& b) {
  return std::all_of(a.begin(), a.end(), [&](const auto& term) {
    const auto other = b.find(term.first);
    return !dearer(term.second, other == b.end() ? 0 : other->second);
  });
}

// The known rates of the machine, except that bytes in its caches are not known.
struct Rates {
  const MachineProfile& machine;
  double bandwidth, write_bandwidth, entry;
};

// The parts of step_time that depend on sizes; network, rounds and starts are compared for the whole program.
struct RowSeconds {
  Seconds written, read, operations, entries;
};

RowSeconds seconds_of(const PriceRow& row, const Rates& rates) {
  RowSeconds made{times(row.written, 1 / rates.write_bandwidth),
                  times(row.read, 1 / rates.bandwidth),
                  {},
                  times(row.work.entries, rates.entry)};
  for (size_t i = 0; i < row.work.operations.size(); ++i) {
    add(made.operations, times(row.work.operations.at(i), rates.machine.operation.at(i)));
  }
  return made;
}

// A bound of the rows' sum: for each row its writes and the slowest of its other three counts. The lower one takes the
// count that is slowest for all sizes, else the reads.
Seconds bound(const std::vector<PriceRow>& rows, const Rates& rates, bool upper_one) {
  Seconds sum;
  for (const PriceRow& row : rows) {
    const RowSeconds one = seconds_of(row, rates);
    const Seconds most = upper(upper(one.read, one.operations), one.entries);
    add(sum, one.written);
    add(sum, upper_one                       ? most
             : at_most(most, one.operations) ? one.operations
             : at_most(most, one.entries)    ? one.entries
                                             : one.read);
  }
  return sum;
}

// Rows that both plans have are set aside first. The cached bytes are taken to be alike in both plans.
bool rows_never_dearer(const std::vector<PriceRow>& a, const std::vector<PriceRow>& b, const MachineProfile& machine) {
  std::vector<PriceRow> own, other;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(own));
  std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(other));
  const auto holds = [&](double bandwidth, double write_bandwidth, double entry) {
    const Rates rates{machine, bandwidth, write_bandwidth, entry};
    return at_most(bound(own, rates, true), bound(other, rates, false));
  };
  const double writing = machine.bandwidth_of_writes();
  if (!holds(machine.memory_bandwidth, writing, machine.far_entry)) return false;
  if (machine.cache_bytes == 0) return true;
  return holds(machine.memory_bandwidth, writing, machine.near_entry) &&
         holds(machine.cache_bandwidth, machine.cache_bandwidth, machine.near_entry);
}

}  // namespace

bool PriceRow::operator<(const PriceRow& other) const {
  if (read.terms() != other.read.terms()) return read.terms() < other.read.terms();
  if (written.terms() != other.written.terms()) return written.terms() < other.written.terms();
  if (work.entries.terms() != other.work.entries.terms()) return work.entries.terms() < other.work.entries.terms();
  if (work.span.terms() != other.work.span.terms()) return work.span.terms() < other.work.span.terms();
  return std::lexicographical_compare(work.operations.begin(), work.operations.end(), other.work.operations.begin(),
                                      other.work.operations.end(),
                                      [](const Polynomial& x, const Polynomial& y) { return x.terms() < y.terms(); });
}

bool never_dearer(const PricePolynomials& a, const PricePolynomials& b, const MachineProfile& machine) {
  return no_positive(a.network - b.network) && no_positive(a.rounds - b.rounds) &&
         no_positive(a.shared_rounds - b.shared_rounds) && no_positive(a.starts - b.starts) &&
         (machine.cache_bytes == 0 || no_positive(a.held - b.held)) && rows_never_dearer(a.rows, b.rows, machine);
}

TimeCase Pricing::time_case(const Module& plan) {
  const Sizes sizes = sizes_ ? sizes_(plan) : Sizes{};
  return case_of(std::make_shared<Numbers>(plan, measure(plan, sizes), sizes, defaults_), machine_);
}

PlanPrice Pricing::operator()(const Module& plan) {
  const Sizes sizes = sizes_ ? sizes_(plan) : Sizes{};
  const CostReport report = measure(plan, sizes);
  const TimeModel model(plan, report);
  const auto known = std::make_shared<Numbers>(plan, report, sizes, defaults_);
  Numbers& numbers = *known;
  TimeCase in = case_of(known, machine_);
  PlanPrice price;
  price.actual_form = forms(model, report, false, numbers);
  price.actual = evaluated(model, report, price.actual_form, in, numbers);
  in.paper = true;
  price.model_form = forms(model, report, true, numbers);
  price.model = evaluated(model, report, price.model_form, in, numbers);
  return price;
}

std::vector<std::string> Pricing::defaults() const {
  std::vector<std::string> texts;
  for (const auto& [name, value] : defaults_) texts.push_back(name + " = " + grouped(value));
  return texts;
}

}  // namespace kasen
