#include "libopt/fusion/templates.h"

#include <array>

namespace kasen::fusion {
namespace {

constexpr std::array template_rows{
#define FUSION_TEMPLATE(name, letter, together, exploits, whole_rows, binds) \
  Template{TemplateId::name,                                                 \
           #name,                                                            \
           letter,                                                           \
           together,                                                         \
           exploits,                                                         \
           whole_rows,                                                       \
           binds,                                                            \
           template_##name::open,                                            \
           template_##name::fuse,                                            \
           template_##name::merge,                                           \
           template_##name::close},
#include "libopt/fusion/templates.def"
#undef FUSION_TEMPLATE
};

}  // namespace

std::span<const Template> templates() { return template_rows; }
const Template& row(TemplateId id) { return template_rows.at(static_cast<size_t>(id)); }

}  // namespace kasen::fusion
