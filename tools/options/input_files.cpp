#include "tools/options/input_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "libcore/base/error.h"
#include "tools/common/choice.h"

namespace kasen::tools {

std::vector<std::string> names_of(const std::vector<WantedInput>& wanted) {
  std::vector<std::string> names;
  for (const WantedInput& w : wanted) names.push_back(w.name);
  return names;
}

std::string near_or_all(const std::string& name, const std::vector<std::string>& names) {
  const std::string near = did_you_mean(name, names);
  return near.empty() ? fmt::format("it has {}", fmt::join(names, ", ")) : near;
}

std::string file_of_program(const Module& module, const std::string& input) {
  const auto at = module.files.find(input);
  if (at == module.files.end()) return {};
  const size_t folder = module.source_name.rfind('/');
  if (at->second.front() == '/' || folder == std::string::npos) return at->second;
  return module.source_name.substr(0, folder + 1) + at->second;
}

bool names_input(const std::string& data) {
  const size_t equals = data.find('=');
  return equals != std::string::npos && data.substr(0, equals).find('/') == std::string::npos;
}

std::string only_input(const std::vector<WantedInput>& wanted) {
  if (wanted.size() == 1) return wanted[0].name;
  std::string name;
  for (const WantedInput& w : wanted) {
    if (!w.file.empty()) continue;
    if (!name.empty()) return {};
    name = w.name;
  }
  return name;
}

std::map<std::string, std::string> files_by_input(const std::vector<std::string>& texts,
                                                  const std::vector<WantedInput>& wanted) {
  const std::vector<std::string> names = names_of(wanted);
  std::map<std::string, std::string> files;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const bool named = names_input(text);
    const std::string only = only_input(wanted);
    if (!named && only.empty()) {
      fail(ExitStatus::usage, fmt::format("'{}' names no input", text), "the program has several", "write NAME=DATA");
    }
    const std::string name = named ? text.substr(0, equals) : only;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      fail(ExitStatus::usage, fmt::format("the program has no input '{}'", name), "", near_or_all(name, names));
    }
    const std::string file = named ? text.substr(equals + 1) : text;
    if (file.empty())
      fail(ExitStatus::usage, fmt::format("'{}' names no file", text), "", fmt::format("write {}FILE", text));
    if (!files.emplace(name, file == "-" ? "/dev/stdin" : file).second) {
      fail(ExitStatus::usage, fmt::format("input '{}' is given twice", name));
    }
  }
  for (const WantedInput& w : wanted) {
    if (!w.file.empty()) files.emplace(w.name, w.file);
  }
  for (const std::string& name : names) {
    if (!files.contains(name))
      fail(ExitStatus::usage, fmt::format("no data for input '{}'", name), "", fmt::format("add {}=FILE", name));
  }
  return files;
}

}  // namespace kasen::tools
