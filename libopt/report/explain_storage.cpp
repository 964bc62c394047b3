// Explains regions and buffers: the savings by fusing and by sharing storage.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "libcore/analysis/liveness.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/rows/row_region.h"
#include "libopt/cost/extent.h"
#include "libopt/cost/footprint.h"
#include "libopt/report/explain_parts.h"

namespace kasen {
namespace {

std::string listed(const std::vector<std::string>& words, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(words.size(), most); ++i) text += (i > 0 ? ", " : "") + words[i];
  return words.size() > most ? text + fmt::format(", and {} more", words.size() - most) : text;
}

// States why these operators may run as one loop.
std::string together_text(const PlanView& view, const Op& region) {
  const Op& first = region.blocks.at(0).ops.front();
  if (region.kind == RegionKind::product_epilogue) return "work on a product's rows, element by element, row by row";
  if (is_row_chain(region)) {
    return fmt::format("rows of {}, which is dense: each block of them goes through all while it is in the cache",
                       view.name(product_matrix(region)));
  }
  if (is_rows(region)) {
    return fmt::format("rows over {}: each block of them goes through all while it is in the cache",
                       view.plan.dim(worked_rows(view.plan, first)).name);
  }
  if (region.kind == RegionKind::mxm) {
    if (is_dense_product(view.plan, first)) {
      return fmt::format("products with {}, which is dense: each of its tiles serves all while it is in the cache",
                         view.name(first.operands.at(1)));
    }
    const std::string matrix = view.name(product_matrix(region));
    if (holds_fold(region))
      return fmt::format("folds and products of the nonzeros of {}, none needing another's result", matrix);
    return fmt::format("products with {}, all {}, none needing another's result", matrix, row(first.code).name);
  }
  const Type& type = view.plan.type(first.code == OpCode::reduce ? first.operands.at(0) : first.results.at(0));
  return fmt::format("element by element over {}; no transition stands between them",
                     Layout(view.plan, type).cut_name());
}

Explained region_item(const PlanView& view, const Op& region) {
  Cost alone;
  std::vector<std::string> members, kept;
  const Block& block = region.blocks.at(0);
  const std::vector<ValueId>& yielded = block.ops.back().operands;
  for (const Op& op : block.ops) {
    if (op.code == OpCode::yield) continue;
    alone += actual_cost(view.costs, op);
    members.push_back(view.shown(op));
    for (const ValueId result : op.results) {
      const bool lives = std::find(yielded.begin(), yielded.end(), result) != yielded.end();
      if (!lives && is_distributed_array(view.plan, result)) kept.push_back(view.name(result));
    }
  }
  const Cost& fused = view.row(region).actual;
  const Polynomial together = fused.read + fused.written, apart = alone.read + alone.written;
  const Polynomial saved = apart - together;
  const auto& terms = saved.terms();
  const bool always = std::all_of(terms.begin(), terms.end(), [](const auto& term) { return term.second >= 0; });
  Explained item{fmt::format("{} of {}, {}", region_name(region.kind), listed(members, 8), view.often(region))};
  item.notes.push_back({together_text(view, region)});
  item.notes.push_back(
      {fmt::format("touches {}; each by itself would touch {}", view.bytes(together), view.bytes(apart))});
  item.notes.push_back({fmt::format("saves {}{}", view.bytes(saved),
                                    always ? ", for all sizes" : "; the choice reverses where this is less than 0")});
  if (!kept.empty()) item.notes.push_back({"never stored: " + listed(kept, 8)});
  item.amounts = {view.amount("touched_bytes", together), view.amount("apart_bytes", apart),
                  view.amount("saved_bytes", saved)};
  item.where = region.where;
  item.source = view.report.source_line(region.where);
  return item;
}

// Values of one buffer that must share it or copy: bindings join them, or a transition works in place.
class Chains {
 public:
  explicit Chains(const PlanView& view) : view_(view), parent_(view.plan.values.size()) {
    std::iota(parent_.begin(), parent_.end(), ValueId(0));
    const Liveness live(view.plan);
    for_each_op(view.plan, [&](const Op& op, int number, int) {
      const OpLiveness& at = live.at(number);
      for (const auto* group :
           {&at.entry, &at.back, &at.exit, &at.then_branch, &at.else_branch, &at.list, &at.element}) {
        for (const Binding& binding : *group) join(binding.from, binding.to);
      }
      if (row(op.code).group == OpGroup::transition && !rearranges_on_the_way(op)) {
        join(op.operands.at(0), op.results.at(0));
      }
    });
  }

