#include "libcore/boxes/box_exchange.h"

#include "libcore/analysis/boxes.h"
#include "libcore/base/checked.h"
#include "libcore/boxes/moved_elements.h"
#include "libcore/data/data.h"
#include "libcore/ir/axis_ops.h"

namespace kasen {
namespace {

class ExchangeOfWorker {
 public:
  ExchangeOfWorker(const Module& module, const Op& op, int worker, std::span<const std::int64_t> picked)
      : m_(module),
        op_(op),
        to_(module.type(op.results.at(0))),
        worker_(worker),
        same_memory_(share_memory(module, op.operands.at(0), op.results[0]) || stands_in_input(module, op)),
        moved_(module, op, picked),
        operands_(moved_operands(module, op)) {}

  BoxExchange make() {
    const Elements takes = taken(worker_), target = memory_of(to_);
    std::vector<Elements> gives;
    std::vector<bool> has_all;
    for (std::size_t i = 0; i < operands_; ++i) {
      gives.push_back(given(i, worker_));
      has_all.push_back(keeps_all(i, worker_));
      keep_own(i, has_all[i] ? wanted(i, takes) : intersection(gives[i], takes), target);
    }
    for (int peer = 0; peer < mesh_workers(m_); ++peer) {
      if (peer == worker_) continue;
      const Elements others = taken(peer);
      for (std::size_t i = 0; i < operands_; ++i) {
        if (!keeps_all(i, peer)) send(i, peer, intersection(gives[i], others));
        if (!has_all[i]) receive(i, peer, intersection(given(i, peer), takes), target);
      }
    }
    return std::move(made_);
  }

 private:
  static bool share_memory(const Module& module, ValueId from, ValueId to) {
    return from == to ||
           (module.value(from).buffer != no_buffer && module.value(from).buffer == module.value(to).buffer);
  }
  [[nodiscard]] const Type& from(std::size_t operand) const { return m_.type(op_.operands[operand]); }
  [[nodiscard]] std::int64_t element_bytes() const { return to_.element.bytes(); }

  // In common indices.
  [[nodiscard]] Elements given(std::size_t operand, int worker) const {
    const bool gather = op_.code == OpCode::gather;
    return moved_.of_operand(
        operand, gather ? stored_elements(m_, from(operand), worker) : owned_elements(m_, from(operand), worker));
  }
  [[nodiscard]] Elements taken(int worker) const {
    const bool gather = op_.code == OpCode::gather;
    return moved_.of_result(gather ? owned_elements(m_, to_, worker) : stored_elements(m_, to_, worker));
  }
  // Of these elements of the result, those that the operand has.
  [[nodiscard]] Elements wanted(std::size_t operand, const Elements& elements) const {
    Elements all;
    for (const DimId dim : from(operand).dims) all.axes.push_back({{0, m_.dim(dim).size}});
    return intersection(moved_.of_operand(operand, std::move(all)), elements);
  }

  // In the array's own indices.
  [[nodiscard]] Elements memory_of(const Type& type) const { return elements_of(m_, stored_box(m_, type), worker_); }

  // True if a worker has all that it needs of a consistent array that changes its owners.
  [[nodiscard]] bool keeps_all(std::size_t operand, int worker) const {
    if (op_.code != OpCode::relayout) return false;
    const Elements needs = wanted(operand, taken(worker));
    const Elements has = moved_.of_operand(operand, stored_elements(m_, from(operand), worker));
    return intersection(needs, has).count() == needs.count();
  }

  void keep_own(std::size_t operand, const Elements& own, const Elements& target) {
    const std::int64_t count = own.count();
    made_.own = checked_add(made_.own, count, "a worker's elements");
    const bool stays = same_memory_ && stored_box(m_, from(operand)) == stored_box(m_, to_);
    if (stays || count == 0) return;
    made_.own_moves.push_back({operand, moved_.places_in_operand(operand, own, memory_of(from(operand))),
                               moved_.places_in_result(own, target)});
    made_.own_packed = same_memory_ && op_.code == OpCode::scatter;
    if (made_.own_packed) reserve(checked_mul(count, element_bytes(), "a message"));
  }

