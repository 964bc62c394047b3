#include "libopt/cost/box_cost.h"

#include <algorithm>

#include "libcore/analysis/liveness.h"
#include "libcore/analysis/mesh_rules.h"
#include "libcore/analysis/shared_batch.h"
#include "libcore/analysis/shared_traffic.h"
#include "libcore/base/checked.h"
#include "libcore/blocks/block_bytes.h"
#include "libcore/boxes/box_exchange.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/ir/tiers.h"
#include "libcore/sorting/sort_plan.h"
#include "libopt/cost/extent.h"

namespace kasen {
namespace {

Symbol stay_symbol(int number) { return {SymbolKind::stay, "", {}, number}; }
Symbol agree_symbol(int number) { return {SymbolKind::agree, "", {}, number}; }

}  // namespace

BoxCosts::BoxCosts(const Module& module) : module_(module), form_(box_form(module, 0)) {
  std::vector<const Op*> formed;
  for_each_op(form_.form.module, [&](const Op& op, int, int) { formed.push_back(&op); });
  for_each_op(module, [&](const Op& op, int number, int) {
    places_[&op] = {formed.at(static_cast<size_t>(number)), number};
  });
}

Polynomial BoxCosts::elements(const Type& type, const Box& box, MeshAxes first_along) const {
  MeshAxes alone = first_along;  // mesh axes along which one place has an element
  for (const AxisPart& part : box) alone |= part.cuts & ~part.held;
  Type whole = type;  // a box may have other axes than its value
  whole.dims.clear();
  for (const AxisPart& part : box) whole.dims.push_back(part.dim);
  Polynomial count = whole_elements(module_, whole);
  return count * mesh_places(module_, ~alone);
}

Polynomial BoxCosts::stored(ValueId value) const {
  return elements(module_.type(value), stored_box(module_, module_.type(value)));
}

// Of the states that it holds, one is stored by most workers.
Polynomial BoxCosts::buffer_bytes(const BufferDecl& buffer) const {
  Type type;
  type.element = buffer.element;
  type.dims = buffer.dims;
  type.cuts = buffer.cuts;
  Polynomial most = elements(type, owned_box(module_, type));
  for (const SlaveSet& set : buffer.holds) {
    type.state = State::cons(set);
    const Polynomial held = elements(type, stored_box(module_, type));
    const Polynomial more = held - most;
    const bool larger =
        std::any_of(more.terms().begin(), more.terms().end(), [](const auto& term) { return term.second > 0; });
    if (larger) most = held;
  }
  return most * Polynomial(buffer.element.bytes());
}

Footprint BoxCosts::footprint() const {
  Footprint total;
  for (const BufferDecl& buffer : module_.buffers) {
    if (!buffer.on_disk) total.buffers += buffer_bytes(buffer);
  }
  const Liveness live(module_);
  const IdMap<ValueId, bool> inside = made_in_regions(module_), on_disk = values_on_disk(module_);
  IdMap<ValueId, bool> is_input(module_.values.size(), false);
  const auto bytes = [&](ValueId v) {
    const Type& type = module_.type(v);
    return stored(v) * Polynomial(type.element.bytes() * std::max<std::int64_t>(type.list, 1));
  };
  for_each_op(module_, [&](const Op& op, int, int) {
    if (op.code != OpCode::input) return;
    is_input[op.results.at(0)] = true;
    total.inputs += bytes(op.results[0]);
  });
  for (const ValueId v : module_.values.ids()) {
    const bool own = module_.value(v).buffer == no_buffer && !is_input[v] && !module_.type(v).dims.empty();
    if (own && !inside[v] && !on_disk[v] && !live.is_view(v)) total.buffers += bytes(v);
  }
  return total;
}

Polynomial BoxCosts::form_bytes(ValueId value) const {
  const BoxStandIn* part = form_.stand_in(value);
  const Type& type = module_.type(part == nullptr ? value : part->of);
  return (part == nullptr ? stored(value) : elements(type, part->box)) * Polynomial(type.element.bytes());
}

bool BoxCosts::same_buffer(ValueId a, ValueId b) const {
  const BufferId buffer = module_.value(a).buffer;
  return buffer != no_buffer && buffer == module_.value(b).buffer;
}

// Single values are free.
void BoxCosts::add_move(ValueId value, const Polynomial& read, const Polynomial& written, Cost& cost) const {
  const Type& type = module_.type(value);
  if (type.dims.empty()) return;
  cost.read += read * Polynomial(type.element.bytes());
  cost.written += written * Polynomial(type.element.bytes());
}

// What the executor copies to stand-ins before the operator, and from them behind it.
void BoxCosts::add_stand_ins(const Op& op, Cost& cost) const {
  for (const ValueId v : op.operands) {
    if (const BoxStandIn* part = form_.stand_in(form_.memory_of(v)); part != nullptr) {
      const Polynomial some = elements(module_.type(part->of), part->box);
      add_move(part->of, some, some, cost);
    }
  }
  for (const ValueId v : op.results) {
    const BoxStandIn* part = form_.stand_in(form_.memory_of(v));
    if (part == nullptr) continue;
    const Polynomial some = elements(module_.type(part->of), part->box, part->first_only);
    if (part->arranged) {  // it has all elements of its value
      add_move(part->of, some, some, cost);
      continue;
    }
    const bool handed_on = part->handed_on != no_value;
    if (!handed_on) add_move(part->of, {}, stored(part->of), cost);
    if (handed_on && !same_buffer(part->handed_on, part->of)) {
      add_move(part->of, stored(part->of), stored(part->of), cost);
    }
    add_move(part->of, some, some, cost);
  }
}

// The kernels read what a contraction is reduced onto in the result's memory. Before, the workers that take up elements
// copy them there, unless they are there, and write identities to all else.
void BoxCosts::add_onto(const Op& op, const Place& place, Cost& cost) const {
  const ValueId result = op.results.at(0), array = op.operands.at(2);
  const ValueId to = form_.memory_of(place.op->results.at(0)), from = form_.memory_of(place.op->operands.at(2));
  const auto box_of = [&](ValueId memory) {
    const BoxStandIn* part = form_.stand_in(memory);
    return part == nullptr ? stored_box(module_, module_.type(memory)) : part->box;
  };
  const Polynomial all = stored(result);
  const Polynomial own = elements(module_.type(array), box_of(from), form_.first_only.at(place.number));
  const bool whole = box_of(from) == box_of(to);
  const bool there = form_.stand_in(to) == nullptr && form_.stand_in(from) == nullptr && same_buffer(array, result);
  add_move(result, all, whole ? all - own : all, cost);
  if (!there) add_move(result, own, own, cost);
}

// Each holder but the owner sends an element, or receives it.
Polynomial BoxCosts::sent_elements(const Op& op, int number) const {
  if (op.code == OpCode::relayout || sorts_across(module_, op)) {
    return whole_elements(module_, module_.type(op.results.at(0))) - Polynomial(stay_symbol(number));
  }
  const Type& type = module_.type(op.operands.at(0));
  const Polynomial whole = whole_elements(module_, type);
  const Type& held = op.code == OpCode::gather ? type : module_.type(op.results.at(0));
  return whole * (mesh_places(module_, held_axes(module_, held, held.state)) - Polynomial(1));
}

// One element of each line goes from each worker with a part of the line to the next.
Polynomial BoxCosts::carried_elements(const Op& scan) const {
  Type others = module_.type(scan.results.at(0));
  others.dims.erase(others.dims.begin() + static_cast<std::ptrdiff_t>(worked_place(module_, scan)));
  const Polynomial places = mesh_places(module_, carried_axes(module_, scan));
  return whole_elements(module_, others) * (places - Polynomial(1));
}

// All elements take up a carry but those of the first parts of lines.
void BoxCosts::add_carries(const Op& scan, int number, Cost& cost) const {
  const ValueId made = scan.results.at(0);
  cost.network += carried_elements(scan) * Polynomial(module_.type(made).element.bytes());
  const Polynomial taken = whole_elements(module_, module_.type(made)) - Polynomial(stay_symbol(number));
  add_move(made, taken, taken, cost);
}

void BoxCosts::add_transition(const Op& op, int number, Cost& cost) const {
  const ValueId from = op.operands.at(0), to = op.results.at(0);
  cost.network += sent_elements(op, number) * Polynomial(module_.type(from).element.bytes());
  if (is_shared_transition(module_, op)) {
    if (!same_buffer(from, to)) add_move(to, stored(from), stored(to), cost);
    return;
  }
  const bool stays = (same_buffer(from, to) || stands_in_input(module_, op)) &&
                     stored_box(module_, module_.type(from)) == stored_box(module_, module_.type(to));
  if (stays) return;
  const Polynomial own =
      op.code == OpCode::relayout ? Polynomial(stay_symbol(number)) : whole_elements(module_, module_.type(from));
  add_move(to, own, own, cost);
}

// Elements go to the owners of their places, after the workers have agreed on these.
void BoxCosts::add_sort(const Op& op, int number, Cost& cost) const {
  cost.network += sent_elements(op, number) * Polynomial(sorted_bytes(module_, op)) + Polynomial(agree_symbol(number));
}

Cost BoxCosts::blocks(int number) const {
  Cost cost;
  cost.read = Polynomial(Symbol{SymbolKind::block_reads, "", {}, number});
  cost.written = Polynomial(Symbol{SymbolKind::block_writes, "", {}, number});
  cost.network = Polynomial(Symbol{SymbolKind::block_sends, "", {}, number});
  return cost;
}

Cost BoxCosts::actual(const Op& op) const {
  Cost cost;
  const Place place = places_.at(&op);
  if (is_blocks(op)) return blocks(place.number);
  const SharedTraffic traffic = shared_traffic(form_.form.module, *place.op);
  for (const ValueId v : traffic.read) cost.read += form_bytes(v);
  for (const ValueId v : traffic.written) {
    if (form_.stand_in(form_.memory_of(v)) == nullptr) cost.written += form_bytes(v);
  }
  const OpGroup group = row(op.code).group;
  const bool computes = group == OpGroup::vector || group == OpGroup::product || group == OpGroup::contraction;
  if (computes || group == OpGroup::axis || is_linear_on_workers(module_, op)) {
    add_stand_ins(*place.op, cost);
  }
  if (is_onto(op)) add_onto(op, place, cost);
  if (group == OpGroup::transition) add_transition(op, place.number, cost);
  if (sorts_across(module_, op)) add_sort(op, place.number, cost);
  if (carried_axes(module_, op) != 0) add_carries(op, place.number, cost);
  if (op.code == OpCode::make_list && !module_.type(op.results[0]).dims.empty()) {
    add_move(op.results[0], stored(op.operands.at(0)),
             stored(op.results[0]) * Polynomial(module_.type(op.results[0]).list), cost);
  }
  return cost;
}

// The paper knows no meshes. Its rule holds for what the workers store: an operator reads its operands and makes its
// results.
Cost BoxCosts::model(const Op& op) const {
  Cost cost;
  const auto arrays = [&](const std::vector<ValueId>& values) {
    std::vector<ValueId> distinct;
    for (const ValueId v : values) {
      if (!module_.type(v).dims.empty() && !contains(distinct, v)) distinct.push_back(v);
    }
    return distinct;
  };
  const OpGroup group = row(op.code).group;
  if (group == OpGroup::transition) {
    cost.network_elements = sent_elements(op, places_.at(&op).number);
    cost.network = cost.network_elements * Polynomial(module_.type(op.operands[0]).element.bytes());
    return cost;
  }
  const bool makes = op.code == OpCode::fill || op.code == OpCode::index || op.code == OpCode::make_list;
  const bool computes = group == OpGroup::vector || group == OpGroup::product || group == OpGroup::contraction ||
                        group == OpGroup::axis || op.code == OpCode::region || is_linear_on_workers(module_, op);
  if (!computes && !makes) return cost;
  if (sorts_across(module_, op)) {
    cost.network_elements = sent_elements(op, places_.at(&op).number);
    add_sort(op, places_.at(&op).number, cost);
  }
  if (carried_axes(module_, op) != 0) {
    cost.network_elements = carried_elements(op);
    cost.network = cost.network_elements * Polynomial(module_.type(op.results[0]).element.bytes());
  }
  if (is_blocks(op)) {
    cost.network = blocks(places_.at(&op).number).network;
    cost.network_elements = Polynomial(Symbol{SymbolKind::block_elements, "", {}, places_.at(&op).number});
  }
  for (const ValueId v : arrays(op.operands)) {
    cost.read_elements += stored(v);
    cost.read += stored(v) * Polynomial(module_.type(v).element.bytes());
  }
  for (const ValueId v : arrays(op.results)) {
    const Polynomial made = stored(v) * Polynomial(std::max<std::int64_t>(module_.type(v).list, 1));
    cost.written_elements += made;
    cost.written += made * Polynomial(module_.type(v).element.bytes());
    cost.buffers += made * Polynomial(module_.type(v).element.bytes());
  }
  return cost;
}

Module sized_module(const Module& module, const Sizes& sizes) {
  Module sized = module;
  for (Dimension& dim : sized.dims) {
    const auto known = sizes.totals.find({SymbolKind::size, dim.name, {}, -1});
    if (dim.size < 0 && known != sizes.totals.end()) dim.size = known->second;
  }
  const int workers = sizes.workers > 0 ? sizes.workers : mesh_workers(sized);
  derive_sizes(sized.dims, "these sizes", workers);
  require_inside(sized);
  sized.mesh = mesh_of(module, workers);
  return sized;
}

IdMap<ValueId, bool> made_in_regions(const Module& module) {
  IdMap<ValueId, bool> inside(module.values.size(), false);
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::region) return;
    for (const ValueId v : op.blocks[0].args) inside[v] = true;
    for (const Op& inner : op.blocks.at(0).ops) {
      for (const ValueId v : inner.results) inside[v] = true;
    }
  });
  return inside;
}

