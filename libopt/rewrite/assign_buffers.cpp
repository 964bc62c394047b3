#include "libopt/rewrite/assign_buffers.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "libcore/analysis/liveness.h"
#include "libcore/ir/module.h"
#include "libcore/ir/regions.h"
#include "libcore/ir/tiers.h"
#include "libopt/rewrite/lifetimes.h"
#include "libopt/rewrite/read_stored.h"
#include "libopt/rewrite/webs.h"

namespace kasen {
namespace {

class Assignment {
 public:
  Assignment(Module& module, BufferChoice choice) : m_(module), choice_(choice) {}

  void run() {
    read_stored(m_);
    on_disk_ = values_on_disk(m_);
    find_stores();
    m_.level = 3;
    // A view has no buffer, and buffers may decide whether a list moves under it. The loop ends when the two agree.
    for (int round = 0; round < 4; ++round) {
      const Liveness live(m_);
      assign(live);
      gather_in_place();
      level_sizes();
      if (same_views(live, Liveness(m_))) return;
    }
    throw InternalError("views and buffers do not agree");
  }

 private:
  void assign(const Liveness& live) {
    m_.buffers.clear();
    for (Value& value : m_.values) value.buffer = no_buffer;
    const Lifetimes lives(m_, live);
    const Webs webs(m_, lives, on_disk_);
    const WebLinks links(m_, live, webs);
    std::vector<Room> rooms = first_fit(lives, webs, links);
    if (choice_ == BufferChoice::away_from_stores) keep_from_stores(lives, webs, links, rooms);
    for (const Room& room : rooms) {
      const ValueId any = webs.members(room.front()).front();
      const BufferId first = declare(m_.type(any), on_disk_[any]);
      for (const int web : room) {
        for (const ValueId member : webs.members(web)) give(member, first);
      }
    }
  }

  using Room = std::vector<int>;  // webs that share a buffer; a list's have many

  // Calls place(v, web) for each web, in the order in which their first values are made.
  static void for_each_web(const Lifetimes& lives, const Webs& webs, const std::function<void(ValueId, int)>& place) {
    std::set<int> known;
    for (const ValueId v : lives.owners()) {
      if (known.insert(webs.of(v)).second) place(v, webs.of(v));
    }
  }

  std::vector<Room> first_fit(const Lifetimes& lives, const Webs& webs, const WebLinks& links) const {
    std::vector<Room> rooms;
    for_each_web(lives, webs, [&](ValueId, int web) {
      size_t room = 0;
      while (room < rooms.size() && !fits(webs, links, rooms[room], web)) ++room;
      if (room == rooms.size()) rooms.emplace_back();
      rooms[room].push_back(web);
    });
    return rooms;
  }

  // Who writes where an array is still being stored has to wait. So each web gets the room from which something is
  // stored the longest ago, of as many rooms as the first fit has.
  void keep_from_stores(const Lifetimes& lives, const Webs& webs, const WebLinks& links,
                        std::vector<Room>& rooms) const {
    std::vector<Room> made;
    const auto alike = [&](const std::vector<Room>& all, int web) {
      return std::count_if(all.begin(), all.end(), [&](const Room& room) {
        return webs.alike(webs.members(web).front(), webs.members(room.front()).front());
      });
    };
    for_each_web(lives, webs, [&](ValueId v, int web) {
      size_t best = made.size();
      int least = 0;
      for (size_t room = 0; room < made.size(); ++room) {
        if (!fits(webs, links, made[room], web)) continue;
        const int stored = stored_before(webs, made[room], made_[v]);
        if (best < made.size() && stored >= least) continue;
        best = room;
        least = stored;
      }
      if (best < made.size() && least >= 0 && alike(made, web) < alike(rooms, web)) best = made.size();
      if (best == made.size()) made.emplace_back();
      made[best].push_back(web);
    });
    const bool fewer = std::all_of(made.begin(), made.end(), [&](const Room& room) {
      return alike(made, room.front()) <= alike(rooms, room.front());
    });
    if (fewer) rooms = std::move(made);
  }

  // The number of the latest store from a room that stands before an operator; -1: none.
  int stored_before(const Webs& webs, const Room& room, int number) const {
    int latest = -1;
    for (const auto& [v, store] : stores_) {
      if (store < number && store > latest && std::find(room.begin(), room.end(), webs.of(v)) != room.end())
        latest = store;
    }
    return latest;
  }

  void find_stores() {
    made_ = IdMap<ValueId, int>(m_.values.size());
    for_each_op(m_, [&](const Op& op, int number, int) {
      for (const ValueId v : op.results) made_[v] = number;
      if (op.code == OpCode::store) stores_.emplace_back(op.operands[0], number);
    });
  }

