// gather and scatter: the only steps that use the network.
#include <fmt/format.h>

#include <limits>
#include <optional>

#include "libcore/checked.h"
#include "libcore/error.h"
#include "libcore/executor_steps.h"

namespace kasen::executor {
namespace {

// Local indices of the elements of a list of indices, each with its `inner` elements.
std::vector<std::int32_t> elements_of(std::span<const std::int32_t> indices, std::int64_t inner) {
  std::vector<std::int32_t> list;
  list.reserve(indices.size() * static_cast<size_t>(inner));
  for (const std::int32_t i : indices) {
    for (std::int64_t k = 0; k < inner; ++k) list.push_back(static_cast<std::int32_t>(i * inner + k));
  }
  return list;
}

// Of an array: slaves and masters that peers mirror, one message for each pair that has any.
class ArrayTransition : public Step {
 public:
  ArrayTransition(Execution& run, const Op& decoded, int at)
      : Step(decoded, at), gather_(op.code == OpCode::gather), from_(op.operands.at(0)), to_(op.results.at(0)) {
    const ValueId held = gather_ ? from_ : to_;  // the side that has slaves
    const ValueInfo& info = run.storage.info(held);
    element_ = run.module.type(held).element;
    inner_ = info.inner;
    for (int p = 0; p < run.part_count(); ++p) {
      const LocalSpace& space = run.numbering.space(info.space, p);
      if (checked_mul(space.total, std::max<std::int64_t>(inner_, 1)) > std::numeric_limits<std::int32_t>::max()) {
        fail(ExitStatus::limit,
             fmt::format("%{} has more than 2^31 - 1 elements on one worker", run.module.value(held).name), "",
             "use more workers", op.where);
      }
      spaces_.push_back(&space);
      std::vector<std::int32_t> slaves;
      for (std::int64_t i = space.masters; i < space.total; ++i) slaves.push_back(static_cast<std::int32_t>(i));
      slaves_.push_back(elements_of(slaves, inner_));
      mirrors_.push_back(elements_of(space.exchange.mirrors, inner_));
    }
  }

  [[nodiscard]] std::int64_t packing_bytes(int part) const override {
    const auto p = static_cast<size_t>(part);
    return static_cast<std::int64_t>(slaves_[p].size() + mirrors_[p].size()) * element_.bytes();
  }

  void begin(Execution& run) override {
    run.began(RunPhase::start, number);
    std::vector<Message> sends, receives;
    for (int p = 0; p < run.part_count(); ++p) {
      const AxisSlaves& lists = spaces_[static_cast<size_t>(p)]->exchange;
      std::byte* area = run.packing(p);
      const std::int64_t middle = static_cast<std::int64_t>(slaves_[static_cast<size_t>(p)].size()) * element_.bytes();
      add_messages(run, p, lists.slave_owners, area, gather_, gather_ ? sends : receives);
      add_messages(run, p, lists.mirror_holders, area + middle, !gather_, gather_ ? receives : sends);
      pack(run, p);
    }
    for (const Message& message : sends) run.charge(number, message.bytes);
    ticket_ = run.start(sends, receives);
    run.ended(RunPhase::start, number);
  }

  void run(Execution& run) override {
    if (!gather_) take_masters(run);  // a gather's masters may still be missing when it begins
    if (!ticket_) begin(run);
    if (gather_) take_masters(run);
    if (!late) finish(run);
  }

  void finish(Execution& run) override {
    run.began(RunPhase::finish, number);
    run.transport.finish(*ticket_);
    ticket_.reset();
    for (int p = 0; p < run.part_count(); ++p) unpack(run, p);
    run.ended(RunPhase::finish, number);
  }

 private:
  // A result in another buffer starts from the operand's masters.
  void take_masters(Execution& run) const {
    if (run.storage.info(from_).slot == run.storage.info(to_).slot) return;
    for (int p = 0; p < run.part_count(); ++p) {
      const std::int64_t count = run.storage.masters(from_, p) * inner_;
      copy_elements(element_, run.storage.view(from_, p), run.storage.view(to_, p), 0, count);
      run.count(number).read_bytes += count * element_.bytes();
      run.count(number).written_bytes += count * element_.bytes();
    }
  }

