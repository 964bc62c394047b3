#include "tools/options/machine_file.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "tools/common/config.h"

namespace kasen::tools {

namespace po = boost::program_options;

MachineProfile read_machine(const std::string& path) {
  po::options_description options;
  for (const MachineKey& key : machine_keys())
    options.add_options()(std::string(key.name).c_str(), po::value<double>(), "");
  std::map<std::string, YamlPlace> places;
  po::variables_map values;
  po::store(read_config(path, options, places), values);
  MachineProfile machine;
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
