#include "libopt/swap/tasks_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/nesting.h"

namespace kasen::swap {
namespace {

using Json = nlohmann::json;

constexpr std::string_view not_tasks = "a task graph is JSON with tensors and operators (docs/swap.md)";

class Reader {
 public:
  Reader(const std::string& text, std::string file) : text_(text), file_(std::move(file)) {}

  TaskGraph read() {
    if (nests_deeper(text_, deepest_json)) fault("the text", "it is nested too deeply");
    const Json json = parsed();
    if (!json.is_object()) fault("the text", "it is not an object");
    if (count(json, "kasen_tasks", "the text") != tasks_version)
      fault("'kasen_tasks'", fmt::format("this tool reads version {}", tasks_version));
    graph_.name = json.contains("name") ? text_of(json, "name", "the text") : "tasks";
    each(json, "tensors", [&](const Json& one, const std::string& where) { add_tensor(one, where); });
    each(json, "operators", [&](const Json& one, const std::string& where) { add_task(one, where); });
    if (graph_.tasks().empty()) fault("'operators'", "there is none");
    return std::move(graph_);
  }

 private:
  [[noreturn]] void fault(const std::string& what, const std::string& why) const {
    fail(ExitStatus::bad_input, fmt::format("{} of a task graph", what), why, std::string(not_tasks), {file_, 0, 0});
  }

  [[nodiscard]] Json parsed() const {
    try {
      return Json::parse(text_);
    } catch (const Json::parse_error& error) {
      const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text_.size()));
      const auto line = std::count(text_.begin(), end, '\n') + 1;
      const auto begin = std::find(std::make_reverse_iterator(end), text_.rend(), '\n').base();
      fail(ExitStatus::bad_input, "this is not JSON", "", std::string(not_tasks),
           {file_, static_cast<int>(line), static_cast<int>(std::max<std::ptrdiff_t>(end - begin, 1))});
    }
  }

  template <class Visit>
  void each(const Json& json, const char* key, Visit visit) {
    if (!json.contains(key) || !json.at(key).is_array()) fault(fmt::format("'{}'", key), "it is not a list");
    if (json.at(key).size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) / 4)
      fault(fmt::format("'{}'", key), "there are too many");
    std::size_t place = 0;
    for (const Json& one : json.at(key)) {
      const std::string where = fmt::format("{}[{}]", key, place++);
      if (!one.is_object()) fault(where, "it is not an object");
      try {
        visit(one, where);
      } catch (const UserError& error) {  // of the graph, which knows no file
        Diagnostic first = error.diagnostics().front();
        if (!first.where.file.empty()) throw;
        first.where = {file_, 0, 0};
        first.what = fmt::format("{}: {}", where, first.what);
        throw UserError(error.status(), std::move(first));
      }
    }
  }

  [[nodiscard]] const Json& at(const Json& json, const char* key, const std::string& where) const {
    if (!json.contains(key)) fault(where, fmt::format("'{}' is missing", key));
    return json.at(key);
  }
  [[nodiscard]] std::string text_of(const Json& json, const char* key, const std::string& where) const {
    const Json& value = at(json, key, where);
    if (!value.is_string()) fault(where, fmt::format("'{}' is not a text", key));
    return value.get<std::string>();
  }
  [[nodiscard]] std::int64_t count(const Json& json, const char* key, const std::string& where) const {
    const Json& value = at(json, key, where);
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
      fault(where, fmt::format("'{}' is not an integer from 0 to {}", key, most));
    return value.get<std::int64_t>();
  }
  [[nodiscard]] double number(const Json& json, const char* key, const std::string& where) const {
    const Json& value = at(json, key, where);
    if (!value.is_number()) fault(where, fmt::format("'{}' is not a number", key));
    return value.get<double>();
  }
  [[nodiscard]] bool flag(const Json& json, const char* key, const std::string& where) const {
    if (!json.contains(key)) return false;
    if (!json.at(key).is_boolean()) fault(where, fmt::format("'{}' is neither true nor false", key));
    return json.at(key).get<bool>();
  }

  void add_tensor(const Json& one, const std::string& where) {
    Tensor tensor{text_of(one, "name", where), count(one, "bytes", where)};
    if (one.contains("kind")) tensor.kind = kind(text_of(one, "kind", where), where);
    tensor.kept = flag(one, "kept", where);
    tensor.resident = flag(one, "resident", where);
    graph_.add(std::move(tensor));
  }
  [[nodiscard]] TensorKind kind(const std::string& word, const std::string& where) const {
    if (word == "parameter") return TensorKind::parameter;
    if (word == "input") return TensorKind::input;
    if (word == "made") return TensorKind::made;
    fault(where, fmt::format("the kind '{}' is none of parameter, input and made", word));
  }

  void add_task(const Json& one, const std::string& where) {
    graph_.add(Task{text_of(one, "name", where), number(one, "seconds", where), tensors(one, "reads", where),
                    tensors(one, "writes", where)});
  }
  [[nodiscard]] std::vector<TensorId> tensors(const Json& one, const char* key, const std::string& where) const {
    const Json& list = at(one, key, where);
    if (!list.is_array()) fault(where, fmt::format("'{}' is not a list", key));
    std::vector<TensorId> ids;
    for (const Json& name : list) {
      const TensorId id = name.is_string() ? graph_.find(name.get<std::string>()) : TensorId{};
      if (id < 0) fault(where, fmt::format("'{}' names {}, which is no tensor", key, name.dump()));
      ids.push_back(id);
    }
    return ids;
  }

  const std::string& text_;
  std::string file_;
  TaskGraph graph_;
};

}  // namespace

TaskGraph read_tasks(const std::string& text, const std::string& file) { return Reader(text, file).read(); }

}  // namespace kasen::swap
