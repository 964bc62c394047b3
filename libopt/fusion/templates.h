// The template abstraction open-fuse-merge-close (Boehm et al., section 3.2): conditions of one template on an operator
// and one of its inputs. Exploration asks these conditions and knows no template; a template knows nothing of
// exploration.
#pragma once

#include <span>
#include <string_view>

#include "libopt/fusion/dag.h"

namespace kasen::fusion {

// States whether a fused operator may end here, and whether it may go on (section 3.1: the close status).
enum class Close : std::uint8_t {
  open_valid,
  open_invalid,    // it goes on, but is not an operator of its own if it ends here
  closed_valid,    // it ends here
  closed_invalid,  // it is impossible: the entry is dropped
};
[[nodiscard]] inline bool is_closed(Close close) {
  return close == Close::closed_valid || close == Close::closed_invalid;
}
[[nodiscard]] inline bool is_valid(Close close) { return close == Close::open_valid || close == Close::closed_valid; }

enum class TemplateId : std::uint8_t {
#define FUSION_TEMPLATE(name, letter, together, exploits, whole_rows, binds) name,
#include "libopt/fusion/templates.def"
#undef FUSION_TEMPLATE
};

struct Template {
  TemplateId id;
  std::string_view name;
  char letter;
  bool (*together)(const Dag& dag, NodeId a, NodeId b);
  bool exploits, whole_rows;
  std::string_view binds;
  bool (*open)(const Dag& dag, NodeId h);              // a fused operator may begin at h, reading h's inputs
  bool (*fuse)(const Dag& dag, NodeId h, NodeId in);   // one that ends at the input may go on to h
  bool (*merge)(const Dag& dag, NodeId h, NodeId in);  // one that ends at h may absorb what is fused at the input
  Close (*close)(const Dag& dag, NodeId h);

  // Several of its operators that end at such nodes run as one. They are found after all others are chosen.
  [[nodiscard]] bool joins(const Dag& dag, NodeId h) const { return together != nullptr && together(dag, h, h); }
};

[[nodiscard]] std::span<const Template> templates();  // in the order of TemplateId
[[nodiscard]] const Template& row(TemplateId id);
// A fused operator of `outer` may go on below with entries of `inner`. These are of its own kind, or they are cells,
// which every binding can compute (section 3.2, Cell templates merge into Row templates).
[[nodiscard]] inline bool takes(TemplateId outer, TemplateId inner) {
  return inner == outer || inner == TemplateId::cell;
}

#define FUSION_TEMPLATE(name, letter, together, exploits, whole_rows, binds) \
  namespace template_##name {                                                \
    bool open(const Dag& dag, NodeId h);                                     \
    bool fuse(const Dag& dag, NodeId h, NodeId in);                          \
    bool merge(const Dag& dag, NodeId h, NodeId in);                         \
    Close close(const Dag& dag, NodeId h);                                   \
  }
#include "libopt/fusion/templates.def"
#undef FUSION_TEMPLATE
namespace template_outer {
bool together(const Dag& dag, NodeId a, NodeId b);
}
namespace template_magg {
bool together(const Dag& dag, NodeId a, NodeId b);
}
namespace template_mxm {
bool together(const Dag& dag, NodeId a, NodeId b);
}

}  // namespace kasen::fusion
