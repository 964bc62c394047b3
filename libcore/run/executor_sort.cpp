// A sort or argsort along a dimension that the mesh cuts (libcore/sorting/sort_plan.h).
#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/run/executor_steps.h"
#include "libcore/sorting/selection.h"
#include "libcore/sorting/sort_plan.h"

namespace kasen::executor {
namespace {

// What one part has of its sort: its plan, and its areas in the packing area.
struct PartSort {
  SortPlan plan;
  SortAreas at;
  std::byte* base = nullptr;
  SortedPiece own;  // what stays where it is

  [[nodiscard]] bool takes_part() const { return !plan.group.empty(); }
  [[nodiscard]] std::size_t members() const { return plan.group.size(); }
  [[nodiscard]] std::int64_t* words(std::int64_t area) const { return reinterpret_cast<std::int64_t*>(base + area); }
  [[nodiscard]] PackedPlace* places(std::int64_t area) const { return reinterpret_cast<PackedPlace*>(base + area); }

  // Of each line: the bounds of a splitter in the own elements, and in those of another member.
  [[nodiscard]] std::span<SplitBounds> bounds(std::size_t splitter) const { return of_lines(at.bounds, splitter); }
  [[nodiscard]] std::span<SplitBounds> bounds_in(std::size_t member) const { return of_lines(at.all_bounds, member); }
  // Of each line: the elements that go to a member, and those that come from it.
  [[nodiscard]] std::span<std::int64_t> sent(std::size_t member) const { return counts(at.counts_sent, member); }
  [[nodiscard]] std::span<std::int64_t> taken(std::size_t member) const { return counts(at.counts_taken, member); }

  [[nodiscard]] std::byte* samples_for(std::size_t splitter) const {
    return base + at.samples_sent + static_cast<std::int64_t>(splitter) * plan.sample_bytes(plan.own);
  }
  [[nodiscard]] std::byte* samples_of(std::size_t member) const {
    std::int64_t before = at.samples_taken;
    for (std::size_t i = 0; i < member; ++i) before += plan.sample_bytes(i);
    return base + before;
  }

  // The place behind the own elements of a line that go to the members up to this one.
  [[nodiscard]] std::int64_t end(std::size_t member, std::size_t line) const {
    return member + 1 == members() ? plan.count() : bounds(member + 1)[line].low;
  }
  [[nodiscard]] std::int64_t begin(std::size_t member, std::size_t line) const {
    return member == 0 ? 0 : end(member - 1, line);
  }

 private:
  [[nodiscard]] std::span<SplitBounds> of_lines(std::int64_t area, std::size_t i) const {
    const auto lines = static_cast<std::size_t>(plan.lines);
    return {reinterpret_cast<SplitBounds*>(base + area) + i * lines, lines};
  }
  [[nodiscard]] std::span<std::int64_t> counts(std::int64_t area, std::size_t i) const {
    const auto lines = static_cast<std::size_t>(plan.lines);
    return {words(area) + i * lines, lines};
  }
};

template <class T>
void fill(std::span<T> list, const T& with) {
  std::fill(list.begin(), list.end(), with);
}
template <class T>
void copy(std::span<const T> from, std::span<T> to) {
  std::copy(from.begin(), from.end(), to.begin());
}

std::int64_t sum_of(std::span<const std::int64_t> counts) {
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) sum += count;
  return sum;
}

class SortStep : public Step {
 public:
  SortStep(Execution& run, const Op& decoded, const Op& planned, int at)
      : Step(decoded, at),
        scalar_(run.module.type(decoded.operands.at(0)).element.plane_scalar(0)),
        rounds_(sort_plan(run.plan, planned, 0).rounds) {
    for (const Part& part : run.parts) {
      PartSort& made = parts_.emplace_back();
      made.plan = sort_plan(run.plan, planned, part.worker);
      made.at = sort_areas(made.plan);
    }
  }

  [[nodiscard]] std::int64_t packing_bytes(int part) const override {
    return parts_[static_cast<std::size_t>(part)].at.total;
  }

  // All ranks have as many exchanges, whatever their parts have to sort.
  void run(Execution& run) override {
    if (rounds_ == 0) return;
    for (int p = 0; p < run.part_count(); ++p) {
      parts_[static_cast<std::size_t>(p)].base = run.packing(p);
      begin(run, p);
    }
    for (int round = 0; round < rounds_; ++round) agree(run);
    count_pieces(run);
    move(run);
    for (int p = 0; p < run.part_count(); ++p) end(run, p);
  }