  void send(std::size_t operand, int peer, const Elements& some) {
    const bool scatter = op_.code == OpCode::scatter;
    const auto places = [&] {
      const Elements memory = memory_of(scatter ? to_ : from(operand));
      return scatter ? moved_.places_in_result(some, memory) : moved_.places_in_operand(operand, some, memory);
    };
    add(made_.sends, {peer, operand, {}}, some.count(), places, false);
  }

  void receive(std::size_t operand, int peer, const Elements& some, const Elements& target) {
    const auto places = [&] { return moved_.places_in_result(some, target); };
    add(made_.receives, {peer, operand, {}}, some.count(), places, op_.code == OpCode::gather);
  }

  template <class Places>
  void add(std::vector<BoxPiece>& pieces, BoxPiece piece, std::int64_t count, const Places& places, bool combined) {
    piece.bytes = checked_mul(count, element_bytes(), "a message");
    if (piece.bytes == 0) return;
    piece.places = places();
    piece.in_place = to_.element.planes() == 1 && piece.places.is_run() && !combined;
    if (!piece.in_place) piece.at = reserve(piece.bytes);
    pieces.push_back(std::move(piece));
  }

  std::int64_t reserve(std::int64_t bytes) {
    const std::int64_t at = made_.packing;
    made_.packing = checked_add(at, bytes, "a message");
    return at;
  }

  const Module& m_;
  const Op& op_;
  const Type& to_;
  const int worker_;
  const bool same_memory_;
  const MovedElements moved_;
  const std::size_t operands_;  // whose elements move
  BoxExchange made_;
};

// Places along some axes of the mesh, the last of which runs fastest.
std::int64_t place_among(const Module& module, MeshAxes axes, int worker) {
  std::int64_t place = 0;
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if ((axes >> axis & 1) != 0) place = place * module.mesh[axis].size + mesh_place(module, worker, axis);
  }
  return place;
}

// The worker at another place along these axes, and at the same one along all others.
int worker_at(const Module& module, MeshAxes axes, int worker, std::int64_t place) {
  std::int64_t stride = 1, at = worker;
  for (std::size_t axis = module.mesh.size(); axis-- > 0;) {
    const std::int64_t size = module.mesh[axis].size;
    if ((axes >> axis & 1) != 0) {
      at += (place % size - mesh_place(module, worker, axis)) * stride;
      place /= size;
    }
    stride *= size;
  }
  return static_cast<int>(at);
}

}  // namespace

CarryExchange carry_exchange(const Module& module, const Op& scan, int worker) {
  const MeshAxes axes = carried_axes(module, scan);
  const Type& made = module.type(scan.results.at(0));
  CarryExchange carry;
  carry.place = place_among(module, axes, worker);
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if ((axes >> axis & 1) != 0) carry.places *= module.mesh[axis].size;
  }
  if (carry.place > 0) carry.before = worker_at(module, axes, worker, carry.place - 1);
  if (carry.place + 1 < carry.places) carry.behind = worker_at(module, axes, worker, carry.place + 1);
  const Elements here = stored_elements(module, made, worker);
  const std::size_t along = worked_place(module, scan);
  for (std::size_t axis = 0; axis < here.axes.size(); ++axis) {
    std::int64_t& size = axis < along ? carry.lines.outer : axis == along ? carry.lines.length : carry.lines.inner;
    size = checked_mul(size, count_of(here.axes[axis]), "an array's local size");
  }
  if (here.none) carry.lines = {0, 0, 0};
  const std::int64_t lines = carry.lines.lines(), area = storage_bytes(made.element, lines);
  carry.bytes = checked_mul(lines, made.element.bytes(), "a message");
  carry.own = carry.place == 0 ? here.count() : 0;
  carry.sent_at = area;
  carry.message_at = checked_mul(2, area, "a message");
  carry.packing =
      made.element.planes() == 1 ? carry.message_at : checked_add(carry.message_at, carry.bytes, "a message");
  return carry;
}

BoxExchange box_exchange(const Module& module, const Op& op, int worker, std::span<const std::int64_t> picked) {
  return ExchangeOfWorker(module, op, worker, picked).make();
}

std::int64_t pick_packing(const Module& module, const Op& op, int worker) {
  const Type &from = module.type(op.operands.at(0)), &to = module.type(op.results.at(0));
  const std::int64_t elements = checked_add(owned_elements(module, from, worker).count(),
                                            stored_elements(module, to, worker).count(), "a message");
  return checked_mul(elements, to.element.bytes(), "a message");
}

}  // namespace kasen
