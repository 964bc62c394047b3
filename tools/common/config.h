// --config FILE.yaml: a tool's options as YAML keys. One typed reader: unknown and repeated keys are refused.
#pragma once

#include <boost/program_options.hpp>
#include <map>
#include <string>

#include "libcore/error.h"

namespace kasen::tools {

// A key is an option's long name (`workers: 4`, `define: {k: 5}` or `define: [k=5]`, `likely: true` for a switch).
// `places` gets the place of each key's value. Throws UserError(configuration) with file:line:column.
[[nodiscard]] boost::program_options::parsed_options read_config(
    const std::string& path, const boost::program_options::options_description& options,
    std::map<std::string, Location>& places);

}  // namespace kasen::tools
