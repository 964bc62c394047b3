#include "libcore/blocks/block_moves.h"

#include <algorithm>
#include <map>

#include "libcore/base/checked.h"
#include "libcore/blocks/block_room.h"
#include "libcore/blocks/join_sums.h"
#include "libcore/data/data.h"

namespace kasen {
namespace {

bool same(const Elements& a, const Elements& b) { return !a.none && !b.none && a.axes == b.axes; }

}  // namespace

BlockMoves::BlockMoves(const Module& module, const Op& region)
    : m_(module),
      region_(region),
      tasks_(with_joined_sums(block_tasks(module, region))),
      workers_(mesh_workers(module)) {
  find_uses();
  find_owners();
}

const Type& BlockMoves::type_of(int object) const {
  return m_.type(tasks_.objects[static_cast<std::size_t>(object)].value);
}

void BlockMoves::find_uses() {
  std::vector<std::map<int, Use>> uses(tasks_.objects.size());
  const auto add = [&](int object, int worker, int round) {
    const auto [it, fresh] = uses[static_cast<std::size_t>(object)].emplace(worker, Use{worker, round, round});
    if (fresh) return;
    it->second.first = std::min(it->second.first, round);
    it->second.last = std::max(it->second.last, round);
  };
  for (const BlockTask& task : tasks_.tasks) {
    add(task.makes, task.worker, task.round);
    for (const int read : task.reads) add(read, task.worker, task.round);
  }
  // A block that others need stays with its maker until they have it.
  for (std::size_t object = 0; object < uses.size(); ++object) {
    const int maker = tasks_.objects[object].worker;
    if (maker < 0) continue;
    Use& own = uses[object].at(maker);
    for (const auto& [worker, use] : uses[object]) own.last = std::max(own.last, use.first);
  }
  for (const std::vector<int>& blocks : tasks_.results) {
    for (const int object : blocks) {
      uses[static_cast<std::size_t>(object)].at(tasks_.objects[static_cast<std::size_t>(object)].worker).last =
          tasks_.rounds;
    }
  }
  handed_on_.resize(uses.size());
  for (std::size_t r = 0; r < tasks_.results.size(); ++r) {
    for (const int object : tasks_.results[r]) {
      handed_on_[static_cast<std::size_t>(object)].push_back(static_cast<int>(r));
    }
  }
  for (const auto& of : uses) {
    std::vector<Use>& list = uses_.emplace_back();
    for (const auto& [worker, use] : of) list.push_back(use);
  }
}

void BlockMoves::find_owners() {
  const auto owners_of = [&](const Type& type, const Elements& block, const std::vector<Elements>& owned) {
    std::vector<Owner> found;
    for (int worker = 0; worker < workers_; ++worker) {
      Elements some = intersection(owned[static_cast<std::size_t>(worker)], block);
      if (some.count() > 0) found.push_back({worker, std::move(some)});
      if (type.dims.empty() && !found.empty()) break;
    }
    return found;
  };
  const auto owned_by_all = [&](const Type& type) {
    std::vector<Elements> owned;
    for (int worker = 0; worker < workers_; ++worker) owned.push_back(owned_elements(m_, type, worker));
    return owned;
  };
  std::vector<std::vector<Elements>> of_operands;
  for (const ValueId v : region_.operands) of_operands.push_back(owned_by_all(m_.type(v)));
  for (const BlockObject& object : tasks_.objects) {
    std::vector<Owner>& owners = owners_.emplace_back();
    if (object.argument < 0) continue;
    const auto argument = static_cast<std::size_t>(object.argument);
    owners = owners_of(m_.type(region_.operands[argument]), object.elements, of_operands[argument]);
  }
  for (std::size_t r = 0; r < region_.results.size(); ++r) {
    const Type& type = m_.type(region_.results[r]);
    const std::vector<Elements> owned = owned_by_all(type);
    std::vector<std::vector<Owner>>& targets = targets_.emplace_back();
    for (const int object : tasks_.results[r]) {
      targets.push_back(owners_of(type, tasks_.objects[static_cast<std::size_t>(object)].elements, owned));
    }
  }
}

const BlockMoves::Use* BlockMoves::use_by(int object, int worker) const {
  const std::vector<Use>& uses = uses_[static_cast<std::size_t>(object)];
  const auto found = std::lower_bound(uses.begin(), uses.end(), worker,
                                      [](const Use& use, int wanted) { return use.worker < wanted; });
  return found == uses.end() || found->worker != worker ? nullptr : &*found;
}

// A worker that stores all of an operand's block has it from itself.
bool BlockMoves::holds(int object, int worker) const {
  const BlockObject& block = tasks_.objects[static_cast<std::size_t>(object)];
  const Type& type = m_.type(region_.operands[static_cast<std::size_t>(block.argument)]);
  return intersection(stored_elements(m_, type, worker), block.elements).count() == block.elements.count();
}

bool BlockMoves::is_box(int object, int worker) const {
  const BlockObject& block = tasks_.objects[static_cast<std::size_t>(object)];
  const Type& type = m_.type(region_.operands[static_cast<std::size_t>(block.argument)]);
  return same(stored_elements(m_, type, worker), block.elements);
}

// The first result of which the block is all that its maker owns.
int BlockMoves::direct_result(int object, int worker) const {
  const BlockObject& block = tasks_.objects[static_cast<std::size_t>(object)];
  if (block.worker != worker) return -1;
  for (const int result : handed_on_[static_cast<std::size_t>(object)]) {
    const Type& type = m_.type(region_.results[static_cast<std::size_t>(result)]);
    if (same(owned_elements(m_, type, worker), block.elements)) return result;
  }
  return -1;
}

void BlockMoves::place(int worker, WorkerBlocks& made) const {
  made.places.resize(tasks_.objects.size());
  std::vector<BlockRoom::Stay> stays;
  std::vector<int> objects;
  for (int object = 0; object < static_cast<int>(tasks_.objects.size()); ++object) {
    const Use* const use = use_by(object, worker);
    if (use == nullptr) continue;
    ObjectPlace& place = made.places[static_cast<std::size_t>(object)];
    const BlockObject& block = tasks_.objects[static_cast<std::size_t>(object)];
    if (block.argument >= 0 && is_box(object, worker)) {
      place = {ObjectPlace::Kind::operand, block.argument, 0};
      continue;
    }
    if (const int result = block.argument >= 0 ? -1 : direct_result(object, worker); result >= 0) {
      place = {ObjectPlace::Kind::result, result, 0};
      continue;
    }
    place.kind = ObjectPlace::Kind::area;
    stays.push_back({use->first, use->last, storage_bytes(type_of(object).element, block.elements.count())});
    objects.push_back(object);
  }
  const BlockRoom room(stays, tasks_.rounds + 1);
  for (std::size_t i = 0; i < objects.size(); ++i) made.places[static_cast<std::size_t>(objects[i])].at = room.at(i);
  made.blocks = room.bytes();
}

BlockPiece BlockMoves::in_block(int object, const Elements& some, const WorkerBlocks& made) const {
  BlockPiece piece;
  piece.object = object;
  const ObjectPlace& place = made.places[static_cast<std::size_t>(object)];
  if (place.kind == ObjectPlace::Kind::operand) piece.operand = place.box;
  if (place.kind == ObjectPlace::Kind::result) piece.result = place.box;
  piece.places = places_in(some, tasks_.objects[static_cast<std::size_t>(object)].elements);
  return piece;
}

void BlockMoves::add_piece(std::vector<BlockMessage>& messages, int peer, BlockPiece piece) const {
  if (piece.places.size() == 0) return;
  auto it = std::find_if(messages.begin(), messages.end(), [&](const BlockMessage& m) { return m.peer == peer; });
  if (it == messages.end()) {
    it = messages.insert(
        std::find_if(messages.begin(), messages.end(), [&](const BlockMessage& m) { return m.peer > peer; }),
        BlockMessage{});
    it->peer = peer;
  }
  const std::int64_t count = piece.places.size();
  it->elements = checked_add(it->elements, count, "a message");
  it->bytes =
      checked_add(it->bytes, checked_mul(count, type_of(piece.object).element.bytes(), "a message"), "a message");
  it->pieces.push_back(std::move(piece));
}

void BlockMoves::add_argument(int object, int worker, WorkerBlocks& made) const {
  const BlockObject& block = tasks_.objects[static_cast<std::size_t>(object)];
  const Type& type = m_.type(region_.operands[static_cast<std::size_t>(block.argument)]);
  const auto in_operand = [&](const Elements& some) {
    return BlockPiece{object, block.argument, -1, places_in(some, stored_elements(m_, type, worker))};
  };
  if (const Use* const use = use_by(object, worker); use != nullptr && !is_box(object, worker)) {
    BlockRound& round = made.rounds[static_cast<std::size_t>(use->first)];
    if (holds(object, worker)) {
      round.own.push_back({in_operand(block.elements), in_block(object, block.elements, made)});
    } else {
      for (const Owner& owner : owners_[static_cast<std::size_t>(object)]) {
        if (owner.worker == worker) {
          round.own.push_back({in_operand(owner.some), in_block(object, owner.some, made)});
        } else {
          add_piece(round.receives, owner.worker, in_block(object, owner.some, made));
        }
      }
    }
  }
  for (const Owner& owner : owners_[static_cast<std::size_t>(object)]) {
    if (owner.worker != worker) continue;
    for (const Use& use : uses_[static_cast<std::size_t>(object)]) {
      if (use.worker == worker || holds(object, use.worker)) continue;
      add_piece(made.rounds[static_cast<std::size_t>(use.first)].sends, use.worker, in_operand(owner.some));
    }
  }
}

void BlockMoves::add_made(int object, int worker, WorkerBlocks& made) const {
  const BlockObject& block = tasks_.objects[static_cast<std::size_t>(object)];
  for (const Use& use : uses_[static_cast<std::size_t>(object)]) {
    if (use.worker == block.worker) continue;
    BlockRound& round = made.rounds[static_cast<std::size_t>(use.first)];
    if (block.worker == worker) add_piece(round.sends, use.worker, in_block(object, block.elements, made));
    if (use.worker == worker) add_piece(round.receives, block.worker, in_block(object, block.elements, made));
  }
}

// A block of a result goes to the owners of its elements.
void BlockMoves::hand_on(std::size_t result, std::size_t block, int worker, WorkerBlocks& made) const {
  const int object = tasks_.results[result][block];
  const int maker = tasks_.objects[static_cast<std::size_t>(object)].worker;
  const Type& type = m_.type(region_.results[result]);
  BlockRound& round = made.rounds.back();
  for (const Owner& target : targets_[result][block]) {
    const auto in_result = [&] {
      return BlockPiece{object, -1, static_cast<int>(result),
                        places_in(target.some, owned_elements(m_, type, target.worker))};
    };
    if (target.worker == worker && maker == worker) {
      const ObjectPlace& place = made.places[static_cast<std::size_t>(object)];
      if (place.kind == ObjectPlace::Kind::result && place.box == static_cast<int>(result)) continue;
      round.own.push_back({in_block(object, target.some, made), in_result()});
    } else if (maker == worker) {
      add_piece(round.sends, target.worker, in_block(object, target.some, made));
    } else if (target.worker == worker) {
      add_piece(round.receives, maker, in_result());
    }
  }
}

WorkerBlocks BlockMoves::of(int worker) const {
  WorkerBlocks made;
  made.rounds.resize(static_cast<std::size_t>(tasks_.rounds) + 1);
  place(worker, made);
  for (int object = 0; object < static_cast<int>(tasks_.objects.size()); ++object) {
    if (tasks_.objects[static_cast<std::size_t>(object)].argument >= 0) {
      add_argument(object, worker, made);
    } else {
      add_made(object, worker, made);
    }
  }
  for (std::size_t r = 0; r < tasks_.results.size(); ++r) {
    for (std::size_t block = 0; block < tasks_.results[r].size(); ++block) hand_on(r, block, worker, made);
  }
  for (std::size_t t = 0; t < tasks_.tasks.size(); ++t) {
    if (tasks_.tasks[t].worker != worker) continue;
    made.rounds[static_cast<std::size_t>(tasks_.tasks[t].round)].tasks.push_back(static_cast<int>(t));
  }
  made.area = made.blocks;
  for (BlockRound& round : made.rounds) {
    std::int64_t at = made.blocks;
    for (std::vector<BlockMessage>* const messages : {&round.sends, &round.receives}) {
      for (BlockMessage& message : *messages) {
        message.at = at;
        at = checked_add(at, BlockRoom::rounded(message.bytes), "a region's memory");
      }
    }
    made.area = std::max(made.area, at);
  }
  return made;
}

}  // namespace kasen
