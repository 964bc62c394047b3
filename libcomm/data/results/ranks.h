// The processes that write a result together, as the writer sees them: it knows no MPI.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kasen {

// Every member but rank() and ranks() is called by all ranks in the same order.
class ResultRanks {
 public:
  virtual ~ResultRanks() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int ranks() const = 0;
  // to[r] goes to rank r; returns each rank's text for this one. Texts have any size, and some of them may be empty.
  [[nodiscard]] virtual std::vector<std::string> exchange(std::vector<std::string> to) = 0;
  // All ranks do `step`; if it throws on any of them, all throw, so that none waits for another.
  virtual void together(const std::function<void()>& step) = 0;
};

[[nodiscard]] std::unique_ptr<ResultRanks> one_rank();

}  // namespace kasen
