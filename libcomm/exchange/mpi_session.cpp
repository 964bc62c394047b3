#include "libcomm/exchange/mpi_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "libcomm/exchange/mpi_check.h"

namespace kasen {
namespace {

void all_reduce(std::span<std::int64_t> values, MPI_Op op, std::int64_t message_bytes) {
  for (size_t at = 0; at < values.size();) {
    const size_t count =
        std::min(values.size() - at, static_cast<size_t>(std::max<std::int64_t>(message_bytes / 8, 1)));
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data() + at, static_cast<int>(count), MPI_INT64_T, op, MPI_COMM_WORLD),
              "MPI_Allreduce");
    at += count;
  }
}

// Calls move(address, bytes) for each slice of a text that one message can hold.
template <class Move>
void in_slices(std::string& text, const Move& move, std::int64_t slice) {
  const auto size = static_cast<std::int64_t>(text.size());
  for (std::int64_t at = 0; at < size; at += slice) {
    move(text.data() + at, static_cast<int>(std::min(size - at, slice)));
  }
}

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(ExitStatus::io, fmt::format("{} failed", call), std::string(text, static_cast<size_t>(length)),
       "check that all nodes and the network are up");
}

MpiSession::MpiSession(int* argc, char*** argv) : exceptions_(std::uncaught_exceptions()) {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0) throw InternalError("MPI is started twice");
  int level = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS || level < MPI_THREAD_FUNNELED) {
    fail(ExitStatus::configuration, "MPI does not start", "MPI_Init_thread failed or knows no threads",
         "try `mpirun -n 1 true`, and read its own messages");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks_), "MPI_Comm_size");
  // Environments may differ between nodes: if one rank asks for something, all do it.
  std::int64_t asked[2] = {checks_are_asked_for() ? 1 : 0, -asked_message_bytes()};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, asked, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  checks_ = asked[0] != 0;
  message_bytes_ = -asked[1];
}

MpiSession::~MpiSession() {
  if (std::uncaught_exceptions() != exceptions_) return;
  try {
    agree("the end", 0);
  } catch (const std::exception&) {  // the others report it, and end the job while this rank waits below
  }
  MPI_Finalize();
}

Waiting MpiSession::agree(std::string_view operation, std::int64_t count, std::string_view purpose) const {
  const NextCall call{operation, count, calls_++, purpose};
  Waiting waiting(waits_, WaitRecord::collective, -1, call.number);
  require_agreement(call, ranks_);
  return waiting;
}

void MpiSession::barrier() const { (void)agree("a barrier", 0); }

void MpiSession::all_reduce_sum(std::span<std::int64_t> values) const {
  const Waiting waiting = agree("a sum of 64-bit integers", std::ssize(values));
  all_reduce(values, MPI_SUM, message_bytes_);
}

void MpiSession::all_reduce_max(std::span<std::int64_t> values) const {
  const Waiting waiting = agree("a maximum of 64-bit integers", std::ssize(values));
  all_reduce(values, MPI_MAX, message_bytes_);
}

