// --config FILE.yaml: a tool's options as YAML keys, through the one reader of YAML (yaml.h).
#pragma once

#include <boost/program_options.hpp>
#include <map>
#include <string>

#include "tools/common/yaml.h"

namespace kasen::tools {

// A key is an option's long name (`workers: 4`, `define: {k: 5}` or `define: [k=5]`, `likely: true` for a switch).
// `places` gets the position of each key's value. Throws UserError(configuration) with file:line:column.
[[nodiscard]] boost::program_options::parsed_options read_config(
    const std::string& path, const boost::program_options::options_description& options,
    std::map<std::string, YamlPlace>& places);
// Reads the options from a text; `file` is for messages.
[[nodiscard]] boost::program_options::parsed_options parse_config(
    const std::string& text, const std::string& file, const boost::program_options::options_description& options,
    std::map<std::string, YamlPlace>& places);

}  // namespace kasen::tools
