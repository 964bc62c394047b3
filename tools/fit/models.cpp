#include "tools/fit/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "libcore/base/error.h"
#include "tools/common/tool.h"

namespace kasen::tools {
namespace {

constexpr auto models = std::to_array<ModelRow>({
#define MODEL(name, program, title, target, score, solver, wide) \
  {name, program, title, TargetKind::target, ScoreKind::score, solver, wide},
#include "tools/fit/models.def"
#undef MODEL
});

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const ModelRow& row : models) names.emplace_back(row.name);
  return names;
}

const ModelRow* known_model(std::string_view name) {
  const auto* const at =
      std::find_if(models.begin(), models.end(), [&](const ModelRow& row) { return row.name == name; });
  return at == models.end() ? nullptr : at;
}

const ModelRow& find_model(const std::string& name) {
  if (const ModelRow* row = known_model(name); row != nullptr) return *row;
  const std::string near = did_you_mean(name, model_names());
  fail(ExitStatus::usage, fmt::format("there is no model '{}'", name),
       near.empty() ? fmt::format("there are {}", fmt::join(model_names(), ", ")) : near, "see 'kasen fit --help'");
}

}  // namespace kasen::tools