 private:
  // Calls visit(part) for each part that has something to sort.
  template <class Visit>
  void for_parts(const Visit& visit) {
    for (PartSort& part : parts_) {
      if (part.takes_part()) visit(part);
    }
  }

  void send(Execution& run, const PartSort& from, std::size_t to, std::byte* data, std::int64_t bytes) {
    if (to == from.plan.own || bytes == 0) return;
    sends_.push_back({worker(from), from.plan.group[to].worker, data, bytes});
    run.charge(number, bytes);
  }
  void take(const PartSort& to, std::size_t from, std::byte* data, std::int64_t bytes) {
    if (from == to.plan.own || bytes == 0) return;
    receives_.push_back({to.plan.group[from].worker, worker(to), data, bytes});
  }
  static int worker(const PartSort& part) { return part.plan.group[part.plan.own].worker; }

  void exchange(Execution& run) {
    run.transport.finish(run.start(*this, sends_, receives_));
    sends_.clear();
    receives_.clear();
  }

  void begin(Execution& run, int p) {
    PartSort& part = parts_[static_cast<std::size_t>(p)];
    if (!part.takes_part()) return;
    const SortPlan& plan = part.plan;
    SortedLines lines{plan.lines, plan.count(), plan.inner, part.base + part.at.keys, nullptr};
    if (plan.place_bytes > 0) lines.places = part.places(part.at.places);
    sort_lines(scalar_, run.storage.view(op.operands[0], p).data, lines);
    for (std::size_t i = 1; i < part.members(); ++i) {
      fill(part.bounds(i), SplitBounds{0, plan.count()});
      if (plan.own > 0) fill(part.bounds_in(i), SplitBounds{0, plan.group[i].count});
    }
    if (plan.own > 0) fill(part.bounds_in(0), SplitBounds{0, plan.group[0].count});
  }

  // A round: each splitter's owner sees samples of all, and tells them closer bounds.
  void agree(Execution& run) {
    for_parts([&](PartSort& part) {
      for (std::size_t i = 1; i < part.members(); ++i) {
        std::byte* const to = i == part.plan.own ? part.samples_of(i) : part.samples_for(i - 1);
        take_samples(scalar_, part.base + part.at.keys, part.plan.count(), part.bounds(i),
                     part.plan.group[part.plan.own].samples(), to);
        send(run, part, i, to, part.plan.sample_bytes(part.plan.own));
        if (part.plan.own > 0) take(part, i, part.samples_of(i), part.plan.sample_bytes(i));
      }
      if (part.plan.own > 0) take(part, 0, part.samples_of(0), part.plan.sample_bytes(0));
    });
    exchange(run);
    for_parts([&](PartSort& part) {
      if (part.plan.own > 0) narrow_own(part);
      for (std::size_t i = 0; i < part.members(); ++i) {
        if (part.plan.own > 0) {
          send(run, part, i, reinterpret_cast<std::byte*>(part.bounds_in(i).data()), part.plan.bounds_bytes(i));
        }
        if (i > 0) {
          take(part, i, reinterpret_cast<std::byte*>(part.bounds(i).data()), part.plan.bounds_bytes(part.plan.own));
        }
      }
    });
    exchange(run);
  }

  void narrow_own(const PartSort& part) const {
    const SortPlan& plan = part.plan;
    std::vector<ShownSamples> shown;
    for (std::size_t i = 0; i < part.members(); ++i) {
      shown.push_back({part.samples_of(i), plan.group[i].samples(), part.bounds_in(i).data()});
    }
    narrow(scalar_, shown, plan.lines, plan.group[plan.own].first);
    copy<SplitBounds>(part.bounds_in(plan.own), part.bounds(plan.own));
  }

