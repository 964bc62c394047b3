#include "libopt/cost/footprint.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "libcore/analysis/shared_batch.h"
#include "libcore/analysis/shared_traffic.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/base/checked.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/kernels/numbering.h"
#include "libcore/kernels/sorted_form.h"
#include "libcore/schedule/schedule.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/extent.h"
#include "libopt/cost/rules.h"
#include "libopt/cost/traffic.h"

namespace kasen {
namespace {

constexpr const char* memory = "a plan's memory";

// Space for one array. Beside the owned elements a worker holds as many ghosts as the largest set of `holds` has.
struct Room {
  ElementType element;
  std::vector<DimId> dims;
  std::vector<SlaveSet> holds;
  std::int64_t arrays = 1;
};

Type type_of(const Room& room, const SlaveSet& set) {
  Type type;
  type.element = room.element;
  type.dims = room.dims;
  if (!set.empty()) type.state = State::cons(set);
  return type;
}

// The space that a value takes by itself.
Room own_room(const Type& type) {
  std::vector<SlaveSet> holds;
  if (type.state.is_cons() || type.state.is_pre()) holds.push_back(type.state.slaves);
  return {type.element, type.dims, holds, std::max<std::int64_t>(type.list, 1)};
}

// Returns the plan's buffers in memory, and space for each array without a buffer.
std::vector<Room> rooms(const Module& module) {
  std::vector<Room> found;
  for (const BufferDecl& b : module.buffers) {
    if (!b.on_disk) found.push_back({b.element, b.dims, b.holds, 1});
  }
  for (const ValueId v : arrays_without_buffer(module)) found.push_back(own_room(module.type(v)));
  return found;
}

std::int64_t room_bytes(const Module& module, const Room& room, const Polynomial::Bindings& here) {
  Type type = type_of(room, {});
  const std::int64_t inner = inner_elements(module, type).value(here);
  std::int64_t indices = 1;
  if (Layout(module, type).is_distributed()) {
    indices = master_indices(module, type).value(here);
    std::int64_t slaves = 0;
    for (const SlaveSet& set : room.holds)
      slaves = std::max(slaves, slave_indices(module, type_of(room, set)).value(here));
    indices = checked_add(indices, slaves, memory);
  }
  return checked_mul(storage_bytes(room.element, checked_mul(indices, inner, memory)), room.arrays, memory);
}

// Counts the elements of a set that a worker sends or receives for its owned elements. With `slaves_too` it also counts
// the worker's ghosts: elements of several planes are not sent and received in place.
std::int64_t exchanged(const Sizes& sizes, const std::string& dim, const SlaveSet& set, int worker, bool slaves_too) {
  if (set.empty()) return 0;
  const auto it = sizes.pairs.find({dim, set});
  if (it == sizes.pairs.end()) throw InternalError("a set of ghosts that the bundle was not asked for");
  const auto w = static_cast<size_t>(worker);
  if (it->second.list.empty()) return 0;
  return it->second.owned.at(w) + (slaves_too ? it->second.held.at(w) : 0);
}

// An element-wise operator or region may read operands at ghosts that the operands' own set numbers in another order.
// They are copied into the order of the result's set, into space of their own.
std::int64_t repack_bytes(const Module& module, const Op& op, const Polynomial::Bindings& here) {
  const bool region = op.code == OpCode::region;
  if (!region && row(op.code).group != OpGroup::vector) return 0;
  const std::span<const Op> inner = region ? std::span<const Op>(op.blocks.at(0).ops) : std::span<const Op>(&op, 1);
  std::map<ValueId, SlaveSet> wanted;
  for (const Op& x : inner) {
    if (row(x.code).group != OpGroup::vector) continue;
    const Type& result = module.type(x.results.at(0));
    const bool accumulates = x.code == OpCode::reduce && (Layout(module, result).is_shared() || makes_whole(module, x));
    const Type& ruling = accumulates ? module.type(x.operands.at(0)) : result;
    const bool on_slaves = ruling.state.is_pre() || (ruling.state.is_cons() && &ruling == &result);
    if (Layout(module, ruling).is_shared() || !on_slaves) continue;
    const LawUse* law = law_in_force(module, x);
    const bool pushdown = law != nullptr && law->kind == LawKind::pushdown;
    if (pushdown && !region) continue;
    for (size_t i = 0; i < x.operands.size(); ++i) {
      if (reads_whole(module, x, i)) continue;
      if (!pushdown || static_cast<int>(i) == law->operand) wanted.emplace(x.operands[i], ruling.state.slaves);
    }
  }
  std::int64_t bytes = 0;
  for (const auto& [value, set] : wanted) {
    const bool outside = std::find(op.operands.begin(), op.operands.end(), value) != op.operands.end();
    const Type& type = module.type(value);
    if (!outside || !is_distributed_array(module, value) || type.state.slaves == set) continue;
    bytes += room_bytes(module, Room{type.element, type.dims, {set}, 1}, here);
  }
  return bytes;
}

// Returns the space for values that operators read or make whole, in the order of the whole array.
std::int64_t whole_bytes(const Module& module, const Polynomial::Bindings& totals) {
  std::int64_t bytes = 0;
  for (const ValueId v : whole_values(module)) {
    const Type& type = module.type(v);
    bytes = checked_add(bytes, storage_bytes(type.element, whole_elements(module, type).value(totals)), memory);
  }
  return bytes;
}

std::int64_t exchange_bytes(const Module& module, const Sizes& sizes, int worker) {
  const SharedBatches batches(module);
  std::int64_t largest = 0, repacked = 0;
  int region = -1;  // the depth of the open region
  for_each_op(module, [&](const Op& op, int, int depth) {
    const Polynomial::Bindings& here = sizes.by_worker.at(static_cast<size_t>(worker));
    if (depth <= region) region = -1;
    if (region < 0) repacked += repack_bytes(module, op, here);
    if (op.code == OpCode::region) region = depth;
    if (row(op.code).group != OpGroup::transition) return;
    if (is_shared_transition(module, op)) {
      largest = std::max(largest, batch_packing_bytes(module, batches, op, sizes, worker));
      return;
    }
    const Type& held = held_type(module, op);
    const SpaceKey space{Layout(module, held).cut(), held.state.slaves};
    const bool one_plane = held.element.planes() == 1;
    if (op.code == OpCode::scatter && one_plane && mirrors_in_place(module, space)) return;
    const std::int64_t count = exchanged(sizes, module.dim(space.dim).name, space.set, worker, !one_plane);
    largest = std::max(largest, checked_mul(count, moved_bytes(module, op, here), memory));
  });
  return largest + repacked + whole_bytes(module, sizes.totals);
}

// Of an index, of a number, and of the value.
std::int64_t form_entry_bytes(const Module& module, const ProductForm& form) {
  return 4 + (form.numbered ? 4 : 0) + module.type(form.matrix).element.bytes();
}

// What a form has of a vector along the nonzeros: all of one over a local dimension.
std::int64_t lines_here(const Module& module, const ProductForm& form, ValueId value,
                        const Polynomial::Bindings& here) {
  const Type& type = module.type(value);
  if (Layout(module, type).is_distributed()) return met_lines(module, module.type(form.matrix), type).value(here);
  return whole_elements(module, {type.element, {type.dims.at(0)}}).value(here);
}

Symbol nonzeros_of(const Module& module, const ProductForm& form) {
  return {SymbolKind::entries, matrix_name(module, form.matrix), {}, -1};
}

// What operators on the nonzeros of several patterns hold, over all workers: of align the number of each nonzero, and
// the values of a matrix.
Polynomial join_bytes(const Module& module) {
  Polynomial bytes;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::align) return;
    const auto entries = [&](size_t i) {
      return Polynomial(Symbol{SymbolKind::entries, matrix_name(module, op.operands[i]), {}, -1});
    };
    bytes += entries(0) * Polynomial(4);
    if (op.operands.size() == 2) bytes += entries(1) * Polynomial(module.type(op.operands[1]).element.bytes());
  });
  return bytes;
}

