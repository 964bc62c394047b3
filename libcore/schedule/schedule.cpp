#include "libcore/schedule/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "libcore/analysis/liveness.h"
#include "libcore/analysis/shared_batch.h"
#include "libcore/analysis/whole.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/ir/tiers.h"

namespace kasen {
namespace {

bool is_among(const std::vector<ValueId>& values, ValueId v) {
  return std::find(values.begin(), values.end(), v) != values.end();
}

template <class Visit>
void for_each_inside(const Op& op, const Visit& visit) {
  visit(op);
  for (const Block& block : op.blocks) {
    for (const Op& inner : block.ops) for_each_inside(inner, visit);
  }
}

class Scheduler {
 public:
  explicit Scheduler(Module& module) : m_(module), live_(module), batches_(module), forms_(product_forms(module)) {
    for_each_op(module, [&](const Op& op, int number, int) { numbers_.emplace(&op, number); });
  }

  void run() {
    block(m_.body);
    std::vector<ScheduleLine> lines = memory_lines(m_);
    const std::vector<size_t> last = last_lines();
    for (size_t i = 0; i < m_.body.schedule.size(); ++i) {
      const ScheduleLine& line = m_.body.schedule[i];
      lines.push_back(line);
      if (last[static_cast<size_t>(line.op)] == i) add_frees(line.op, lines);
    }
    m_.body.schedule = std::move(lines);
  }

 private:
  void block(Block& block) {
    block.schedule.clear();
    lines_ = {};
    for (size_t i = 0; i < block.ops.size();) i += add(block, i);
    block.schedule = std::exchange(lines_, {});
    for (Op& op : block.ops) {
      if (op.code == OpCode::region) continue;
      for (size_t i = 0; i < op.blocks.size(); ++i) {
        Block& inner = op.blocks[i];
        this->block(inner);
        const std::vector<ScheduleLine> ends = end_lines(m_, live_.at(numbers_.at(&op)), op, i);
        inner.schedule.insert(inner.schedule.end(), ends.begin(), ends.end());
      }
    }
  }

  void line(LineKind kind, size_t op, LineRows rows = LineRows::all, size_t count = 1) {
    lines_.push_back({.kind = kind,
                      .rows = rows,
                      .op = static_cast<int>(op),
                      .count = static_cast<int>(count),
                      .form = -1,
                      .values = {},
                      .buffers = {},
                      .where = {}});
  }

  // Adds the lines of the operator at `i`, and of those that travel or overlap with it. Returns their number.
  size_t add(const Block& block, size_t i) {
    const std::vector<Op>& ops = block.ops;
    const Op& op = ops[i];
    if (op.code == OpCode::yield) return 1;
    if (const std::span<const Op> batch = batches_.led_by(op); !batch.empty()) {
      line(LineKind::start, i, LineRows::all, batch.size());
      line(LineKind::wait, i, LineRows::all, batch.size());
      return batch.size();
    }
    if (row(op.code).group == OpGroup::transition) {
      line(LineKind::start, i);
      const bool late = i + 1 < ops.size() && may_overlap(ops[i + 1]) && op.code == OpCode::scatter &&
                        is_among(ops[i + 1].operands, op.results[0]);
      if (late) return 1 + add_product(block, i + 1, i);
      line(LineKind::wait, i);
      return 1;
    }
    if (!may_overlap(op)) {
      line(LineKind::run, i);
      return 1;
    }
    return add_product(block, i, i);
  }

  [[nodiscard]] bool may_overlap(const Op& op) const { return !boxes_ && runs_by_rows(m_, op); }

