#include "libopt/options/record.h"

#include <algorithm>

namespace kasen {
namespace {

constexpr std::array<std::pair<std::string_view, bool>, 2> on_off{{{"on", true}, {"off", false}}};
constexpr std::array<std::pair<std::string_view, Strategy>, 6> all_strategies{{strategy_names[0],
                                                                               strategy_names[1],
                                                                               strategy_names[2],
                                                                               strategy_names[3],
                                                                               strategy_names[4],
                                                                               {"mpskip", Strategy::mpskip}}};

template <class Names, class Value>
std::string_view word(const Names& names, const Value& value) {
  return std::find_if(names.begin(), names.end(), [&](const auto& row) { return row.second == value; })->first;
}

template <class Names, class Value>
bool read(const Names& names, std::string_view text, Value& value) {
  const auto* const row = std::find_if(names.begin(), names.end(), [&](const auto& one) { return one.first == text; });
  if (row == names.end()) return false;
  value = row->second;
  return true;
}

// One option: its name, and its word both ways.
struct Field {
  std::string_view name;
  std::string_view (*text)(const OptimizeOptions& options);
  bool (*read)(std::string_view text, OptimizeOptions& options);
};

constexpr std::array<Field, 5> fields{{
    {"strategy", [](const OptimizeOptions& o) { return word(all_strategies, o.strategy); },
     [](std::string_view text, OptimizeOptions& o) { return read(all_strategies, text, o.strategy); }},
    {"sync", [](const OptimizeOptions& o) { return word(sync_names, o.sync); },
     [](std::string_view text, OptimizeOptions& o) { return read(sync_names, text, o.sync); }},
    {"split", [](const OptimizeOptions& o) { return word(on_off, o.split); },
     [](std::string_view text, OptimizeOptions& o) { return read(on_off, text, o.split); }},
    {"epilogue",
     [](const OptimizeOptions& o) {
       return word(epilogue_names, EpilogueWord{o.epilogue, o.epilogue_by_size});
     },
     [](std::string_view text, OptimizeOptions& o) {
       EpilogueWord value;
       const bool known = read(epilogue_names, text, value);
       o.epilogue = value.join;
       o.epilogue_by_size = value.by_size;
       return known;
     }},
    {"moves", [](const OptimizeOptions& o) { return word(on_off, o.move_statements); },
     [](std::string_view text, OptimizeOptions& o) { return read(on_off, text, o.move_statements); }},
}};

// Takes the text up to the first `end`, and the end itself.
std::string_view take(std::string_view& text, char end) {
  const std::string_view head = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), head.size() + 1));
  return head;
}

}  // namespace

std::string record_text(const PlanRecord& record) {
  std::string text;
  for (const Field& field : fields) {
    const std::string_view asked = field.text(record.asked), made = field.text(record.made);
    text += (text.empty() ? "" : " ") + std::string(field.name) + '=' + std::string(asked);
    if (made != asked) text += ':' + std::string(made);
  }
  return text;
}

std::optional<PlanRecord> read_record(std::string_view text) {
  PlanRecord record;
  for (const Field& field : fields) {
    std::string_view value = take(text, ' ');
    if (take(value, '=') != field.name) return std::nullopt;
    const std::string_view asked = take(value, ':'), made = value.empty() ? asked : value;
    if (!field.read(asked, record.asked) || !field.read(made, record.made)) return std::nullopt;
  }
  record.made.bounded = record.asked.strategy == Strategy::cost;
  return text.empty() ? std::optional(record) : std::nullopt;
}

}  // namespace kasen
