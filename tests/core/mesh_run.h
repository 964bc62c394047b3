// Runs a module of layouts on simulated workers, element by element: each worker has what the table of
// libcore/analysis/mesh_rules.h gives it and nothing else. An operator that needs an element which a worker does not
// have, or contributes where nobody collects, is an error: then a state rule allows too much. Arrays of f64.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/ir/module.h"

namespace kasen::testing {

// Of nothing a maximum is -infinity, and 0 times that is no number. A worker that contributes nothing to a sum has 0.
[[nodiscard]] inline bool are_same(double got, double wanted) {
  return got == wanted || (std::isnan(got) && !std::isfinite(wanted));
}

class MeshRun {
 public:
  using Index = std::vector<std::int64_t>;
  using Whole = std::vector<double>;  // row-major

  // Dimensions have their sizes. Throws std::logic_error, with the operator, where a worker lacks an element.
  MeshRun(const Module& module, const std::map<std::string, Whole>& inputs);

  // The value as the workers have it: of a P or C value at its owners, of a PR value all contributions reduced. Throws
  // if copies differ.
  [[nodiscard]] Whole value(ValueId id) const;

 private:
  using Held = std::vector<std::optional<double>>;  // of one worker, row-major over the whole array

  [[nodiscard]] std::int64_t workers() const;
  [[nodiscard]] std::int64_t place(std::int64_t worker, std::size_t axis) const;
  // The place along an axis of the mesh of the owner of index i, among those of a dimension that is cut so.
  [[nodiscard]] std::int64_t owner(std::int64_t size, AxisCut cut, std::int64_t i, std::size_t axis) const;
  [[nodiscard]] bool is_at(const Type& type, const Index& index, std::int64_t worker, MeshAxes everywhere) const;
  [[nodiscard]] bool is_stored(ValueId id, const Index& index, std::int64_t worker) const;
  [[nodiscard]] bool is_owned(ValueId id, const Index& index, std::int64_t worker) const;
  [[nodiscard]] Index shape(ValueId id) const;
  [[nodiscard]] std::size_t flat(ValueId id, const Index& index) const;
  template <class Visit>
  void for_each_index(ValueId id, const Visit& visit) const;

  [[nodiscard]] double call(FnId fn, std::span<const double> args) const;
  [[nodiscard]] double at(ValueId id, const Index& index, std::int64_t worker) const;
  void one(const Op& op);
  void store(const Op& op, const Whole& whole);
  void map(const Op& op);
  void reduce(const Op& op);
  void reduce_by(const Op& op);
  void contract(const Op& op);
  [[nodiscard]] bool takes_up(const Op& op, const Index& index, std::int64_t worker) const;
  [[nodiscard]] AxisCut cutting(const Op& op, const Contraction& c, char label, std::size_t axis) const;
  void gather(const Op& op);
  void scatter(const Op& op);
  void transpose(const Op& op);
  void along(const Op& op);
  void rearrange(const Op& op, bool moves);
  void need_mask(const Op& op, std::int64_t worker) const;
  [[nodiscard]] Index source_of(const Op& op, const Index& index, std::size_t& operand) const;

  const Module& m_;
  const std::map<std::string, Whole>& inputs_;
  std::map<ValueId, std::vector<Held>> held_;  // by worker
};

}  // namespace kasen::testing