std::int64_t input_bytes(const Module& module, const Polynomial::Bindings& here) {
  std::int64_t bytes = 0;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::input || module.type(op.results.at(0)).sparse) return;
    const Type& type = module.type(op.results.at(0));
    if (type.compressed) {
      bytes += here.at({SymbolKind::compressed, op.name, {}, -1});
      return;
    }
    const std::int64_t arrays = is_reordered(module, op.results.at(0)) ? 2 : 1;
    bytes += room_bytes(module, Room{type.element, type.dims, {}, arrays}, here);
  });
  return bytes;
}

// Of each batch, as far as they are known one by one.
std::vector<std::int64_t> nonzeros_of_each(const Module& module, const ProductForm& form, const Sizes& sizes,
                                           int worker) {
  const std::string& name = matrix_name(module, form.matrix);
  if (batches_dim(module, name) == no_dim) return {sizes.on_worker(worker, nonzeros_of(module, form))};
  const Polynomial::Bindings& here = sizes.by_worker.at(static_cast<size_t>(worker));
  const std::int64_t batches = batch_count(module, name).value(here);
  std::vector<std::int64_t> found;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const auto known = here.find({SymbolKind::batch, name, {}, static_cast<int>(batch)});
    found.push_back(known != here.end() ? known->second : here.at({SymbolKind::batch, name, {}, -1}));
  }
  return found;
}

