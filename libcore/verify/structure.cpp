// Checks counts of operands, results, functions and blocks by operator, and that values are defined once, before use
// and in scope.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/observed.h"
#include "libcore/ir/regions.h"
#include "libcore/patterns/recipe.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

// True for a name that a program can have. IR holds names in quotes, and people edit it.
bool is_identifier(const std::string& name) {
  constexpr size_t most = 200;  // leaves room for the other parts of files' names
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return letter(name[0]) && name.size() <= most && std::all_of(name.begin(), name.end(), inner);
}

class StructureCheck {
 public:
  StructureCheck(const Module& module, Faults& faults)
      : m_(module), faults_(faults), defined_(module.values.size(), false), visible_(module.values.size(), false) {}

  void run() {
    if (!m_.body.args.empty()) faults_.add("the program's block has arguments");
    bool outputs = false;
    for (const Op& op : m_.body.ops) {
      if (op.code == OpCode::yield) faults_.add(op, "a yield outside of a block");
      if (outputs && op.code != OpCode::output) faults_.add(op, "an operator after the outputs");
      outputs = outputs || op.code == OpCode::output;
    }
    block(m_.body, 0);
    if (faults_.empty()) observed_sizes();
  }

 private:
  [[nodiscard]] bool known(ValueId id) const { return m_.values.contains(id); }

  void define(const Op& op, ValueId id, std::vector<ValueId>& made) {
    if (!known(id)) return faults_.add(op, "a result that is not in the table of values");
    if (defined_[id]) return faults_.add(op, value_text(m_, id) + " is defined a second time");
    defined_[id] = true;
    visible_[id] = true;
    made.push_back(id);
  }

  void uses(const Op& op) {
    for (const ValueId id : op.operands) {
      if (!known(id)) {
        faults_.add(op, "an operand that is not in the table of values");
      } else if (!visible_[id]) {
        const bool inside = defined_[id];
        faults_.add(op, value_text(m_, id) + (inside ? " is not visible here" : " is used before it is defined"),
                    inside ? "it is defined inside of a block that has ended" : "");
      }
    }
  }

  [[nodiscard]] bool counts_fit(const Op& op) {
    const OpCounts& c = row(op.code).counts;
    const auto operands = static_cast<int>(op.operands.size());
    const size_t before = faults_.size();
    if (operands < c.least || operands > c.most) faults_.add(op, fmt::format("it has {} operands", operands));
    if (c.results != any_operands && op.results.size() != static_cast<size_t>(c.results)) {
      faults_.add(op, fmt::format("it has {} results", op.results.size()));
    }
    if (c.fns != any_operands && op.fns.size() != static_cast<size_t>(c.fns))
      faults_.add(op, fmt::format("it names {} functions", op.fns.size()));
    if (op.blocks.size() != static_cast<size_t>(c.blocks)) {
      faults_.add(op, fmt::format("it has {} blocks", op.blocks.size()));
    }
    return faults_.size() == before;
  }

  void fields(const Op& op, int depth) {
    if (row(op.code).counts.top && depth > 0) faults_.add(op, "it may not stand inside of a block");
    const int level = op.code == OpCode::region && !is_blocks(op) ? 3 : row(op.code).level;
    if (level > m_.level) {
      faults_.add(op, fmt::format("it needs level {}, but this module has level {}", level, m_.level));
    }
    for (const FnId fn : op.fns) {
      if (!m_.functions.contains(fn)) faults_.add(op, "a function that is not declared");
    }
    const OpGroup group = row(op.code).group;
    const TextForm form = row(op.code).text;
    const bool rearranges = rearranges_on_the_way(op);
    const bool with_dim = form == TextForm::dim || form == TextForm::dim_of || form == TextForm::derived ||
                          form == TextForm::observed || rearranges;
    if (with_dim && !m_.dims.contains(op.dim)) {
      faults_.add(op, "a dimension that is not declared");
    }
    const bool rows_fit =
        group == OpGroup::entries ? op.at_rows >= 0 && std::cmp_less(op.at_rows, op.operands.size()) : op.at_rows == 0;
    if (!rows_fit) faults_.add(op, fmt::format("{} operands over rows", op.at_rows), "there are not so many");
    const bool takes_place = is_slice(op) || op.code == OpCode::batch;
    if (!op.over.empty() && op.code != OpCode::reduce && group != OpGroup::axis && !takes_place && !rearranges) {
      faults_.add(op, "'over' is for reduce, and for operators along an axis");
    }
    const bool vector = group == OpGroup::vector && !is_slice(op);  // a slice may lie outside
    const bool quiet = vector || group == OpGroup::shared || (group == OpGroup::source && !row(op.code).counts.top);
    if (op.speculated && !quiet) {
      faults_.add(op, "it may not be speculated", "work that may be in vain neither sends anything nor can fail");
    }
    const bool named = op.code == OpCode::input || op.code == OpCode::param || op.code == OpCode::output;
    if (!named) return;
    if (op.name.empty()) faults_.add(op, "it has no name");
    const bool pattern = op.code == OpCode::input && is_recipe(op.name);  // verify_patterns checks it
    if (!op.name.empty() && !is_identifier(op.name) && !pattern)
      faults_.add(op, "a name that no program can have", "names become parts of files' names: letters, digits and '_'");
    const bool stored =
        op.code == OpCode::input && op.results.size() == 1 && m_.values.contains(op.results[0]) && gives_values(m_, op);
    auto& names = stored ? stored_ : op.code == OpCode::input ? inputs_ : op.code == OpCode::param ? params_ : outputs_;
    if (!names.insert(op.name).second) faults_.add(op, fmt::format("'{}' is named twice", op.name));
  }

