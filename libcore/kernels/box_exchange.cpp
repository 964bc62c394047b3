#include "libcore/kernels/box_exchange.h"

#include "libcore/analysis/boxes.h"
#include "libcore/base/checked.h"

namespace kasen {
namespace {

class ExchangeOfWorker {
 public:
  ExchangeOfWorker(const Module& module, const Op& op, int worker)
      : m_(module),
        code_(op.code),
        from_(module.type(op.operands.at(0))),
        to_(module.type(op.results.at(0))),
        worker_(worker),
        same_memory_(share_memory(module, op.operands[0], op.results[0]) || stands_in_input(module, op)) {}

  BoxExchange make() {
    const Elements gives = given(worker_), takes = taken(worker_);
    const Elements source = memory_of(code_ == OpCode::scatter ? to_ : from_), target = memory_of(to_);
    const bool has_all = keeps_all(worker_);
    keep_own(has_all ? takes : intersection(gives, takes), target);
    for (int peer = 0; peer < mesh_workers(m_); ++peer) {
      if (peer == worker_) continue;
      if (!keeps_all(peer)) add(made_.sends, peer, intersection(gives, taken(peer)), source, false);
      if (!has_all) add(made_.receives, peer, intersection(given(peer), takes), target, code_ == OpCode::gather);
    }
    return std::move(made_);
  }

 private:
  static bool share_memory(const Module& module, ValueId from, ValueId to) {
    return from == to ||
           (module.value(from).buffer != no_buffer && module.value(from).buffer == module.value(to).buffer);
  }
  [[nodiscard]] Elements given(int worker) const {
    return code_ == OpCode::gather ? stored_elements(m_, from_, worker) : owned_elements(m_, from_, worker);
  }
  [[nodiscard]] Elements taken(int worker) const {
    return code_ == OpCode::gather ? owned_elements(m_, to_, worker) : stored_elements(m_, to_, worker);
  }
  [[nodiscard]] Elements memory_of(const Type& type) const { return elements_of(m_, stored_box(m_, type), worker_); }

  // True if a worker has all that it needs of a consistent array that changes its owners.
  [[nodiscard]] bool keeps_all(int worker) const {
    if (code_ != OpCode::relayout) return false;
    const Elements wanted = taken(worker);
    return intersection(wanted, stored_elements(m_, from_, worker)).count() == wanted.count();
  }

  void keep_own(const Elements& own, const Elements& target) {
    made_.own = own.count();
    const bool stays = same_memory_ && stored_box(m_, from_) == stored_box(m_, to_);
    made_.own_stays = stays || made_.own == 0;
    if (made_.own_stays) return;
    made_.own_sources = places_in(own, memory_of(from_));
    made_.own_targets = places_in(own, target);
    made_.own_packed = same_memory_ && code_ == OpCode::scatter;
    if (made_.own_packed) reserve(made_.own * from_.element.bytes());
  }

  void add(std::vector<BoxPiece>& pieces, int peer, const Elements& elements, const Elements& memory, bool combined) {
    const std::int64_t bytes = checked_mul(elements.count(), from_.element.bytes(), "a message");
    if (bytes == 0) return;
    BoxPiece piece{peer, places_in(elements, memory), bytes};
    piece.in_place = from_.element.planes() == 1 && piece.places.is_run() && !combined;
    if (!piece.in_place) piece.at = reserve(bytes);
    pieces.push_back(std::move(piece));
  }

  std::int64_t reserve(std::int64_t bytes) {
    const std::int64_t at = made_.packing;
    made_.packing = checked_add(at, bytes, "a message");
    return at;
  }

  const Module& m_;
  const OpCode code_;
  const Type &from_, &to_;
  const int worker_;
  const bool same_memory_;
  BoxExchange made_;
};

}  // namespace

BoxExchange box_exchange(const Module& module, const Op& op, int worker) {
  return ExchangeOfWorker(module, op, worker).make();
}

}  // namespace kasen
