#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/lang/lang.h"

namespace kasen {

std::optional<Module> program_of(const Module& plan) {
  if (plan.source.empty()) return std::nullopt;
  std::string text;
  for (const std::string& line : plan.source) text += line + '\n';
  std::map<std::string, std::string> defines;
  for (const Constant& constant : plan.constants) {
    defines[constant.name] =
        is_float(constant.scalar) ? fmt::format("{}", constant.value.f) : fmt::format("{}", constant.value.i);
  }
  Module program;
  try {
    program = compile_program(text, plan.source_name, defines);
  } catch (const UserError&) {
    return std::nullopt;
  }
  for (Op& op : program.body.ops) {
    if (op.code != OpCode::param) continue;
    const auto same = [&](const Op& other) { return other.code == OpCode::param && other.name == op.name; };
    const auto found = std::find_if(plan.body.ops.begin(), plan.body.ops.end(), same);
    if (found != plan.body.ops.end() && found->literal.size() == op.literal.size()) op.literal = found->literal;
  }
  program.fitted_to = plan.fitted_to;
  return program;
}

}  // namespace kasen
