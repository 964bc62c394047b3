#include "libcomm/data/cut/state.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kasen {
namespace {

// The load that parts may hold, relative to the mean. 1.10 is promised.
constexpr double balance_slack = 1.09;
// Nets that touch more parts say little about the best part of a vertex, and take long to read.
constexpr std::uint32_t most_parts = 256;

}  // namespace

CutState::CutState(const CutModel& model, int parts, std::vector<std::int32_t> owner)
    : model_(model),
      parts_(parts),
      owner_(static_cast<std::size_t>(model.vertices), -1),
      load_(model.loads() * static_cast<std::size_t>(parts)),
      near_(static_cast<std::size_t>(parts)) {
  for (std::size_t c = 0; c < model.loads(); ++c) {
    std::int64_t total = 0, heaviest = 0;
    for (std::int64_t v = 0; v < model.vertices; ++v) {
      total += model.weight(c, v);
      heaviest = std::max<std::int64_t>(heaviest, model.weight(c, v));
    }
    const double mean = static_cast<double>(total) / parts;
    total_.push_back(total);
    limit_.push_back(
        std::max({(total + parts - 1) / parts, heaviest, static_cast<std::int64_t>(balance_slack * mean)}));
  }
  std::int64_t places = 0;
  nets_.resize(model.pins.size());
  for (std::size_t net = 0; net < nets_.size(); ++net) {
    nets_[net].begin = places;
    places += std::min<std::int64_t>(model.pins[net], parts);
  }
  part_.resize(static_cast<std::size_t>(places));
  count_.resize(static_cast<std::size_t>(places));
  for (std::size_t v = 0; v < owner.size(); ++v) place(static_cast<std::int64_t>(v), owner[v]);
}

std::int64_t CutState::slaves() const {
  std::int64_t sum = 0;
  for (const Net& net : nets_) sum += net.touched > 0 ? net.touched - 1 : 0;
  return sum;
}

bool CutState::balanced() const {
  for (std::size_t c = 0; c < model_.loads(); ++c)
    for (std::int32_t p = 0; p < parts_; ++p)
      if (load(c, p) > limit_[c]) return false;
  return true;
}

void CutState::join(std::uint32_t net, std::int32_t part) {
  Net& n = nets_[net];
  const auto begin = static_cast<std::size_t>(n.begin), end = begin + n.touched;
  for (std::size_t k = begin; k < end; ++k) {
    if (part_[k] != part) continue;
    ++count_[k];
    return;
  }
  part_[end] = part;
  count_[end] = 1;
  ++n.touched;
}

void CutState::leave(std::uint32_t net, std::int32_t part) {
  Net& n = nets_[net];
  auto k = static_cast<std::size_t>(n.begin);
  while (part_[k] != part) ++k;
  if (--count_[k] > 0) return;
  const std::size_t last = static_cast<std::size_t>(n.begin) + --n.touched;
  part_[k] = part_[last];
  count_[k] = count_[last];
}

void CutState::place(std::int64_t v, std::int32_t part) {
  std::int32_t& owner = owner_[static_cast<std::size_t>(v)];
  for (std::size_t c = 0; c < model_.loads(); ++c) {
    const std::int64_t weight = model_.weight(c, v);
    if (owner >= 0) load(c, owner) -= weight;
    load(c, part) += weight;
  }
  for (const std::uint32_t net : model_.nets_of(v)) {
    if (owner >= 0) leave(net, owner);
    join(net, part);
  }
  owner = part;
}

bool CutState::fits(std::int64_t v, std::int32_t part) const {
  for (std::size_t c = 0; c < model_.loads(); ++c) {
    const std::uint32_t weight = model_.weight(c, v);
    if (weight > 0 && load(c, part) + weight > limit_[c]) return false;
  }
  return true;
}