  void add_messages(const Execution& run, int p, const std::vector<PeerRange>& ranges, std::byte* area, bool out,
                    std::vector<Message>& list) const {
    const int self = run.parts[static_cast<size_t>(p)].worker;
    const std::int64_t size = inner_ * element_.bytes();
    for (const PeerRange& r : ranges) {
      if (r.begin == r.end || size == 0) continue;
      const Message message{out ? self : r.peer, out ? r.peer : self, area + r.begin * size, (r.end - r.begin) * size};
      list.push_back(message);
    }
  }

  // Calls `visit(indices, packed)` for each peer's share of the slaves or mirrors.
  template <class Visit>
  void each_peer(const std::vector<PeerRange>& ranges, const std::vector<std::int32_t>& elements, std::byte* area,
                 Visit visit) const {
    for (const PeerRange& r : ranges) {
      const auto begin = static_cast<size_t>(r.begin * inner_), end = static_cast<size_t>(r.end * inner_);
      if (begin == end) continue;
      visit(std::span(elements).subspan(begin, end - begin),
            area + static_cast<std::int64_t>(begin) * element_.bytes());
    }
  }

  void pack(Execution& run, int part) const {
    const auto p = static_cast<size_t>(part);
    const AxisSlaves& lists = spaces_[p]->exchange;
    std::byte* area = run.packing(part);
    const View& source = run.storage.view(gather_ ? from_ : to_, part);
    const auto visit = [&](std::span<const std::int32_t> indices, std::byte* packed) {
      run.kernels.pack(element_, source, indices, packed);
    };
    if (gather_) {
      each_peer(lists.slave_owners, slaves_[p], area, visit);
    } else {
      const auto middle = static_cast<std::int64_t>(slaves_[p].size()) * element_.bytes();
      each_peer(lists.mirror_holders, mirrors_[p], area + middle, visit);
    }
  }

  // Contributions are combined in ascending order of the peers that hold them.
  void unpack(Execution& run, int part) const {
    const auto p = static_cast<size_t>(part);
    const AxisSlaves& lists = spaces_[p]->exchange;
    std::byte* area = run.packing(part);
    const View& target = run.storage.view(to_, part);
    if (gather_) {
      const FnId reducer = run.module.type(from_).state.reducer;
      const auto middle = static_cast<std::int64_t>(slaves_[p].size()) * element_.bytes();
      each_peer(lists.mirror_holders, mirrors_[p], area + middle,
                [&](std::span<const std::int32_t> indices, const std::byte* packed) {
                  run.kernels.combine(reducer, target, indices, packed);
                });
    } else {
      each_peer(lists.slave_owners, slaves_[p], area,
                [&](std::span<const std::int32_t> indices, const std::byte* packed) {
                  run.kernels.unpack(element_, target, indices, packed);
                });
    }
  }

  bool gather_;
  ValueId from_, to_;
  ElementType element_;
  std::int64_t inner_ = 1;
  std::optional<int> ticket_;                       // of the exchange that has begun
  std::vector<const LocalSpace*> spaces_;           // [part]
  std::vector<std::vector<std::int32_t>> slaves_;   // [part] elements, in the order of slave_owners
  std::vector<std::vector<std::int32_t>> mirrors_;  // [part] elements, in the order of mirror_holders
};

// Of the shareds of a batch: a binary tree over all workers to worker 0 and back, so that the bits depend on nothing
// but their number. What two workers have for each other in a round is one message, whatever the number of shareds.
class SharedTransition : public Step {
 public:
  SharedTransition(Execution& run, std::span<const Op> batch, int at)
      : Step(batch.front(), at), gather_(op.code == OpCode::gather), workers_(run.transport.workers()) {
    for (const Op& each : batch) {
      Member made;
      made.from = each.operands.at(0);
      made.to = each.results.at(0);
      made.element = run.module.type(made.from).element;
      made.offset = bytes_;
      const std::int64_t count = run.storage.info(made.from).inner;
      for (std::int64_t i = 0; i < count; ++i) made.indices.push_back(static_cast<std::int32_t>(i));
      bytes_ = checked_add(bytes_, checked_mul(count, made.element.bytes(), "a message"), "a message");
      members_.push_back(std::move(made));
    }
  }