void MpiSession::broadcast(std::string& bytes) const {
  const Waiting waiting = agree("a broadcast", 0);
  auto size = static_cast<std::int64_t>(bytes.size());
  check_mpi(MPI_Bcast(&size, 1, MPI_INT64_T, 0, MPI_COMM_WORLD), "MPI_Bcast");
  bytes.resize(static_cast<size_t>(size));
  const auto move = [](char* data, int count) {
    check_mpi(MPI_Bcast(data, count, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
  };
  in_slices(bytes, move, message_bytes_);
}

std::vector<std::string> MpiSession::gather(const std::string& bytes) const {
  const Waiting waiting = agree("a gather of bytes", 0);
  const auto size = static_cast<std::int64_t>(bytes.size());
  std::vector<std::int64_t> sizes(rank_ == 0 ? static_cast<size_t>(ranks_) : 0);
  check_mpi(MPI_Gather(&size, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, 0, MPI_COMM_WORLD), "MPI_Gather");
  std::vector<std::string> all;
  if (rank_ != 0) {
    const auto send = [](char* data, int count) {
      check_mpi(MPI_Send(data, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD), "MPI_Send");
    };
    in_slices(const_cast<std::string&>(bytes), send, message_bytes_);
    return all;
  }
  all.push_back(bytes);
  for (int from = 1; from < ranks_; ++from) {
    std::string& text = all.emplace_back(static_cast<size_t>(sizes[static_cast<size_t>(from)]), '\0');
    const auto receive = [from](char* data, int count) {
      check_mpi(MPI_Recv(data, count, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
    };
    in_slices(text, receive, message_bytes_);
  }
  return all;
}

std::vector<std::string> MpiSession::exchange(std::vector<std::string> to, std::int64_t most_bytes) const {
  const std::int64_t message_bytes = std::min(most_bytes, message_bytes_);
  const Waiting waiting = agree("texts from each rank to each", message_bytes);
  if (std::cmp_not_equal(to.size(), ranks_)) throw InternalError("an exchange without a text for each rank");
  std::vector<std::int64_t> sent(to.size()), coming(to.size());
  for (size_t r = 0; r < to.size(); ++r) sent[r] = static_cast<std::int64_t>(to[r].size());
  check_mpi(MPI_Alltoall(sent.data(), 1, MPI_INT64_T, coming.data(), 1, MPI_INT64_T, MPI_COMM_WORLD), "MPI_Alltoall");
  std::vector<std::string> from(to.size());
  std::vector<MPI_Request> requests;
  for (int r = 0; r < ranks_; ++r) {
    if (r == rank_) continue;
    std::string& text = from[static_cast<size_t>(r)];
    text.resize(static_cast<size_t>(coming[static_cast<size_t>(r)]));
    const auto receive = [&](char* data, int count) {
      check_mpi(MPI_Irecv(data, count, MPI_BYTE, r, 0, MPI_COMM_WORLD, &requests.emplace_back()), "MPI_Irecv");
    };
    in_slices(text, receive, message_bytes);
  }
  for (int step = 1; step < ranks_; ++step) {  // each rank begins with its neighbour, so that not all send to one
    const int r = (rank_ + step) % ranks_;
    const auto send = [&](char* data, int count) {
      check_mpi(MPI_Isend(data, count, MPI_BYTE, r, 0, MPI_COMM_WORLD, &requests.emplace_back()), "MPI_Isend");
    };
    in_slices(to[static_cast<size_t>(r)], send, message_bytes);
  }
  for (MPI_Request& request : requests) check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  from[static_cast<size_t>(rank_)] = std::move(to[static_cast<size_t>(rank_)]);
  return from;
}

std::optional<Failure> MpiSession::first_failure(const std::optional<Failure>& mine) const {
  // The lowest failing rank, inverted so that the largest wins; 0: none.
  std::int64_t turned = mine ? ranks_ - rank_ : 0;
  all_reduce_max({&turned, 1});
  if (turned == 0) return std::nullopt;
  const int rank = ranks_ - static_cast<int>(turned);
  std::int64_t facts[2] = {0, 0};
  std::string text;
  if (rank == rank_) {
    facts[0] = static_cast<std::int64_t>(mine->status);
    facts[1] = static_cast<std::int64_t>(mine->text.size());
    text = mine->text;
  }
  check_mpi(MPI_Bcast(facts, 2, MPI_INT64_T, rank, MPI_COMM_WORLD), "MPI_Bcast");
  text.resize(static_cast<size_t>(facts[1]));
  const auto move = [rank](char* data, int count) {
    check_mpi(MPI_Bcast(data, count, MPI_BYTE, rank, MPI_COMM_WORLD), "MPI_Bcast");
  };
  in_slices(text, move, message_bytes_);
  return Failure{rank, static_cast<ExitStatus>(facts[0]), text};
}

void MpiSession::abort_all(ExitStatus status) const {
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(status));
  std::_Exit(static_cast<int>(status));
}

}  // namespace kasen
