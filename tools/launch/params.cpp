#include "tools/launch/params.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "libcore/base/error.h"
#include "libcore/base/suggest.h"
#include "libcore/run/executor.h"
#include "tools/common/params.h"

namespace kasen::tools {
namespace {

// The position of the user's id in the dimension; nothing if the data do not have it. A worker that owns no elements
// has no ids either, and so does not show whether they were relabelled.
std::optional<std::int64_t> position_of(const DimsOfWorkers& dims, const std::string& name, std::int64_t id) {
  for (const auto& worker : dims) {
    const PartDim& dim = worker.at(name);
    if (dim.masters.empty()) continue;
    if (dim.original.empty()) {
      if (id >= 0 && id < dim.size) return id;
      continue;
    }
    const auto found = std::find(dim.original.begin(), dim.original.end(), id);
    if (found != dim.original.end()) return dim.masters[found - dim.original.begin()];
  }
  return std::nullopt;
}

// The place of the word among the names of the dimension's indices.
Word id_of_word(const Module& module, const std::string& param, const std::string& word, const DimNames& names) {
  const auto op = std::find_if(module.body.ops.begin(), module.body.ops.end(),
                               [&](const Op& o) { return o.code == OpCode::param && o.name == param; });
  const std::string& dim = module.dim(param_element(module, *op).components[0].id_of).name;
  const auto known = names.find(dim);
  if (known == names.end())
    fail(ExitStatus::usage, fmt::format("{}={}: the indices of {} have numbers", typed_param(param), word, dim),
         "no input names them by words", fmt::format("give a number: {}=0", typed_param(param)));
  const std::vector<std::string>& words = known->second;
  const auto found = std::find(words.begin(), words.end(), word);
  if (found != words.end()) return Word::integer(found - words.begin());
  const std::string near = words.size() <= 100'000 ? nearest_name(word, words) : "";
  fail(ExitStatus::usage, fmt::format("{}={}: no index of {} is called so", typed_param(param), word, dim), "",
       near.empty() ? "give one of the data's words" : fmt::format("did you mean '{}'?", near));
}

std::string plane_text(Scalar scalar, Word word) {
  switch (scalar) {
    case Scalar::f64:
    case Scalar::f32:
      return fmt::format("{}", word.f);
    case Scalar::boolean:
      return word.i != 0 ? "true" : "false";
    default:
      return fmt::format("{}", word.i);
  }
}

}  // namespace

std::map<std::string, std::vector<Word>> read_params(const Module& module,
                                                     const std::map<std::string, std::string>& given,
                                                     const DimNames& names,
                                                     const std::function<DimsOfWorkers()>& dims) {
  std::map<std::string, std::vector<Word>> params;
  for (const auto& [name, text] : given)
    params[name] = is_word_of_id(module, name, text) ? std::vector{id_of_word(module, name, text, names)}
                                                     : read_param(module, name, text);
  std::optional<DimsOfWorkers> known;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::param || !param_element(module, op).is(Scalar::id)) continue;
    if (!known) known = dims();
    std::vector<Word>& words = params.try_emplace(op.name, op.literal).first->second;
    const std::string& dim = module.dim(param_element(module, op).components[0].id_of).name;
    const auto place = position_of(*known, dim, words.at(0).i);
    if (!place) {
      fail(ExitStatus::usage,
           fmt::format("param '{}' is {}, and dimension {} has no such id", op.name, words[0].i, dim),
           "ids are those of the data", fmt::format("give one with {}=ID", typed_param(op.name)));
    }
    words[0] = Word::integer(*place);
  }
  return params;
}

std::map<std::string, std::string> shown_params(const Module& module, const std::map<std::string, std::string>& given) {
  std::map<std::string, std::string> shown;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::param) return;
    const ElementType& element = param_element(module, op);
    std::vector<std::string> planes;
    for (std::size_t p = 0; p < op.literal.size(); ++p)
      planes.push_back(plane_text(element.plane_scalar(static_cast<std::int64_t>(p)), op.literal[p]));
    const auto own = given.find(op.name);
    const std::string value = planes.size() == 1 ? planes[0] : fmt::format("({})", fmt::join(planes, ", "));
    shown[op.name] = own != given.end() ? own->second : value;
  });
  return shown;
}

std::string params_text(const Module& module, const std::map<std::string, std::vector<Word>>& params) {
  std::string text;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::param) return;
    const auto given = params.find(op.name);
    text += op.name;
    for (const Word& word : given == params.end() ? op.literal : given->second)
      text += fmt::format(" {:x}", static_cast<std::uint64_t>(word.i));
    text += '\n';
  });
  return text;
}

}  // namespace kasen::tools
