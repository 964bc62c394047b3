#include "tools/machine/machine_file.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "tools/common/config.h"

namespace kasen::tools {

std::optional<std::string> machine_file(const po::variables_map& values) {
  if (values.count("machine") > 0) return values["machine"].as<std::string>();
  const char* const file = std::getenv("KASEN_PROFILE");
  return file != nullptr && *file != '\0' ? std::optional<std::string>(file) : std::nullopt;
}

std::optional<MachineProfile> machine_of(const po::variables_map& values) {
  const std::optional<std::string> file = machine_file(values);
  return file ? std::optional(read_machine(*file)) : std::nullopt;
}

MachineProfile read_machine(const std::string& path) {
  po::options_description options;
  for (const MachineKey& key : machine_keys())
    options.add_options()(std::string(key.name).c_str(), po::value<double>(), "");
  options.add_options()("processor", po::value<std::string>(), "")("build", po::value<std::string>(), "");
  std::map<std::string, YamlPlace> places;
  po::variables_map values;
  po::store(read_config(path, options, places), values);
  MachineProfile machine;
  if (values.count("processor") > 0) machine.trials.processor = values["processor"].as<std::string>();
  if (values.count("build") > 0) machine.trials.build = values["build"].as<std::string>();
  for (const MachineKey& key : machine_keys()) {
    const std::string name(key.name);
    if (values.count(name) == 0) continue;
    double& number = key.of(machine);
    number = values[name].as<double>();
    if (std::isfinite(number) && (number > 0 || (number == 0 && key.may_be_zero))) continue;
    places.at(name).fault(fmt::format("'{}' is {}", name, number),
                          key.may_be_zero ? "it is a positive number or 0" : "it is a positive number");
  }
  return machine;
}

}  // namespace kasen::tools
