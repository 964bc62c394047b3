// gather, scatter and relayout of arrays whose layout the plan names (libcore/boxes/box_exchange.h).
#include <algorithm>

#include "libcore/axis/axis.h"
#include "libcore/base/error.h"
#include "libcore/boxes/box_exchange.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/run/executor_boxes.h"

namespace kasen::executor {
namespace {

class BoxTransition : public TransitionStep {
 public:
  BoxTransition(Execution& run, const Op& decoded, const Op& planned, int at)
      : TransitionStep(decoded, at),
        gather_(op.code == OpCode::gather),
        to_(op.results.at(0)),
        element_(run.module.type(to_).element),
        planned_(planned),
        picks_(picks_on_the_way(run.plan, planned)) {
    for (const Part& part : run.parts) {
      if (picks_) packing_.push_back(pick_packing(run.plan, planned, part.worker));
      if (!picks_) exchanges_.push_back(box_exchange(run.plan, planned, part.worker));
    }
  }

  [[nodiscard]] std::int64_t packing_bytes(int part) const override {
    const auto p = static_cast<size_t>(part);
    return picks_ ? packing_[p] : exchanges_[p].packing;
  }

  // A gather's own elements may be written over what it sends, and a scatter sends them from its result. Between
  // workers of this process elements are copied directly from array to array, but for contributions, which are
  // combined.
  void start(Execution& run) override {
    if (picks_) find_picked(run);
    before_ = run.traffic();
    if (!gather_) move_own(run);
    run.began(RunPhase::start, number);
    sends_.clear();
    receives_.clear();
    for_each_piece([&](int part, const BoxPiece& piece) { send(run, part, piece); }, &BoxExchange::sends);
    for_each_piece([&](int part, const BoxPiece& piece) { receive(run, part, piece); }, &BoxExchange::receives);
    ticket_ = run.start(*this, sends_, receives_);
    copy_here(run);  // while the messages are under way
    run.ended(RunPhase::start, number);
  }

  void wait(Execution& run) override {
    run.began(RunPhase::finish, number);
    run.transport.finish(ticket_);
    if (gather_) move_own(run);
    for_each_piece([&](int part, const BoxPiece& piece) { take(run, part, piece); }, &BoxExchange::receives);
    if (picks_) count_moved(run);
    run.ended(RunPhase::finish, number);
  }

 private:
  template <class Visit>
  void for_each_piece(const Visit& visit, std::vector<BoxPiece> BoxExchange::*pieces) const {
    for (size_t p = 0; p < exchanges_.size(); ++p) {
      for (const BoxPiece& piece : exchanges_[p].*pieces) visit(static_cast<int>(p), piece);
    }
  }

  // Every worker has all of the mask.
  void find_picked(Execution& run) {
    const std::int64_t length = run.plan.dim(planned_.over.at(0)).size;
    const auto* const mask = reinterpret_cast<const std::uint8_t*>(run.storage.view(op.operands.at(1), 0).data);
    picked_.clear();
    for (std::int64_t k = 0; k < length; ++k) {
      if (mask[k] != 0) picked_.push_back(k);
    }
    require_picked(planned_, run.plan.dim(planned_.dim), static_cast<std::int64_t>(picked_.size()));
    exchanges_.clear();
    for (const Part& part : run.parts) exchanges_.push_back(box_exchange(run.plan, planned_, part.worker, picked_));
  }

  void count_moved(Execution& run) const {
    OpCount& count = run.count(number);
    for_each_piece([&](int, const BoxPiece& piece) { count.moved_elements += piece.places.size(); },
                   &BoxExchange::sends);
    const Traffic moved = run.traffic() - before_;
    count.moved_rank_bytes += moved.rank_bytes;
    count.moved_rank_messages += moved.rank_messages;
    count.moved_node_bytes += moved.node_bytes;
  }

  // Where a piece is sent from.
  [[nodiscard]] View source_of(const Execution& run, int part, const BoxPiece& piece) const {
    return run.storage.view(op.code == OpCode::scatter ? to_ : op.operands.at(piece.operand), part);
  }

  [[nodiscard]] std::byte* place_of(Execution& run, int part, const BoxPiece& piece, const View& array) const {
    return piece.in_place ? array.data + piece.places.first() * element_.bytes() : run.packing(part) + piece.at;
  }

