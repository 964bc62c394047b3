#include "libcomm/exchange/mpi_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcomm/exchange/mpi_check.h"
#include "libcomm/exchange/segments.h"
#include "libcore/system/fault.h"

namespace kasen {
namespace {

// Tags up to 32767 are valid everywhere; 0 stands for no exchange.
constexpr std::int64_t tags = 32767;
int tag_of(std::int64_t step) { return static_cast<int>(1 + step % tags); }

// The payloads for or from one rank, in the order in which both sides have them.
using Groups = std::map<int, std::vector<Segment>>;
Groups by_rank(std::vector<Message> messages, bool by_receiver, int ranks, int workers) {
  std::stable_sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  Groups groups;
  for (const Message& m : messages) {
    if (m.bytes > 0) groups[rank_of_worker(by_receiver ? m.to : m.from, ranks, workers)].push_back({m.data, m.bytes});
  }
  return groups;
}

// Cuts a message into pieces of at most `limit` bytes. Both sides have the same sizes and cut alike.
std::vector<std::vector<Segment>> cut(const std::vector<Segment>& segments, std::int64_t limit) {
  std::vector<std::vector<Segment>> messages(1);
  std::int64_t room = limit;
  for (Segment rest : segments) {
    while (rest.bytes > 0) {
      if (room == 0) {
        messages.emplace_back();
        room = limit;
      }
      const std::int64_t bytes = std::min(rest.bytes, room);
      messages.back().push_back({rest.data, bytes});
      rest.data += bytes;
      rest.bytes -= bytes;
      room -= bytes;
    }
  }
  return messages;
}

// Several segments as one MPI type over absolute addresses: MPI gathers and scatters them, nothing is staged here.
class SegmentType {
 public:
  explicit SegmentType(const std::vector<Segment>& segments) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> addresses;
    for (const Segment& segment : segments) {
      lengths.push_back(static_cast<int>(segment.bytes));
      check_mpi(MPI_Get_address(segment.data, &addresses.emplace_back()), "MPI_Get_address");
    }
    check_mpi(
        MPI_Type_create_hindexed(static_cast<int>(segments.size()), lengths.data(), addresses.data(), MPI_BYTE, &type_),
        "MPI_Type_create_hindexed");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~SegmentType() { MPI_Type_free(&type_); }  // a type in use lives until its message is through
  SegmentType(const SegmentType&) = delete;
  SegmentType& operator=(const SegmentType&) = delete;
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// The size of one rank's message to another in an exchange, and its division among workers.
struct Sizes {
  std::int64_t bytes = 0, cuts = 0;
  friend bool operator==(const Sizes&, const Sizes&) = default;
};
static_assert(sizeof(Sizes) == 2 * sizeof(std::int64_t));  // as they travel

Sizes sizes_of(const std::vector<Segment>& segments) {
  std::string cuts;
  for (const Segment& segment : segments) cuts += fmt::format("{} ", segment.bytes);
  return {bytes_of(segments), static_cast<std::int64_t>(hash_of(cuts))};
}

// Flips a bit that changes a number much: of an f64 the highest of the mantissa.
void flip_a_bit(const Segment& segment) { segment.data[std::min<std::int64_t>(6, segment.bytes - 1)] ^= std::byte{8}; }

// The expected outcome of a request of an exchange.
struct Expected {
  int rank = 0;
  std::int64_t bytes = 0;
  bool receive = false;
  Segment first = {nullptr, 0};
};

// One rank's payload for another in an exchange, and the digest that follows it in the same message.
struct Payload {
  int rank = 0;
  std::vector<Segment> segments;
  std::uint64_t digest = 0;
};

struct Exchange {
  bool open = false;
  std::int64_t step = 0;
  std::vector<MPI_Request> requests;
  std::vector<Expected> expected;
  // Only if messages are checked. The digests are sent from these and received in them, so they do not grow meanwhile.
  std::vector<Payload> sent, awaited;
  std::string purpose;
};

// Adds the digest of its payload to each message.
std::vector<Payload> with_digests(Groups& groups) {
  std::vector<Payload> payloads;
  payloads.reserve(groups.size());
  for (auto& [rank, segments] : groups) {
    Payload& made = payloads.emplace_back(Payload{rank, segments, 0});
    segments.push_back({reinterpret_cast<std::byte*>(&made.digest), sizeof made.digest});
  }
  return payloads;
}

class MpiTransport : public Transport {
 public:
  MpiTransport(const MpiSession& session, int workers, const MpiTransportOptions& options)
      : session_(session),
        rank_(session.rank()),
        ranks_(session.ranks()),
        workers_(workers),
        local_(workers_of_rank(rank_, ranks_, workers)),
        message_bytes_(options.message_bytes > 0 ? std::min(options.message_bytes, session.message_bytes())
                                                 : session.message_bytes()),
        checks_messages_(options.check_messages),
        exceptions_(std::uncaught_exceptions()) {
    const Waiting waiting = session.agree("the making of a transport", workers);
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  }
  ~MpiTransport() override {
    if (std::uncaught_exceptions() == exceptions_) MPI_Comm_free(&communicator_);
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  [[nodiscard]] int workers() const override { return workers_; }
  [[nodiscard]] int first_worker() const override { return local_.first; }
  [[nodiscard]] int local_workers() const override { return local_.count; }
  void moved_here(std::int64_t bytes) override { traffic_.worker_bytes += bytes; }
  [[nodiscard]] const Traffic& traffic() const override { return traffic_; }
  [[nodiscard]] bool compares_steps() const override { return session_.checks() || checks_messages_; }
  void announce(const std::string& purpose) override { purpose_ = purpose; }

  [[nodiscard]] int start(std::int64_t step, std::span<const Message> sends,
                          std::span<const Message> receives) override {
    std::vector<Message> away, coming, here_sent, here_awaited;
    for (const Message& m : sends) {
      check(m, m.from);
      (is_local(m.to) ? here_sent : away).push_back(m);
      if (m.from != m.to) traffic_.worker_bytes += m.bytes;
    }
    for (const Message& m : receives) {
      check(m, m.to);
      (is_local(m.from) ? here_awaited : coming).push_back(m);
    }
    Groups from_ranks = by_rank(std::move(coming), false, ranks_, workers_);
    Groups to_ranks = by_rank(std::move(away), true, ranks_, workers_);
    const std::string purpose = std::exchange(purpose_, {});
    if (session_.checks()) compare(step, purpose, to_ranks, from_ranks);
    for (const auto& [rank, segments] : to_ranks) traffic_.rank_bytes += bytes_of(segments);
    const int ticket = free_ticket();
    Exchange& exchange = exchanges_[static_cast<size_t>(ticket)];
    exchange.open = true;
    exchange.step = step;
    exchange.purpose = purpose;
    if (checks_messages_) {
      exchange.awaited = with_digests(from_ranks);
      exchange.sent = with_digests(to_ranks);
      for (Payload& payload : exchange.sent) payload.digest = digest_of_segments(payload.segments);
    }
    for (const auto& [rank, segments] : from_ranks) {
      for (const auto& piece : cut(segments, message_bytes_)) receive(exchange, rank, piece);
    }
    for (const auto& [rank, segments] : to_ranks) {
      for (const auto& piece : cut(segments, message_bytes_)) send(exchange, rank, piece);
      ++traffic_.rank_messages;
    }
    copy_local(step, std::move(here_sent), std::move(here_awaited));
    return ticket;
  }

  void finish(int ticket) override {
    if (ticket < 0 || ticket >= static_cast<int>(exchanges_.size()) || !exchanges_[static_cast<size_t>(ticket)].open) {
      throw InternalError("an exchange is finished that was not started");
    }
    Exchange& exchange = exchanges_[static_cast<size_t>(ticket)];
    // One by one: MPI_Waitall of Open MPI 4.1 spins for ever once one of its requests has failed.
    for (size_t i = 0; i < exchange.requests.size(); ++i) {
      MPI_Status status;
      const Waiting waiting(session_.waits(), WaitRecord::message, exchange.expected[i].rank, exchange.step);
      const int code = MPI_Wait(&exchange.requests[i], &status);
      check_arrival(exchange, exchange.expected[i], status, code);
    }
    for (const Payload& payload : exchange.awaited) check_payload(exchange, payload);
    exchange.requests.clear();
    exchange.expected.clear();
    exchange.sent.clear();
    exchange.awaited.clear();
    exchange.open = false;
  }

 private:
  [[nodiscard]] bool is_local(int worker) const {
    return worker >= local_.first && worker < local_.first + local_.count;
  }

  void check(const Message& m, int ours) const {
    const auto known = [this](int worker) { return worker >= 0 && worker < workers_; };
    if (!known(m.from) || !known(m.to) || m.bytes < 0 || !is_local(ours)) {
      throw InternalError(fmt::format("no message of {} bytes can go from worker {} to worker {} by rank {}", m.bytes,
                                      m.from, m.to, rank_));
    }
  }

  // Before anything is sent, compares the ranks' exchanges, and the bytes that each rank sends with those that another
  // awaits. If two differ, all ranks throw.
  void compare(std::int64_t step, const std::string& purpose, const Groups& to_ranks, const Groups& from_ranks) {
    const Waiting waiting = session_.agree(fmt::format("exchange {}", step), workers_, purpose);
    std::vector<Sizes> sent(static_cast<size_t>(ranks_)), coming = sent, awaited = sent;
    for (const auto& [rank, segments] : to_ranks) sent[static_cast<size_t>(rank)] = sizes_of(segments);
    for (const auto& [rank, segments] : from_ranks) awaited[static_cast<size_t>(rank)] = sizes_of(segments);
    check_mpi(MPI_Alltoall(sent.data(), 2, MPI_INT64_T, coming.data(), 2, MPI_INT64_T, communicator_), "MPI_Alltoall");
    std::optional<Failure> mine;
    for (int r = 0; r < ranks_ && !mine; ++r) {
      const Sizes &here = awaited[static_cast<size_t>(r)], &there = coming[static_cast<size_t>(r)];
      if (here == there) continue;
      const std::string cuts = here.bytes == there.bytes ? ", cut otherwise" : "";
      mine = Failure{
          rank_, ExitStatus::internal,
          fmt::format("exchange {}{}: rank {} sends {} bytes{}, and rank {} awaits {}", step,
                      purpose.empty() ? "" : fmt::format(" ({})", purpose), r, there.bytes, cuts, rank_, here.bytes)};
    }
    if (const auto first = session_.first_failure(mine)) throw InternalError(first->text);
  }

  int free_ticket() {
    const auto closed = std::find_if(exchanges_.begin(), exchanges_.end(), [](const Exchange& e) { return !e.open; });
    if (closed != exchanges_.end()) return static_cast<int>(closed - exchanges_.begin());
    exchanges_.emplace_back();
    return static_cast<int>(exchanges_.size()) - 1;
  }

  // A lone segment is sent as bytes, which MPI handles without a type of ours.
  template <class Call>
  MPI_Request post(const std::vector<Segment>& message, const Call& call) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (message.size() == 1) {
      call(message[0].data, static_cast<int>(message[0].bytes), MPI_BYTE, &request);
    } else {
      const SegmentType type(message);
      call(MPI_BOTTOM, 1, type.get(), &request);
    }
    return request;
  }

