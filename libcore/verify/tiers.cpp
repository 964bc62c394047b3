// What lies on a disk (libcore/ir/tiers.h): only load reads it, loops and branches hand it on as it is, and it has a
// buffer on the disk. What memory holds is within the limit, as far as the sizes of its buffers are known.
#include "libcore/ir/tiers.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "libcore/analysis/liveness.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/observed.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

class TierCheck {
 public:
  TierCheck(const Module& module, Faults& faults)
      : m_(module), faults_(faults), live_(module), on_disk_(values_on_disk(module)) {}

  void run() {
    for_each_op(m_, [&](const Op& op, int number, int) { check(op, number); });
    if (!m_.buffers.empty()) buffers();
    limit();
  }

 private:
  void check(const Op& op, int number) {
    if (moves_tier(op)) return moved(op);
    if (op.code == OpCode::region) inside(op.blocks.at(0));
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
    if (loop) {
      const std::span<const ValueId> args(op.blocks.at(0).args);
      alike(op.blocks[0].ops.back(), args.last(op.results.size()));
    }
    if (op.code == OpCode::if_else) {
      for (const Block& branch : op.blocks) alike(branch.ops.back(), op.results);
    }
    if (!loop && op.code != OpCode::yield) {
      for (const ValueId v : op.operands) {
        if (on_disk_[v]) unread(op, v);
      }
    }
    const OpLiveness& at = live_.at(number);
    for (const auto* bindings : {&at.entry, &at.back, &at.exit, &at.then_branch, &at.else_branch})
      copied(op, *bindings);
  }

  void unread(const Op& op, ValueId v) {
    faults_.add(op, value_text(m_, v) + " lies on a disk", "only load reads it there", "load it first");
  }

  void moved(const Op& op) {
    const ValueId v = op.operands.at(0);
    const Type& type = m_.type(v);
    if (type.dims.empty() || type.sparse || type.compressed) {
      return faults_.add(op, value_text(m_, v) + " is no dense array", "other values stay where they are");
    }
    if (m_.type(op.results.at(0)).state != type.state)
      return faults_.add(op, "it changes the state", "a disk has what was in memory", "bring it to that state first");
    if (observes(m_)) {
      return faults_.add(op, "it stands in a plan with a dimension whose size the run finds",
                         "such a run makes its buffers anew", "plan without --memory");
    }
    if (op.code == OpCode::store && on_disk_[v]) return unread(op, v);
    if (op.code == OpCode::load && !on_disk_[v])
      faults_.add(op, value_text(m_, v) + " lies in memory", "load reads what store has made", "use it as it is");
  }

  void inside(const Block& region) {
    for (const Op& op : region.ops) {
      if (moves_tier(op)) faults_.add(op, "it stands inside a region", "a region runs as one loop");
    }
  }

  // What a block hands on lies where its successor does.
  void alike(const Op& yield, std::span<const ValueId> to) {
    for (size_t i = 0; i < to.size(); ++i) {
      if (on_disk_[yield.operands.at(i)] == on_disk_[to[i]]) continue;
      faults_.add(yield, fmt::format("{} is handed on to {}", value_text(m_, yield.operands[i]), value_text(m_, to[i])),
                  "one of them lies on a disk, the other in memory", "store or load it first");
    }
  }

  void copied(const Op& op, const std::vector<Binding>& bindings) {
    for (const Binding& binding : bindings) {
      if (!on_disk_[binding.from] || binding.how == Handover::move) continue;
      faults_.add(
          op,
          fmt::format("{} would be copied to {} on a disk", value_text(m_, binding.from), value_text(m_, binding.to)),
          "it is needed later, or has another form", "load it, and store it again");
    }
  }

  // A value of the one tier in a buffer of the other. Values without a buffer have a place of their own.
  void buffers() {
    for_each_op(m_, [&](const Op& op, int, int) {
      for (const Block& block : op.blocks) {
        for (const ValueId v : block.args) placed(op, v);
      }
      for (const ValueId v : op.results) placed(op, v);
    });
  }

  void placed(const Op& op, ValueId v) {
    const BufferId buffer = m_.value(v).buffer;
    if (buffer == no_buffer) {
      if (on_disk_[v]) faults_.add(op, value_text(m_, v) + " has no buffer on the disk");
      return;
    }
    if (m_.buffers[buffer].on_disk == on_disk_[v]) return;
    faults_.add(op, fmt::format("{} lies {}, and ~b{} does not", value_text(m_, v),
                                on_disk_[v] ? "on a disk" : "in memory", buffer));
  }

  // Arrays that are cut have other sizes on each worker: a run checks these.
  void limit() {
    std::int64_t left = m_.memory;
    for (const BufferDecl& buffer : m_.buffers) {
      const Layout layout(m_, buffer.dims, buffer.cuts);
      bool known = m_.memory > 0 && !buffer.on_disk && layout.is_shared();
      for (const DimId dim : buffer.dims) known = known && m_.dim(dim).size >= 0;
      if (!known) continue;
      const std::int64_t elements = layout.elements_per_index(),
                         width = std::max<std::int64_t>(1, buffer.element.bytes());
      if (elements > left / width) {
        return faults_.add(fmt::format("the buffers take more than {} bytes of memory", m_.memory),
                           "the plan allows no more", "plan the program again");
      }
      left -= elements * width;
    }
  }

  const Module& m_;
  Faults& faults_;
  const Liveness live_;
  const IdMap<ValueId, bool> on_disk_;
};

}  // namespace

void verify_tiers(const Module& module, Faults& faults) {
  if (module.memory == 0 && !uses_disk(module) && module.buffers.empty()) return;
  TierCheck(module, faults).run();
}

}  // namespace kasen
