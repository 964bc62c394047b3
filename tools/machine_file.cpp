#include "tools/machine_file.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "tools/common/config.h"

namespace kasen::tools {
namespace {

namespace po = boost::program_options;

constexpr std::array<std::pair<const char*, double MachineProfile::*>, 3> keys{{
    {"memory_bandwidth", &MachineProfile::memory_bandwidth},
    {"network_bandwidth", &MachineProfile::network_bandwidth},
    {"network_latency", &MachineProfile::network_latency},
}};

}  // namespace

MachineProfile read_machine(const std::string& path) {
  po::options_description options;
  for (const auto& [key, member] : keys) options.add_options()(key, po::value<double>(), "");
  std::map<std::string, Location> places;
  po::variables_map values;
  po::store(read_config(path, options, places), values);
  MachineProfile machine;
  for (const auto& [key, member] : keys) {
    if (values.count(key) == 0) continue;
    machine.*member = values[key].as<double>();
    if (std::isfinite(machine.*member) && machine.*member > 0) continue;
    fail(ExitStatus::configuration, fmt::format("'{}' is {}", key, machine.*member), "it is a positive number", "",
         places.at(key));
  }
  return machine;
}

}  // namespace kasen::tools
