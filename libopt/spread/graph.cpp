#include "libopt/spread/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen::spread {
namespace {

constexpr std::int64_t most_objects = 4 * most_vertices;
constexpr std::int64_t most_volume = std::int64_t{1} << 50;  // so that loads and their sums stay below 2^63

bool has_twice(std::vector<ObjectId> ids) {
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) != ids.end();
}

void keep_first(std::vector<ObjectId>& ids) {
  if (!has_twice(ids)) return;
  std::vector<ObjectId> once;
  for (const ObjectId id : ids)
    if (std::find(once.begin(), once.end(), id) == once.end()) once.push_back(id);
  ids = std::move(once);
}

}  // namespace

void Graph::require_room(std::int64_t operators) {
  operators_ += operators;
  if (operators_ <= most_vertices && std::ssize(objects_) < most_objects) return;
  fail(ExitStatus::limit, fmt::format("more than {} block operators", most_vertices),
       "the search places each of them by itself", "cut the arrays in fewer blocks");
}

void Graph::count_volume(std::int64_t elements, std::int64_t times) {
  volume_ = checked_add(volume_, checked_mul(elements, times, "the elements of all blocks"));
  if (volume_ > most_volume) {
    fail(ExitStatus::limit, fmt::format("blocks of more than {} elements in all", most_volume),
         "loads are counted in 64 bits", "give smaller sizes");
  }
}

ObjectId Graph::add_object(std::string name, std::int64_t elements, WorkerId home) {
  require_room(0);
  if (elements < 1 || home < 0)
    fail(ExitStatus::bad_input, fmt::format("block {} of {} elements at worker {}", name, elements, int{home}),
         "a block has at least one element, and a worker", "check its shape and grid");
  count_volume(elements, 1);
  readers_.push_back({});
  return objects_.push_back({std::move(name), elements, home, {}});
}

ObjectId Graph::add_vertex(Vertex vertex, std::string name, std::int64_t elements) {
  const VertexId id = vertices_.end_id();
  vertex.output = objects_.end_id();
  objects_.push_back({std::move(name), elements, {}, id});
  readers_.push_back({});
  for (const ObjectId input : vertex.inputs) readers_.at(input).push_back(id);
  vertices_.push_back(std::move(vertex));
  return ObjectId(objects_.size() - 1);
}

ObjectId Graph::add_task(Kind kind, std::string name, std::vector<ObjectId> inputs, std::int64_t elements,
                         WorkerId owner) {
  require_room(1);
  if (elements < 1) {
    fail(ExitStatus::bad_input, fmt::format("block {} of {} elements", name, elements),
         "a block has at least one element", "check its shape and grid");
  }
  keep_first(inputs);
  count_volume(elements, 1);
  for (const ObjectId input : inputs) count_volume(objects_.at(input).elements, 1);
  first_partial_.push_back(partial_elements_.size());
  return add_vertex({kind, std::move(inputs), {}, owner, false}, std::move(name), elements);
}

ObjectId Graph::add_sum(std::string name, std::vector<ObjectId> terms, WorkerId owner) {
  if (terms.size() < 2 || has_twice(terms)) throw InternalError("a sum of fewer than two blocks, or of one twice");
  const auto additions = std::ssize(terms) - 1;
  require_room(additions);
  const std::int64_t elements = objects_.at(terms.front()).elements;
  for (const ObjectId term : terms)
    if (objects_.at(term).elements != elements) throw InternalError("a sum of blocks of different sizes");
  count_volume(elements, 3 * additions);  // two operands move at most, one block is made
  first_partial_.push_back(partial_elements_.size());
  partial_elements_.insert(partial_elements_.end(), static_cast<std::size_t>(additions - 1), elements);
  return add_vertex({Kind::sum, std::move(terms), {}, owner, false}, std::move(name), elements);
}

void Graph::pin(ObjectId made) {
  const VertexId maker = objects_.at(made).maker;
  if (maker < 0) return;
  if (vertices_[maker].owner < 0) throw InternalError("a block without a layout is pinned");
  vertices_[maker].pinned = true;
}

std::int64_t Graph::elements(ObjectId object) const {
  const auto id = static_cast<std::size_t>(int{object});
  return id < objects_.size() ? objects_[object].elements : partial_elements_.at(id - objects_.size());
}

ObjectId Graph::partial(VertexId sum, std::size_t addition) const {
  const Vertex& vertex = vertices_[sum];
  if (addition + 2 == vertex.inputs.size()) return vertex.output;
  return ObjectId(objects_.size() + first_partial_[sum] + addition);
}

}  // namespace kasen::spread