  // Any tag is accepted, so that a rank at another exchange is detected and not awaited.
  void receive(Exchange& exchange, int rank, const std::vector<Segment>& message) {
    exchange.requests.push_back(post(message, [&](void* data, int count, MPI_Datatype type, MPI_Request* request) {
      check_mpi(MPI_Irecv(data, count, type, rank, MPI_ANY_TAG, communicator_, request), "MPI_Irecv");
    }));
    exchange.expected.push_back({rank, bytes_of(message), true, message[0]});
  }

  void send(Exchange& exchange, int rank, const std::vector<Segment>& message) {
    exchange.requests.push_back(post(message, [&](void* data, int count, MPI_Datatype type, MPI_Request* request) {
      check_mpi(MPI_Isend(data, count, type, rank, tag_of(exchange.step), communicator_, request), "MPI_Isend");
    }));
    exchange.expected.push_back({rank, bytes_of(message), false});
  }

  void check_arrival(const Exchange& exchange, const Expected& expected, const MPI_Status& status, int code) const {
    int kind = MPI_SUCCESS;
    MPI_Error_class(code, &kind);
    if (kind != MPI_ERR_TRUNCATE) check_mpi(code, "MPI_Wait");
    if (!expected.receive) return;
    const bool longer = kind == MPI_ERR_TRUNCATE;
    if (status.MPI_TAG != tag_of(exchange.step)) {
      throw InternalError(fmt::format("rank {} awaits exchange {} from rank {}, which is at another", rank_,
                                      exchange.step, expected.rank));
    }
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (longer || bytes != expected.bytes) {
      throw InternalError(fmt::format("exchange {}: rank {} awaits {} bytes from rank {}, which sent {}", exchange.step,
                                      rank_, expected.bytes, expected.rank, longer ? "more" : std::to_string(bytes)));
    }
    if (pass_point(FaultPoint::message) < 0) flip_a_bit(expected.first);
  }

