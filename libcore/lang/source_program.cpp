#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/lang/lang.h"

namespace kasen {
namespace {

using Defines = std::map<std::string, std::string>;

Defines consts_of(const Module& plan) {
  Defines defines;
  for (const Constant& constant : plan.constants) {
    defines[constant.name] =
        is_float(constant.scalar) ? fmt::format("{}", constant.value.f) : fmt::format("{}", constant.value.i);
  }
  return defines;
}

// Sizes that were given when it was planned are known by the plan's dimensions alone. Most programs need none of them.
std::optional<Module> compiled(const std::string& text, const Module& plan) {
  Defines defines = consts_of(plan);
  for (const bool with_sizes : {false, true}) {
    for (const Dimension& dim : plan.dims) {
      if (with_sizes && !dim.is_derived() && dim.size > 0) defines[dim.name] = std::to_string(dim.size);
    }
    try {
      return compile_program(text, plan.source_name, defines);
    } catch (const UserError&) {
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Module> program_of(const Module& plan) {
  if (plan.source.empty()) return std::nullopt;
  std::string text;
  for (const std::string& line : plan.source) text += line + '\n';
  std::optional<Module> program = compiled(text, plan);
  if (!program) return std::nullopt;
  for (Op& op : program->body.ops) {
    if (op.code != OpCode::param) continue;
    const auto same = [&](const Op& other) { return other.code == OpCode::param && other.name == op.name; };
    const auto found = std::find_if(plan.body.ops.begin(), plan.body.ops.end(), same);
    if (found != plan.body.ops.end() && found->literal.size() == op.literal.size()) op.literal = found->literal;
  }
  program->fitted_to = plan.fitted_to;
  return program;
}

}  // namespace kasen
