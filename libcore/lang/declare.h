// Declarations: dimensions, consts, params, inputs and outputs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libcore/lang/calls/fold.h"
#include "libcore/lang/terms/part.h"

namespace kasen::lang {

class Declarations : Part {
 public:
  using Defines = std::map<std::string, std::string>;  // -D NAME=VALUE

  Declarations(const Part& part, Folds& folds, const Defines& defines) : Part(part), folds_(folds), defines_(defines) {}

  void dimension(const Statement& s);
  void constant(const Statement& s);
  void param(const Statement& s);
  void input(const Statement& s);
  void output(const Statement& s);
  void check_defines() const;  // that each was the name of something
  void append_outputs();       // behind all other operators; there must be some

 private:
  void output_list(const Statement& s, ValueId list);
  void add_output(const std::string& name, ValueId value, Mark mark);
  // Nothing for a size that consts give.
  [[nodiscard]] Derivation derivation(const Statement& s);
  void own(const Statement& s, Dimension dim);
  void take_given_size(const Statement& s, Dimension& dim);
  [[nodiscard]] Derivation filling(const Statement& s, Derivation derived) const;
  [[nodiscard]] DimId source_of(const Statement& s) const;  // of a slice, or of `some N`
  [[nodiscard]] Derivation some(const Statement& s) const;
  [[nodiscard]] Derivation sliced(const Statement& s);
  [[nodiscard]] Derivation joined(const Statement& s) const;
  [[nodiscard]] bool names_open_dimension(const Node& node) const;
  [[nodiscard]] std::optional<DimId> dimension_of(const Node& node) const;
  void require_storage(const Statement& s, const Type& type) const;
  [[nodiscard]] bool is_id_param(const Statement& s);
  [[nodiscard]] Term written_value(const Statement& s);
  [[nodiscard]] Term default_of(const Statement& s);

  Folds& folds_;
  const Defines& defines_;
  std::set<std::string> defined_;  // names of defines that were found
  std::vector<Op> outputs_;
};

}  // namespace kasen::lang
