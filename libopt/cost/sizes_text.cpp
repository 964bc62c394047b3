// Parses `--sizes V=1000,S=250,nnz=8000`: the user's numbers for the symbols that reports print.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/suggest.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libcore/ir/products.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/sizes.h"

namespace kasen {
namespace {

// The places of operators, as symbols name them: "@7". On a line with one that is `sought`, `counted` operators are
// told apart: "@7:3" by the column, and "@7:3#2", the second one of the program, where they share that as well. So do
// the loops of a function, which are where it is called.
std::vector<std::string> told_apart(const std::vector<Location>& places, const std::vector<bool>& counted,
                                    const std::vector<bool>& sought) {
  std::map<int, int> on_line;
  std::map<std::pair<int, int>, int> at_column, so_far;
  std::set<int> lines;
  for (size_t n = 0; n < places.size(); ++n) {
    if (sought[n]) lines.insert(places[n].line);
    if (!counted[n]) continue;
    ++on_line[places[n].line];
    ++at_column[{places[n].line, places[n].column}];
  }
  std::vector<std::string> names;
  for (size_t n = 0; n < places.size(); ++n) {
    const auto& [file, line, column] = places[n];
    names.push_back(line > 0 ? fmt::format("@{}", line) : fmt::format("#{}", n));
    if (line == 0 || !counted[n] || !lines.contains(line) || on_line[line] == 1) continue;
    names.back() += fmt::format(":{}", column);
    if (at_column[{line, column}] > 1) names.back() += fmt::format("#{}", ++so_far[{line, column}]);
  }
  return names;
}

constexpr std::int64_t most_workers = 1 << 20;  // the limit of bundles

// Commas inside brackets belong to a name: S(G.rows, G.cols)=5.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> pieces(1);
  int open = 0;
  for (const char c : text) {
    if (c == '(') ++open;
    if (c == ')') --open;
    if (c == ',' && open == 0) {
      pieces.emplace_back();
    } else if (c != ' ') {
      pieces.back() += c;
    }
  }
  return pieces;
}

// Exact numbers are digits with `_` between them, or an integer in the form 1e9 or 2.5e6.
std::int64_t number(const std::string& text, const std::string& piece) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
  const char* end = digits.data() + digits.size();
  std::int64_t whole = 0;
  const auto plain = std::from_chars(digits.data(), end, whole);
  if (plain.ec == std::errc() && plain.ptr == end && whole >= 0) return whole;
  double real = 0;
  const auto floating = std::from_chars(digits.data(), end, real);
  const bool fits = floating.ec == std::errc() && floating.ptr == end && real >= 0 && real <= 9e15;
  if (fits && std::floor(real) == real) return static_cast<std::int64_t>(real);
  const bool large = floating.ptr == end && (floating.ec == std::errc::result_out_of_range || real > 9e15);
  if (large && digits[0] != '-')
    fail(ExitStatus::usage, fmt::format("'{}' gives no size", piece), "it is too large",
         "sizes are at most 9223372036854775807, and written like 1e6 at most 9e15");
  fail(ExitStatus::usage, fmt::format("'{}' gives no size", piece), "a size is an integer that is not negative",
       "write it like V=1000 or V=1e6");
}

