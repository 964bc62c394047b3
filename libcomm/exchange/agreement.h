// What each rank is about to do, compared before it is done: MPI itself hangs where ranks disagree, or goes on with
// wrong data.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kasen {

// Compare all exchanges, too? As the build was configured (-Dcheck_collectives), or the environment says
// (KASEN_CHECK_COLLECTIVES=0 or 1).
[[nodiscard]] bool checks_are_asked_for();
// Bytes that go in one message at most: MPI counts and displaces in 32 bits. KASEN_MPI_CHUNK asks for less, so that
// tests see small data go in pieces; UserError(configuration) where it says no number.
[[nodiscard]] std::int64_t asked_message_bytes();

// Where a rank waits for others, for a thread or a process that looks on.
struct WaitRecord {
  enum Kind : std::int32_t { nothing, collective, message };
  std::atomic<std::int32_t> kind = nothing;
  std::atomic<std::int32_t> rank = -1;   // of a message: who sends or receives it
  std::atomic<std::int64_t> number = 0;  // of the exchange, or of the collective
};

// Sets a record, if there is one, as long as it lives.
class Waiting {
 public:
  Waiting(WaitRecord* record, WaitRecord::Kind kind, int rank, std::int64_t number);
  ~Waiting();
  Waiting(Waiting&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  WaitRecord* record_;
};

// A call that all ranks make alike: "the sum of 3 numbers". `purpose` says more of it where there is more.
struct NextCall {
  std::string_view operation;
  std::int64_t count = 0;
  std::int64_t number = 0;  // how many of them there were before
  std::string_view purpose;
};

// Collective, over MPI_COMM_WORLD: InternalError on every rank, with the first two ranks that differ and what they are
// at.
void require_agreement(const NextCall& mine, int ranks);

[[nodiscard]] std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325U);

}  // namespace kasen
