// Pieces that the reports share: formulas with their values, tables, the user's source lines. Internal to libopt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libopt/cost/cost.h"
#include "libopt/cost/sizes.h"
#include "libopt/cost/worker_traffic.h"

namespace kasen {

// A module's measured cost with the names and numbers for printing it.
class ReportContext {
 public:
  ReportContext(const Module& module, const Sizes* sizes);

  [[nodiscard]] const Module& module() const { return module_; }
  [[nodiscard]] const CostReport& report() const { return report_; }
  [[nodiscard]] const Sizes* sizes() const { return sizes_; }
  [[nodiscard]] std::string formula(const Polynomial& polynomial) const;
  // Evaluates with the sizes and the expected iterations. An `if` whose branch is not known runs its first one.
  [[nodiscard]] std::optional<std::int64_t> value(const Polynomial& polynomial) const;
  // Returns " = 24,000" in the form of `shown`, or " <= 24,000" where that is the most that it can be, or
  // " (no number without P)" where the sizes that are known do not give it. Empty of a constant, and without sizes.
  [[nodiscard]] std::string number(const Polynomial& polynomial, std::string (*shown)(std::int64_t)) const;
  // Returns whether its value is the most that it can be, as it has sizes of which no more is known.
  [[nodiscard]] bool is_most(const Polynomial& polynomial) const;
  // Returns the names of sizes without which it has no value.
  [[nodiscard]] std::vector<std::string> lacks(const Polynomial& polynomial) const;
  [[nodiscard]] std::string name(const Symbol& symbol) const { return names_(symbol); }
  // Returns the user's line without the blanks around it; empty if unknown.
  [[nodiscard]] std::string source_line(const Location& where) const;
  // Returns "while at line 9" and the like, or "#7" if the module carries no lines. With others of its kind on the
  // line, it is told from them by what it makes: "while at line 9 (settle.u)".
  [[nodiscard]] std::string place(const CostRow& row) const;
  // Returns true if there is something to report of this operator beyond its presence.
  [[nodiscard]] bool is_worth_a_line(const CostRow& row) const;

 private:
  [[nodiscard]] Polynomial with_expected(const Polynomial& polynomial) const;

  const Module& module_;
  const Sizes* sizes_;
  CostReport report_;
  SymbolNames names_;
};

// What each worker sends and receives in the whole program. Nothing if sizes are not known by worker, or iterations
// not.
[[nodiscard]] std::optional<WorkerTraffic> traffic_of_workers(const ReportContext& context);

// Returns the assumptions of the program that no tool has proven: "exchange(odd, add)", "weight > 0.0".
[[nodiscard]] std::vector<std::string> assumptions_of(const Module& module);

// Both columns of the report: the cost of a row or loop, and the form in which ghosts are written.
struct Column {
  std::string key;    // "model"
  std::string title;  // "Model (vectors as the paper counts them)"
  Cost CostRow::*of_row;
  Cost LoopCost::*of_loop;
  Cost CostReport::*of_program;
  Polynomial (*form)(const Polynomial&);
};
[[nodiscard]] const std::vector<Column>& report_columns();
// Those of a text for people, what happens first.
[[nodiscard]] std::vector<Column> columns_in_text(bool model);

// The parts of a cost, in the order in which they are printed.
struct Measure {
  std::string key;   // "read_bytes"
  std::string text;  // "reads"
  Polynomial Cost::*part;
  bool model_only;
};
[[nodiscard]] const std::vector<Measure>& measures();  // bytes first, then elements

// Returns "34,512,000 bytes (32.9 MiB)".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
[[nodiscard]] std::string grouped(std::int64_t number);  // 12,345,678
[[nodiscard]] std::string short_bytes(double bytes);     // "12.3 MB", three digits, decimal units

// Formats left-aligned columns with two blanks between them; the last is not padded.
[[nodiscard]] std::string table_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace kasen
