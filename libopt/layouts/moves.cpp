#include "libopt/layouts/moves.h"

#include <algorithm>

#include "libcore/analysis/boxes.h"
#include "libcore/ir/layout.h"

namespace kasen {

double Moves::array(const Type& type) const {
  double bytes = static_cast<double>(type.element.bytes());
  for (const DimId dim : type.dims) bytes *= static_cast<double>(m_.dim(dim).size);
  return bytes;
}

double Moves::along(const Type& type, MeshAxes axes) const {
  double workers = 1;
  for (std::size_t axis = 0; axis < m_.mesh.size(); ++axis) {
    if ((axes >> axis & 1) != 0) workers *= static_cast<double>(m_.mesh[axis].size);
  }
  return array(type) * (workers - 1);
}

double Moves::staying(const Type& from, const Type& to) const {
  double stay = 0;
  const bool whole = is_uncut(from.cuts) || is_uncut(to.cuts);  // the first worker owns it
  const int workers = whole ? 1 : mesh_workers(m_);
  for (int worker = 0; worker < workers; ++worker) {
    const Elements own = owned_elements(m_, from, worker), wanted = owned_elements(m_, to, worker);
    const Elements both = intersection(own, wanted);
    double count = both.none ? 0 : 1;
    for (const IndexRuns& runs : both.axes) count *= static_cast<double>(count_of(runs));
    stay += count;
  }
  return stay;
}

double Moves::relayout(const Type& type, const Cuts& from, const Cuts& to) {
  if (from == to) return 0;
  const auto [it, is_new] = stay_.try_emplace({type.dims, from, to}, 0);
  if (is_new) {
    Type before = type, behind = type;
    before.cuts = from;
    behind.cuts = to;
    before.state = behind.state = State::part();
    before.list = behind.list = 0;
    it->second = staying(before, behind);
  }
  return std::max(0.0, array(type) - it->second * static_cast<double>(type.element.bytes()));
}

}  // namespace kasen
