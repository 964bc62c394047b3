// Expressions: what each node of the program's text means. Calls, products, views and lists have parts of their own.
#pragma once

#include <string>

#include "libcore/lang/calls/call.h"
#include "libcore/lang/calls/product.h"
#include "libcore/lang/definition.h"
#include "libcore/lang/indexed/elements.h"
#include "libcore/lang/list.h"
#include "libcore/lang/shapes/axis_words.h"

namespace kasen::lang {

class Expressions : Part {
 public:
  // Sets how the evaluator lowers a node.
  Expressions(const Part& part, Frames& frames, Calls& calls, AxisWords& axis_words, Lists& lists, Elements& elements,
              Products& products, Indexed& indexed, Definitions& definitions);

 private:
  [[nodiscard]] Term lower(const Node& node, const std::string& hint);
  [[nodiscard]] Term literal(const Node& node) const;
  [[nodiscard]] Term name(const Node& node);
  [[nodiscard]] Term name_of_program(const Node& node);
  [[nodiscard]] Term operation(const Node& node);
  void refuse_types(const Node& node, const std::vector<Term>& args) const;
  [[nodiscard]] Term index(const Node& node, const std::string& hint);
  [[noreturn]] void refuse_element(const Term& array, const Node& node);
  [[nodiscard]] std::string remedy_of_places(const Term& array, const Node& node);
  [[noreturn]] void refuse_indices(const Node& node) const;
  [[nodiscard]] Term loop(const Node& node, const std::string& hint);
  [[nodiscard]] Term call(const Node& node, const std::string& hint);

  Frames& frames_;
  Calls& calls_;
  AxisWords& axis_words_;
  Lists& lists_;
  Elements& elements_;
  Products& products_;
  Indexed& indexed_;
  Definitions& definitions_;
};

}  // namespace kasen::lang
