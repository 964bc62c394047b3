// What both ways of a batch of shareds have in common (libcore/analysis/shared_batch.h). Internal to the executor.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "libcore/run/executor_steps.h"

namespace kasen::executor {

struct SharedMember {
  ValueId from = no_value, to = no_value;
  ElementType element;
  std::int64_t count = 0;   // of its elements
  std::int64_t offset = 0;  // of its bytes, where those of all members stand one after another
};

class SharedExchange : public TransitionStep {
 public:
  SharedExchange(Execution& run, std::span<const Op> batch, int at);

 protected:
  // A result in another buffer starts from the operand.
  void copy_operands(Execution& run) const;
  // Charges bytes that a member sends.
  void charge(Execution& run, size_t member, std::int64_t sent) const {
    run.charge(number + static_cast<int>(member), sent);
  }

  const bool gather_;
  const int workers_;
  std::int64_t bytes_ = 0;  // of all members
  std::vector<SharedMember> members_;
  std::vector<Message> sends_, receives_;
  int ticket_ = -1;  // of the round that has begun
};

// The bytes of a batch on each worker.
[[nodiscard]] std::int64_t batch_bytes(const Execution& run, std::span<const Op> batch);

std::unique_ptr<Step> make_sliced_step(Execution& run, std::span<const Op> batch, int number);

}  // namespace kasen::executor
