/// \file
/// A module's cost, predicted from its text alone: for each operator and region, each loop iteration, and the whole
/// program, at any level. docs/cost.md has the rules of both columns. The model is KASEN's (VLDB 2016, section 6).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/polynomial.h"

namespace kasen {

struct Sizes;

struct Cost {
  Polynomial read, written, network, buffers;                    ///< bytes
  Polynomial read_elements, written_elements, network_elements;  ///< the model's; zero in the actual column

  Cost& operator+=(const Cost& other);
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// The cost of `times` executions. Buffers are used again each time.
[[nodiscard]] Cost repeated(const Cost& cost, const Polynomial& times);

/// The same where the executions are turns of a loop that takes each batch once, `turns` times in all: those of the
/// batches together are those of the matrix.
[[nodiscard]] Cost repeated_by_batches(const Cost& cost, const Polynomial& times, const Polynomial& turns);

/// Copies at the end of a block (a loop's back edge, a branch), charged to the operator that holds the block.
struct EndCost {
  int yield = -1;  ///< made as often as this operator runs
  Cost actual;
};

/// One operator, in preorder (a region's inner operators too; they have no cost of their own).
struct CostRow {
  int number = 0, depth = 0;
  int parent = -1;             ///< the operator whose block holds this one
  int loop = -1, region = -1;  ///< innermost enclosing loop, enclosing region
  OpCode code = OpCode::map;
  std::string text;   ///< "tmp2 = mxv[mul, add] tmp1, G"
  std::string state;  ///< of its results: "@part", "@cons{G.rows}", "@pre(add){G.cols}"
  Location where;
  bool speculated = false;
  Polynomial executions;    ///< in the whole run
  Cost model, actual;       ///< of one execution; ghosts stay by set
  bool of_batches = false;  ///< it goes over batches of a sparse input, and so the costs of one execution are a mean
  int each_batch = -1;      ///< a loop that takes each batch once: the costs of all its iterations together are exact
  std::vector<EndCost> ends;
};

struct LoopCost {
  int number = -1, parent = -1;  ///< parent: the loop around it
  Location where;
  Polynomial trips;                      ///< of one execution: a number, or its symbol
  std::optional<std::int64_t> expected;  ///< the user's `expect`, or from a parameter's default
  Cost model, actual;                    ///< of one iteration, with everything inside it
  std::map<int, Polynomial> runs;        ///< executions of inner rows in one iteration, by number of the row
};

struct CostReport {
  std::string program;
  int level = 1;
  bool unplaced = false;  ///< level 1: costed as if all values were P
  std::vector<CostRow> rows;
  std::vector<LoopCost> loops;  ///< in preorder
  Cost model, actual;           ///< of the whole program
};

[[nodiscard]] CostReport measure(const Module& module);
/// As it runs on the workers of these sizes: one worker has all of each array, however it is cut, and copies nothing
/// between boxes of other cuts.
[[nodiscard]] CostReport measure(const Module& module, const Sizes& sizes);

/// The paper's way of counting: every set of ghosts as the union `S` of its dimension, and one symbol for a dimension,
/// cut or whole.
[[nodiscard]] Polynomial paper_form(const Polynomial& polynomial);
/// One symbol for a dimension. Ghosts stay by set, except for those on every worker: (P - 1) N.
[[nodiscard]] Polynomial printed_form(const Polynomial& polynomial);

/// How symbols are written for this module: short (`S`, `nnz`, `trips`) where that is clear.
class SymbolNames {
 public:
  explicit SymbolNames(const Module& module);
  [[nodiscard]] std::string operator()(const Symbol& symbol) const;

 private:
  bool short_slaves_ = true, short_entries_ = true, short_workers_ = true, short_trips_ = true;
  std::vector<std::string> places_;  ///< by operator number: "@7"
};

}  // namespace kasen
