#include "tools/common/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "libcore/error.h"
#include "libcore/suggest.h"
#include "tools/common/files.h"

namespace kasen::tools {
namespace po = boost::program_options;
namespace {

[[noreturn]] void fault(const std::string& path, const YAML::Mark& mark, std::string what, std::string why = {},
                        std::string remedy = {}) {
  fail(ExitStatus::configuration, std::move(what), std::move(why), std::move(remedy),
       Location{path, mark.line + 1, mark.column + 1});
}

std::string scalar_text(const std::string& path, const YAML::Node& node) {
  if (!node.IsScalar()) fault(path, node.Mark(), "expected one value");
  return node.Scalar();
}

// The option's values as the command line would give them.
std::vector<std::string> values_of(const std::string& path, const YAML::Node& node) {
  std::vector<std::string> values;
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) values.push_back(scalar_text(path, item));
  } else if (node.IsMap()) {
    for (const auto& pair : node) values.push_back(pair.first.Scalar() + "=" + scalar_text(path, pair.second));
  } else {
    values.push_back(scalar_text(path, node));
  }
  return values;
}

class ConfigReader {
 public:
  ConfigReader(const std::string& path, const po::options_description& options, std::map<std::string, Location>& places)
      : path_(path), options_(options), places_(places), result_(&options) {}

  po::parsed_options read() {
    YAML::Node root = load();
    if (root.IsNull()) return result_;
    if (!root.IsMap()) fault(path_, root.Mark(), "a configuration is a map of option names to values");
    for (const auto& pair : root) entry(pair.first, pair.second);
    return result_;
  }

 private:
  YAML::Node load() {
    try {
      const std::vector<YAML::Node> documents = YAML::LoadAll(read_text(path_));
      if (documents.size() > 1) fault(path_, documents[1].Mark(), "a second document", "a configuration is one map");
      return documents.empty() ? YAML::Node() : documents[0];
    } catch (const YAML::Exception& error) {
      fault(path_, error.mark, "this is not YAML", error.msg);
    }
  }

  void entry(const YAML::Node& key, const YAML::Node& value) {
    const std::string name = scalar_text(path_, key);
    if (!seen_.insert(name).second) fault(path_, key.Mark(), fmt::format("key '{}' stands twice", name));
    const po::option_description* option = options_.find_nothrow(name, false);
    if (option == nullptr || name == "config" || name == "help" || name == "version") unknown(key.Mark(), name);
    const bool is_switch = option->semantic()->max_tokens() == 0;
    std::vector<std::string> values = values_of(path_, value);
    if (is_switch) {
      if (!value.IsScalar() || (values[0] != "true" && values[0] != "false"))
        fault(path_, value.Mark(), fmt::format("'{}' is true or false", name));
      if (values[0] == "false") return;
      values.clear();
    } else {
      check_values(*option, values, value.Mark());
    }
    places_[name] = {path_, value.Mark().line + 1, value.Mark().column + 1};
    po::option found;
    found.string_key = name;
    found.value = values;
    result_.options.push_back(std::move(found));
  }

  // As the command line reads them, but told with their place.
  void check_values(const po::option_description& option, const std::vector<std::string>& values,
                    const YAML::Mark& mark) const {
    if (values.empty()) fault(path_, mark, fmt::format("'{}' has no value", option.long_name()));
    try {
      boost::any parsed;
      option.semantic()->parse(parsed, values, true);
    } catch (const po::error&) {
      fault(path_, mark, fmt::format("'{}' is no value of '{}'", fmt::join(values, ", "), option.long_name()), {},
            "see --help");
    }
  }

  [[noreturn]] void unknown(const YAML::Mark& mark, const std::string& name) {
    std::vector<std::string> names;
    for (const auto& option : options_.options()) {
      if (option->long_name() != name) names.push_back(option->long_name());
    }
    const std::string near = nearest_name(name, names);
    fault(path_, mark, fmt::format("unknown key '{}'", name), "it is none of the known names",
          near.empty() ? "see --help" : fmt::format("did you mean '{}'?", near));
  }

  const std::string& path_;
  const po::options_description& options_;
  std::map<std::string, Location>& places_;
  po::parsed_options result_;
  std::set<std::string> seen_;
};

}  // namespace

po::parsed_options read_config(const std::string& path, const po::options_description& options,
                               std::map<std::string, Location>& places) {
  return ConfigReader(path, options, places).read();
}

}  // namespace kasen::tools
