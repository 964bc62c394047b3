// An explanation as text and as JSON.
#include <fmt/format.h>

#include <cmath>

#include "libopt/report/explain.h"

namespace kasen {
namespace {

std::string lines_of(const Explained& item, int depth) {
  std::string text = fmt::format("{:{}}{}\n", "", 2 * depth, item.what);
  for (const Explained& note : item.notes) text += lines_of(note, depth + 1);
  return text;
}

std::string place_of(const Explained& item) {
  if (item.where->line < 1) return "(made by the optimizer)";
  return fmt::format("line {} | {}", item.where->line, item.source);
}

std::string section_text(const ExplainedSection& section) {
  std::string text = "\n" + section.title + "\n";
  int line = -1;
  for (const Explained& item : section.items) {
    if (section.by_line && item.where->line != line) {
      text += fmt::format("  {}\n", place_of(item));
      line = item.where->line;
    }
    text += lines_of(item, section.by_line ? 2 : section.depth);
  }
  if (section.closing) text += lines_of(*section.closing, 1);
  return text;
}

Json price_json(const Price& price) {
  return {{"seconds", real_json(price.seconds)},
          {"memory_bytes", std::llround(price.memory_bytes)},
          {"network_bytes", std::llround(price.network_bytes)},
          {"exchanges", std::llround(price.rounds)}};
}

Json item_json(const Explained& item) {
  Json json{{"what", item.what}};
  if (item.where) {
    json["line"] = item.where->line > 0 ? Json(item.where->line) : Json();
    json["source"] = item.source.empty() ? Json() : Json(item.source);
  }
  if (!item.amounts.empty()) json["amounts"] = Json::array();
  for (const Amount& amount : item.amounts) {
    json["amounts"].push_back(
        {{"name", amount.name}, {"formula", amount.formula}, {"value", amount.value ? Json(*amount.value) : Json()}});
  }
  if (item.price) json["price"] = price_json(*item.price);
  json["notes"] = Json::array();
  for (const Explained& note : item.notes) json["notes"].push_back(item_json(note));
  return json;
}

}  // namespace

std::string explanation_text(const Explanation& explanation) {
  std::string text = fmt::format("{}, level {}: why the plan is as it is (bytes by the actual column)\n",
                                 explanation.program, explanation.level);
  if (!explanation.origin.empty()) text += fmt::format("Sizes from {}.\n", explanation.origin);
  for (const ExplainedSection& section : explanation.sections) text += section_text(section);
  if (explanation.knows_alternatives) return text;
  return text +
         "\nThe cost of the whole plan in other modes is not known: its source does not give this very plan with the "
         "options that it records and these sizes. Fuse the program again.\n";
}

Json explanation_json(const Explanation& explanation) {
  Json json{{"program", explanation.program},
            {"level", explanation.level},
            {"sizes", explanation.origin.empty() ? Json() : Json(explanation.origin)},
            {"knows_alternatives", explanation.knows_alternatives},
            {"sections", Json::array()}};
  for (const ExplainedSection& section : explanation.sections) {
    Json one{{"section", section.key}, {"title", section.title}, {"items", Json::array()}};
    for (const Explained& item : section.items) one["items"].push_back(item_json(item));
    if (section.closing) one["items"].push_back(item_json(*section.closing));
    json["sections"].push_back(std::move(one));
  }
  return json;
}

}  // namespace kasen
