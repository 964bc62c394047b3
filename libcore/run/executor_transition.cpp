// gather and scatter of arrays. Only these steps, and those of shareds and of sorts across workers, use the network.
#include <fmt/format.h>

#include <optional>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/run/executor_steps.h"
#include "libcore/verify/rules.h"

namespace kasen::executor {
namespace {

// One worker's view of an exchange of an array with another worker. It is the side with the owned elements, or the side
// with the ghosts. Positions and counts are in elements, not indices.
struct Pair {
  int part = 0;         // of this process
  int peer = 0;         // the other worker
  int peer_part = -1;   // its part in this process, if it is here
  ElementList mirrors;  // the owned elements, in their worker's numbering
  std::int64_t at = 0;  // of the first mirror among those that are packed; of the first ghost in the array
  std::int64_t count = 0;
  std::int64_t peer_at = 0;  // for a peer that is here: the position of its first ghost of ours, in its array
};

// Exchanges the ghosts of an array with the owned elements that peers mirror. Between two workers of this process
// elements are copied directly. Every other pair with elements has one message. An array of one plane needs no packing
// on the ghosts' side: the ghosts of one peer are contiguous, and are sent or received in place. Mirrors that are one
// run are sent in place, too; contributions to them are received apart and combined.
class ArrayTransition : public TransitionStep {
 public:
  ArrayTransition(Execution& run, const Op& decoded, int at)
      : TransitionStep(decoded, at),
        gather_(op.code == OpCode::gather),
        from_(op.operands.at(0)),
        to_(op.results.at(0)) {
    const ValueId held = gather_ ? from_ : to_;  // the side that has ghosts
    const ValueInfo& info = run.storage.info(held);
    element_ = run.module.type(held).element;
    inner_ = info.inner;
    const SpaceKey& key = run.numbering.keys()[static_cast<size_t>(info.space)];
    mirrors_in_place_ = !gather_ && in_place() && mirrors_in_place(run.plan, key);
    for (int p = 0; p < run.part_count(); ++p) {
      const LocalSpace& space = run.numbering.space(info.space, p);
      slave_count_.push_back(checked_mul(space.total - space.masters, inner_, "an array's size"));
      add_pairs(run, info.space, p);
    }
  }

  [[nodiscard]] std::int64_t packing_bytes(int part) const override {
    const auto p = static_cast<size_t>(part);
    return (packed_count_[p] + (in_place() ? 0 : slave_count_[p])) * element_.bytes();
  }

  // A gather's owned elements may still be missing when its ghosts leave.
  void start(Execution& run) override {
    if (!gather_) take_masters(run);
    run.began(RunPhase::start, number);
    sends_.clear();
    receives_.clear();
    if (!gather_) copy_masters(run, false);
    for (const Pair& pair : to_peers_) {
      const Message message = at_masters(run, pair);
      (gather_ ? receives_ : sends_).push_back(message);
    }
    for (const Pair& pair : from_peers_) {
      const Message message = at_slaves(run, pair);
      if (gather_ && !in_place()) {
        to_message(element_, run.storage.view(from_, pair.part), pair.at, pair.count, message.data);
      }
      (gather_ ? sends_ : receives_).push_back(message);
    }
    for (const Message& message : sends_) run.charge(number, message.bytes);
    ticket_ = run.start(*this, sends_, receives_);
    count_moved_here(run);
    if (!gather_) copy_masters(run, true);  // while the messages are under way
    run.ended(RunPhase::start, number);
  }

  void wait(Execution& run) override {
    if (gather_) take_masters(run);
    run.began(RunPhase::finish, number);
    run.transport.finish(*ticket_);
    ticket_.reset();
    if (gather_) {
      combine(run);
    } else if (!in_place()) {
      for (const Pair& pair : from_peers_) {
        from_message(element_, at_slaves(run, pair).data, pair.count, run.storage.view(to_, pair.part), pair.at);
      }
    }
    run.ended(RunPhase::finish, number);
  }

 private:
  [[nodiscard]] bool in_place() const { return element_.planes() == 1; }

