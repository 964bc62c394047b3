// gather and scatter of large shareds, in slices (libcore/analysis/shared_batch.h).
#include "libcore/analysis/shared_batch.h"
#include "libcore/base/checked.h"
#include "libcore/run/executor_shareds.h"

namespace kasen::executor {
namespace {

// One round in which each worker exchanges slices with all others. Every plane of a slice is a payload of its own,
// which is sent from where it lies. A scatter receives slices in their places. A gather receives the contributions to
// its own slice in the packing area, but worker 0's in the slice's place: there the sum ends up.
class SlicedTransition : public SharedExchange {
 public:
  SlicedTransition(Execution& run, std::span<const Op> batch, int at)
      : SharedExchange(run, batch, at), first_worker_(run.transport.first_worker()) {}

  [[nodiscard]] std::int64_t packing_bytes(int part) const override {
    std::int64_t bytes = 0;
    for (const SharedMember& m : members_) bytes = checked_add(bytes, slots_bytes(m, part), "a message");
    return gather_ ? bytes : 0;
  }

  void start(Execution& run) override {
    copy_operands(run);
    if (gather_) set_own_apart(run);
    exchange(run);
  }

  void wait(Execution& run) override {
    run.transport.finish(ticket_);
    if (gather_) combine(run);
  }

 private:
  [[nodiscard]] Slice slice(const SharedMember& m, int worker) const { return slice_of(m.count, worker, workers_); }
  [[nodiscard]] std::int64_t slot_bytes(const SharedMember& m, int part) const {
    return storage_bytes(m.element, slice(m, first_worker_ + part).count());
  }
  [[nodiscard]] std::int64_t slots_bytes(const SharedMember& m, int part) const {
    return checked_mul(workers_ - 1, slot_bytes(m, part), "a message");
  }

  // The place of a worker's contribution to a part's slice of member k. Worker 0's is the slice itself.
  struct Contribution {
    View array;
    std::int64_t first = 0;
  };
  [[nodiscard]] Contribution contribution(Execution& run, size_t k, int part, int worker) const {
    const SharedMember& m = members_[k];
    const Slice own = slice(m, first_worker_ + part);
    if (worker == 0) return {run.storage.view(m.to, part), own.begin};
    std::int64_t at = (worker - 1) * slot_bytes(m, part);
    for (size_t before = 0; before < k; ++before) at += slots_bytes(members_[before], part);
    return {{run.packing(part) + at, own.count()}, 0};
  }

  // A part's own contribution makes room for that of worker 0.
  void set_own_apart(Execution& run) const {
    for (int p = 0; p < run.part_count(); ++p) {
      const int self = first_worker_ + p;
      for (size_t k = 0; k < members_.size() && self > 0; ++k) {
        const Contribution root = contribution(run, k, p, 0), own = contribution(run, k, p, self);
        for_each_plane(members_[k], [&](std::int64_t plane, std::int64_t size) {
          const std::byte* from = plane_at(members_[k], root, plane, size);
          std::copy_n(from, own.array.capacity * size, plane_at(members_[k], own, plane, size));
        });
      }
    }
  }

  template <class Visit>
  static void for_each_plane(const SharedMember& m, const Visit& visit) {
    for (std::int64_t p = 0; p < m.element.planes(); ++p) visit(p, scalar_bytes(m.element.plane_scalar(p)));
  }
  [[nodiscard]] static std::byte* plane_at(const SharedMember& m, const Contribution& c, std::int64_t plane,
                                           std::int64_t size) {
    return c.array.data + plane_offset(m.element, c.array.capacity, plane) + c.first * size;
  }

  void exchange(Execution& run) {
    sends_.clear();
    receives_.clear();
    for (int p = 0; p < run.part_count(); ++p) {
      for (int peer = 0; peer < workers_; ++peer) {
        if (peer != first_worker_ + p) add_messages(run, p, peer);
      }
    }
    ticket_ = run.start(*this, sends_, receives_);
  }

  // A gather sends the peer's slice of the part's array, and receives the part's own slice of the peer's. A scatter
  // sends the part's slice and receives the peer's.
  void add_messages(Execution& run, int part, int peer) {
    const int self = first_worker_ + part;
    for (size_t k = 0; k < members_.size(); ++k) {
      const SharedMember& m = members_[k];
      const View& array = run.storage.view(m.to, part);
      const Slice own = slice(m, self), others = slice(m, peer);
      const Contribution out = {array, gather_ ? others.begin : own.begin};
      const Contribution in = gather_ ? contribution(run, k, part, peer) : Contribution{array, others.begin};
      for_each_plane(m, [&](std::int64_t plane, std::int64_t size) {
        const std::int64_t sent = (gather_ ? others : own).count() * size;
        sends_.push_back({self, peer, plane_at(m, out, plane, size), sent});
        receives_.push_back({peer, self, plane_at(m, in, plane, size), (gather_ ? own : others).count() * size});
        charge(run, k, sent);
      });
    }
  }

  // In the order of the tree: workers w that are multiples of 2 * step meet w + step.
  void combine(Execution& run) const {
    for (int p = 0; p < run.part_count(); ++p) {
      for (size_t k = 0; k < members_.size(); ++k) {
        const std::int64_t count = slice(members_[k], first_worker_ + p).count();
        if (count == 0) continue;
        const FnId reducer = run.module.type(members_[k].from).state.reducer;
        for (int step = 1; step < workers_; step *= 2) {
          for (int w = 0; w + step < workers_; w += 2 * step) {
            const Contribution into = contribution(run, k, p, w), with = contribution(run, k, p, w + step);
            const Mirrored list{into.array, ElementList::run(into.first, count), with.array, with.first, false};
            run.kernels.combine(reducer, {&list, 1});
          }
        }
      }
    }
  }

  const int first_worker_;
};

}  // namespace

std::unique_ptr<Step> make_sliced_step(Execution& run, std::span<const Op> batch, int number) {
  return std::make_unique<SlicedTransition>(run, batch, number);
}

}  // namespace kasen::executor