  // A product. `scatter` is its own place, or that of the scatter right before it, which has only been started: rows
  // that need no ghost run meanwhile. The ghosts' rows come next: they travel while the other rows are computed.
  size_t add_product(const Block& block, size_t i, size_t scatter) {
    if (scatter != i) {
      line(LineKind::run, i, LineRows::ready);
      line(LineKind::wait, scatter);
    }
    if (is_epilogue(block.ops[i])) {
      line(LineKind::run, i, LineRows::ghosts);
      line(LineKind::start, i);
      line(LineKind::run, i, LineRows::rest);
      line(LineKind::wait, i);
      line(LineKind::run, i, LineRows::joined);
      return 1;
    }
    if (i + 1 == block.ops.size() || !gathers(block.ops[i + 1], block.ops[i])) {
      line(LineKind::run, i);
      return 1;
    }
    line(LineKind::run, i, LineRows::ghosts);
    line(LineKind::start, i + 1);
    line(LineKind::run, i, LineRows::rest);
    line(LineKind::wait, i + 1);
    return 2;
  }

  [[nodiscard]] bool gathers(const Op& op, const Op& product) const {
    return op.code == OpCode::gather && Layout(m_, op.operands[0]).is_distributed() &&
           is_among(product.results, op.operands[0]);
  }

  // By operator of the program's block.
  [[nodiscard]] std::vector<size_t> last_lines() const {
    std::vector<size_t> last(m_.body.ops.size(), 0);
    for (size_t i = 0; i < m_.body.schedule.size(); ++i) last[static_cast<size_t>(m_.body.schedule[i].op)] = i;
    return last;
  }

  void add_frees(int op, std::vector<ScheduleLine>& lines) {
    for (size_t form = 0; form < forms_.size(); ++form) {
      if (last_user(form) != op) continue;
      ScheduleLine free;
      free.kind = LineKind::free;
      free.form = static_cast<int>(form);
      lines.push_back(free);
    }
  }

  // The last operator of the program's block that is or holds a product of the form.
  [[nodiscard]] int last_user(size_t form) {
    if (last_users_.empty()) {
      last_users_.assign(forms_.size(), -1);
      std::map<ValueId, size_t> form_of;
      for (size_t f = 0; f < forms_.size(); ++f) {
        for (const ValueId v : forms_[f].products) form_of.emplace(v, f);
      }
      for (size_t i = 0; i < m_.body.ops.size(); ++i) {
        for_each_inside(m_.body.ops[i], [&](const Op& op) {
          const auto found = op.results.empty() ? form_of.end() : form_of.find(op.results[0]);
          if (found != form_of.end()) last_users_[found->second] = static_cast<int>(i);
        });
      }
    }
    return last_users_[form];
  }