  void check_payload(const Exchange& exchange, const Payload& payload) const {
    if (digest_of_segments(payload.segments) == payload.digest) return;
    fail(ExitStatus::io,
         fmt::format("exchange {}{}: the bytes that rank {} sent are not those that arrived at rank {}", exchange.step,
                     exchange.purpose.empty() ? "" : fmt::format(" ({})", exchange.purpose), payload.rank, rank_),
         "their digest, which came with them (--check-messages), is that of other bytes: the network or a machine's "
         "memory changed some of them",
         "run again, with --resume where there is a checkpoint; if that happens again, leave out the machines of these "
         "ranks");
  }

  // Both lists have the messages of a pair of workers in one order.
  static void copy_local(std::int64_t step, std::vector<Message> sent, std::vector<Message> awaited) {
    const auto by_pair = [](const Message& a, const Message& b) {
      return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    };
    std::stable_sort(sent.begin(), sent.end(), by_pair);
    std::stable_sort(awaited.begin(), awaited.end(), by_pair);
    const auto same = [](const Message& a, const Message& b) {
      return a.from == b.from && a.to == b.to && a.bytes == b.bytes;
    };
    if (!std::equal(sent.begin(), sent.end(), awaited.begin(), awaited.end(), same)) {
      throw InternalError(fmt::format("exchange {}: workers of one rank send other bytes than they await", step));
    }
    for (size_t i = 0; i < sent.size(); ++i) {
      if (sent[i].bytes > 0) std::memcpy(awaited[i].data, sent[i].data, static_cast<size_t>(sent[i].bytes));
    }
  }

