#include "tools/common/params.h"

#include <fmt/format.h>

#include "libcore/base/error.h"
#include "libcore/base/input_values.h"
#include "libcore/base/suggest.h"
#include "libcore/lang/lang.h"
#include "tools/common/tool.h"

namespace kasen::tools {
namespace {

const Op* find_param(const Module& module, const std::string& name) {
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::param && op.name == name) return &op;
  }
  return nullptr;
}

std::string zero_text(Scalar scalar) {
  if (scalar == Scalar::id) return "0";
  return scalar == Scalar::boolean ? "false" : fmt::format("0{}", scalar_name(scalar));
}

std::string zero_text(const ElementType& element) {
  std::vector<std::string> parts;
  for (const Component& c : element.components) {
    const std::vector<std::string> zeros(static_cast<size_t>(c.planes()), zero_text(c.scalar));
    parts.push_back(c.count > 0 ? fmt::format("[{}]", fmt::join(zeros, ", ")) : zeros[0]);
  }
  return element.tuple ? fmt::format("({},)", fmt::join(parts, ", ")) : parts[0];
}

// The language's fault of a value of -D, with the option that was typed.
UserError as_typed(const UserError& error, const std::string& name) {
  Diagnostic fault = error.diagnostics().front();
  const std::string by_define = fmt::format("-D {}", name);
  if (fault.what.starts_with(by_define)) fault.what.replace(0, by_define.size(), typed_param(name));
  return {error.status(), std::move(fault)};
}

// A param's value is written as in programs and means the same as in `plan -D`: a program of that param reads it.
std::vector<Word> read_value(const Module& module, const ElementType& element, const std::string& name,
                             const std::string& text) {
  const std::string dim =
      element.is(Scalar::id) ? fmt::format("dim {}\n", module.dim(element.components[0].id_of).name) : std::string();
  const std::string program = fmt::format("{0}param {1} : {2} = {3}\noutput {1}\n", dim, name,
                                          print_element_type(module, element), zero_text(element));
  try {
    const Module made = compile_program(program, "-D", {{name, text}});
    const Op* op = find_param(made, name);
    if (op == nullptr) fail(ExitStatus::usage, fmt::format("{} is not a name of the language", name));
    return op->literal;
  } catch (const UserError& error) {
    throw as_typed(error, name);
  }
}

[[noreturn]] void unknown_param(const Module& module, const std::string& name, const std::string& text) {
  std::vector<std::string> names;
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::input && op.name == name) {
      try {
        refuse_value_of_input(name, text);
      } catch (const UserError& error) {
        throw as_typed(error, name);
      }
    }
    if (op.code == OpCode::param) names.push_back(op.name);
  }
  const std::string near = nearest_name(name, names);
  fail(ExitStatus::usage, fmt::format("the program has no param '{}'", name), "",
       names.empty()  ? "leave it out: the program has no params"
       : near.empty() ? fmt::format("it has: {}", fmt::join(names, ", "))
                      : fmt::format("did you mean '{}'?", near));
}

}  // namespace

std::string typed_param(const std::string& name) {
  const std::string line = history_line({});
  const bool as_define = line.find(fmt::format(" -D {}=", name)) != std::string::npos ||
                         line.find(fmt::format(" -D{}=", name)) != std::string::npos;
  return fmt::format("{} {}", as_define ? "-D" : "--param", name);
}

const ElementType& param_element(const Module& module, const Op& param) {
  return module.type(param.results.at(0)).element;
}

std::vector<Word> read_param(const Module& module, const std::string& name, const std::string& text) {
  const Op* op = find_param(module, name);
  if (op == nullptr) unknown_param(module, name, text);
  if (text.empty())
    fail(ExitStatus::usage, fmt::format("{}= gives no value", typed_param(name)), "",
         fmt::format("write {}=1.5, for example", typed_param(name)));
  return read_value(module, param_element(module, *op), name, text);
}

bool is_word_of_id(const Module& module, const std::string& name, const std::string& text) {
  const Op* const op = find_param(module, name);
  return op != nullptr && param_element(module, *op).is(Scalar::id) && !text.empty() &&
         text.find_first_not_of("0123456789-") != std::string::npos;
}

void check_param(const Module& module, const std::string& name, const std::string& text) {
  if (!is_word_of_id(module, name, text)) (void)read_param(module, name, text);
}

}  // namespace kasen::tools
