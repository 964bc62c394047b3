#include "tools/run_params.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "libcore/error.h"
#include "libcore/lang.h"
#include "libcore/suggest.h"

namespace kasen::tools {
namespace {

const Op* find_param(const Module& module, const std::string& name) {
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::param && op.name == name) return &op;
  }
  return nullptr;
}

const ElementType& element_of(const Module& module, const Op& param) {
  return module.type(param.results.at(0)).element;
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

// A param's value is written as in programs, and means what it means to `plan -D`: a program of that param reads it.
std::vector<Word> read_value(const Module& module, const ElementType& element, const std::string& name,
                             const std::string& text) {
  const std::string dim =
      element.is(Scalar::id) ? fmt::format("dim {}\n", module.dim(element.components[0].id_of).name) : std::string();
  const std::string program = fmt::format("{0}param {1} : {2} = {3}\noutput {1}\n", dim, name,
                                          print_element_type(module, element), zero_text(element));
  const Module made = compile_program(program, "-D", {{name, text}});
  const Op* op = find_param(made, name);
  if (op == nullptr) fail(ExitStatus::usage, fmt::format("-D {}: not a name of the language", name));
  return op->literal;
}

[[noreturn]] void unknown_param(const Module& module, const std::string& name) {
  std::vector<std::string> names;
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::param) names.push_back(op.name);
  }
  const std::string near = nearest_name(name, names);
  fail(ExitStatus::usage, fmt::format("-D: the program has no param '{}'", name), "",
       near.empty() ? fmt::format("it has: {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near));
}

// Where the user's id stands in the dimension; nothing if the data do not have it. A worker without masters has no ids
// either, and tells nothing of whether they were relabelled.
std::optional<std::int64_t> position_of(const DimsOfWorkers& dims, const std::string& name, std::int64_t id) {
  for (const auto& worker : dims) {
    const PartDim& dim = worker.at(name);
    if (dim.masters.empty()) continue;
    if (dim.original.empty()) {
      if (id >= 0 && id < dim.size) return id;
      continue;
    }
    const auto found = std::find(dim.original.begin(), dim.original.end(), id);
    if (found != dim.original.end()) return dim.masters.at(static_cast<size_t>(found - dim.original.begin()));
  }
  return std::nullopt;
}

}  // namespace

std::map<std::string, std::vector<Word>> read_params(const Module& module,
                                                     const std::map<std::string, std::string>& given,
                                                     const std::function<DimsOfWorkers()>& dims) {
  std::map<std::string, std::vector<Word>> params;
  for (const auto& [name, text] : given) {
    const Op* op = find_param(module, name);
    if (op == nullptr) unknown_param(module, name);
    params[name] = read_value(module, element_of(module, *op), name, text);
  }
  std::optional<DimsOfWorkers> known;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::param || !element_of(module, op).is(Scalar::id)) continue;
    if (!known) known = dims();
    std::vector<Word>& words = params.try_emplace(op.name, op.literal).first->second;
    const std::string& dim = module.dim(element_of(module, op).components[0].id_of).name;
    const auto place = position_of(*known, dim, words.at(0).i);
    if (!place) {
      fail(ExitStatus::usage,
           fmt::format("param '{}' is {}, and dimension {} has no such id", op.name, words[0].i, dim),
           "ids are those of the data", fmt::format("give one with -D {}=ID", op.name));
    }
    words[0] = Word::integer(*place);
  }
  return params;
}

}  // namespace kasen::tools
