#include "tools/common/option_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <typeinfo>

#include "libcore/json/report.h"

namespace kasen::tools {
namespace {

std::string heading_at(const Tool& tool, size_t place) {
  std::string heading = "Options";
  for (const auto& [first, name] : tool.headings) {
    if (first <= place) heading = name;
  }
  return heading;
}

OptionRow row_of(const Tool& tool, const po::option_description& option) {
  OptionRow row;
  row.name = option.long_name();
  const std::string shown = option.canonical_display_name(po::command_line_style::allow_dash_for_short);
  if (shown.size() == 2) row.letter = shown.substr(1);
  row.text = option.description();
  const po::value_semantic& value = *option.semantic();
  if (value.max_tokens() > 0) {
    const std::string name = value.name();  // "NAME (=greedy)"
    const size_t standard = name.find(" (=");
    row.argument = name.substr(0, standard);
    if (standard != std::string::npos) row.standard = name.substr(standard + 3, name.size() - standard - 4);
  }
  const auto* typed = dynamic_cast<const po::typed_value_base*>(&value);
  row.repeated = typed != nullptr && typed->value_type() == typeid(std::vector<std::string>);
  if (const auto words = tool.words.find(row.name); words != tool.words.end()) row.words = words->second;
  return row;
}

Json rows_json(const std::vector<OptionRow>& rows) {
  Json json = Json::array();
  for (const OptionRow& row : rows) {
    json.push_back({{"name", row.name},
                    {"letter", row.letter},
                    {"argument", row.argument},
                    {"standard", row.standard},
                    {"repeated", row.repeated},
                    {"heading", row.heading},
                    {"text", row.text},
                    {"words", row.words}});
  }
  return json;
}

}  // namespace

std::vector<OptionRow> option_rows(const Tool& tool) {
  std::vector<OptionRow> declared;
  std::vector<std::string> order;
  for (size_t i = 0; i < tool.options.options().size(); ++i) {
    declared.push_back(row_of(tool, *tool.options.options()[i]));
    declared.back().heading = heading_at(tool, i);
    if (std::find(order.begin(), order.end(), declared.back().heading) == order.end())
      order.push_back(declared.back().heading);
  }
  std::vector<OptionRow> rows;
  for (const std::string& heading : order) {
    std::copy_if(declared.begin(), declared.end(), std::back_inserter(rows),
                 [&](const OptionRow& row) { return row.heading == heading; });
  }
  return rows;
}

std::vector<OptionRow> argument_rows(const Tool& tool) {
  std::vector<OptionRow> rows;
  std::set<std::string> seen;
  for (unsigned i = 0; i < tool.positional.max_total_count(); ++i) {
    const std::string& name = tool.positional.name_for_position(i);
    if (!seen.insert(name).second) break;  // it takes all arguments that follow
    rows.push_back(row_of(tool, tool.hidden.find(name, false)));
  }
  return rows;
}

std::string description_json(const Tool& tool) {
  Json json = new_report("tool");
  json["name"] = tool.info.name;
  json["summary"] = tool.info.summary;
  json["usage"] = tool.info.usage;
  json["example"] = tool.info.example;
  json["arguments"] = rows_json(argument_rows(tool));
  json["options"] = rows_json(option_rows(tool));
  return report_document(json);
}

std::string command_of(const ToolInfo& info) {
  std::string command = info.name;
  if (const size_t dash = command.find('-'); dash != std::string::npos) command[dash] = ' ';
  return command;
}

}  // namespace kasen::tools
