#include "libopt/text/report_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "libcore/scalar/element_range.h"

namespace kasen {

ReportContext::ReportContext(const Module& module, const Sizes* sizes)
    : module_(module),
      sizes_(sizes),
      report_(sizes == nullptr ? measure(module) : measure(module, *sizes)),
      names_(module) {}

std::string ReportContext::formula(const Polynomial& polynomial) const { return polynomial.text(names_); }

Polynomial ReportContext::with_expected(const Polynomial& polynomial) const {
  return polynomial.replace([&](const Symbol& symbol) {
    if (sizes_->totals.contains(symbol)) return Polynomial(symbol);
    if (symbol.kind == SymbolKind::taken) return Polynomial(1);
    for (const LoopCost& loop : report_.loops) {
      const bool expected = symbol.kind == SymbolKind::trips && symbol.number == loop.number && loop.expected;
      if (expected) return Polynomial(*loop.expected);
    }
    return Polynomial(symbol);
  });
}

std::optional<std::int64_t> ReportContext::value(const Polynomial& polynomial) const {
  return sizes_ == nullptr ? polynomial.constant() : with_expected(polynomial).evaluate(sizes_->totals);
}

std::string ReportContext::number(const Polynomial& polynomial, std::string (*shown)(std::int64_t)) const {
  if (sizes_ == nullptr || polynomial.constant()) return {};
  const auto known = value(polynomial);
  if (!known) return fmt::format(" (no number without {})", fmt::join(lacks(polynomial), ", "));
  return fmt::format(" {} {}", is_most(polynomial) ? "<=" : "=", shown(*known));
}

bool ReportContext::is_most(const Polynomial& polynomial) const {
  if (sizes_ == nullptr || sizes_->at_most.empty()) return false;
  const std::vector<Symbol> symbols = polynomial.symbols();
  return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& s) { return sizes_->at_most.contains(s); });
}

// Ghosts without a number take the most that they can be, once the number of workers is known.
std::vector<std::string> ReportContext::lacks(const Polynomial& polynomial) const {
  std::vector<std::string> names;
  if (sizes_ == nullptr) return names;
  const Symbol workers{SymbolKind::workers, "", {}, -1};
  for (const Symbol& symbol : with_expected(polynomial).symbols()) {
    if (sizes_->totals.contains(symbol)) continue;
    const bool ghosts = symbol.kind == SymbolKind::slaves || symbol.kind == SymbolKind::waiting;
    const std::string missing = name(ghosts && !sizes_->totals.contains(workers) ? workers : symbol);
    if (std::find(names.begin(), names.end(), missing) == names.end()) names.push_back(missing);
  }
  return names;
}