// Mirrors the forms that libkernels/run/sorted_rows.h makes. Small arrays as elements are long work each and gain
// nothing.
std::int64_t sorted_bytes(const Module& module, const ProductForm& form, const Sizes& sizes) {
  std::int64_t bytes = 0;
  for (int worker = 0; worker < sizes.workers; ++worker) {
    const Polynomial::Bindings& here = sizes.by_worker.at(static_cast<size_t>(worker));
    const std::int64_t outputs = lines_here(module, form, form.result, here);
    const std::int64_t inputs = lines_here(module, form, form.operand, here);
    const ElementType& element = module.type(form.matrix).element;
    for (const std::int64_t entries : nonzeros_of_each(module, form, sizes, worker)) {
      if (!worth_sorting(entries, outputs)) continue;
      bytes += sorted_form_bytes(outputs, entries, operand_blocks(inputs, outputs, entries));
      if (element.bytes() > 0) bytes += storage_bytes(element, entries);
    }
  }
  return bytes;
}

bool has_small_arrays(const ElementType& element) {
  return std::any_of(element.components.begin(), element.components.end(),
                     [](const Component& c) { return c.count > 0; });
}

}  // namespace

std::vector<PartCount> predict_parts(const Module& module, const Sizes& sizes) {
  if (names_layouts(module)) return predict_box_parts(module, sizes);
  const std::vector<Room> all_rooms = rooms(module);
  const std::vector<ProductForm> forms = product_forms(module);
  std::vector<PartCount> parts;
  for (int worker = 0; worker < sizes.workers; ++worker) {
    const Polynomial::Bindings& here = sizes.by_worker.at(static_cast<size_t>(worker));
    PartCount part;
    part.worker = worker;
    for (const Room& room : all_rooms) {
      part.buffer_bytes = checked_add(part.buffer_bytes, room_bytes(module, room, here), memory);
    }
    part.exchange_bytes = exchange_bytes(module, sizes, worker);
    for (const ProductForm& form : forms) part.matrix_bytes += form_bytes(module, form, sizes, worker);
    part.matrix_bytes += join_bytes(module).value(here);
    part.input_bytes = input_bytes(module, here);
    if (!sizes.list_bytes.empty()) part.list_bytes = sizes.list_bytes.at(static_cast<size_t>(worker));
    parts.push_back(part);
  }
  return parts;
}

std::int64_t predict_kernel_bytes(const Module& module, const Sizes& sizes, const std::set<std::string>& on_disk) {
  std::set<ValueId> gone;
  for (const Op& op : module.body.ops)
    if (op.code == OpCode::input && on_disk.contains(op.name)) gone.insert(op.results[0]);
  const CostReport report = measure(module);
  std::set<ValueId> repeated;    // results of products in loops that keep a second form
  std::set<ValueId> with_folds;  // and in regions of rows: they read the matrix as it is
  for_each_op(module, [&](const Op& op, int number, int) {
    if (op.code == OpCode::region && (holds_fold(op) || is_rows(op))) {
      for (const Op& inner : entry_operators(op)) with_folds.insert(inner.results.at(0));
    }
    if (!is_sparse_product(module, op) || has_columns(module, op) || with_folds.contains(op.results[0])) return;
    if (report.rows[static_cast<size_t>(number)].loop < 0) return;
    const auto small_arrays = [&](ValueId v) { return has_small_arrays(module.type(v).element); };
    if (!small_arrays(op.operands.at(0)) && !small_arrays(op.operands.at(1)) && !small_arrays(op.results.at(0)))
      repeated.insert(op.results[0]);
  });
  std::int64_t bytes = 0;
  for (const ProductForm& form : product_forms(module)) {
    const bool sorted =
        std::any_of(form.products.begin(), form.products.end(), [&](ValueId v) { return repeated.contains(v); });
    if (sorted && !gone.contains(form.matrix)) bytes += sorted_bytes(module, form, sizes);
  }
  return bytes;
}