  void gather_in_place() {
    for_each_op(m_, [&](const Op& op, int, int) {
      if (!is_epilogue(op)) return;
      const ValueId made = epilogue_product(op).results.at(0);
      m_.value(epilogue_gather(op).results.at(0)).buffer = m_.value(made).buffer;
    });
  }

  // Webs that bindings link need rooms of one size. Another web may enlarge a room that holds no linked web.
  bool fits(const Webs& webs, const WebLinks& links, const std::vector<int>& room, int web) const {
    const ValueId v = webs.members(web).front();
    if (!webs.alike(v, webs.members(room.front()).front())) return false;
    const auto same_size = [&](int other) {
      return (!links.linked(web) && !links.linked(other)) || links.holds(web) == links.holds(other) ||
             (links.linked(other) && !links.linked(web) && links.covers(other, web));
    };
    if (!std::all_of(room.begin(), room.end(), same_size)) return false;
    return std::none_of(room.begin(), room.end(), [&](int other) { return webs.meet(other, web); });
  }

  BufferId declare(const Type& type, bool on_disk) {
    const auto first = static_cast<BufferId>(m_.buffers.size());
    for (std::int64_t i = 0; i < std::max<std::int64_t>(type.list, 1); ++i) {
      m_.buffers.push_back({type.element, type.dims, {}, type.cuts, on_disk});
    }
    return first;
  }

  void give(ValueId v, BufferId buffer) {
    Value& value = m_.value(v);
    value.buffer = buffer;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(value.type.list, 1); ++i) {
      add_set(m_.buffers[BufferId(buffer + i)].holds, value.type.state.slaves);
    }
  }

  // ---- equal sizes, so that bindings may move

  void level_sizes() {
    for (bool changed = true; changed;) {
      changed = false;
      const Liveness live(m_);
      int number = 0;
      std::vector<Binding> copies;
      for_each_op(m_, [&](const Op&, int, int) {
        const OpLiveness& at = live.at(number++);
        for (const auto* group :
             {&at.entry, &at.back, &at.exit, &at.then_branch, &at.else_branch, &at.list, &at.element}) {
          for (const Binding& binding : *group) {
            if (binding.how == Handover::copy) copies.push_back(binding);
          }
        }
      });
      for (const Binding& binding : copies) changed = level(binding) || changed;
    }
  }

  bool level(const Binding& binding) {
    const Value& from = m_.value(binding.from);
    const Value& to = m_.value(binding.to);
    if (from.buffer == no_buffer || to.buffer == no_buffer) return false;
    const BufferDecl& a = m_.buffers[from.buffer];
    const BufferDecl& b = m_.buffers[to.buffer];
    if (a.element != b.element || a.dims != b.dims || a.cuts != b.cuts || a.holds == b.holds) return false;
    const IdMap<BufferId, BufferDecl> before = m_.buffers;
    std::vector<SlaveSet> joined = a.holds;
    for (const SlaveSet& set : b.holds) add_set(joined, set);
    for (const BufferId first : {from.buffer, to.buffer}) {
      for (BufferId i = first; i < first + count_of(first); ++i) m_.buffers[i].holds = joined;
    }
    if (moves(binding)) return true;
    m_.buffers = before;
    return false;
  }

  // Counts the buffers of the longest list that lives from `first` on.
  [[nodiscard]] int count_of(BufferId first) const {
    std::int64_t count = 1;
    for (const Value& value : m_.values) {
      if (value.buffer == first) count = std::max(count, value.type.list);
    }
    return static_cast<int>(count);
  }

  [[nodiscard]] bool moves(const Binding& wanted) const {
    const Liveness live(m_);
    bool found = false;
    for_each_op(m_, [&](const Op&, int number, int) {
      const OpLiveness& at = live.at(number);
      for (const auto* group :
           {&at.entry, &at.back, &at.exit, &at.then_branch, &at.else_branch, &at.list, &at.element}) {
        for (const Binding& b : *group) {
          found = found || (b.from == wanted.from && b.to == wanted.to && b.how == Handover::move);
        }
      }
    });
    return found;
  }

  bool same_views(const Liveness& before, const Liveness& after) const {
    for (size_t v = 0; v < m_.values.size(); ++v) {
      if (before.is_view(static_cast<ValueId>(v)) != after.is_view(static_cast<ValueId>(v))) return false;
    }
    return true;
  }

  Module& m_;
  const BufferChoice choice_;
  IdMap<ValueId, bool> on_disk_;
  IdMap<ValueId, int> made_;                     // the number of the operator that makes it
  std::vector<std::pair<ValueId, int>> stores_;  // of which value, and the number of the operator
};

}  // namespace

bool assign_buffers(Module& module, BufferChoice choice) {
  const IdMap<BufferId, BufferDecl> before = module.buffers;
  const int level = module.level;
  Assignment(module, choice).run();
  return level < 3 || module.buffers != before;
}

}  // namespace kasen