std::string ReportContext::source_line(const Location& where) const {
  const bool own = where.file.empty() || where.file == module_.source_name;
  if (!own || where.line < 1 || static_cast<size_t>(where.line) > module_.source.size()) return {};
  const std::string& line = module_.source[static_cast<size_t>(where.line) - 1];
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

std::string ReportContext::place(const CostRow& row) const {
  const std::string_view what = kasen::row(row.code).name;
  if (row.where.line == 0) return fmt::format("{} #{}", what, row.number);
  const auto is_alike = [&](const CostRow& other) {
    return other.code == row.code && other.where.line == row.where.line && other.where.file == row.where.file;
  };
  const bool alone = std::count_if(report_.rows.begin(), report_.rows.end(), is_alike) == 1;
  std::string made;  // "settle.u", by which one of several loops of a line is known
  for_each_op(module_, [&](const Op& op, int number, int) {
    if (!alone && number == row.number && !op.results.empty()) made = module_.value(op.results[0]).name;
  });
  return fmt::format("{} at line {}{}", what, row.where.line, made.empty() ? made : fmt::format(" ({})", made));
}

bool ReportContext::is_worth_a_line(const CostRow& row) const {
  if (row.code == OpCode::yield || row.code == OpCode::literal) return false;
  return row.region >= 0 || row.code == OpCode::region || row.model != Cost{} || row.actual != Cost{} ||
         !row.ends.empty() || kasen::row(row.code).group == OpGroup::control;
}

namespace {

// Returns "weight" or "x.1", the value whose range the program assumes.
std::string assumed_name(const Module& module, const RangeAssumption& word) {
  for (const Op& op : module.body.ops) {
    const bool named = (op.code == OpCode::input || op.code == OpCode::param) && op.name == word.name;
    if (named && word.place >= 0) {
      return place_text(module.type(op.results[0]).element, word.name, static_cast<size_t>(word.place));
    }
  }
  return word.name;
}

}  // namespace

std::optional<WorkerTraffic> traffic_of_workers(const ReportContext& context) {
  const Sizes* sizes = context.sizes();
  if (sizes == nullptr || sizes->by_worker.empty()) return std::nullopt;
  return worker_traffic(context.module(), *sizes, [&](int number) -> std::optional<std::int64_t> {
    const CostRow& row = context.report().rows.at(static_cast<size_t>(number));
    return row.region >= 0 ? 0 : context.value(row.executions);  // a region's exchange is its own
  });
}

std::vector<std::string> assumptions_of(const Module& module) {
  std::vector<std::string> lines;
  for (const LawUse& use : module.assumptions) {
    const ScalarFunction& fn = module.fn(use.fn);
    std::string line = fmt::format("{}({}", law_name(use.kind), fn.name);
    if (use.reducer != no_fn) line += ", " + module.fn(use.reducer).name;
    line += ')';
    const auto operand = static_cast<size_t>(use.operand);
    if (use.reducer != no_fn && operand < fn.params.size()) line += " of parameter " + fn.params[operand].name;
    lines.push_back(std::move(line));
  }
  for (const RangeAssumption& word : module.ranges)
    lines.push_back(assumed_name(module, word) + interval_text(word.range));
  return lines;
}

const std::vector<Column>& report_columns() {
  static const std::vector<Column> columns{
      {"model", "Model (as the KASEN paper counts; docs/cost.md)", &CostRow::model, &LoopCost::model,
       &CostReport::model, paper_form},
      {"actual", "Actual (what this implementation touches and sends)", &CostRow::actual, &LoopCost::actual,
       &CostReport::actual, printed_form},
  };
  return columns;
}

std::vector<Column> columns_in_text(bool model) {
  std::vector<Column> columns;
  for (const Column& column : report_columns()) {
    if (column.key != "model") {
      columns.insert(columns.begin(), column);
    } else if (model) {
      columns.push_back(column);
    }
  }
  return columns;
}

const std::vector<Measure>& measures() {
  static const std::vector<Measure> all{
      {"read_bytes", "reads", &Cost::read, false},
      {"written_bytes", "writes", &Cost::written, false},
      {"network_bytes", "network", &Cost::network, false},
      {"buffer_bytes", "buffers", &Cost::buffers, true},
      {"read_elements", "elements read", &Cost::read_elements, true},
      {"written_elements", "elements written", &Cost::written_elements, true},
      {"network_elements", "elements sent", &Cost::network_elements, true},
  };
  return all;
}

std::string grouped(std::int64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    const bool after_digit = i > 0 && digits[i - 1] != '-';
    if (after_digit && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> units{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return grouped(bytes) + " bytes";
  double scaled = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (scaled >= 1024 && unit + 1 < units.size()) {
    scaled /= 1024;
    ++unit;
  }
  return fmt::format("{} bytes ({:.1f} {})", grouped(bytes), scaled, units.at(unit));
}

std::string short_bytes(double bytes) {
  constexpr std::array<const char*, 6> units{"bytes", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.3g} {}", bytes, units.at(unit));
}

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& cells : rows) {
    widths.resize(std::max(widths.size(), cells.size()));
    if (cells.size() < 2) continue;  // headings run over the columns
    for (size_t i = 0; i + 1 < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const auto& cells : rows) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      line += i + 1 < cells.size() ? fmt::format("{:<{}}  ", cells[i], widths[i]) : cells[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace kasen
