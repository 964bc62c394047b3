#include "tools/experiment/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "libcore/base/error.h"
#include "libopt/spread/search.h"
#include "tools/launch/options.h"
#include "tools/options/mesh_option.h"
#include "tools/options/words.h"

namespace kasen::tools {
namespace {

template <const auto& words>
void check_word(const YamlValue& value) {
  std::vector<std::string> names;
  for (const auto& [name, meaning] : words) names.emplace_back(name);
  if (std::find(names.begin(), names.end(), value.text()) != names.end()) return;
  value.fault(fmt::format("'{}' does not know '{}'", value.name(), shown_text(value.text())),
              fmt::format("it is one of {}", fmt::join(names, ", ")), did_you_mean(value.text().substr(0, 40), names));
}

void check_workers(const YamlValue& value) { (void)value.whole(1, most_workers); }
void check_threads(const YamlValue& value) { (void)value.whole(0, most_threads); }
void check_size(const YamlValue& value) { (void)value.whole(0, std::numeric_limits<int>::max()); }
void check_ranks(const YamlValue& value) {
  if (value.is(YamlValue::Kind::scalar) && (value.text() == "none" || value.text() == "workers")) return;
  (void)value.whole(1, most_workers);
}

// `none`: arrays are cut along one dimension, over all workers.
void check_mesh(const YamlValue& value) {
  if (value.text() == "none" || value.text() == "auto" || mesh_of_text(value.text())) return;
  value.fault(fmt::format("'{}' is no mesh of workers", shown_text(value.text())), what_a_mesh_is(),
              "as in mesh: [none, 2x2, auto]");
}

// `none`: operators of whole arrays.
void check_spread(const YamlValue& value) {
  if (value.text() == "none") return;
  try {
    spread::require_search(value.text());
  } catch (const UserError& error) {
    value.fault(fmt::format("'spread' does not know '{}'", shown_text(value.text())), error.diagnostics().front().why,
                "as in spread: [none, lshs, round-robin]");
  }
}

void check_extent(const YamlValue& value) { (void)value.whole(0, std::numeric_limits<std::int64_t>::max()); }
void check_bytes(const YamlValue& value) {
  if (!bytes_of(value.text())) value.wrong_type("a size: bytes, or a number with K, M, G or T behind it, as 8G");
}

void check_seconds(const YamlValue& value) {
  if (!(value.real() > 0 && value.real() < 1e9)) value.wrong_type("a number of seconds above 0");
}

constexpr std::array<std::pair<std::string_view, int>, 2> nan_choices{{{"allow", 0}, {"error", 1}}};

// key         flag         step             named  whole  otherwise     check
constexpr std::array<SettingKey, 31> keys{{
    {"program", "", Step::plan},
    {"define", "-D", Step::plan, true},
    {"data", "", Step::partition, true},
    {"workers", "--workers", Step::partition, false, true, "1", check_workers},
    {"method", "--method", Step::partition, false, false, "auto", check_word<method_words>},
    {"theta", "--theta", Step::partition, false, true, "100", check_size},
    {"compress", "--compress", Step::partition, false, false, "none", check_word<compress_words>},
    {"dim", "--dim", Step::partition, true, false, "", check_extent},
    {"columns", "--columns", Step::partition, true},
    {"words", "--words", Step::partition, true},
    {"one-hot", "--one-hot", Step::partition, true},
    {"dates", "--dates", Step::partition, true},
    {"missing", "--missing", Step::partition, true},
    {"dictionary", "--dictionary", Step::partition},
    {"rest", "--rest", Step::partition, false, false, "", check_word<rest_words>},
    {"repeats", "--repeats", Step::partition, false, false, "", check_word<repeats_words>},
    {"strategy", "--strategy", Step::fuse, false, false, "auto", check_word<strategy_words>},
    {"sync", "--sync", Step::fuse, false, false, "hybrid", check_word<sync_words>},
    {"epilogue", "--epilogue", Step::fuse, false, false, "auto", check_word<epilogue_words>},
    {"mesh", "--mesh", Step::fuse, false, false, "", check_mesh},
    {"tile", "--tile", Step::fuse, false, false, "", check_word<tile_words>},
    {"spread", "--spread", Step::fuse, false, false, "", check_spread},
    {"grid", "--grid", Step::fuse, true},
    {"ranks", "-n", Step::run, false, true, "none", check_ranks},
    {"mpirun", "--mpirun", Step::run},
    {"threads", "--threads", Step::run, false, true, "0", check_threads},
    {"kernels", "--kernels", Step::run, false, false, "generated", check_word<kernel_words>},
    {"param", "--param", Step::run, true},
    {"memory", "--memory", Step::run, false, false, "", check_bytes},
    {"nan", "--nan", Step::run, false, false, "", check_word<nan_choices>},
    {"timeout", "--timeout", Step::run, false, false, "", check_seconds},
}};

}  // namespace

std::span<const SettingKey> setting_keys() { return keys; }

const SettingKey& setting_key(std::string_view name) {
  const auto* found = std::find_if(keys.begin(), keys.end(), [&](const SettingKey& key) { return key.name == name; });
  if (found == keys.end()) throw InternalError("a setting without a key");
  return *found;
}

const Setting* Point::find(std::string_view key, std::string_view name) const {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const Setting& setting) { return setting.key == key && setting.name == name; });
  return found == settings.end() ? nullptr : &*found;
}