  [[nodiscard]] int count(const std::vector<ValueId>& values) {
    std::set<ValueId> roots;
    for (const ValueId v : values) roots.insert(root(v));
    return static_cast<int>(roots.size());
  }

 private:
  ValueId root(ValueId v) {
    while (parent_[v] != v) v = parent_[v];
    return v;
  }
  void join(ValueId a, ValueId b) {
    const BufferId buffer = view_.plan.value(a).buffer;
    if (buffer != no_buffer && buffer == view_.plan.value(b).buffer) parent_[root(b)] = root(a);
  }

  const PlanView& view_;
  IdMap<ValueId, ValueId> parent_;
};

// Buffers first .. last - 1, of a list or of one array.
struct BufferShare {
  BufferId first, last;
  Polynomial bytes;
  int arrays;
  int like;  // other buffers of the same elements and dimensions
};

Explained buffer_item(const PlanView& view, const BufferShare& room, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (const ValueId v : values) names.push_back(view.name(v));
  const std::string more = room.last > room.first + 1 ? fmt::format(" to ~b{}", room.last - 1) : "";
  const char* const where = view.plan.buffers[room.first].on_disk ? " on a disk" : "";
  Explained item{fmt::format("~b{}{}, {}{}: {}", room.first, more, view.bytes(room.bytes), where, listed(names, 10))};
  item.amounts.push_back(view.amount("bytes", room.bytes));
  if (room.arrays < 2 && room.like > 0) {
    item.notes.push_back(
        {fmt::format("runner-up: one of the {} others of its kind; each is in use meanwhile or bound to one that is, "
                     "else it would save {}",
                     room.like, view.bytes(room.bytes))});
  }
  if (names.size() < 2) return item;
  if (room.arrays < 2) {
    item.notes.push_back({"handed on from one to the next without a copy, or moved in place"});
    return item;
  }
  item.notes.push_back(
      {fmt::format("{} arrays whose lives do not meet; storage of their own would take {} more; the choice reverses if "
                   "two live at once",
                   room.arrays, view.bytes(room.bytes * Polynomial(room.arrays - 1)))});
  return item;
}

}  // namespace

ExplainedSection explain_regions(const PlanView& view) {
  ExplainedSection section{"regions", "Regions", {}, true};
  for_each_op(view.plan, [&](const Op& op, int, int) {
    if (op.code == OpCode::region) section.items.push_back(region_item(view, op));
  });
  return section;
}

ExplainedSection explain_buffers(const PlanView& view) {
  ExplainedSection section{"buffers", "Buffers", {}, false, 2};
  const auto& buffers = view.plan.buffers;
  if (buffers.empty()) return section;
  IdMap<BufferId, std::vector<ValueId>> held(buffers.size());
  for (const ValueId v : view.plan.values.ids()) {
    const Value& value = view.plan.value(v);
    if (value.buffer == no_buffer) continue;
    for (std::int64_t k = 0; k < std::max<std::int64_t>(value.type.list, 1); ++k) {  // a list has one for each array
      held.at(BufferId(value.buffer + k)).push_back(v);
    }
  }
  Chains chains(view);
  const auto like = [&](BufferId first, BufferId last) {
    int others = 0;
    const BufferDecl& own = buffers[first];
    for (const BufferId b : buffers.ids()) {
      const BufferDecl& other = buffers[b];
      others += (b < first || b >= last) && other.on_disk == own.on_disk && other.element == own.element &&
                        other.dims == own.dims
                    ? 1
                    : 0;
    }
    return others;
  };
  Polynomial pool, apart;
  for (BufferId b(0), next(0); buffers.contains(b); b = next) {
    while (buffers.contains(next) && held[next] == held[b]) ++next;
    const Polynomial bytes = buffer_bytes(view.plan, buffers[b]) * Polynomial(next - b);
    const int arrays = chains.count(held[b]);
    if (!buffers[b].on_disk) {
      pool += bytes;
      apart += bytes * Polynomial(arrays);
    }
    section.items.push_back(buffer_item(view, {b, next, bytes, arrays, like(b, next)}, held[b]));
  }
  section.closing = Explained{fmt::format("the pool: {}; without reuse {}", view.bytes(pool), view.bytes(apart))};
  section.closing->amounts = {view.amount("pool_bytes", pool), view.amount("apart_bytes", apart)};
  return section;
}

}  // namespace kasen
