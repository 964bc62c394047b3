#include "tools/common/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <typeinfo>

#include "tools/system/files.h"

namespace kasen::tools {
namespace po = boost::program_options;
namespace {

// One value as the command line would give it, of the option's type.
std::string scalar_text(const po::option_description& option, const YamlValue& value) {
  const auto* typed = dynamic_cast<const po::typed_value_base*>(option.semantic().get());
  const auto of = [&](const std::type_info& type) { return typed != nullptr && typed->value_type() == type; };
  if (value.is(YamlValue::Kind::nothing)) value.fault(fmt::format("'{}' has no value", option.long_name()));
  if (of(typeid(int))) (void)value.whole(std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
  if (of(typeid(std::int64_t)))
    (void)value.whole(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  if (of(typeid(std::uint64_t))) (void)value.whole_unsigned();
  if (of(typeid(double))) (void)value.real();
  return value.text();
}

// The option's values as the command line would give them. An option that may be given several times takes a list, or a
// map of NAME=VALUE.
std::vector<std::string> values_of(const po::option_description& option, const YamlValue& value) {
  const auto* typed = dynamic_cast<const po::typed_value_base*>(option.semantic().get());
  const bool several = typed != nullptr && typed->value_type() == typeid(std::vector<std::string>);
  if (!several && value.is(YamlValue::Kind::list))
    value.fault(fmt::format("'{}' takes one value, here is a list", option.long_name()), "",
                "kasen experiment tries each value of a list");
  std::vector<std::string> values;
  if (several && value.is(YamlValue::Kind::list)) {
    for (const YamlValue& item : value.items()) values.push_back(scalar_text(option, item));
  } else if (several && value.is(YamlValue::Kind::map)) {
    for (const auto& entry : value.entries()) {
      values.push_back(entry.key + '=' + scalar_text(option, entry.value));
      if (option.long_name() != "data") (void)entry.value.literal();
    }
  } else {
    values.push_back(scalar_text(option, value));
  }
  if (values.empty()) value.fault(fmt::format("'{}' has no value", option.long_name()));
  return values;
}

// Reads the values as the command line does, but errors name their position.
void check_values(const po::option_description& option, const std::vector<std::string>& values,
                  const YamlValue& value) {
  try {
    boost::any parsed;
    option.semantic()->parse(parsed, values, false);  // true: through the locale, which may lack letters
  } catch (const po::error&) {
    value.fault(fmt::format("'{}' is no value of '{}'", shown_text(fmt::format("{}", fmt::join(values, ", "))),
                            option.long_name()),
                "", "see --help");
  }
}

po::parsed_options options_of(const YamlValue& root, const po::options_description& options,
                              std::map<std::string, YamlPlace>& places) {
  YamlMap map(root, "a configuration");
  std::vector<std::pair<const po::option_description*, const YamlValue*>> given;
  for (const auto& option : options.options()) {
    const std::string& name = option->long_name();
    if (name == "config" || name == "help" || name == "version") continue;
    if (const YamlValue* value = map.find(name)) given.emplace_back(option.get(), value);
  }
  map.finish("see --help");
  po::parsed_options result(&options);
  for (const auto& [option, value] : given) {
    po::option found;
    found.string_key = option->long_name();
    if (option->semantic()->max_tokens() == 0) {
      if (!value->truth()) continue;
    } else {
      found.value = values_of(*option, *value);
      check_values(*option, found.value, *value);
    }
    places[found.string_key] = value->place();
    result.options.push_back(std::move(found));
  }
  return result;
}

}  // namespace

po::parsed_options parse_config(const std::string& text, const std::string& file,
                                const po::options_description& options, std::map<std::string, YamlPlace>& places) {
  return options_of(parse_yaml(text, file), options, places);
}

po::parsed_options read_config(const std::string& path, const po::options_description& options,
                               std::map<std::string, YamlPlace>& places) {
  return parse_config(read_text(path), shown_name(path), options, places);
}

}  // namespace kasen::tools
