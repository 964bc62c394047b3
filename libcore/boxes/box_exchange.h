/// \file
/// What each worker sends and receives in a gather, scatter or relayout of an array whose layout the plan names, and in
/// a scan along a dimension that is cut. The executor and the cost model both read it.
///
/// gather: each worker sends its contributions to their owners. scatter: each owner sends its elements to all that hold
/// copies of them. relayout: each owner sends its elements to their new owners; a worker that holds a copy of all that
/// it will own receives nothing. Every pair of workers with elements has one message for each operand.
///
/// A relayout that rearranges (libcore/ir/axis_ops.h) is the same: elements go to the owners of their places in the
/// result (libcore/boxes/moved_elements.h). Of a pick these follow from its mask, which all workers have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/axis/axis.h"
#include "libcore/data/place_list.h"
#include "libcore/ir/module.h"

namespace kasen {

/// Elements that a worker sends to another one, or receives from it. They are sent from where they are, or received
/// there, if they have one plane and are contiguous. All others take a place in the packing area, and so do
/// contributions that are received.
struct BoxPiece {
  int peer = 0;
  std::size_t operand = 0;  ///< a concatenation has several
  PlaceList places;
  std::int64_t bytes = 0;
  bool in_place = false;
  std::int64_t at = 0;  ///< in the packing area, bytes
};

/// Elements that a worker has and needs itself, and their places.
struct OwnElements {
  std::size_t operand = 0;
  PlaceList sources, targets;
};

/// The exchange as one worker sees it. Places are those of its own memory. A scatter sends from its result, where its
/// own elements are moved first; all others send from their operand.
struct BoxExchange {
  std::vector<BoxPiece> sends, receives;  ///< by ascending peer, then operand
  std::int64_t own = 0;                   ///< the elements that the worker has and needs itself
  std::vector<OwnElements> own_moves;     ///< those that are not in their places already
  bool own_packed = false;                ///< they move within one array, through the beginning of the packing area
  std::int64_t packing = 0;               ///< bytes
};

/// `module` has sizes and a mesh (libcore/analysis/boxes.h), and `op` is of it. `picked`: of a relayout that picks, the
/// ascending indices at which its mask is true.
[[nodiscard]] BoxExchange box_exchange(const Module& module, const Op& op, int worker,
                                       std::span<const std::int64_t> picked = {});

/// The most bytes of the packing area for a relayout that picks, whatever its mask.
[[nodiscard]] std::int64_t pick_packing(const Module& module, const Op& op, int worker);

/// A scan whose lines are cut (carried_axes), as one worker sees it. The workers with parts of one line stand in the
/// order of these. Each gets one element a line from the worker before it, combines it with its own part's last one,
/// and sends that on: the first to the second in round 0, and so on. The packing area has the elements that it gets,
/// those that it sends, and, if they have several planes, the message.
struct CarryExchange {
  std::int64_t place = 0, places = 1;  ///< of the worker, and of all: there are places - 1 rounds
  int before = -1, behind = -1;        ///< the workers next to it; -1: none
  AxisLines lines;                     ///< its parts of lines; none where it does not have the result
  std::int64_t bytes = 0;              ///< of a message
  std::int64_t own = 0;                ///< elements behind no others: they take nothing up
  std::int64_t sent_at = 0, message_at = 0, packing = 0;  ///< bytes
};
[[nodiscard]] CarryExchange carry_exchange(const Module& module, const Op& scan, int worker);

}  // namespace kasen
