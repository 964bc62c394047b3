// Why: a sum over all nonzeros of a matrix is a fold to its rows whose results are reduced, or one to its columns. Work
// on one matrix in one direction runs as one pass over its nonzeros. So a fold to the rows that is only reduced to one
// value turns to the columns, if work of its block goes there and none goes to the rows. Work from which the fold is
// made, or that is made from it, does not count, since the two cannot run together:
//
//   loss = sum(X * log(U @ V')), H = (X / (U @ V'))' @ U      # both by columns: U V' is made once
//
// Turned, a fold reads its arrays at the rows for each nonzero. It turns if its points there are read so by that work
// anyway: elements are few bytes beside a nonzero's, points are not. Where a fold has no array at its rows, it gets a
// fill there; where nothing reads one at its columns any more, that goes.
//
// A sum over the stored values alone needs no fold: it is a reduction of them, or of a map of them. Where its block has
// the sums of the same by rows or by columns, it is the sum of those, and the values are read once less:
//
//   all = sum(X), cols = sum(X, over N)      # all = sum(cols)
//
// That is cheaper where those are few, or of rows that a worker has whole: one pass then takes both. Requires unplaced
// values; keeps the level.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/ir/entries.h"
#include "libcore/ir/products.h"
#include "libcore/laws/shapes.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/dependence.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

class Turning {
 public:
  Turning(Module& module, Block& block, const std::vector<int>& uses)
      : m_(module), block_(block), uses_(uses), graph_(module, block) {}

  bool run() {
    std::vector<int> turned;
    for (int op = 0; op < graph_.size(); ++op) {
      if (is_free(op) && turns(op)) turned.push_back(op);
    }
    for (const int op : turned) turn(at(op));
    for (size_t i = turned.size(); i-- > 0;) cover_rows(static_cast<size_t>(turned[i]));
    if (turned.empty()) return false;
    const std::vector<int> uses = count_uses(m_);
    std::erase_if(block_.ops, [&](const Op& op) {
      return op.code == OpCode::fill && contains(dropped_, op.results[0]) &&
             uses[static_cast<size_t>(op.results[0])] == 0;
    });
    return true;
  }

 private:
  [[nodiscard]] Op& at(int op) { return block_.ops[static_cast<size_t>(op)]; }

  // True for a fold to rows that nothing but a reduction to one value reads, by the same function.
  [[nodiscard]] bool is_free(int place) {
    const Op& fold = at(place);
    if (fold.code != OpCode::fold_rows || m_.type(fold.results[0]).dims.size() != 1) return false;
    const std::vector<int>& readers = graph_.needed_by(place);
    if (readers.size() != 1 || uses_[static_cast<size_t>(fold.results[0])] != 1) return false;
    const Op& reader = at(readers[0]);
    return reader.code == OpCode::reduce && m_.type(reader.results[0]).dims.empty() && reader.fns[0] == fold.fns[1];
  }

  // True if it can run with work to the columns, and with none to the rows.
  [[nodiscard]] bool turns(int fold) {
    const std::vector<bool> before = reached(fold, &BlockGraph::needs), behind = reached(fold, &BlockGraph::needed_by);
    int rows = 0, columns = 0;
    std::vector<ValueId> read;
    for (int other = 0; other < graph_.size(); ++other) {
      const Op& op = at(other);
      const auto place = static_cast<size_t>(other);
      if (other == fold || before[place] || behind[place] || !visits_entries(m_, op) || is_free(other)) continue;
      if (!joins_folds(m_, op) || product_matrix(op) != product_matrix(at(fold))) continue;
      ++(gives_rows(op) ? rows : columns);
      read.insert(read.end(), op.operands.begin(), op.operands.end());
    }
    return rows == 0 && columns > 0 && has_few_bytes(at(fold), read);
  }

  [[nodiscard]] bool has_few_bytes(const Op& fold, const std::vector<ValueId>& read) const {
    for (size_t i = 1; i <= static_cast<size_t>(fold.at_rows); ++i) {
      const std::optional<ElementType> seen = seen_element(m_, m_.type(fold.operands[i]));
      if (seen && !seen->is_scalar() && !contains(read, fold.operands[i])) return false;
    }
    return true;
  }

