#include "libopt/time/timeline_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<std::string_view, StreamKind>, 3> stream_words{{{"operators", StreamKind::operators},
                                                                               {"disk read", StreamKind::disk_read},
                                                                               {"disk write", StreamKind::disk_write}}};

class TimelineReader {
 public:
  TimelineReader(std::size_t operators, const std::function<void(const std::string&)>& fault)
      : operators_(static_cast<std::int64_t>(operators)), fault_(fault) {}

  [[nodiscard]] RunTimeline read(const Json& json) const {
    require(json.is_object() && json.contains("streams") && json.at("streams").is_array() && json.contains("held") &&
            json.at("held").is_array());
    RunTimeline made;
    made.seconds = time(json, "seconds");
    if (json.contains("memory")) made.memory = count(json.at("memory"));
    for (const Json& stream : json.at("streams")) made.streams.push_back(read_stream(stream, made.seconds));
    for (const Json& one : json.at("held")) {
      require(one.is_array() && one.size() == 2);
      made.held.push_back({time(one[0]), count(one[1])});
      require(made.held.size() < 2 || made.held[made.held.size() - 2].seconds <= made.held.back().seconds);
    }
    return made;
  }

 private:
  void require(bool good) const {
    if (!good) fault_("the timeline is not [begin, end, busy, count, bytes, operator] of streams, in order");
  }
  [[nodiscard]] double time(const Json& number) const {
    require(number.is_number() && std::isfinite(number.get<double>()) && number.get<double>() >= 0);
    return number.get<double>();
  }
  [[nodiscard]] double time(const Json& object, const char* key) const {
    require(object.contains(key));
    return time(object.at(key));
  }
  [[nodiscard]] std::int64_t count(const Json& number) const {
    require(number.is_number_unsigned() && number.get<std::uint64_t>() <= std::uint64_t{1} << 62);
    return number.get<std::int64_t>();
  }

  [[nodiscard]] TimeStream read_stream(const Json& json, double seconds) const {
    require(json.is_object() && json.contains("stream") && json.at("stream").is_string() && json.contains("spans") &&
            json.at("spans").is_array());
    const auto word = json.at("stream").get<std::string>();
    const auto* const known =
        std::find_if(stream_words.begin(), stream_words.end(), [&](const auto& row) { return row.first == word; });
    require(known != stream_words.end());
    TimeStream stream{known->second, "", {}};
    if (json.contains("array")) {
      require(json.at("array").is_string());
      stream.array = json.at("array").get<std::string>();
    }
    double before = 0;
    for (const Json& one : json.at("spans")) {
      stream.spans.push_back(read_span(one));
      require(stream.spans.back().begin >= before && stream.spans.back().end <= seconds);
      before = stream.spans.back().end;
    }
    return stream;
  }

  [[nodiscard]] TimeSpan read_span(const Json& json) const {
    require(json.is_array() && json.size() == 6 && json[5].is_number_integer());
    TimeSpan span{time(json[0]), time(json[1]), time(json[2]), count(json[3]), count(json[4]), -1};
    const auto number = json[5].get<std::int64_t>();
    require(span.begin <= span.end && span.count > 0 && number >= -1 && number < operators_);
    span.number = static_cast<int>(number);
    return span;
  }

  const std::int64_t operators_;
  const std::function<void(const std::string&)>& fault_;
};

}  // namespace

Json timeline_as_json(const RunTimeline& timeline) {
  Json json{{"seconds", timeline.seconds}, {"streams", Json::array()}, {"held", Json::array()}};
  if (timeline.memory > 0) json["memory"] = timeline.memory;
  for (const TimeStream& stream : timeline.streams) {
    const auto* const word = std::find_if(stream_words.begin(), stream_words.end(),
                                          [&](const auto& row) { return row.second == stream.kind; });
    Json entry{{"stream", word->first}};
    if (stream.kind != StreamKind::operators) entry["array"] = stream.array;
    entry["spans"] = Json::array();
    for (const TimeSpan& span : stream.spans)
      entry["spans"].push_back({span.begin, span.end, span.busy, span.count, span.bytes, span.number});
    json["streams"].push_back(std::move(entry));
  }
  for (const HeldAt& held : timeline.held) json["held"].push_back({held.seconds, held.bytes});
  return json;
}

RunTimeline read_timeline(const Json& json, std::size_t operators,
                          const std::function<void(const std::string&)>& fault) {
  return TimelineReader(operators, fault).read(json);
}

}  // namespace kasen