  Module& m_;
  const bool boxes_ = names_layouts(m_);
  const Liveness live_;
  std::map<const Op*, int> numbers_;  // in preorder
  SharedBatches batches_;
  std::vector<ProductForm> forms_;
  std::vector<ScheduleLine> lines_;
  std::vector<int> last_users_;  // by form
};

void visit_lines(const Block& block, const std::function<void(const Block& block, const ScheduleLine& line)>& visit) {
  for (const ScheduleLine& line : block.schedule) visit(block, line);
  for (const Op& op : block.ops) {
    for (const Block& inner : op.blocks) visit_lines(inner, visit);
  }
}

// Batches are those of the operators, not of an older schedule.
void clear(Block& block) {
  block.schedule.clear();
  for (Op& op : block.ops) {
    for (Block& inner : op.blocks) clear(inner);
  }
}

}  // namespace

std::vector<ProductForm> product_forms(const Module& module) {
  std::vector<ProductForm> forms;
  std::map<std::tuple<ValueId, bool, SlaveSet, SlaveSet>, size_t> known;
  std::set<ValueId> in_rows;  // results in a region of rows, which reads its matrix row by row
  for_each_op(module, [&](const Op& op, int, int) {
    if (is_rows(op)) {
      for (const Op& inner : op.blocks[0].ops) in_rows.insert(inner.results.begin(), inner.results.end());
    }
    if (!is_sparse_product(module, op) && !is_fold(op)) return;
    const bool by_rows = gives_rows(op) || in_rows.contains(op.results.at(0));
    ValueId operand = is_fold(op) ? across_operand(module, op) : op.operands.at(0), result = along_value(op);
    if (by_rows != gives_rows(op)) std::swap(operand, result);
    const ValueId matrix = product_matrix(op);
    const bool owned = has_whole_lines(module, module.type(matrix));
    const auto set_of = [&](ValueId v) { return owned ? SlaveSet{} : module.type(v).state.slaves; };
    const auto [at, fresh] = known.emplace(std::tuple(matrix, by_rows, set_of(operand), set_of(result)), forms.size());
    if (fresh) forms.push_back({matrix, by_rows, operand, result, {}, false});
    ProductForm& form = forms[at->second];
    form.products.push_back(op.results.at(0));
    form.numbered = form.numbered || numbers_entries(module, op);
  });
  return forms;
}

std::vector<ValueId> arrays_without_buffer(const Module& module) {
  const Liveness liveness(module);
  const IdMap<ValueId, bool> on_disk = values_on_disk(module);
  std::vector<ValueId> found;
  const auto add = [&](ValueId v) {
    const Value& value = module.value(v);
    const bool array = !value.type.sparse && !value.type.dims.empty() && !on_disk[v];
    if (value.buffer == no_buffer && array && !liveness.is_view(v)) found.push_back(v);
  };
  int region = -1;  // the depth of the open region
  for_each_op(module, [&](const Op& op, int, int depth) {
    if (region >= 0 && depth > region) return;
    region = op.code == OpCode::region ? depth : -1;
    if (op.code == OpCode::input) return;
    if (op.code != OpCode::region) {
      for (const Block& block : op.blocks) std::for_each(block.args.begin(), block.args.end(), add);
    }
    std::for_each(op.results.begin(), op.results.end(), add);
  });
  return found;
}

bool runs_by_rows(const Module& module, const Op& op) {
  const bool region = op.code == OpCode::region;
  if (region ? row(op.kind).entry != RegionEntry::product : !is_product(op) && !is_fold(op)) return false;
  return module.type(product_matrix(op)).sparse;
}

bool has_exchange(const Op& op) { return row(op.code).group == OpGroup::transition || is_epilogue(op); }

std::vector<ScheduleLine> memory_lines(const Module& module) {
  std::vector<ScheduleLine> lines;
  const auto add = [&](ScheduleLine line) {
    if (!line.values.empty() || !line.buffers.empty()) lines.push_back(std::move(line));
  };
  ScheduleLine alloc, whole;
  alloc.kind = LineKind::alloc;
  for (const BufferId b : module.buffers.ids()) {
    if (!module.buffers[b].on_disk) alloc.buffers.push_back(b);
  }
  alloc.values = arrays_without_buffer(module);
  add(std::move(alloc));
  whole.kind = LineKind::whole;
  if (!names_layouts(module)) whole.values = whole_values(module);
  add(std::move(whole));
  int number = 0;
  for (const ProductForm& made : product_forms(module)) {
    ScheduleLine form;
    form.kind = LineKind::form;
    form.form = number++;
    form.values = made.products;
    add(std::move(form));
  }
  return lines;
}

std::vector<ScheduleLine> end_lines(const Module& module, const OpLiveness& live, const Op& op, size_t block) {
  const bool branch = op.code == OpCode::if_else;
  const std::vector<Binding>& bindings = !branch ? live.back : block == 0 ? live.then_branch : live.else_branch;
  ScheduleLine move, copy;
  move.kind = LineKind::move;
  copy.kind = LineKind::copy;
  for (const Binding& binding : bindings) {
    if (module.type(binding.to).dims.empty()) continue;
    (binding.how == Handover::move ? move : copy).values.push_back(binding.from);
  }
  std::vector<ScheduleLine> lines;
  for (const ScheduleLine& line : {move, copy}) {
    if (!line.values.empty()) lines.push_back(line);
  }
  return lines;
}

void for_each_line(const Module& module,
                   const std::function<void(const Block& block, const ScheduleLine& line)>& visit) {
  visit_lines(module.body, visit);
}

void write_schedule(Module& module) {
  clear(module.body);
  Scheduler(module).run();
}

}  // namespace kasen
