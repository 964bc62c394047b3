// What a user calls the values of a plan: the names of the program, and for values without one the text that makes
// them, "pr / degree" and not "t_12_g". Internal to libopt.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "libcore/ir/module.h"

namespace kasen {

class ValueLabels {
 public:
  explicit ValueLabels(const Module& module);

  // Returns the program's name, else the text that makes it, else the plan's name.
  [[nodiscard]] const std::string& of(ValueId value);
  // Returns the name that the program gives it, or an empty text.
  [[nodiscard]] std::string named(ValueId value) const;
  [[nodiscard]] std::string carried_name(ValueId value) const;
  [[nodiscard]] const Op* inner_maker(ValueId value) const;
  [[nodiscard]] bool is_one_place(ValueId before, ValueId next) const;
  // Returns "G' @ (pr / degree)", "sum(abs(pr - new_pr))", or an empty text where the operator is not written so.
  [[nodiscard]] std::string expression(const Op& op);

 private:
  void look_at(const Block& block);
  [[nodiscard]] bool assigns_t(ValueId value) const;
  [[nodiscard]] std::string text_of(ValueId value);
  [[nodiscard]] std::string constant(const Op& op) const;
  [[nodiscard]] std::string applied(const Op& op);
  [[nodiscard]] std::string reduced(const Op& op);
  [[nodiscard]] std::string product(const Op& op);

  const Module& module_;
  std::set<std::string, std::less<>> words_;  // of the program, without calls
  std::map<ValueId, const Op*> makers_;
  std::map<ValueId, ValueId> carried_;  // arguments of loops' bodies: what they are before the loop
  std::map<ValueId, ValueId> same_;     // results of regions and loops: what they hand on
  std::map<ValueId, std::string> known_;
};

}  // namespace kasen
