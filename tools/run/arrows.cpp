#include "tools/run/arrows.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "libcomm/exchange/mpi_transport.h"

namespace kasen::tools {
namespace {

constexpr size_t most_arrows = 50'000;

class TracedTransport : public Transport {
 public:
  TracedTransport(std::unique_ptr<Transport> inner, int ranks, Trace& trace)
      : inner_(std::move(inner)), ranks_(ranks), trace_(trace) {}

  [[nodiscard]] int workers() const override { return inner_->workers(); }
  [[nodiscard]] int first_worker() const override { return inner_->first_worker(); }
  [[nodiscard]] int local_workers() const override { return inner_->local_workers(); }
  [[nodiscard]] bool compares_steps() const override { return inner_->compares_steps(); }
  void announce(const std::string& purpose) override { inner_->announce(purpose); }
  void moved_here(std::int64_t bytes) override { inner_->moved_here(bytes); }
  [[nodiscard]] const Traffic& traffic() const override { return inner_->traffic(); }

  [[nodiscard]] int start(std::int64_t step, std::span<const Message> sends,
                          std::span<const Message> receives) override {
    std::map<int, std::int64_t> to, from;  // bytes by rank
    for (const Message& m : sends) add(to, m.to, m.bytes);
    for (const Message& m : receives) add(from, m.from, m.bytes);
    for (const auto& [rank, bytes] : to) trace_.point({step, 0, rank, bytes, 1});
    const int ticket = inner_->start(step, sends, receives);
    awaited_[ticket] = {step, std::move(from)};
    return ticket;
  }

  void finish(int ticket) override {
    inner_->finish(ticket);
    for (const auto& [rank, bytes] : awaited_[ticket].second) trace_.point({awaited_[ticket].first, 0, rank, bytes, 0});
    awaited_.erase(ticket);
  }

 private:
  void add(std::map<int, std::int64_t>& by_rank, int worker, std::int64_t bytes) const {
    const bool here = worker >= first_worker() && worker < first_worker() + local_workers();
    if (!here && bytes > 0) by_rank[rank_of_worker(worker, ranks_, workers())] += bytes;
  }

  std::unique_ptr<Transport> inner_;
  int ranks_;
  Trace& trace_;
  std::map<int, std::pair<std::int64_t, std::map<int, std::int64_t>>> awaited_;  // by ticket
};

std::string end_text(char phase, int rank, const std::string& id, const Trace::Arrow& end) {
  return fmt::format(
      ",\n"
      R"({{"name":"messages","cat":"messages","ph":"{}"{},"id":"{}","pid":{},"tid":{},"ts":{},"args":{{"bytes":{}}}}})",
      phase, phase == 'f' ? R"(,"bp":"e")" : "", id, rank, trace_steps_thread, microseconds(end.at), end.bytes);
}

}  // namespace

std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

std::unique_ptr<Transport> make_traced_transport(std::unique_ptr<Transport> inner, int ranks, Trace& trace) {
  return std::make_unique<TracedTransport>(std::move(inner), ranks, trace);
}

std::string arrow_bytes(const std::vector<Trace::Arrow>& arrows) {
  return {reinterpret_cast<const char*>(arrows.data()), arrows.size() * sizeof(Trace::Arrow)};
}

// The clocks of two ranks may differ by the time that they took to begin together. An arrow that would lead back in
// time is left out.
std::string arrows_text(const std::vector<std::string>& ranks) {
  std::map<std::tuple<std::int64_t, int, int>, Trace::Arrow> begun;  // by step, sender, receiver
  const auto each = [&](bool sent, const auto& take) {
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      std::vector<Trace::Arrow> ends(ranks[rank].size() / sizeof(Trace::Arrow));
      if (!ends.empty()) std::memcpy(ends.data(), ranks[rank].data(), ends.size() * sizeof(Trace::Arrow));
      for (const Trace::Arrow& end : ends) {
        if ((end.sent != 0) == sent) take(static_cast<int>(rank), static_cast<int>(end.peer), end);
      }
    }
  };
  each(true,
       [&](int rank, int peer, const Trace::Arrow& end) { begun.emplace(std::tuple(end.step, rank, peer), end); });
  std::map<std::tuple<std::int64_t, int, int>, std::pair<Trace::Arrow, Trace::Arrow>> whole;
  each(false, [&](int rank, int peer, const Trace::Arrow& end) {
    const auto from = begun.find({end.step, peer, rank});
    if (from != begun.end() && from->second.at <= end.at) whole.try_emplace(from->first, from->second, end);
  });
  std::string text;
  size_t drawn = 0;
  for (const auto& [key, ends] : whole) {
    if (drawn++ >= most_arrows) break;
    const auto& [step, sender, receiver] = key;
    const std::string id = fmt::format("{}.{}.{}", step, sender, receiver);
    text += end_text('s', sender, id, ends.first) + end_text('f', receiver, id, ends.second);
  }
  return text;
}

}  // namespace kasen::tools
