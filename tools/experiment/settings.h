// An experiment: settings, each with the values to try, and the points of a matrix that these make.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/yaml.h"

namespace kasen::tools {

enum class Step : std::uint8_t { plan, partition, fuse, run };

// A key of the file that is an option of one step; these options are those of `kasen go`.
struct SettingKey {
  std::string_view name, flag;
  Step step = Step::plan;
  bool named = false;                               // NAME: VALUE pairs, or NAME=VALUE
  bool whole = false;                               // an integer; else text
  std::string_view otherwise = {};                  // where the file has no value; empty: the tool decides
  void (*check)(const YamlValue& value) = nullptr;  // refuses what the step would refuse
};
[[nodiscard]] std::span<const SettingKey> setting_keys();
[[nodiscard]] const SettingKey& setting_key(std::string_view name);

struct Setting {
  std::string key, name, text;          // "define", "theta", "1e-6"; `name` is empty where the key is not `named`
  std::vector<std::string> generate{};  // data that kasen generate makes: its arguments
  YamlPlace place{};                    // of the value; none where the file has no value
  [[nodiscard]] std::string label() const { return name.empty() ? key : key + '.' + name; }
};

// Settings that vary together: one of the alternatives is taken, with all that it sets.
struct Axis {
  std::vector<std::vector<Setting>> alternatives;
};

// One point of the matrix: a value for each setting, in the order of the file, those not given last.
struct Point {
  std::vector<Setting> settings;
  [[nodiscard]] const Setting* find(std::string_view key, std::string_view name = {}) const;
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] int workers() const;  // those of its mesh, if it has one
  [[nodiscard]] int ranks() const;    // 0: one process without MPI
  // "workers=4, method=block": the settings that are in `labels`.
  [[nodiscard]] std::string shown(const std::vector<std::string>& labels) const;
};

struct Experiment {
  std::string name, folder;
  int repetitions = 3, warmups = 0;
  bool keeps_results = false;
  std::vector<std::string> mean_over{};  // labels of settings that vary, over which outputs have means
  std::vector<Axis> axes;
};

// `overrides` are KEY=VALUE or KEY.NAME=VALUE, with values in YAML; they replace the values of the file. `defines` are
// NAME=VALUE and replace the file's define and param of that name: a run would set the param once more.
[[nodiscard]] Experiment read_experiment(const std::string& path, const std::vector<std::string>& overrides,
                                         const std::vector<std::string>& defines);

struct Matrix {
  std::vector<Point> points;
  std::vector<std::string> varied;  // labels of settings with several values
  int left_out = 0;                 // points of more ranks than workers
};
[[nodiscard]] Matrix matrix_of(const Experiment& experiment);
// Refuses settings that a point's program does not have (constants, params, inputs, dimensions), inputs without data,
// and inputs whose file does not exist. UserError(configuration), with the position; missing_input, bad_input: of the
// program.
void check_settings(const Matrix& matrix);

}  // namespace kasen::tools