  // Each member learns how many elements come to it.
  void count_pieces(Execution& run) {
    for_parts([&](PartSort& part) {
      const auto lines = static_cast<std::size_t>(part.plan.lines);
      for (std::size_t i = 0; i < part.members(); ++i) {
        for (std::size_t line = 0; line < lines; ++line) {
          if (i > 0 && part.plan.count() > 0 && part.bounds(i)[line].open() != 0) {
            throw InternalError("a sort whose workers do not agree");
          }
          part.sent(i)[line] = part.end(i, line) - part.begin(i, line);
        }
        send(run, part, i, reinterpret_cast<std::byte*>(part.sent(i).data()), part.plan.count_bytes(part.plan.own));
        fill(part.taken(i), std::int64_t{0});
        take(part, i, reinterpret_cast<std::byte*>(part.taken(i).data()), part.plan.count_bytes(i));
      }
      copy<std::int64_t>(part.sent(part.plan.own), part.taken(part.plan.own));
    });
    exchange(run);
  }

  // The pieces of several lines for one member are brought together first.
  void pack(const PartSort& part) const {
    std::byte* keys = part.base + part.at.keys_sent;
    PackedPlace* places = part.places(part.at.places_sent);
    const std::int64_t count = part.plan.count(), size = part.plan.key_bytes;
    for (std::size_t i = 0; i < part.members(); ++i) {
      for (std::size_t line = 0; line < static_cast<std::size_t>(part.plan.lines); ++line) {
        const std::int64_t first = static_cast<std::int64_t>(line) * count + part.begin(i, line);
        const std::int64_t some = part.sent(i)[line];
        keys = std::copy_n(part.base + part.at.keys + first * size, some * size, keys);
        if (part.plan.place_bytes > 0) places = std::copy_n(part.places(part.at.places) + first, some, places);
      }
    }
  }

  void move(Execution& run) {
    const Traffic before = run.traffic();
    for_parts([&](PartSort& part) {
      if (part.plan.lines > 1) pack(part);
      const bool packed = part.plan.lines > 1;
      std::byte* keys = part.base + (packed ? part.at.keys_sent : part.at.keys);
      std::byte* places = part.base + (packed ? part.at.places_sent : part.at.places);
      std::byte *keys_taken = part.base + part.at.keys_taken, *places_taken = part.base + part.at.places_taken;
      for (std::size_t i = 0; i < part.members(); ++i) {
        const std::int64_t sent = sum_of(part.sent(i)), taken = sum_of(part.taken(i));
        const std::int64_t key = part.plan.key_bytes, place = part.plan.place_bytes;
        send(run, part, i, keys, sent * key);
        send(run, part, i, places, sent * place);
        take(part, i, keys_taken, taken * key);
        take(part, i, places_taken, taken * place);
        if (i == part.plan.own) part.own = {keys, reinterpret_cast<const PackedPlace*>(places), 0, {}};
        if (i != part.plan.own) run.count(number).moved_elements += sent;
        keys += sent * key, places += sent * place;
        keys_taken += taken * key, places_taken += taken * place;
      }
    });
    exchange(run);
    const Traffic moved = run.traffic() - before;
    run.count(number).moved_rank_bytes += moved.rank_bytes;
    run.count(number).moved_rank_messages += moved.rank_messages;
    run.count(number).moved_node_bytes += moved.node_bytes;
  }

  void end(Execution& run, int p) {
    const PartSort& part = parts_[static_cast<std::size_t>(p)];
    if (!part.takes_part()) return;
    const SortPlan& plan = part.plan;
    std::byte* keys = part.base + part.at.keys_taken;
    const PackedPlace* places = part.places(part.at.places_taken);
    std::vector<SortedPiece> pieces;
    for (std::size_t i = 0; i < part.members(); ++i) {
      SortedPiece piece = i == plan.own ? part.own : SortedPiece{keys, places, 0, {}};
      if (plan.place_bytes == 0) piece.places = nullptr;
      piece.first = plan.group[i].first;
      piece.counts = part.taken(i);
      pieces.push_back(piece);
      const std::int64_t taken = sum_of(part.taken(i));
      keys += taken * plan.key_bytes;
      if (plan.place_bytes > 0) places += taken;
    }
    merge_lines(scalar_, pieces, plan.lines, plan.inner, run.storage.view(op.results[0], p).data);
  }

  const Scalar scalar_;
  const int rounds_;
  std::vector<PartSort> parts_;
  std::vector<Message> sends_, receives_;
};

}  // namespace

std::unique_ptr<Step> make_sort_step(Execution& run, const Op& op, const Op& planned, int number) {
  return std::make_unique<SortStep>(run, op, planned, number);
}

}  // namespace kasen::executor
