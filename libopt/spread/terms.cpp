#include "libopt/spread/terms.h"

#include <algorithm>
#include <iterator>

namespace kasen::spread {
Terms::Terms(const State& state, VertexId sum, Pairing pairing) : state_(&state), sum_(sum), pairing_(pairing) {
  for (const ObjectId term : state.graph().vertices()[sum].inputs) add(term, next_++, Side::last);
}

void Terms::note(WorkerId worker) {
  const NodeId node = state_->cluster().node_of(worker);
  const auto here = nodes_.find(node);
  const std::size_t workers = here == nodes_.end() ? 0 : here->second.workers.size();
  const auto terms = workers == 0                              ? std::size_t{0}
                     : here->second.workers.count(worker) == 0 ? std::size_t{0}
                                                               : here->second.workers.at(worker).size();
  if (terms > 1)
    pairs_on_worker_.insert(worker);
  else
    pairs_on_worker_.erase(worker);
  if (workers > 1)
    pairs_on_node_.insert(node);
  else
    pairs_on_node_.erase(node);
}

void Terms::add(ObjectId term, std::ptrdiff_t place, Side side) {
  const WorkerId worker = state_->made_at(term);
  first_.emplace(place, term);
  place_.emplace(term, place);
  std::vector<ObjectId>& here = nodes_[state_->cluster().node_of(worker)].workers[worker];
  here.insert(side == Side::first ? here.begin() : here.end(), term);
  note(worker);
}

void Terms::remove(ObjectId term) {
  const WorkerId worker = state_->made_at(term);
  const auto place = place_.find(term);
  first_.erase(place->second);
  place_.erase(place);
  const auto node = nodes_.find(state_->cluster().node_of(worker));
  const auto here = node->second.workers.find(worker);
  here->second.erase(std::find(here->second.begin(), here->second.end(), term));
  if (here->second.empty()) node->second.workers.erase(here);
  if (node->second.workers.empty()) nodes_.erase(node);
  note(worker);
}

std::vector<Pair> Terms::pairs(std::size_t most_paired) const {
  if (pairing_ == Pairing::in_order || is_last()) return {{first_.begin()->second, std::next(first_.begin())->second}};
  if (!pairs_on_worker_.empty()) {
    const WorkerId worker = *pairs_on_worker_.begin();
    const std::vector<ObjectId>& terms = nodes_.at(state_->cluster().node_of(worker)).workers.at(worker);
    return {{terms[0], terms[1]}};
  }
  if (!pairs_on_node_.empty()) {
    const auto& workers = nodes_.at(*pairs_on_node_.begin()).workers;
    return {{workers.begin()->second.front(), std::next(workers.begin())->second.front()}};
  }
  std::vector<Pair> all;
  std::size_t last = 0;
  for (auto right = first_.begin(); right != first_.end() && last < most_paired; ++right, ++last)
    for (auto left = first_.begin(); left != right; ++left) all.push_back({left->second, right->second});
  return all;
}

void Terms::join(const Pair& pair) {
  const ObjectId sum = result();
  const bool on_one_worker = state_->made_at(pair.left) == state_->made_at(pair.right);
  remove(pair.left);
  remove(pair.right);
  ++additions_;
  // A sum that grows by one contribution after another needs no memory for these (libcore/blocks/join_sums.h).
  add(sum, pairing_ == Pairing::in_order ? front_-- : next_++, on_one_worker ? Side::first : Side::last);
}

}  // namespace kasen::spread