  using Neighbours = const std::vector<int>& (BlockGraph::*)(int) const;
  [[nodiscard]] std::vector<bool> reached(int from, Neighbours neighbours) const {
    std::vector<bool> seen(static_cast<size_t>(graph_.size()));
    std::vector<int> waiting{from};
    while (!waiting.empty()) {
      const int op = waiting.back();
      waiting.pop_back();
      for (const int next : (graph_.*neighbours)(op)) {
        if (seen[static_cast<size_t>(next)]) continue;
        seen[static_cast<size_t>(next)] = true;
        waiting.push_back(next);
      }
    }
    return seen;
  }

  void turn(Op& fold) {
    fold.code = OpCode::fold_cols;
    Type& type = m_.values[fold.results[0]].type;
    type.dims[0] = m_.type(fold.operands[0]).dims[1];
    for (size_t i = fold.operands.size(); i-- > static_cast<size_t>(fold.at_rows) + 1;) {
      const bool shared = entry_side(m_, fold, i) == EntrySide::shared;
      if (!shared && !uses_param(m_.fn(fold.fns[0]).body, static_cast<int>(i))) drop(fold, i);
    }
  }

  // Operand i is not read.
  void drop(Op& fold, size_t i) {
    ScalarFunction fn = m_.fn(fold.fns[0]);
    std::vector<Expr> args;
    for (size_t k = 0; k < fn.params.size(); ++k) {
      args.push_back(make_param(static_cast<int>(k > i ? k - 1 : k), fn.params[k].type));
    }
    fn.body = substitute(fn.body, args);
    fn.params.erase(fn.params.begin() + static_cast<std::ptrdiff_t>(i));
    dropped_.push_back(fold.operands[i]);
    fold.operands.erase(fold.operands.begin() + static_cast<std::ptrdiff_t>(i));
    fold.fns[0] = m_.add_function(std::move(fn));
  }

  // An array at the rows gives them their numbering.
  void cover_rows(size_t place) {
    Op& fold = block_.ops[place];
    if (fold.at_rows > 0) return;
    Op fill;
    fill.code = OpCode::fill;
    fill.literal = {Word::integer(1)};
    fill.where = fold.where;
    Type type;
    type.element = ElementType::of(Scalar::boolean);
    type.dims = {m_.type(fold.operands[0]).dims[0]};
    fill.results = {m_.add_value("every", std::move(type))};
    ScalarFunction fn = m_.fn(fold.fns[0]);
    std::vector<Expr> args;
    for (size_t k = 0; k < fn.params.size(); ++k) {
      args.push_back(make_param(static_cast<int>(k > 0 ? k + 1 : k), fn.params[k].type));
    }
    fn.body = substitute(fn.body, args);
    fn.params.insert(fn.params.begin() + 1, {"every", ElementType::of(Scalar::boolean), {}});
    fold.operands.insert(fold.operands.begin() + 1, fill.results[0]);
    fold.at_rows = 1;
    fold.fns[0] = m_.add_function(std::move(fn));
    block_.ops.insert(block_.ops.begin() + static_cast<std::ptrdiff_t>(place), std::move(fill));
  }

  Module& m_;
  Block& block_;
  const std::vector<int>& uses_;
  const BlockGraph graph_;
  std::vector<ValueId> dropped_;  // operands that nothing reads any more
};

// Sums of stored values as sums of their sums by rows or columns.
class Summing {
 public:
  explicit Summing(Module& module) : m_(module) {
    for_each_op(module, [&](const Op& op, int, int) {
      if (op.code == OpCode::input && gives_values(m_, op)) values_[op.results[0]] = op.name;
      if (op.code == OpCode::input && m_.type(op.results[0]).sparse) matrices_[op.results[0]] = op.name;
      if (op.code == OpCode::map && op.operands.size() == 1 && values_.contains(op.operands[0]))
        maps_[op.results[0]] = op;
    });
  }

  // True if it changed something.
  bool run(Block& block) {
    bool changed = false;
    for (size_t at = 0; at < block.ops.size(); ++at) changed = sum_again(block, at) || changed;
    return changed;
  }

