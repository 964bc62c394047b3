#include "libcomm/exchange/agreement.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "libcomm/exchange/mpi_check.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

constexpr size_t described = 320;  // characters of a rank's description that travel

std::string text_of(const NextCall& call) {
  std::string text = fmt::format("{}, count {}, its collective {}", call.operation, call.count, call.number);
  if (!call.purpose.empty()) text += fmt::format(" ({})", call.purpose);
  return text;
}

// All ranks know by now that they differ.
[[noreturn]] void tell_difference(const NextCall& mine, int ranks) {
  std::string text = text_of(mine);
  text.resize(described);
  std::string all(described * static_cast<size_t>(ranks), '\0');
  constexpr int count = static_cast<int>(described);
  check_mpi(MPI_Allgather(text.data(), count, MPI_CHAR, all.data(), count, MPI_CHAR, MPI_COMM_WORLD), "MPI_Allgather");
  const auto reported = [&](int rank) {
    const std::string whole = all.substr(described * static_cast<size_t>(rank), described);
    return whole.substr(0, whole.find('\0'));
  };
  int other = 1;
  while (other + 1 < ranks && reported(other) == reported(0)) ++other;
  throw InternalError(fmt::format("the ranks are at different steps: rank 0 at {}; rank {} at {}", reported(0), other,
                                  reported(other)));
}

}  // namespace

bool checks_are_asked_for() {
  const char* asked = std::getenv("KASEN_CHECK_COLLECTIVES");
  return asked != nullptr && *asked != '\0' ? std::string_view(asked) != "0" : KASEN_CHECK_COLLECTIVES != 0;
}

std::int64_t asked_message_bytes() {
  const char* asked = std::getenv("KASEN_MPI_CHUNK");
  if (asked == nullptr || *asked == '\0') return largest_message;
  const std::string_view text(asked);
  std::int64_t bytes = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (fault != std::errc() || end != text.data() + text.size() || bytes < 1 || bytes > largest_message) {
    fail(ExitStatus::configuration, fmt::format("KASEN_MPI_CHUNK is '{}'", text),
         fmt::format("a message has 1 to {} bytes", largest_message), "unset it, or give such a number");
  }
  return bytes;
}

Waiting::Waiting(WaitRecord* record, WaitRecord::Kind kind, int rank, std::int64_t number) : record_(record) {
  if (record_ == nullptr) return;
  record_->rank = rank;
  record_->number = number;
  record_->kind = kind;
}

Waiting::~Waiting() {
  if (record_ != nullptr) record_->kind = WaitRecord::nothing;
}

std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {  // FNV-1a
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return seed;
}

void require_agreement(const NextCall& mine, int ranks) {
  const auto hash = static_cast<std::int64_t>(hash_of(text_of(mine)));
  std::int64_t extremes[2] = {hash, ~hash};  // the largest, and the complement of the smallest
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  if (extremes[0] != ~extremes[1]) tell_difference(mine, ranks);
}

}  // namespace kasen
