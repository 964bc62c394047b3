// gather and scatter of shareds, in batches along a tree (libcore/analysis/shared_batch.h).
#include "libcore/run/executor_shareds.h"

#include "libcore/base/checked.h"

namespace kasen::executor {

SharedExchange::SharedExchange(Execution& run, std::span<const Op> batch, int at)
    : TransitionStep(batch.front(), at), gather_(op.code == OpCode::gather), workers_(run.transport.workers()) {
  for (const Op& each : batch) {
    const ValueId from = each.operands.at(0);
    members_.push_back({from, each.results.at(0), run.module.type(from).element, run.storage.info(from).inner, bytes_});
    bytes_ = checked_add(bytes_, batch_bytes(run, {&each, 1}), "a message");
  }
}

void SharedExchange::copy_operands(Execution& run) const {
  for (size_t k = 0; k < members_.size(); ++k) {
    const SharedMember& m = members_[k];
    if (run.storage.info(m.from).slot == run.storage.info(m.to).slot) continue;
    for (int p = 0; p < run.part_count(); ++p) {
      copy_elements(m.element, run.storage.view(m.from, p), run.storage.view(m.to, p), 0, m.count);
    }
    run.charge_copy(m.from, m.to, number + static_cast<int>(k));
  }
}

std::int64_t batch_bytes(const Execution& run, std::span<const Op> batch) {
  std::int64_t bytes = 0;
  for (const Op& op : batch) {
    const ValueId from = op.operands.at(0);
    const std::int64_t element = run.module.type(from).element.bytes();
    bytes = checked_add(bytes, checked_mul(run.storage.info(from).inner, element, "a message"), "a message");
  }
  return bytes;
}

namespace {

// Moves the shareds of a batch along a binary tree over all workers to worker 0 and back. So the bits depend only on
// the number of workers. In each round, one message carries all data of two workers, whatever the number of shareds.
class SharedTransition : public SharedExchange {
 public:
  using SharedExchange::SharedExchange;

  [[nodiscard]] std::int64_t packing_bytes(int /*part*/) const override { return workers_ > 1 ? 2 * bytes_ : 0; }

  // The first round begins at once, and each of the others when the one before has ended.
  void start(Execution& run) override {
    copy_operands(run);
    int top = 1;
    while (top < workers_) top *= 2;
    step_ = gather_ ? 1 : top / 2;
    if (goes_on()) begin_round(run, step_);
  }

  void wait(Execution& run) override {
    while (goes_on()) {
      end_round(run);
      step_ = gather_ ? 2 * step_ : step_ / 2;
      if (goes_on()) begin_round(run, step_);
    }
  }

 private:
  [[nodiscard]] bool goes_on() const { return step_ >= 1 && step_ < workers_; }

  // Workers w that are multiples of 2 * step meet w + step.
  void begin_round(Execution& run, int step) {
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
    ticket_ = run.start(*this, sends_, receives_);
  }

  void end_round(Execution& run) const {
    run.transport.finish(ticket_);
    for (const Message& message : receives_) unpack(run, message);
  }

  void pack(Execution& run, int p) const {
    for (size_t k = 0; k < members_.size(); ++k) {
      const SharedMember& m = members_[k];
      to_message(m.element, run.storage.view(m.to, p), 0, m.count, run.packing(p) + m.offset);
      charge(run, k, m.count * m.element.bytes());
    }
  }

  void unpack(Execution& run, const Message& message) const {
    const int p = message.to - run.transport.first_worker();
    for (const SharedMember& m : members_) {
      const View& target = run.storage.view(m.to, p);
      const Mirrored list{target, ElementList::run(0, m.count), {message.data + m.offset, 0}, 0, true};
      if (gather_) {
        run.kernels.combine(run.module.type(m.from).state.reducer, {&list, 1});
      } else {
        from_message(m.element, list.copies.data, list.count(), target, 0);
      }
    }
  }

  int step_ = 0;  // of the round that has begun
};

// Another operator of a batch: the first one has done the work.
class BatchedTransition : public Step {
 public:
  using Step::Step;
  void run(Execution& /*run*/) override {}
};

}  // namespace

std::unique_ptr<Step> make_batch_step(Execution& run, std::span<const Op> batch, bool paired, int number) {
  for (const Op& op : batch) require_gathered_is_pre(run, op);
  const bool sliced = travels_in_slices(paired, batch_bytes(run, batch), run.transport.workers());
  if (sliced) return make_sliced_step(run, batch, number);
  return std::make_unique<SharedTransition>(run, batch, number);
}

std::unique_ptr<Step> make_batched_step(const Op& op, int number) {
  return std::make_unique<BatchedTransition>(op, number);
}

}  // namespace kasen::executor
