/// \file
/// Where the blocks of a region lie, and what its workers send each other, round by round. The executor and the cost
/// model both read it.
///
/// A task needs blocks: of the region's operands, pieces of which lie with their owners, and those that other tasks
/// make. Before a round, each worker gets all that its tasks of the round need and that it does not have, and keeps it
/// while later tasks need it. So a block goes to a worker once. Behind the last round each block of a result goes to
/// the owners of its elements. Between two workers there is one message a round.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/blocks/tasks.h"
#include "libcore/data/place_list.h"

namespace kasen {

/// Elements of a block, and their places: in the box of an operand or a result, or in the block's own memory.
struct BlockPiece {
  int object = -1;
  int operand = -1, result = -1;  ///< of the region; neither: in the block's own memory
  PlaceList places;
};

struct BlockMessage {
  int peer = 0;
  std::vector<BlockPiece> pieces;  ///< one behind the other
  std::int64_t elements = 0, bytes = 0;
  std::int64_t at = 0;  ///< in the area, bytes
};

/// Elements that a worker moves between a box of its own and a block's memory.
struct OwnPiece {
  BlockPiece from, to;
};

struct BlockRound {
  std::vector<BlockMessage> sends, receives;  ///< by ascending peer
  std::vector<OwnPiece> own;
  std::vector<int> tasks;  ///< behind the moves; none in the last round, which hands results on
};

/// Where a worker has a block: in its area, or as the whole box of an operand or result.
struct ObjectPlace {
  enum class Kind : std::uint8_t { nowhere, area, operand, result };
  Kind kind = Kind::nowhere;
  int box = -1;         ///< the operand's or result's number
  std::int64_t at = 0;  ///< in the area, bytes
};

/// A region as one worker sees it.
struct WorkerBlocks {
  std::vector<BlockRound> rounds;   ///< BlockTasks::rounds and one more
  std::vector<ObjectPlace> places;  ///< by object
  std::int64_t area = 0;            ///< bytes, messages among them
  std::int64_t blocks = 0;          ///< bytes of the area that are blocks: the most at a time
};

class BlockMoves {
 public:
  /// `module` has sizes and a mesh, `region` is of it and placed. Both must stay.
  BlockMoves(const Module& module, const Op& region);

  [[nodiscard]] const BlockTasks& tasks() const { return tasks_; }
  [[nodiscard]] WorkerBlocks of(int worker) const;
  [[nodiscard]] const Type& type_of(int object) const;

 private:
  struct Owner {
    int worker = 0;
    Elements some;
  };
  struct Use {
    int worker = 0;
    int first = 0, last = 0;  // rounds
  };

  void find_owners();
  void find_uses();
  [[nodiscard]] const Use* use_by(int object, int worker) const;
  [[nodiscard]] bool holds(int object, int worker) const;
  [[nodiscard]] bool is_box(int object, int worker) const;
  [[nodiscard]] int direct_result(int object, int worker) const;
  void place(int worker, WorkerBlocks& made) const;
  void add_argument(int object, int worker, WorkerBlocks& made) const;
  void add_made(int object, int worker, WorkerBlocks& made) const;
  void hand_on(std::size_t result, std::size_t block, int worker, WorkerBlocks& made) const;
  void add_piece(std::vector<BlockMessage>& messages, int peer, BlockPiece piece) const;
  [[nodiscard]] BlockPiece in_block(int object, const Elements& some, const WorkerBlocks& made) const;

  const Module& m_;
  const Op& region_;
  const BlockTasks tasks_;
  const int workers_;
  std::vector<std::vector<Owner>> owners_;                // of each block of an operand
  std::vector<std::vector<Use>> uses_;                    // of each object, by ascending worker
  std::vector<std::vector<int>> handed_on_;               // of each object, the results whose block it is
  std::vector<std::vector<std::vector<Owner>>> targets_;  // of each block of each result
};

}  // namespace kasen
