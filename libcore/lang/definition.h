// Calls of a def: its body is lowered anew for each call, with the arguments and their dimensions in place of its
// parameters. So a def serves arrays of any rank, and costs nothing.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "libcore/lang/indexed/indexed.h"
#include "libcore/lang/shapes/axes_apart.h"
#include "libcore/lang/terms/call_note.h"
#include "libcore/lang/terms/part.h"

namespace kasen::lang {

class Definitions : Part {
 public:
  // Lowers the statements of a body, and then the values that it returns. False if statements have errors, which it
  // keeps with the note behind each; so do errors of the values.
  using LowerBody =
      std::function<bool(const Statement& def, const CallNote& note, const std::function<void()>& values)>;

  Definitions(const Part& part, Frames& frames, Indexed& indexed, AxesApart& axes)
      : Part(part), frames_(frames), indexed_(indexed), axes_(axes) {}
  void set(LowerBody lower_body) { lower_body_ = std::move(lower_body); }

  // The results. The hints name them; none: the caller gives them none.
  [[nodiscard]] std::vector<Term> call(const Statement& def, const Node& node, const std::vector<std::string>& hints);
  [[nodiscard]] Term one(const Statement& def, const Node& node, const std::string& hint);

 private:
  struct Arguments {
    std::vector<Node> written;  // none, or the node of `over`
    std::vector<Term> terms;    // those that the call has
    const Node* over = nullptr;
    std::vector<DimId> dims;  // that it names
  };
  struct Caller {
    std::string prefix;
    size_t values = 0;  // that there were before the call
  };
  void require_place(const Statement& def, const Node& node) const;
  [[nodiscard]] bool names_dimensions(const Statement& def, const Node& node) const;
  [[nodiscard]] bool is_dimension(const Node& arg) const;
  void refuse_sizes(const Statement& def, const Node& node) const;
  [[nodiscard]] Arguments arguments(const Statement& def, const Node& node);
  void require_count(const Statement& def, const Node& node, size_t count) const;
  void bind_over(const Statement& def, const Node& node, const Arguments& given);
  using Bound = std::map<std::string, DimId>;  // names of the head
  void bind_dims(const Statement& def, const ParamNode& param, const Term& term, Mark mark, Bound& bound);
  void bind(const Statement& def, const ParamNode& param, Term term, Mark mark);
  [[nodiscard]] Term typed(const Statement& def, const ParamNode& param, Term term, Mark mark);
  [[nodiscard]] std::vector<Term> results(const Statement& def, const std::vector<std::string>& hints,
                                          const Caller& caller, const CallNote& note);

  Frames& frames_;
  Indexed& indexed_;
  AxesApart& axes_;
  LowerBody lower_body_;
  int calls_ = 0;
};

}  // namespace kasen::lang
