/// \file
/// The parts of a plan that names layouts, from those of a bundle: each worker's boxes of the dense inputs
/// (libcore/analysis/boxes.h). The bundle may be of any number of workers, with owners of any kind.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/analysis/boxes.h"
#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

enum class BoxContent : std::uint8_t { elements, sizes };  ///< sizes: the dimensions alone

/// Gives the part's dimensions the sizes that the module has of those that runs observe (libcore/ir/observed.h).
void set_observed_sizes(Part& part, const Module& module);

/// The plan with the sizes of a part's data, and the mesh of so many workers as it is one of.
[[nodiscard]] Module sized_for(const Module& module, const Part& part);

class BoxParts {
 public:
  /// Of workers first .. first + count - 1 of the `workers` that run the plan. UserError (bad_input) if its mesh has
  /// another number.
  BoxParts(const Module& module, int workers, int first, int count, BoxContent content = BoxContent::elements);

  /// Takes the dimensions of any part of the bundle; without it, the first part that is added gives them. UserError as
  /// of add.
  void expect(const Part& part);
  /// Whether a box has elements of these indices, along the dimension that cuts the input in the default layout. Of one
  /// that none cuts, worker 0's part is read. After expect().
  [[nodiscard]] bool need(const std::string& input, int worker, std::int64_t first, std::int64_t count) const;
  /// Copies what the workers need of a part of the bundle; each part once, in any order. Its arrays are not compressed;
  /// one that no box needs may have no elements. UserError (bad_input) if it lacks a dimension or an input of the plan,
  /// or has it in another form.
  void add(const Part& part);
  /// Worker 0 has the ids of all indices (PartDim::original). UserError (bad_input) if elements are missing.
  [[nodiscard]] std::vector<Part> finish();

 private:
  void set_sizes(const Part& part);
  void add_ids(const Part& part);
  void copy(const Op& input, const PartArray& array, const Part& part, Part& to);

  Module module_;  // with the data's sizes
  const int workers_, first_, count_;
  const BoxContent content_;
  std::vector<Part> parts_;
  std::map<std::string, std::int64_t> missing_;  // elements of each input
};

}  // namespace kasen
