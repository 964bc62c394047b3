// Turns an experiment's YAML into its axes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>

#include "datasets/kinds.h"
#include "libcore/base/error.h"
#include "tools/common/tool.h"
#include "tools/experiment/settings.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

using Kind = YamlValue::Kind;
using Alternatives = std::vector<std::vector<Setting>>;

constexpr size_t most_points = 100'000;
// The options of kasen generate that are numbers.
constexpr std::array graph_numbers{"scale", "edges", "a", "b", "c", "rewired", "leaving", "seed"};

// Each alternative of `one` with each of `other`.
Alternatives product(const Alternatives& one, const Alternatives& other) {
  if (one.size() * other.size() > most_points)
    fail(ExitStatus::configuration, fmt::format("the matrix has more than {} points", most_points), "",
         "name fewer values");
  Alternatives all;
  for (const auto& a : one) {
    for (const auto& b : other) {
      all.push_back(a);
      all.back().insert(all.back().end(), b.begin(), b.end());
    }
  }
  return all;
}

// The texts of a value, or of a list of values.
std::vector<std::string> whole_texts(const YamlValue& value, std::int64_t least, std::int64_t most) {
  std::vector<std::string> texts;
  for (const YamlValue& item : value.alternatives()) texts.push_back(std::to_string(item.whole(least, most)));
  return texts;
}

class Reader {
 public:
  Reader(const YamlValue& root, const std::vector<std::string>& overrides, const std::vector<std::string>& defines)
      : map_(root, "an experiment") {
    for (const std::string& text : overrides) override_by(text, "--set");
    for (const std::string& text : defines) {
      override_by("define." + text, "-D");
      overrides_.back().of_params = true;
    }
  }

  Experiment read(const YamlValue& root, const std::string& path) {
    Experiment experiment;
    const std::string stem = std::filesystem::path(path).stem().string();
    experiment.name = path == "-" ? "experiment" : stem;
    experiment.folder = experiment.name + ".experiment";
    if (const YamlValue* folder = scalar("dir")) experiment.folder = folder->text();
    if (const YamlValue* count = scalar("repetitions")) experiment.repetitions = bounded_whole(*count, 1);
    if (const YamlValue* count = scalar("warmups")) experiment.warmups = bounded_whole(*count, 0);
    if (const YamlValue* word = scalar("results")) experiment.keeps_results = keeps(*word);
    if (const YamlValue* list = scalar("seeds")) seeds_ = whole_texts(*list, 0, most_seed);
    const YamlValue* const mean = scalar("mean");
    for (const SettingKey& key : setting_keys()) (void)map_.find(std::string(key.name));
    map_.finish("see docs/experiments.md");
    read_axes(root, experiment);
    if (!seeds_.empty() && !seeds_used_)
      scalar("seeds")->fault("'seeds' has nothing to vary", "no data here are generated",
                             "set a seed of the program with define");
    check(root, experiment);
    if (const YamlValue* labels = mean)
      for (const YamlValue& label : labels->alternatives())
        experiment.mean_over.push_back(varied_label(label, matrix_of(experiment).varied));
    return experiment;
  }

 private:
  static constexpr std::int64_t most_seed = std::numeric_limits<std::int64_t>::max();

  // Keys that are no settings of a point.
  static constexpr std::array<std::string_view, 6> outside{"repetitions", "warmups", "results", "seeds", "dir", "mean"};

  struct Override {
    std::string key, name;
    YamlValue value;
    bool of_params = false;  // a param of that name, too
  };