  // Adds pairs by part, then in ascending order of the peers.
  void add_pairs(const Execution& run, int space, int p) {
    const LocalSpace& lists = run.numbering.space(space, p);
    const int first = run.transport.first_worker();
    const auto here = [&](int worker) {
      return run.transport.shares_memory() && worker >= first && worker < first + run.part_count();
    };
    std::int64_t packed = 0;
    for (const PeerRange& r : lists.mirror_holders) {
      const std::int64_t count = checked_mul(r.end - r.begin, inner_, "a message");
      if (count == 0 || element_.bytes() == 0) continue;
      Pair pair{p, r.peer, -1, mirrors_of(lists, r), packed, count};
      if (!mirrors_in_place_) packed = checked_add(packed, count, "a message");
      if (here(r.peer)) {
        pair.peer_part = r.peer - first;
        pair.peer_at = slaves_of(run.numbering.space(space, pair.peer_part), first + p, count);
      } else {
        to_peers_.push_back(pair);
      }
      at_masters_.push_back(pair);
    }
    for (const PeerRange& r : lists.slave_owners) {
      if (r.begin == r.end || inner_ * element_.bytes() == 0 || here(r.peer)) continue;
      const std::int64_t at = (run.numbering.space(space, p).masters + r.begin) * inner_;
      from_peers_.push_back({p, r.peer, -1, {}, at, (r.end - r.begin) * inner_});
    }
    packed_count_.push_back(packed);
  }

  [[nodiscard]] ElementList mirrors_of(const LocalSpace& space, const PeerRange& r) const {
    if (space.mirrors.empty()) return ElementList::run(r.begin * inner_, (r.end - r.begin) * inner_);
    const auto begin = static_cast<size_t>(r.begin), count = static_cast<size_t>(r.end - r.begin);
    return ElementList::of(space.mirrors.subspan(begin, count), inner_);
  }

  // The begin of the ghosts of `owner` in a worker's array.
  [[nodiscard]] std::int64_t slaves_of(const LocalSpace& space, int owner, std::int64_t count) const {
    for (const PeerRange& r : space.slave_owners) {
      if (r.peer == owner && (r.end - r.begin) * inner_ == count) return (space.masters + r.begin) * inner_;
    }
    throw InternalError(fmt::format("a worker does not hold what worker {} mirrors there", owner));
  }

  // A result in another buffer starts from the operand's owned elements.
  void take_masters(Execution& run) const {
    if (run.storage.info(from_).slot == run.storage.info(to_).slot) return;
    for (int p = 0; p < run.part_count(); ++p) {
      const std::int64_t count = run.storage.masters(from_, p) * inner_;
      copy_elements(element_, run.storage.view(from_, p), run.storage.view(to_, p), 0, count);
      run.count(number).read_bytes += count * element_.bytes();
      run.count(number).written_bytes += count * element_.bytes();
    }
  }

  // The message of a pair on the owned side: the owned elements themselves, or packed, before it is sent or after it
  // has been received.
  [[nodiscard]] Message at_masters(Execution& run, const Pair& pair) const {
    if (mirrors_in_place_) {
      const View& array = run.storage.view(to_, pair.part);
      return message(run, pair, true, array.data + pair.mirrors.first * element_.bytes());
    }
    std::byte* data = run.packing(pair.part) + pair.at * element_.bytes();
    return message(run, pair, !gather_, data);
  }

  // The message on the ghosts' side: the ghosts themselves, or packed behind the owned side's messages.
  [[nodiscard]] Message at_slaves(Execution& run, const Pair& pair) const {
    const auto p = static_cast<size_t>(pair.part);
    const View& array = run.storage.view(gather_ ? from_ : to_, pair.part);
    if (in_place()) return message(run, pair, gather_, array.data + pair.at * element_.bytes());
    const std::int64_t masters = pair.at - first_slave(run, pair.part);
    return message(run, pair, gather_, run.packing(pair.part) + (packed_count_[p] + masters) * element_.bytes());
  }