std::string Point::text(std::string_view key) const {
  const Setting* setting = find(key);
  return setting == nullptr ? std::string() : setting->text;
}

int Point::workers() const {
  const auto mesh = mesh_of_text(text("mesh"));
  return mesh ? workers_of(*mesh) : std::stoi(text("workers"));
}

int Point::ranks() const {
  const std::string ranks = text("ranks");
  return ranks == "none" ? 0 : ranks == "workers" ? workers() : std::stoi(ranks);
}

std::string Point::shown(const std::vector<std::string>& labels) const {
  std::string shown;
  for (const Setting& setting : settings) {
    if (std::find(labels.begin(), labels.end(), setting.label()) == labels.end()) continue;
    shown += fmt::format("{}{}={}", shown.empty() ? "" : ", ", setting.label(), setting.text);
  }
  return shown;
}

Matrix matrix_of(const Experiment& experiment) {
  Matrix matrix;
  std::vector<Point> points(1);
  for (const Axis& axis : experiment.axes) {
    std::vector<Point> longer;
    for (const Point& point : points) {
      for (const auto& alternative : axis.alternatives) {
        longer.push_back(point);
        longer.back().settings.insert(longer.back().settings.end(), alternative.begin(), alternative.end());
      }
    }
    points = std::move(longer);
  }
  std::map<std::string, std::set<std::string>> values;
  std::vector<std::string> labels;
  for (Point& point : points) {
    for (const SettingKey& key : keys) {
      const bool reported = key.otherwise.empty() || point.find(key.name) != nullptr;
      if (!reported) point.settings.push_back({std::string(key.name), "", std::string(key.otherwise)});
    }
    if (point.ranks() > point.workers()) {
      ++matrix.left_out;
      continue;
    }
    for (const Setting& setting : point.settings) {
      if (values[setting.label()].empty()) labels.push_back(setting.label());
      values[setting.label()].insert(setting.text);
    }
    matrix.points.push_back(std::move(point));
  }
  for (const std::string& label : labels) {
    const auto has = [&](const Point& p) {
      return std::any_of(p.settings.begin(), p.settings.end(), [&](const Setting& s) { return s.label() == label; });
    };
    const bool everywhere = std::all_of(matrix.points.begin(), matrix.points.end(), has);
    if (values[label].size() > 1 || !everywhere) matrix.varied.push_back(label);
  }
  return matrix;
}

}  // namespace kasen::tools