  static int bounded_whole(const YamlValue& value, int least) { return static_cast<int>(value.whole(least, 100'000)); }

  static bool keeps(const YamlValue& word) {
    if (word.text() != "keep" && word.text() != "drop")
      word.fault(fmt::format("'results' does not know '{}'", shown_text(word.text())), "it is keep or drop",
                 did_you_mean(word.text().substr(0, 40), {"keep", "drop"}));
    return word.text() == "keep";
  }

  // fold is param.fold where no other setting that varies is called so.
  static std::string varied_label(const YamlValue& name, const std::vector<std::string>& varied) {
    std::vector<std::string> found;
    for (const std::string& label : varied) {
      if (label == name.text()) return label;
      if (label.ends_with("." + name.text())) found.push_back(label);
    }
    if (found.size() == 1) return found.front();
    const std::string what = fmt::format("'mean': '{}' is no setting of several values", shown_text(name.text()));
    const std::string near = did_you_mean(name.text().substr(0, 40), varied);
    name.fault(what, varied.empty() ? "no setting has several values" : "means are over the values of a setting",
               varied.empty() ? "give a list, as param: {fold: [0, 1, 2]}"
               : near.empty() ? fmt::format("name one of {}", fmt::join(varied, ", "))
                              : near);
  }

  void override_by(const std::string& text, const std::string& option) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      fail(ExitStatus::usage, fmt::format("'{}' is not KEY=VALUE", text), option + " takes a key and a value");
    const std::string label = text.substr(0, equals);
    const size_t dot = label.find('.');
    const YamlValue root = parse_yaml(fmt::format("{}: {}\n", label, text.substr(equals + 1)), "--set " + label);
    if (!root.is(Kind::map)) root.fault("this is no value of a key");
    overrides_.push_back(
        {label.substr(0, dot), dot == std::string::npos ? "" : label.substr(dot + 1), root.entries().front().value});
  }

  // A key outside the matrix.
  const YamlValue* scalar(const std::string& name) {
    const YamlValue* value = map_.find(name);
    for (const Override& other : overrides_) {
      if (other.key == name) value = &other.value;
    }
    if (value != nullptr && value->is(Kind::nothing)) value->fault(fmt::format("'{}' has no value", name));
    return value;
  }

  void read_axes(const YamlValue& root, Experiment& experiment) {
    std::vector<std::string> read;
    if (root.is(Kind::map)) {
      for (const auto& entry : root.entries()) {
        if (is_setting(entry.key)) add_axes(setting_key(entry.key), entry.value, experiment);
      }
    }
    for (const Override& other : overrides_) {
      if (!is_setting(other.key)) {
        const bool known = std::find(outside.begin(), outside.end(), other.key) != outside.end();
        if (!known || !other.name.empty()) refuse_override(other);
        continue;
      }
      if (other.of_params && has_param(other.name, experiment)) {
        const std::vector<Axis> after = take_out(other.key, other.name, experiment);
        experiment.axes.insert(experiment.axes.end(), after.begin(), after.end());
        replace({"param", other.name, other.value}, experiment);
      } else {
        replace(other, experiment);
      }
    }
  }

  static bool has_param(const std::string& name, const Experiment& experiment) {
    const auto is_it = [&](const Setting& s) { return s.key == "param" && s.name == name; };
    return std::any_of(experiment.axes.begin(), experiment.axes.end(), [&](const Axis& axis) {
      return std::any_of(axis.alternatives.begin(), axis.alternatives.end(),
                         [&](const auto& one) { return std::any_of(one.begin(), one.end(), is_it); });
    });
  }

  [[noreturn]] static void refuse_override(const Override& other) {
    std::vector<std::string> names(outside.begin(), outside.end());
    for (const SettingKey& key : setting_keys()) names.emplace_back(key.name);
    fail(ExitStatus::usage, fmt::format("--set: unknown key '{}'", shown_text(other.key)),
         did_you_mean(other.key.substr(0, 40), names), "see docs/experiments.md");
  }

  static bool is_setting(const std::string& name) {
    return std::any_of(setting_keys().begin(), setting_keys().end(), [&](const auto& key) { return key.name == name; });
  }

  // Removes the settings of the key; its own axes take the place of the first of them.
  void replace(const Override& other, Experiment& experiment) {
    const SettingKey& key = setting_key(other.key);
    if (!key.named && !other.name.empty())
      fail(ExitStatus::usage, fmt::format("--set: '{}' has no names", key.name), "",
           fmt::format("--set {}=..", key.name));
    const std::vector<Axis> after = take_out(other.key, other.name, experiment);
    if (other.name.empty()) {
      add_axes(key, other.value, experiment);
    } else {
      experiment.axes.push_back({values_of(key, other.name, other.value)});
    }
    experiment.axes.insert(experiment.axes.end(), after.begin(), after.end());
  }

  // Removes the settings of the key, or of its one name, and returns the axes from the first of them on.
  static std::vector<Axis> take_out(const std::string& key, const std::string& name, Experiment& experiment) {
    std::vector<Axis> before, after;
    bool found = false;
    for (Axis& axis : experiment.axes) {
      size_t left = 0;
      for (auto& alternative : axis.alternatives) {
        const size_t gone = std::erase_if(
            alternative, [&](const Setting& s) { return s.key == key && (name.empty() || s.name == name); });
        found = found || gone > 0;
        left += alternative.size();
      }
      if (left > 0) (found ? after : before).push_back(std::move(axis));
    }
    experiment.axes = std::move(before);
    return after;
  }

  void add_axes(const SettingKey& key, const YamlValue& value, Experiment& experiment) {
    if (value.is(Kind::nothing)) value.fault(fmt::format("'{}' has no value", key.name));
    if (!key.named) {
      experiment.axes.push_back({values_of(key, "", value)});
    } else if (value.is(Kind::map)) {
      for (const auto& entry : value.entries()) experiment.axes.push_back({values_of(key, entry.key, entry.value)});
    } else {
      add_listed(key, value, experiment);
    }
  }

  // [NAME=VALUE, ..] is one setting of each name, as for kasen go; a list of maps has one map for each alternative.
  void add_listed(const SettingKey& key, const YamlValue& value, Experiment& experiment) {
    Axis axis;
    std::vector<Setting> together;
    for (const YamlValue& item : value.alternatives()) {
      if (item.is(Kind::map)) {
        Alternatives all{{}};
        for (const auto& entry : item.entries()) all = product(all, values_of(key, entry.key, entry.value));
        axis.alternatives.insert(axis.alternatives.end(), all.begin(), all.end());
      } else {
        const std::string& text = item.text();
        const size_t equals = text.find('=');
        const bool named = equals != std::string::npos && text.substr(0, equals).find('/') == std::string::npos;
        if (!named && key.name != "data")
          item.fault(fmt::format("'{}' is not NAME=VALUE", shown_text(text)),
                     fmt::format("'{}' takes names and values", key.name),
                     fmt::format("write {}: {{NAME: {}}}, as {}: {{X: {}}}", key.name, shown_text(text), key.name,
                                 shown_text(text)));
        together.push_back({std::string(key.name),
                            named ? text.substr(0, equals) : "",
                            named ? text.substr(equals + 1) : text,
                            {},
                            item.place()});
      }
    }
    if (!axis.alternatives.empty() && !together.empty())
      value.fault(fmt::format("'{}' mixes maps and NAME=VALUE", key.name), "", "write maps: - {NAME: VALUE}");
    if (!together.empty()) axis.alternatives.push_back(std::move(together));
    experiment.axes.push_back(std::move(axis));
  }

  // A value, or each value of a list.
  Alternatives values_of(const SettingKey& key, const std::string& name, const YamlValue& value) {
    Alternatives all;
    for (const YamlValue& item : value.alternatives()) {
      if (item.is(Kind::map) && key.name == "data") {
        for (Setting& made : generated(name, item)) all.push_back({std::move(made)});
        continue;
      }
      if (key.check != nullptr) key.check(item);
      if (item.text().empty()) item.fault(fmt::format("'{}' is empty", shown_text(item.name())));
      const auto same = [&](const std::vector<Setting>& other) { return other.front().text == item.text(); };
      if (std::any_of(all.begin(), all.end(), same))
        item.fault(fmt::format("'{}' stands twice in the list", shown_text(item.text())), "it would run once more",
                   "repetitions say how often each is run");
      if (key.name == "define" || key.name == "param") (void)item.literal();
      all.push_back({{std::string(key.name), name, item.text(), {}, item.place()}});
    }
    return all;
  }

  // {generate: rmat, scale: [10, 12], edges: 5000, seed: [1, 2]}: graphs that kasen generate makes.
  std::vector<Setting> generated(const std::string& name, const YamlValue& value) {
    YamlMap map(value, "data to generate");
    const YamlValue* kind = map.find("generate");
    std::vector<Setting> all;
    if (kind == nullptr)
      value.fault("data are a file, or a map that says what to generate", "this map has no key 'generate'",
                  "generate: rmat; or, for data that go together: data: [{G: FILE, x: FILE}, ...]");
    const GraphKind* graph = find_graph_kind(kind->text());
    if (graph == nullptr)
      kind->fault(fmt::format("no graphs of kind '{}'", shown_text(kind->text())), "",
                  fmt::format("there are {}", graph_kind_names()));
    all.push_back({"data", name, kind->text(), {kind->text()}, value.place()});
    for (const char* option : graph_numbers) {
      const std::vector<std::string> texts = graph_texts(map.find(option), option, *graph);
      if (texts.empty()) continue;
      std::vector<Setting> longer;
      for (const Setting& setting : all) {
        for (const std::string& text : texts) {
          longer.push_back(setting);
          longer.back().text += fmt::format(" {}={}", option, text);
          longer.back().generate.insert(longer.back().generate.end(), {fmt::format("--{}", option), text});
        }
      }
      all = std::move(longer);
    }
    map.finish(fmt::format("there are generate, {}", fmt::join(graph_numbers, ", ")));
    return all;
  }

  // The texts of one number of a graph: those given, or the experiment's seeds where chance draws the graph.
  std::vector<std::string> graph_texts(const YamlValue* given, std::string_view number, const GraphKind& graph) {
    if (given == nullptr) {
      if (number != "seed" || !graph.drawn) return {};
      seeds_used_ = true;
      return seeds_;
    }
    if (number == "scale" || number == "edges" || number == "seed")
      return whole_texts(*given, number == "seed" ? 0 : 1, number == "scale" ? 31 : most_seed);
    std::vector<std::string> texts;
    for (const YamlValue& item : given->alternatives()) (void)item.real(), texts.push_back(item.text());
    return texts;
  }

  static void check(const YamlValue& root, const Experiment& experiment) {
    size_t points = 1;
    bool program = false;
    for (const Axis& axis : experiment.axes) {
      points *= std::max<size_t>(axis.alternatives.size(), 1);
      if (points > most_points)
        root.fault(fmt::format("the matrix has more than {} points", most_points), "", "name fewer values");
      for (const auto& alternative : axis.alternatives) {
        program = program || (!alternative.empty() && alternative.front().key == "program");
      }
    }
    if (!program) root.fault("no program", "", "add program: FILE.ks");
  }

  YamlMap map_;
  std::vector<Override> overrides_;
  std::vector<std::string> seeds_;
  bool seeds_used_ = false;
};

}  // namespace

Experiment read_experiment(const std::string& path, const std::vector<std::string>& overrides,
                           const std::vector<std::string>& defines) {
  const YamlValue root = read_yaml(path);
  return Reader(root, overrides, defines).read(root, path);
}

}  // namespace kasen::tools
