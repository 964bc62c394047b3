// A cut of a model while it is made and improved: the loads of its parts, and the parts that each net touches.
#pragma once

#include <cstdint>
#include <vector>

#include "libcomm/data/cut/model.h"

namespace kasen {

class CutState {
 public:
  // Begins with a whole cut, or with nothing: then every vertex has owner -1.
  CutState(const CutModel& model, int parts, std::vector<std::int32_t> owner = {});

  [[nodiscard]] const std::vector<std::int32_t>& owner() const { return owner_; }
  [[nodiscard]] std::vector<std::int32_t> take() { return std::move(owner_); }
  [[nodiscard]] std::int64_t slaves() const;  // sum over nets of the parts that it touches, less one
  [[nodiscard]] bool balanced() const;        // no load of a part is over its limit

  // Puts each vertex, in their order, where its nets are already, less so the fuller a part is. This is linear
  // deterministic greedy (Stanton and Kliot, KDD 2012), here over nets and for several loads. Vertices without such a
  // part go to one part after another in runs.
  void stream();
  // Moves vertices out of parts that are over a limit, first those that cost least for their weight.
  void fix();
  // Visits every vertex at a border. It moves if that saves ghosts and no load goes over its limit. Returns the number
  // of ghosts saved.
  std::int64_t refine();

 private:
  struct Net {
    std::int64_t begin = 0;     // of its list of parts
    std::uint32_t touched = 0;  // parts in the list
  };
  struct Move {
    std::int32_t to = -1;
    std::int64_t gain = 0;  // ghosts saved
  };

  void place(std::int64_t v, std::int32_t part);  // from its owner, or from nowhere
  void join(std::uint32_t net, std::int32_t part);
  void leave(std::uint32_t net, std::int32_t part);
  void count_neighbours(std::int64_t v);  // fills near_ and seen_
  [[nodiscard]] bool fits(std::int64_t v, std::int32_t part) const;
  [[nodiscard]] double fullness(std::int32_t part) const;  // of its fullest load, 1 at the limit
  [[nodiscard]] bool lighter(std::int64_t v, std::int32_t from, std::int32_t to) const;
  [[nodiscard]] Move best_move(std::int64_t v);
  [[nodiscard]] double excess(std::size_t which, std::int32_t part, std::int64_t more) const;  // of the limit
  [[nodiscard]] double relief(std::int64_t v, std::int32_t to) const;
  [[nodiscard]] std::int32_t way_out(std::int64_t v);
  bool unload(const std::vector<std::int32_t>& members, std::int32_t part, std::size_t which);
  std::int64_t& load(std::size_t which, std::int32_t part) {
    return load_[which * static_cast<std::size_t>(parts_) + static_cast<std::size_t>(part)];
  }
  [[nodiscard]] std::int64_t load(std::size_t which, std::int32_t part) const {
    return load_[which * static_cast<std::size_t>(parts_) + static_cast<std::size_t>(part)];
  }

  const CutModel& model_;
  int parts_;
  std::vector<std::int32_t> owner_;
  std::vector<std::int64_t> load_, total_, limit_;
  std::vector<Net> nets_;
  std::vector<std::int32_t> part_;  // by position in a net's list: a part, and the number of its vertices in the net
  std::vector<std::uint32_t> count_;
  std::vector<std::uint32_t> near_;  // by part: nets of the current vertex that touch it
  std::vector<std::int32_t> seen_;   // the parts whose near_ is not 0
  std::int64_t alone_ = 0;           // nets of the current vertex in which it is its part's only vertex
  std::int64_t counted_ = 0;         // nets that were counted
};

}  // namespace kasen