  [[nodiscard]] std::int64_t packing_bytes(int /*part*/) const override { return workers_ > 1 ? 2 * bytes_ : 0; }

  void run(Execution& run) override {
    for (const Member& m : members_) {
      if (run.storage.info(m.from).slot == run.storage.info(m.to).slot) continue;
      for (int p = 0; p < run.part_count(); ++p) {
        copy_elements(m.element, run.storage.view(m.from, p), run.storage.view(m.to, p), 0,
                      static_cast<std::int64_t>(m.indices.size()));
      }
    }
    int top = 1;
    while (top < workers_) top *= 2;
    if (gather_) {
      for (int step = 1; step < workers_; step *= 2) round(run, step);
    } else {
      for (int step = top / 2; step >= 1; step /= 2) round(run, step);
    }
  }

 private:
  struct Member {
    ValueId from = no_value, to = no_value;
    ElementType element;
    std::int64_t offset = 0;  // of its bytes in a message
    std::vector<std::int32_t> indices;
  };

  // Workers w that are multiples of 2 * step meet w + step.
  void round(Execution& run, int step) {
    sends_.clear();
    receives_.clear();
    for (int p = 0; p < run.part_count() && bytes_ > 0; ++p) {
      const int self = run.parts[static_cast<size_t>(p)].worker;
      const bool upper = self % (2 * step) == 0;
      const int peer = upper ? self + step : self - step;
      if (peer >= workers_ || self % step != 0) continue;
      if (upper == gather_) {
        receives_.push_back({peer, self, run.packing(p) + bytes_, bytes_});
      } else {
        sends_.push_back({self, peer, run.packing(p), bytes_});
        pack(run, p);
      }
    }
    run.transport.finish(run.start(sends_, receives_));
    for (const Message& message : receives_) unpack(run, message);
  }

  void pack(Execution& run, int p) const {
    for (size_t k = 0; k < members_.size(); ++k) {
      const Member& m = members_[k];
      run.kernels.pack(m.element, run.storage.view(m.to, p), m.indices, run.packing(p) + m.offset);
      run.charge(number + static_cast<int>(k), static_cast<std::int64_t>(m.indices.size()) * m.element.bytes());
    }
  }

  void unpack(Execution& run, const Message& message) const {
    const int p = message.to - run.transport.first_worker();
    for (const Member& m : members_) {
      const View& target = run.storage.view(m.to, p);
      if (gather_) {
        run.kernels.combine(run.module.type(m.from).state.reducer, target, m.indices, message.data + m.offset);
      } else {
        run.kernels.unpack(m.element, target, m.indices, message.data + m.offset);
      }
    }
  }

  bool gather_;
  int workers_;
  std::int64_t bytes_ = 0;  // of a message
  std::vector<Member> members_;
  std::vector<Message> sends_, receives_;
};

// Another of a batch: its first has done the work.
class BatchedTransition : public Step {
 public:
  using Step::Step;
  void run(Execution& /*run*/) override {}
};

void require_gathered_is_pre(const Execution& run, const Op& op) {
  if (op.code != OpCode::gather || run.module.type(op.operands.at(0)).state.is_pre()) return;
  fail(ExitStatus::bad_input, "only a pre-reduced value is gathered", "", "", op.where);
}

}  // namespace

std::unique_ptr<Step> make_transition_step(Execution& run, const Op& op, int number) {
  require_gathered_is_pre(run, op);
  return std::make_unique<ArrayTransition>(run, op, number);
}

std::unique_ptr<Step> make_batch_step(Execution& run, std::span<const Op> batch, int number) {
  for (const Op& op : batch) require_gathered_is_pre(run, op);
  return std::make_unique<SharedTransition>(run, batch, number);
}

std::unique_ptr<Step> make_batched_step(const Op& op, int number) {
  return std::make_unique<BatchedTransition>(op, number);
}

}  // namespace kasen::executor