namespace {

Polynomial room_form(const Module& module, const Room& room) {
  Polynomial largest;  // of several sets, the one with more terms: they are alternatives of one dimension
  for (const SlaveSet& set : room.holds) {
    const Polynomial slaves = slave_indices(module, type_of(room, set));
    if (slaves.terms().size() >= largest.terms().size()) largest = slaves;
  }
  const Type type = type_of(room, {});
  const Polynomial indices = Layout(module, type).is_shared() ? Polynomial(Symbol{SymbolKind::workers, "", {}, -1})
                                                              : master_indices(module, type) + largest;
  return indices * inner_elements(module, type) * Polynomial(room.element.bytes() * room.arrays);
}

}  // namespace

std::int64_t value_bytes(const Module& module, ValueId value, const Sizes& sizes, int worker) {
  return room_bytes(module, own_room(module.type(value)), sizes.by_worker.at(static_cast<size_t>(worker)));
}

std::vector<Polynomial> value_forms(const Module& module, const std::vector<ValueId>& values) {
  const auto boxes = names_layouts(module) ? std::optional<BoxCosts>(module) : std::nullopt;
  std::vector<Polynomial> forms;
  for (const ValueId v : values) {
    const Type& type = module.type(v);
    const Polynomial bytes(type.element.bytes() * std::max<std::int64_t>(type.list, 1));
    forms.push_back(boxes ? boxes->stored(v) * bytes : room_form(module, own_room(type)));
  }
  return forms;
}

std::int64_t buffer_bytes(const Module& module, BufferId buffer, const Sizes& sizes, int worker) {
  const BufferDecl& b = module.buffers[buffer];
  return room_bytes(module, {b.element, b.dims, b.holds, 1}, sizes.by_worker.at(static_cast<size_t>(worker)));
}

std::int64_t form_bytes(const Module& module, const ProductForm& form, const Sizes& sizes, int worker) {
  const Polynomial::Bindings& here = sizes.by_worker.at(static_cast<size_t>(worker));
  const std::int64_t entries = sizes.on_worker(worker, nonzeros_of(module, form));
  const std::int64_t outputs = lines_here(module, form, form.result, here);
  const std::int64_t forms = batch_count(module, matrix_name(module, form.matrix)).value(here);
  return 8 * forms * (outputs + 1) + entries * form_entry_bytes(module, form);
}

Polynomial buffer_bytes(const Module& module, const BufferDecl& buffer) {
  if (names_layouts(module)) return BoxCosts(module).buffer_bytes(buffer);
  return room_form(module, {buffer.element, buffer.dims, buffer.holds, 1});
}

Footprint footprint(const Module& module) {
  if (names_layouts(module)) return BoxCosts(module).footprint();
  Footprint total;
  for (const Room& room : rooms(module)) total.buffers += room_form(module, room);
  for (const ProductForm& form : product_forms(module)) {
    const Polynomial entries(nonzeros_of(module, form));
    const Polynomial forms = batch_count(module, matrix_name(module, form.matrix));
    total.matrices += Polynomial(8) * forms * met_lines(module, module.type(form.matrix), module.type(form.result));
    total.matrices += Polynomial(8) * forms * Polynomial(Symbol{SymbolKind::workers, "", {}, -1});
    total.matrices += entries * Polynomial(form_entry_bytes(module, form));
  }
  total.matrices += join_bytes(module);
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::input || module.type(op.results.at(0)).sparse) return;
    const Type& type = module.type(op.results.at(0));
    if (type.compressed) {
      total.inputs += Polynomial(Symbol{SymbolKind::compressed, op.name, {}, -1});
      return;
    }
    const std::int64_t bytes = type.element.bytes() * (is_reordered(module, op.results.at(0)) ? 2 : 1);
    total.inputs += master_indices(module, type) * inner_elements(module, type) * Polynomial(bytes);
  });
  return total;
}

}  // namespace kasen
