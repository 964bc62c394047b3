// In how many blocks each dimension of a program is cut.
#pragma once

#include <map>
#include <string>

#include "libcore/ir/module.h"
#include "libopt/spreading/from_module.h"

namespace kasen {

class DimensionBlocks {
 public:
  DimensionBlocks(const Module& sized, const SpreadingOptions& options);

  [[nodiscard]] spread::Shape shape(const Type& type) const;
  // Dimensions that no array before it has get their numbers from the default grid of this one.
  [[nodiscard]] spread::Grid of(const Type& type);

 private:
  void ask(const std::string& input, const spread::Grid& grid);
  void set(DimId dim, std::int64_t blocks, const std::string& input);
  [[nodiscard]] spread::Grid default_grid(const Type& type) const;

  const Module& m_;
  const SpreadingOptions& options_;
  std::map<DimId, std::int64_t> blocks_;
  std::map<DimId, std::string> asked_;  // the input whose grid says so
};

}  // namespace kasen