  const MpiSession& session_;
  int rank_, ranks_, workers_;
  WorkerRange local_;
  std::int64_t message_bytes_;
  bool checks_messages_;
  int exceptions_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::vector<Exchange> exchanges_;  // by ticket
  Traffic traffic_;
  std::string purpose_;  // of the exchange that starts next
};

}  // namespace

WorkerRange workers_of_rank(int rank, int ranks, int workers) {
  const auto bound = [&](std::int64_t r) { return static_cast<int>(r * workers / ranks); };
  return {bound(rank), bound(rank + 1) - bound(rank)};
}

// The largest r with floor(r P / R) <= worker.
int rank_of_worker(int worker, int ranks, int workers) {
  return static_cast<int>(((static_cast<std::int64_t>(worker) + 1) * ranks - 1) / workers);
}

std::unique_ptr<Transport> make_mpi_transport(const MpiSession& session, int workers,
                                              const MpiTransportOptions& options) {
  if (session.ranks() > workers) {
    fail(ExitStatus::usage, fmt::format("{} ranks are more than the {} parts of the bundle", session.ranks(), workers),
         "each rank needs a part", fmt::format("start at most {} ranks, or partition again", workers));
  }
  if (options.message_bytes < 0 || options.message_bytes > largest_message) {
    throw InternalError("messages have at most 2^30 bytes");
  }
  return std::make_unique<MpiTransport>(session, workers, options);
}

}  // namespace kasen