double CutState::fullness(std::int32_t part) const {
  double most = 0;
  for (std::size_t c = 0; c < model_.loads(); ++c)
    if (limit_[c] > 0) most = std::max(most, static_cast<double>(load(c, part)) / static_cast<double>(limit_[c]));
  return most;
}

// Whether the fuller of the two would then be less full than `from` is now.
bool CutState::lighter(std::int64_t v, std::int32_t from, std::int32_t to) const {
  double before = 0, after = 0;
  for (std::size_t c = 0; c < model_.loads(); ++c) {
    if (model_.weight(c, v) == 0) continue;
    const auto limit = static_cast<double>(limit_[c]);
    before = std::max(before, static_cast<double>(load(c, from)) / limit);
    after = std::max(after, static_cast<double>(load(c, to) + model_.weight(c, v)) / limit);
  }
  return after < before;
}

void CutState::count_neighbours(std::int64_t v) {
  for (const std::int32_t p : seen_) near_[static_cast<std::size_t>(p)] = 0;
  seen_.clear();
  alone_ = counted_ = 0;
  const std::int32_t owner = owner_[static_cast<std::size_t>(v)];
  for (const std::uint32_t net : model_.nets_of(v)) {
    const Net& n = nets_[net];
    if (n.touched > most_parts) continue;
    ++counted_;
    const auto begin = static_cast<std::size_t>(n.begin);
    for (std::size_t k = begin; k < begin + n.touched; ++k) {
      if (part_[k] == owner) {
        alone_ += count_[k] == 1 ? 1 : 0;
        continue;
      }
      if (near_[static_cast<std::size_t>(part_[k])]++ == 0) seen_.push_back(part_[k]);
    }
  }
}

CutState::Move CutState::best_move(std::int64_t v) {
  count_neighbours(v);
  Move best{.to = -1, .gain = std::numeric_limits<std::int64_t>::min()};
  for (const std::int32_t p : seen_) {
    const std::int64_t gain = alone_ - counted_ + near_[static_cast<std::size_t>(p)];
    if (gain < best.gain || (gain == best.gain && p > best.to) || !fits(v, p)) continue;
    best = {p, gain};
  }
  return best;
}

std::int64_t CutState::refine() {
  std::int64_t saved = 0;
  for (std::int64_t v = 0; v < model_.vertices; ++v) {
    const auto nets = model_.nets_of(v);
    if (std::all_of(nets.begin(), nets.end(), [&](std::uint32_t net) { return nets_[net].touched == 1; })) continue;
    const Move move = best_move(v);
    const std::int32_t from = owner_[static_cast<std::size_t>(v)];
    if (move.to < 0 || move.gain < 0 || (move.gain == 0 && !lighter(v, from, move.to))) continue;
    place(v, move.to);
    saved += move.gain;
  }
  return saved;
}

void CutState::stream() {
  std::int32_t next = 0;
  int tries = parts_;
  std::vector<std::int64_t> even;  // runs end at the mean
  for (const std::int64_t total : total_) even.push_back((total + parts_ - 1) / parts_);
  const auto filled = [&](std::int32_t part) {
    for (std::size_t c = 0; c < model_.loads(); ++c)
      if (even[c] > 0 && load(c, part) >= even[c]) return true;
    return false;
  };
  for (std::int64_t v = 0; v < model_.vertices; ++v) {
    count_neighbours(v);
    std::int32_t to = -1;
    double best = 0;
    for (const std::int32_t p : seen_) {
      const double worth = near_[static_cast<std::size_t>(p)] * (1 - fullness(p));
      if (worth < best || (worth == best && p > to) || !fits(v, p)) continue;
      to = p;
      best = worth;
    }
    if (to < 0) {
      int tried = 0;
      while (tried < tries && (filled(next) || !fits(v, next))) {
        next = (next + 1) % parts_;
        ++tried;
      }
      if (tried == parts_) tries = 1;  // all are full in one load or the other: from now on each in turn
    }
    place(v, to >= 0 ? to : next);
  }
}

}  // namespace kasen
