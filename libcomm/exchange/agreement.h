// Compares the ranks' next steps before they are done: MPI itself hangs where ranks disagree, or goes on with wrong
// data.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kasen {

// Whether all exchanges are compared, too: as the build was configured (-Dcheck_collectives), or as the environment
// says (KASEN_CHECK_COLLECTIVES=0 or 1).
[[nodiscard]] bool checks_are_asked_for();
// The most bytes of one message: MPI counts and displaces in 32 bits. KASEN_MPI_CHUNK asks for less, so that tests send
// small data in pieces; UserError(configuration) if it is not a number.
[[nodiscard]] std::int64_t asked_message_bytes();

// Where a rank waits for others; a watching thread or process reads it.
struct WaitRecord {
  enum Kind : std::int32_t { nothing, collective, message };
  std::atomic<std::int32_t> kind = nothing;
  std::atomic<std::int32_t> rank = -1;   // of a message: its sender or receiver
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

// A call that all ranks make alike: "the sum of 3 numbers". `purpose` gives details, if there are any.
struct NextCall {
  std::string_view operation;
  std::int64_t count = 0;
  std::int64_t number = 0;  // the number of calls before
  std::string_view purpose;
};

// Collective, over MPI_COMM_WORLD: InternalError on every rank, with the first two ranks that differ and their steps.
void require_agreement(const NextCall& mine, int ranks);

[[nodiscard]] std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325U);

}  // namespace kasen