 private:
  // What a reduction combines: a function of the stored values of this input, or the values.
  struct Summed {
    std::string input;
    Expr of;
  };

  [[nodiscard]] std::optional<Summed> summed(const Op& op) const {
    if (op.code != OpCode::reduce || !m_.type(op.results[0]).dims.empty()) return std::nullopt;
    if (const auto it = values_.find(op.operands[0]); it != values_.end())
      return Summed{it->second, make_param(0, m_.type(op.operands[0]).element)};
    if (const auto it = maps_.find(op.operands[0]); it != maps_.end())
      return Summed{values_.at(it->second.operands[0]), m_.fn(it->second.fns[0]).body};
    return std::nullopt;
  }

  // True if the fold's sums, combined, are what this reduction of them gives, and take less.
  [[nodiscard]] bool serves(const Op& fold, const Op& reduce, const Summed& what) const {
    if (!is_fold(fold) || gives_entries(fold) || m_.type(fold.results[0]).dims.size() != 1) return false;
    const auto matrix = matrices_.find(product_matrix(fold));
    if (matrix == matrices_.end() || matrix->second != what.input || fold.fns[1] != reduce.fns[0]) return false;
    const bool few = m_.dim(m_.type(fold.results[0]).dims[0]).local;
    const bool whole = gives_rows(fold) && has_whole_lines(m_, m_.type(product_matrix(fold)));
    return (few || whole) && m_.fn(fold.fns[0]).body == what.of;
  }

  [[nodiscard]] bool sum_again(Block& block, size_t at) {
    const std::optional<Summed> what = summed(block.ops[at]);
    if (!what) return false;
    std::optional<size_t> best;
    for (size_t other = 0; other < block.ops.size(); ++other) {
      const Op& fold = block.ops[other];
      if (!serves(fold, block.ops[at], *what) || is_read_before(block, at, other)) continue;
      const bool few = m_.dim(m_.type(fold.results[0]).dims[0]).local;
      if (!best || few) best = other;
    }
    if (!best) return false;
    Op& reduce = block.ops[at];
    reduce.operands[0] = block.ops[*best].results[0];
    if (*best > at) {
      const auto first = block.ops.begin() + static_cast<std::ptrdiff_t>(at);
      std::rotate(first, first + 1, block.ops.begin() + static_cast<std::ptrdiff_t>(*best) + 1);
    }
    return true;
  }

  // True if anything up to that operator needs the reduction's result.
  [[nodiscard]] bool is_read_before(const Block& block, size_t reduce, size_t fold) const {
    const ValueId made = block.ops[reduce].results[0];
    for (size_t at = reduce + 1; at <= fold && at < block.ops.size(); ++at) {
      if (count_uses(block.ops[at], made) > 0) return true;
    }
    return false;
  }

  Module& m_;
  std::map<ValueId, std::string> matrices_, values_;  // inputs, with the matrix's name
  std::map<ValueId, Op> maps_;                        // of stored values alone
};

// What gave the values to sums that are no longer made of them.
void drop_unread_values(Module& module) {
  for (const OpCode code : {OpCode::map, OpCode::input}) {
    const std::vector<int> uses = count_uses(module);
    for_each_block(module, [&](Block& block) {
      std::erase_if(block.ops, [&](const Op& op) {
        if (op.code != code || uses[static_cast<size_t>(op.results[0])] > 0) return false;
        return op.code == OpCode::map ? is_over_entries(module, module.type(op.results[0])) : gives_values(module, op);
      });
    });
  }
}

}  // namespace

bool pass_fold_sides(Module& module, PassContext& /*context*/) {
  bool changed = false, summed = false;
  Summing sums(module);
  for_each_block(module, [&](Block& block) { summed = sums.run(block) || summed; });
  if (summed) drop_unread_values(module);
  const std::vector<int> uses = count_uses(module);
  for_each_block(module, [&](Block& block) { changed = Turning(module, block, uses).run() || changed; });
  if (changed || summed) compact_values(module);
  return changed || summed;
}

}  // namespace kasen