  [[nodiscard]] std::int64_t first_slave(const Execution& run, int part) const {
    return run.storage.masters(gather_ ? from_ : to_, part) * inner_;
  }

  [[nodiscard]] Message message(const Execution& run, const Pair& pair, bool out, std::byte* data) const {
    const int self = run.parts[static_cast<size_t>(pair.part)].worker;
    return {out ? self : pair.peer, out ? pair.peer : self, data, pair.count * element_.bytes()};
  }

  // The lists of a pair: the other side is the peer's array if it is here, else its message.
  [[nodiscard]] Mirrored lists(Execution& run, const Pair& pair, ValueId masters, ValueId slaves) const {
    if (pair.peer_part >= 0) {
      return {run.storage.view(masters, pair.part), pair.mirrors, run.storage.view(slaves, pair.peer_part),
              pair.peer_at, false};
    }
    return {run.storage.view(masters, pair.part), pair.mirrors, {at_masters(run, pair).data, 0}, 0, true};
  }

  // Copies owned elements to the workers with ghosts: in this process, or in others.
  void copy_masters(Execution& run, bool here) {
    if (!here && mirrors_in_place_) return;
    lists_.clear();
    for (const Pair& pair : at_masters_) {
      if ((pair.peer_part >= 0) == here) lists_.push_back(lists(run, pair, to_, to_));
    }
    if (!lists_.empty()) run.kernels.copy_masters(element_, lists_);
  }

  // Contributions are combined in ascending order of the peers that hold them.
  void combine(Execution& run) {
    lists_.clear();
    for (const Pair& pair : at_masters_) lists_.push_back(lists(run, pair, to_, from_));
    if (!lists_.empty()) run.kernels.combine(run.module.type(from_).state.reducer, lists_);
  }

  void count_moved_here(Execution& run) const {
    for (const Pair& pair : at_masters_) {
      if (pair.peer_part < 0) continue;
      run.charge(number, pair.count * element_.bytes());
      const int own = run.parts[static_cast<size_t>(pair.part)].worker;
      const int peer = run.parts[static_cast<size_t>(pair.peer_part)].worker;
      run.moved_here(gather_ ? peer : own, gather_ ? own : peer, pair.count * element_.bytes());
    }
  }

  bool gather_;
  ValueId from_, to_;
  ElementType element_;
  std::int64_t inner_ = 1;
  std::optional<int> ticket_;                             // of the exchange that has begun
  bool mirrors_in_place_ = false;                         // sent from where they lie
  std::vector<std::int64_t> packed_count_, slave_count_;  // [part] elements
  std::vector<Pair> at_masters_;                          // of all peers
  std::vector<Pair> to_peers_, from_peers_;  // of peers in other processes: with ghosts, with owned elements
  std::vector<Mirrored> lists_;
  std::vector<Message> sends_, receives_;
};

}  // namespace

// The purpose of an exchange: the operator, its types with state and reducer, the user's line, and the iterations of
// the loops around.
std::string Execution::purpose_of(const Step& step) const {
  const Op& op = step.op;
  const auto types = [&](const std::vector<ValueId>& values) {
    std::string text;
    for (const ValueId v : values) text += (text.empty() ? "" : ", ") + print_type(module, module.type(v));
    return text;
  };
  const std::string& file = op.where.file.empty() ? module.source_name : op.where.file;
  return fmt::format("{} : {} of {}, {}:{}, iterations {}", op_text(module, op), types(op.results), types(op.operands),
                     file, op.where.line, fmt::join(place.iterations, "."));
}

void require_gathered_is_pre(const Execution& run, const Op& op) {
  if (op.code != OpCode::gather || run.module.type(op.operands.at(0)).state.is_pre()) return;
  fail(ExitStatus::bad_input, "only a pre-reduced value is gathered", "", "", op.where);
}

std::unique_ptr<Step> make_transition_step(Execution& run, const Op& op, int number) {
  require_gathered_is_pre(run, op);
  return std::make_unique<ArrayTransition>(run, op, number);
}

}  // namespace kasen::executor