std::string without_spaces(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

// Sets that hold every index on every worker follow from N and P.
void fill_in_whole(const Module& module, Sizes& sizes) {
  for (const Dimension& dim : module.dims) {
    const Symbol everywhere{SymbolKind::slaves, dim.name, all_slaves(), -1};
    if (const auto known = printed_form(Polynomial(everywhere)).evaluate(sizes.totals)) {
      sizes.totals[everywhere] = *known;
    }
  }
}

// A set of ghosts without a number takes all ghosts of the dimension. One row for each ghost waits for a gather.
void fill_in_sets(const std::vector<Symbol>& symbols, const SymbolNames& names, Sizes& sizes) {
  for (const Symbol& symbol : symbols) {
    if (symbol.kind != SymbolKind::slaves || symbol.set.empty() || sizes.totals.contains(symbol)) continue;
    const Symbol all{SymbolKind::slaves, symbol.name, {}, -1};
    const auto known = sizes.totals.find(all);
    if (known == sizes.totals.end()) continue;
    sizes.totals[symbol] = known->second;
    sizes.notes.push_back(fmt::format("{} is taken as {} = {}", names(symbol), names(all), known->second));
  }
  for (const Symbol& symbol : symbols) {
    if (symbol.kind != SymbolKind::waiting || sizes.totals.contains(symbol)) continue;
    const Symbol slaves{SymbolKind::slaves, symbol.name, symbol.set, -1};
    const auto known = sizes.totals.find(slaves);
    if (known == sizes.totals.end()) continue;
    sizes.totals[symbol] = known->second;
    if (sizes.at_most.contains(slaves)) sizes.at_most.insert(symbol);
    sizes.notes.push_back(fmt::format("{} is taken as {} = {}", names(symbol), names(slaves), known->second));
  }
}

std::int64_t total(const Sizes& sizes, const Symbol& symbol) {
  const auto known = sizes.totals.find(symbol);
  return known == sizes.totals.end() ? -1 : known->second;
}

// Dimensions that it is derived from stand before it.
void derive_dimension(const Module& module, const Dimension& dim, Sizes& sizes) {
  const auto size_of = [&](DimId source) { return total(sizes, {SymbolKind::size, module.dim(source).name, {}, -1}); };
  const std::int64_t size =
      dim.is_workers() ? total(sizes, {SymbolKind::workers, "", {}, -1}) : derived_size(dim.derived, size_of);
  require_whole(dim, size_of, [&](DimId source) { return module.dim(source).name; });
  if (size < 0) return;
  const auto [known, fresh] = sizes.totals.emplace(Symbol{SymbolKind::size, dim.name, {}, -1}, size);
  if (fresh && dim.is_observed()) sizes.notes.push_back(most_indices_note(module, module.find_dim(dim.name), size));
  if (fresh || may_have_size(dim.derived, known->second, size)) return;
  const DimId id = module.find_dim(dim.name);
  fail(ExitStatus::usage, fmt::format("a size of {} for dimension '{}'", known->second, dim.name),
       dim.is_workers() ? fmt::format("it has {}, and there are {} workers", derivation_text(module, id), size)
                        : fmt::format("the program derives it as {}, which has {}{} indices",
                                      derivation_text(module, id), dim.is_observed() ? "at most " : "", size),
       dim.is_observed() ? "" : "leave it out: it follows from the other sizes");
}

// The size of a dimension of workers says how many there are.
void count_workers(const Module& module, Sizes& sizes) {
  const Symbol symbol{SymbolKind::workers, "", {}, -1};
  const DimId workers = workers_dim(module.dims);
  if (workers == no_dim) return;
  const std::int64_t size = total(sizes, {SymbolKind::size, module.dim(workers).name, {}, -1});
  if (sizes.workers == 0 && size > 0 && size <= most_workers) sizes.workers = static_cast<int>(size);
  if (sizes.workers > 0) sizes.totals.emplace(symbol, sizes.workers);
}

void derive(const Module& module, const std::vector<Symbol>& symbols, const SymbolNames& names, Sizes& sizes) {
  count_workers(module, sizes);
  for (const Dimension& dim : module.dims) {
    const Symbol size{SymbolKind::size, dim.name, {}, -1};
    if (dim.size >= 0) sizes.totals.emplace(size, dim.size);
    if (dim.is_derived()) derive_dimension(module, dim, sizes);
    const auto known = sizes.totals.find(size);
    if (known != sizes.totals.end()) sizes.totals.emplace(Symbol{SymbolKind::whole, dim.name, {}, -1}, known->second);
  }
  bind_batches(module, sizes);
  if (names_layouts(module)) {
    bind_stays(module, sizes);
  } else {
    fill_in_whole(module, sizes);
  }
  fill_in_sets(symbols, names, sizes);
}

}  // namespace

