#include "tools/launch/params.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "libcore/base/error.h"
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

}  // namespace

std::map<std::string, std::vector<Word>> read_params(const Module& module,
                                                     const std::map<std::string, std::string>& given,
                                                     const std::function<DimsOfWorkers()>& dims) {
  std::map<std::string, std::vector<Word>> params;
  for (const auto& [name, text] : given) {
    params[name] = read_param(module, name, text);
  }
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
           "ids are those of the data", fmt::format("give one with -D {}=ID", op.name));
    }
    words[0] = Word::integer(*place);
  }
  return params;
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
