// Lists of arrays: list, x[i] = a, push(x, a), x[i].
#pragma once

#include <cstdint>
#include <string>

#include "libcore/lang/terms/part.h"

namespace kasen::lang {

class Lists : Part {
 public:
  explicit Lists(const Part& part) : Part(part) {}

  void declare(const Statement& s);
  void put(const Statement& s);
  void push(const Statement& s);
  [[nodiscard]] Term get(ValueId list, const Node& node, const std::string& hint);

 private:
  [[nodiscard]] ValueId named(const NameAt& name) const;
  ValueId place(ValueId list, const std::string& name, const Node& index);
  ValueId array_of(const Statement& s, Type list, const std::string& hint);
};

}  // namespace kasen::lang
