// The table of models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kasen::tools {

enum class TargetKind : std::uint8_t { none, number, amount, two, classes };
enum class ScoreKind : std::uint8_t { none, value, log, chance, margin, chances };

struct ModelRow {
  std::string_view name, program, title;
  TargetKind target;
  ScoreKind score;
  std::string_view solver, wide;

  [[nodiscard]] bool has_target() const { return target != TargetKind::none; }
  [[nodiscard]] bool has_classes() const { return target == TargetKind::two || target == TargetKind::classes; }
};

[[nodiscard]] std::vector<std::string> model_names();
[[nodiscard]] const ModelRow* known_model(std::string_view name);   // null: there is none
[[nodiscard]] const ModelRow& find_model(const std::string& name);  // UserError(usage)

// programs.cpp, made from examples/models: the text of a program; empty where there is none.
[[nodiscard]] std::string_view program_text(std::string_view name);

}  // namespace kasen::tools