  // Checks the number of values that each block takes and hands on.
  void block_counts(const Op& op) {
    const size_t bounds = op.code == OpCode::for_loop ? 2 : 0;
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
    const size_t carried = loop ? op.operands.size() - bounds : op.results.size();
    const size_t args = loop ? carried + (bounds > 0 ? 1 : 0) : is_blocks(op) ? op.operands.size() : 0;
    if (op.results.size() != carried)
      faults_.add(op, fmt::format("{} carried values, {} results", carried, op.results.size()));
    if (op.code == OpCode::region && carried == 0) faults_.add(op, "a region without results");
    for (const Block& b : op.blocks) {
      if (b.args.size() != args)
        faults_.add(op, fmt::format("a block with {} arguments instead of {}", b.args.size(), args));
      const bool ends = !b.ops.empty() && b.ops.back().code == OpCode::yield;
      if (!ends) {
        faults_.add(op, "a block that does not end with yield");
      } else if (b.ops.back().operands.size() != carried) {
        faults_.add(b.ops.back(),
                    fmt::format("{} values are handed on instead of {}", b.ops.back().operands.size(), carried));
      }
      for (size_t i = 0; i + 1 < b.ops.size(); ++i) {
        if (b.ops[i].code == OpCode::yield) faults_.add(b.ops[i], "a yield that does not end its block");
      }
    }
    const bool tested = op.test >= 0 && static_cast<size_t>(op.test) < carried;
    if (op.code == OpCode::while_loop && !tested) faults_.add(op, "'test' names none of its carried values");
  }

  // Arrays over a dimension stand behind the operator that gives its size.
  void observed_sizes() {
    const std::optional<EarlyUse> early = early_use(m_);
    if (!early) return;
    const Dimension& dim = m_.dim(early->dim);
    faults_.add_plain(*early->op, fmt::format("dimension '{}' is used before its size is known", dim.name),
                      fmt::format("it is some of '{}': a pick finds how many", m_.dim(dim.derived.sources[0]).name),
                      fmt::format("write pick(x, mask, {}) above, outside of loops and branches", dim.name));
  }

  void block(const Block& b, int depth) {
    std::vector<ValueId> made;
    if (depth > 100) return faults_.add("blocks are nested too deeply");
    for (const Op& op : b.ops) {
      if (!counts_fit(op)) {
        for (const ValueId result : op.results) define(op, result, made);  // later uses get no error
        continue;
      }
      fields(op, depth);
      uses(op);
      if (!op.blocks.empty()) {
        block_counts(op);
        for (const Block& inner : op.blocks) {
          std::vector<ValueId> arguments;
          for (const ValueId arg : inner.args) define(op, arg, arguments);
          block(inner, depth + 1);
          for (const ValueId arg : arguments) visible_[arg] = false;
        }
      }
      for (const ValueId result : op.results) define(op, result, made);
    }
    if (depth == 0) return;
    for (const ValueId id : made) visible_[id] = false;
  }

  const Module& m_;
  Faults& faults_;
  IdMap<ValueId, bool> defined_, visible_;
  std::set<std::string> inputs_, stored_, params_, outputs_;
};

}  // namespace

void verify_structure(const Module& module, Faults& faults) { StructureCheck(module, faults).run(); }

}  // namespace kasen