namespace {

bool have_sizes(const Module& module, const Op& op) {
  std::vector<DimId> dims = module.type(op.results.at(0)).dims;
  for (const ValueId v : op.operands) {
    const std::vector<DimId>& own = module.type(v).dims;
    dims.insert(dims.end(), own.begin(), own.end());
  }
  return std::none_of(dims.begin(), dims.end(), [&](DimId d) { return module.dim(d).size < 0; });
}

std::int64_t count_elements(const Module& sized, ValueId array) {
  std::int64_t count = 1;
  for (const DimId d : sized.type(array).dims) count = checked_mul(count, sized.dim(d).size, "an array's size");
  return count;
}

bool is_sort(const Op& op) { return op.code == OpCode::sort || op.code == OpCode::argsort; }

// On one worker nothing moves.
void bind_sort(const Module& sized, const Op& op, int number, Polynomial::Bindings& totals) {
  std::int64_t& agree = totals[agree_symbol(number)] = 0;
  std::int64_t& stay = totals[stay_symbol(number)];
  stay = count_elements(sized, op.results.at(0));
  if (!sorts_across(sized, op)) return;
  stay = sort_stay(sized, op).least;
  for_each_agreement(
      sized, op, [&](const SortMessage& message) { agree = checked_add(agree, message.bytes, "predicted traffic"); });
}

}  // namespace

