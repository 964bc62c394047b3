// Checks the settings of an experiment against its programs: a typing error is reported before anything runs, and once.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>

#include "libcomm/data/sources/content.h"
#include "libcore/base/error.h"
#include "libcore/ir/entries.h"
#include "libcore/lang/lang.h"
#include "libcore/patterns/recipe.h"
#include "tools/common/params.h"
#include "tools/common/tool.h"
#include "tools/experiment/settings.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

constexpr std::array<std::string_view, 5> keys_of_inputs{"columns", "words", "one-hot", "dates", "missing"};

constexpr size_t most_compiled = 500;  // programs with their constants; the runs check more

[[noreturn]] void refuse_name(const Setting& setting, const std::string& kind, const std::vector<std::string>& names) {
  const std::string near = did_you_mean(setting.name, names);
  setting.place.fault(fmt::format("the program has no {} '{}'", kind, shown_text(setting.name)), "",
                      near.empty() ? fmt::format("it has {}", fmt::join(names, ", ")) : near);
}

class Checker {
 public:
  explicit Checker(const Matrix& matrix) : matrix_(matrix) {
    constants_vary_ = std::any_of(matrix.varied.begin(), matrix.varied.end(),
                                  [](const std::string& label) { return label.starts_with("define."); });
  }

  void check() {
    for (const Point& point : matrix_.points) {
      if (const Module* module = module_of(point)) check_point(point, *module);
    }
    for (const Point& point : matrix_.points) {
      if (const Module* module = module_of(point)) check_data(point, *module);
    }
  }

 private:
  // The point's program with its constants; nullptr: it fails with these alone, or there are too many.
  const Module* module_of(const Point& point) {
    const std::string program = point.text("program");
    std::string name = program;
    std::map<std::string, std::string> constants;
    for (const Setting& setting : point.settings) {
      if (setting.key != "define") continue;
      constants[setting.name] = setting.text;
      name += fmt::format("\n{}={}", setting.name, setting.text);
    }
    if (const auto found = modules_.find(name); found != modules_.end()) return found->second.get();
    if (modules_.size() >= most_compiled) return nullptr;
    auto& module = modules_[name];
    try {
      module = std::make_unique<Module>(compile_program(read_text(program), shown_name(program), constants, read_text));
    } catch (const UserError& error) {
      if (error.status() == ExitStatus::usage) refuse_constant(point, error.diagnostics().front());
      if (error.status() != ExitStatus::bad_input || !constants_vary_) throw;
    }
    return module.get();
  }

  // The error begins with "-D NAME=VALUE".
  [[noreturn]] static void refuse_constant(const Point& point, const Diagnostic& fault) {
    const std::string what = fault.what.substr(fault.what.starts_with("-D ") ? 3 : 0);
    for (const Setting& setting : point.settings) {
      if (setting.key == "define" && what.starts_with(fmt::format("{}={}:", setting.name, setting.text)))
        setting.place.fault(what, fault.why, fault.remedy);
    }
    fail(ExitStatus::configuration, what, fault.why, fault.remedy);
  }

  void check_point(const Point& point, const Module& module) {
    std::vector<std::string> inputs, dims;
    for (const Op& op : module.body.ops) {
      if (op.code == OpCode::input && !is_recipe(op.name) && !gives_values(module, op)) inputs.push_back(op.name);
    }
    for (const Dimension& dim : module.dims) dims.push_back(dim.name);
    for (const Setting& setting : point.settings) {
      if (!checked_.insert(fmt::format("{}\n{}={}", point.text("program"), setting.label(), setting.text)).second)
        continue;
      if (setting.key == "data" && setting.generate.empty()) check_file(setting);
      if (setting.key == "data" && !setting.name.empty()) check_name(setting, "input", inputs);
      const bool of_input =
          std::find(keys_of_inputs.begin(), keys_of_inputs.end(), setting.key) != keys_of_inputs.end();
      if (of_input) check_name(setting, "input", inputs);
      if (setting.key == "dim") check_name(setting, "dimension", dims);
      if (setting.key == "param") check_param(setting, module);
      if (setting.key == "param" && point.find("define", setting.name) != nullptr)
        setting.place.fault(fmt::format("'{0}' has a value from define, and another from param", setting.name),
                            "a run takes that of param, so define would change nothing", "leave out one of them");
    }
  }

  static void check_data(const Point& point, const Module& module) {
    std::set<std::string> given;
    for (const Setting& setting : point.settings) {
      if (setting.key == "data") given.insert(setting.name);
    }
    if (given.contains("")) return;  // kasen partition finds its input
    for (const Op& op : module.body.ops) {
      if (op.code == OpCode::input && !is_recipe(op.name) && !gives_values(module, op) && !given.contains(op.name) &&
          !module.files.contains(op.name))
        fail(ExitStatus::configuration, fmt::format("no data for input '{}' of '{}'", op.name, point.text("program")),
             "", fmt::format("add data: {{{}: FILE}}", op.name));
    }
  }

  static void check_file(const Setting& setting) {
    if (access(address_of(setting.text).file.c_str(), R_OK) == 0) return;
    setting.place.fault(fmt::format("cannot open '{}'", shown_text(setting.text)), std::strerror(errno),
                        "check the name; it is relative to the current folder", ExitStatus::missing_input);
  }

  static void check_name(const Setting& setting, const std::string& kind, const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), setting.name) == names.end()) refuse_name(setting, kind, names);
  }

  static void check_param(const Setting& setting, const Module& module) {
    try {
      tools::check_param(module, setting.name, setting.text);
    } catch (const UserError& error) {
      const Diagnostic& fault = error.diagnostics().front();
      setting.place.fault(fault.what.substr(fault.what.starts_with("--param ") ? 8 : 0), fault.why, fault.remedy);
    }
  }

  const Matrix& matrix_;
  bool constants_vary_ = false;
  std::map<std::string, std::unique_ptr<Module>> modules_;
  std::set<std::string> checked_;
};

}  // namespace

void check_settings(const Matrix& matrix) { Checker(matrix).check(); }

}  // namespace kasen::tools
