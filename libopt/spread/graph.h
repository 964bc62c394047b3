// A graph of block operators (NumS, section 4: GraphArray). It knows elements alone: objects are blocks, vertices are
// what runs on one worker. arrays.h makes such a graph of operators of whole arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libopt/spread/cluster.h"

namespace kasen::spread {

using ObjectId = Id<struct ObjectTag>;  // index in Graph::objects; behind them are the partial sums
using VertexId = Id<struct VertexTag>;  // index in Graph::vertices

inline constexpr std::int64_t most_vertices = 20'000;  // block operators: a sum of n terms is n - 1 of them

struct Object {
  std::string name;  // "X[3,0]"
  std::int64_t elements = 0;
  WorkerId home;   // where it lies in the beginning; none: a vertex makes it
  VertexId maker;  // none: it is there in the beginning
};

enum class Kind {
  unary,        // of one block: a function, or a reduction within it
  elementwise,  // of blocks that lie alike
  product,      // of blocks that may lie anywhere
  sum,          // of n blocks of one size: the planner chooses n - 1 additions of two
};

struct Vertex {
  Kind kind = Kind::unary;
  std::vector<ObjectId> inputs;  // each once; of a sum in the order of its terms
  ObjectId output;
  WorkerId owner;       // where the layout puts its output; none: it has no layout
  bool pinned = false;  // its last operator runs at its owner (item 18: that of each output of an expression)
};

class Graph {
 public:
  // Throws UserError(bad_input) for a size that none can have, UserError(limit) for too many vertices or elements.
  ObjectId add_object(std::string name, std::int64_t elements, WorkerId home);
  // Returns what it makes. An input that stands twice counts once.
  ObjectId add_task(Kind kind, std::string name, std::vector<ObjectId> inputs, std::int64_t elements, WorkerId owner);
  ObjectId add_sum(std::string name, std::vector<ObjectId> terms, WorkerId owner);
  void pin(ObjectId made);  // nothing to do if it is there in the beginning

  [[nodiscard]] const IdMap<ObjectId, Object>& objects() const { return objects_; }
  [[nodiscard]] const IdMap<VertexId, Vertex>& vertices() const { return vertices_; }
  [[nodiscard]] const std::vector<VertexId>& readers(ObjectId object) const { return readers_[object]; }
  [[nodiscard]] std::int64_t operators() const { return operators_; }
  [[nodiscard]] std::int64_t elements(ObjectId object) const;  // also of partial sums

  // Partial sums: addition number i of a sum makes this; the last one makes its output.
  [[nodiscard]] ObjectId partial(VertexId sum, std::size_t addition) const;
  [[nodiscard]] std::size_t objects_and_partials() const { return objects_.size() + partial_elements_.size(); }

 private:
  void require_room(std::int64_t operators);
  void count_volume(std::int64_t elements, std::int64_t times);
  ObjectId add_vertex(Vertex vertex, std::string name, std::int64_t elements);

  IdMap<ObjectId, Object> objects_;
  IdMap<VertexId, Vertex> vertices_;
  IdMap<ObjectId, std::vector<VertexId>> readers_;
  IdMap<VertexId, std::size_t> first_partial_;
  std::vector<std::int64_t> partial_elements_;
  std::int64_t operators_ = 0;
  std::int64_t volume_ = 0;  // elements that all plans together could move and make: no load is more
};

}  // namespace kasen::spread