Polynomial::Bindings with_sorts_at_rest(const Module& module, const Sizes& sizes) {
  Polynomial::Bindings totals = sizes.totals;
  const Module sized = sized_module(module, sizes);
  for_each_op(sized, [&](const Op& op, int number, int) {
    const bool moves = is_sort(op) || picks_on_the_way(sized, op);
    if (moves && have_sizes(sized, op)) totals[stay_symbol(number)] = count_elements(sized, op.results.at(0));
  });
  return totals;
}

namespace {

void bind_blocks(const Module& sized, const Op& region, int number, Polynomial::Bindings& totals) {
  const BlockBytes bytes = block_bytes(sized, region);
  totals[{SymbolKind::block_reads, "", {}, number}] = bytes.read;
  totals[{SymbolKind::block_writes, "", {}, number}] = bytes.written;
  totals[{SymbolKind::block_sends, "", {}, number}] = bytes.sent;
  totals[{SymbolKind::block_elements, "", {}, number}] = bytes.sent_elements;
}

}  // namespace

void bind_stays(const Module& module, Sizes& sizes) {
  const Module sized = sized_module(module, sizes);
  sizes.workers = mesh_workers(sized);
  sizes.totals.emplace(Symbol{SymbolKind::workers, "", {}, -1}, sizes.workers);
  for_each_op(sized, [&](const Op& op, int number, int) {
    if (is_blocks(op) && have_sizes(sized, op)) return bind_blocks(sized, op, number, sizes.totals);
    const bool carried = carried_axes(module, op) != 0;
    if ((op.code != OpCode::relayout && !is_sort(op) && !carried) || !have_sizes(sized, op)) return;
    if (is_sort(op)) return bind_sort(sized, op, number, sizes.totals);
    std::int64_t stay = 0;
    for (int w = 0; w < sizes.workers; ++w) {
      stay += carried ? carry_exchange(sized, op, w).own : box_exchange(sized, op, w).own;
    }
    sizes.totals[stay_symbol(number)] = stay;
  });
}

}  // namespace kasen