  // The part in this process to which or from which the piece is copied directly; -1: it is a message.
  [[nodiscard]] int direct_peer(const Execution& run, const BoxPiece& piece) const {
    const int peer = piece.peer - run.transport.first_worker();
    return !gather_ && run.transport.shares_memory() && peer >= 0 && peer < run.part_count() ? peer : -1;
  }

  void copy_here(Execution& run) {
    copies_.clear();
    for_each_piece(
        [&](int part, const BoxPiece& piece) {
          const int peer = direct_peer(run, piece);
          if (peer < 0) return;
          const std::vector<BoxPiece>& sent = exchanges_[static_cast<size_t>(peer)].sends;
          const int worker = run.parts[static_cast<size_t>(part)].worker;
          const auto same = std::find_if(sent.begin(), sent.end(), [&](const BoxPiece& other) {
            return other.peer == worker && other.operand == piece.operand;
          });
          if (same == sent.end()) throw InternalError("a piece that nobody sends");
          copies_.push_back({source_of(run, peer, piece), &same->places, run.storage.view(to_, part), &piece.places});
        },
        &BoxExchange::receives);
    if (!copies_.empty()) run.kernels.copy_places(element_, copies_);
  }

  void send(Execution& run, int part, const BoxPiece& piece) {
    if (direct_peer(run, piece) >= 0) {
      run.charge(number, piece.bytes);
      return run.moved_here(run.parts[static_cast<size_t>(part)].worker, piece.peer, piece.bytes);
    }
    const View array = source_of(run, part, piece);
    std::byte* data = place_of(run, part, piece, array);
    if (!piece.in_place) {
      const Mirrored list{array, ElementList::at(piece.places), {data, 0}, 0, true};
      run.kernels.copy_masters(element_, {&list, 1});
    }
    sends_.push_back({run.parts[static_cast<size_t>(part)].worker, piece.peer, data, piece.bytes});
    run.charge(number, piece.bytes);
  }

  void receive(Execution& run, int part, const BoxPiece& piece) {
    if (direct_peer(run, piece) >= 0) return;
    std::byte* data = place_of(run, part, piece, run.storage.view(to_, part));
    receives_.push_back({piece.peer, run.parts[static_cast<size_t>(part)].worker, data, piece.bytes});
  }

  // Contributions are combined in ascending order of the workers that hold them, behind the owner's.
  void take(Execution& run, int part, const BoxPiece& piece) const {
    if (piece.in_place || direct_peer(run, piece) >= 0) return;
    const View& array = run.storage.view(to_, part);
    std::byte* data = run.packing(part) + piece.at;
    if (!gather_) return unpack_places(element_, data, array, piece.places);
    const Mirrored list{array, ElementList::at(piece.places), {data, 0}, 0, true};
    run.kernels.combine(run.module.type(op.operands[0]).state.reducer, {&list, 1});
  }

  void move_own(Execution& run) const {
    for (int p = 0; p < run.part_count(); ++p) {
      const BoxExchange& exchange = exchanges_[static_cast<size_t>(p)];
      const View& to = run.storage.view(to_, p);
      for (const OwnElements& own : exchange.own_moves) {
        const View& from = run.storage.view(op.operands.at(own.operand), p);
        if (exchange.own_packed) {
          pack_places(element_, from, own.sources, run.packing(p));
          unpack_places(element_, run.packing(p), to, own.targets);
        } else {
          copy_places(run, element_, from, own.sources, to, own.targets);
        }
        run.charge_moved(to_, number, own.sources.size(), own.sources.size());
      }
    }
  }

  bool gather_;
  ValueId to_;
  ElementType element_;
  const Op& planned_;
  bool picks_;
  std::vector<BoxExchange> exchanges_;  // by part; of a pick, those of this execution
  std::vector<std::int64_t> packing_;   // of a pick, by part
  std::vector<std::int64_t> picked_;    // of a pick: where its mask is true
  Traffic before_;                      // what had moved before the exchange
  int ticket_ = -1;                     // of the exchange that has begun
  std::vector<Message> sends_, receives_;
  std::vector<PlaceCopy> copies_;
};

}  // namespace

std::unique_ptr<Step> make_box_transition(Execution& run, const Op& op, const Op& planned, int number) {
  require_gathered_is_pre(run, op);
  return std::make_unique<BoxTransition>(run, op, planned, number);
}

}  // namespace kasen::executor