std::vector<Symbol> module_symbols(const Module& module, const CostReport& report) {
  std::set<Symbol> found;
  const auto add = [&](const Polynomial& polynomial) {
    for (const Symbol& s : polynomial.symbols()) found.insert(s);
    for (const Symbol& s : paper_form(polynomial).symbols()) found.insert(s);
  };
  const auto add_cost = [&](const Cost& cost) {
    for (const Polynomial* p : {&cost.read, &cost.written, &cost.network, &cost.buffers}) add(*p);
  };
  for (const CostRow& row : report.rows) {
    add_cost(row.model);
    add_cost(row.actual);
    add(row.executions);
  }
  for (const Dimension& dim : module.dims) {
    if (dim.is_entries()) continue;  // nonzeros have a symbol
    if (!dim.local || dim.size < 0) found.insert({SymbolKind::size, dim.name, {}, -1});
  }
  // Before states are placed, no cost holds ghosts, but ghosts decide how states are placed.
  for_each_op(module, [&](const Op& op, int, int) {
    if (module.level > 1 || op.code != OpCode::input || !module.type(op.results.at(0)).sparse) return;
    const std::span<const DimId> dims = matrix_dims(module.type(op.results[0]));
    for (const Axis axis : {Axis::rows, Axis::cols}) {
      const std::string& dim = module.dim(axis == Axis::rows ? dims.front() : dims.back()).name;
      found.insert({SymbolKind::slaves, dim, {}, -1});
      found.insert({SymbolKind::slaves, dim, {SlaveAtom{op.name, axis}}, -1});
    }
  });
  const std::set<Symbol> so_far = found;
  for (const Symbol& symbol : so_far) {
    if (symbol.kind == SymbolKind::batch) found.insert({SymbolKind::entries, symbol.name, {}, -1});
  }
  found.insert({SymbolKind::workers, "", {}, -1});
  return {found.begin(), found.end()};
}

namespace {

// Of a loop that has its place in common with others, what it carries tells which one it is: " (of settle.u)".
std::string carried_text(const Module& module, int number) {
  std::string text;
  for_each_op(module, [&](const Op& op, int own, int) {
    if (own == number && !op.results.empty()) text = fmt::format(" (of {})", module.value(op.results[0]).name);
  });
  return text;
}

[[noreturn]] void unknown_size(const Module& module, const std::string& name, const std::vector<Symbol>& symbols) {
  const SymbolNames names(module);
  std::vector<std::string> known;
  std::string all;
  for (const Symbol& symbol : symbols) {
    known.push_back(without_spaces(names(symbol)));
    const bool counted = symbol.kind == SymbolKind::trips || symbol.kind == SymbolKind::taken;
    all += (all.empty() ? "" : ", ") + known.back();
    if (counted && known.back().find('#') != std::string::npos) all += carried_text(module, symbol.number);
  }
  const std::string near = nearest_name(name, known);
  fail(ExitStatus::usage, fmt::format("this program has no size '{}'", name), "its sizes are " + all,
       near.empty() ? std::string() : fmt::format("did you mean '{}'?", near));
}

std::pair<std::string, std::int64_t> name_and_number(const std::string& piece) {
  const size_t equals = piece.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail(ExitStatus::usage, fmt::format("'{}' is not NAME=NUMBER", piece), "--sizes takes names of sizes",
         "write it like --sizes V=1000,nnz=8000");
  }
  return {piece.substr(0, equals), number(piece.substr(equals + 1), piece)};
}

// What the program fixes holds for every plan and all data.
bool is_fixed(const Dimension& dim) { return dim.size >= 0 && !dim.is_derived(); }

void check_fixed(const Module& module, const std::string& name, std::int64_t value) {
  std::vector<std::string> others;
  for (const Dimension& dim : module.dims)
    if (!is_fixed(dim) && !dim.is_derived()) others.push_back(dim.name);
  for (const Dimension& dim : module.dims) {
    if (dim.name != name || !is_fixed(dim) || dim.size == value) continue;
    fail(ExitStatus::usage, fmt::format("a size of {} for dimension '{}'", value, name),
         fmt::format("the plan fixes it: {} has {} indices", name, dim.size),
         others.empty() ? "leave it out"
                        : fmt::format("leave it out; the data have the sizes of {}", fmt::join(others, ", ")));
  }
}

// If `strict` is set, every name must be one of the module's.
Sizes bind_sizes(const Module& module, const std::string& text, bool strict) {
  const SymbolNames names(module);
  const std::vector<Symbol> symbols = module_symbols(module, measure(module));
  std::vector<Symbol> known;
  for (const Symbol& symbol : symbols)
    if (symbol.kind != SymbolKind::whole && !is_all(symbol.set)) known.push_back(symbol);
  Sizes sizes;
  sizes.origin = "--sizes " + text;
  std::set<std::string> given;
  for (const std::string& piece : split(text)) {
    const auto [name, value] = name_and_number(piece);
    check_fixed(module, name, value);
    const auto is_it = [&, &wanted = name](const Symbol& symbol) { return without_spaces(names(symbol)) == wanted; };
    if (strict && std::none_of(known.begin(), known.end(), is_it)) unknown_size(module, name, known);
    if (!given.insert(name).second) fail(ExitStatus::usage, fmt::format("the size '{}' is given twice", name));
    for (const Symbol& symbol : symbols) {
      if (!is_it(symbol)) continue;
      if (symbol.kind == SymbolKind::workers && (value < 1 || value > most_workers))
        fail(ExitStatus::usage, fmt::format("there are {} workers", value),
             fmt::format("there is at least one, and there are at most {}", most_workers));
      sizes.totals[symbol] = value;
      if (symbol.kind == SymbolKind::workers) sizes.workers = static_cast<int>(value);
    }
  }
  derive(module, symbols, names, sizes);
  return sizes;
}

}  // namespace

SymbolNames::SymbolNames(const Module& module) {
  std::set<DimId> with_slaves;
  std::set<std::string> names;
  int matrices = 0, loops = 0;
  std::vector<Location> places;
  std::vector<bool> loops_and_ifs, sorts, moves;
  for_each_op(module, [&](const Op& op, int, int) {
    const bool sparse = op.code == OpCode::input && module.type(op.results.at(0)).sparse;
    if (sparse) {
      ++matrices;
      for (const DimId dim : matrix_dims(module.type(op.results.at(0)))) with_slaves.insert(dim);
    }
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
    if (loop) ++loops;
    places.push_back(op.where);
    loops_and_ifs.push_back(loop || op.code == OpCode::if_else);
    sorts.push_back(op.code == OpCode::sort || op.code == OpCode::argsort);
    moves.push_back(sorts.back() || op.code == OpCode::relayout);
  });
  places_ = told_apart(places, loops_and_ifs, loops_and_ifs);
  const std::vector<std::string> moving = told_apart(places, moves, sorts);
  places_.insert(places_.end(), moving.begin(), moving.end());
  for (const Dimension& dim : module.dims) names.insert(dim.name);
  short_slaves_ = with_slaves.size() <= 1 && !names.contains("S");
  short_entries_ = matrices <= 1 && !names.contains("nnz");
  short_workers_ = !names.contains("P");
  short_trips_ = loops <= 1 && !names.contains("trips");
}

std::string SymbolNames::operator()(const Symbol& symbol) const {
  const size_t operators = places_.size() / 2;  // places as those of loops, then as those of what moves
  const bool moves = symbol.kind == SymbolKind::stay || symbol.kind == SymbolKind::agree;
  const std::string place = symbol.number < 0 || static_cast<size_t>(symbol.number) >= operators
                                ? fmt::format("#{}", symbol.number)
                                : places_[static_cast<size_t>(symbol.number) + (moves ? operators : 0)];
  switch (symbol.kind) {
    case SymbolKind::size:
    case SymbolKind::whole:
      return symbol.name;
    case SymbolKind::slaves:
      if (!symbol.set.empty()) return fmt::format("S({})", slaves_text(symbol.set));
      return short_slaves_ ? "S" : fmt::format("S({})", symbol.name);
    case SymbolKind::waiting:
      return fmt::format("W({})", slaves_text(symbol.set));
    case SymbolKind::entries:
      return short_entries_ ? "nnz" : fmt::format("nnz({})", symbol.name);
    case SymbolKind::batch:
      return fmt::format("batch({})", symbol.name);
    case SymbolKind::compressed:
      return fmt::format("Z({})", symbol.name);
    case SymbolKind::distinct:
      return fmt::format("D({})", symbol.name);
    case SymbolKind::stay:
      return "stay" + place;
    case SymbolKind::agree:
      return "agree" + place;
    case SymbolKind::block_reads:
      return "reads" + place;
    case SymbolKind::block_writes:
      return "writes" + place;
    case SymbolKind::block_sends:
      return "sends" + place;
    case SymbolKind::block_elements:
      return "sent" + place;
    case SymbolKind::workers:
      return short_workers_ ? "P" : "workers";
    case SymbolKind::trips:
      return short_trips_ ? "trips" : "trips" + place;
    case SymbolKind::taken:
      return "then" + place;
  }
  throw InternalError("a symbol outside the table");
}

void derive_sizes(const Module& module, Sizes& sizes) {
  derive(module, module_symbols(module, measure(module)), SymbolNames(module), sizes);
}

Sizes parse_sizes(const Module& module, const std::string& text) { return bind_sizes(module, text, true); }

Sizes known_sizes(const Module& module, const std::string& text) { return bind_sizes(module, text, false); }

}  // namespace kasen
