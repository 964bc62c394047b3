#include "libcore/lang/terms/functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/lang/terms/libraries.h"
#include "libcore/lang/terms/prelude.h"
#include "libcore/syntax/habits.h"

namespace kasen::lang {
void Functions::add(std::initializer_list<const char*> names, Name name, const ArrayCall::Lower& lower) {
  for (const char* text : names) array_calls_.push_back({text, lower, name == Name::yields});
}

void Functions::declare(const Statement& fn) {
  const std::string& name = fn.name.text;
  const ArrayCall* call = array_call(name);
  if ((call != nullptr && !call->yields) || is_scalar(name)) {
    source_.fail(fn.mark,
                 fmt::format("{} '{}' has the name of a built-in function",
                             fn.kind == StatementKind::definition ? "def" : "fn", name),
                 {}, fmt::format("choose another, for example my_{}", name));
  }
  if (!files_[source_.section(fn.mark)].own.emplace(name, &fn).second) {
    source_.fail(fn.mark, fmt::format("two functions are called '{}'", name));
  }
}

// A name that the file itself has hides that of a file that it uses.
void Functions::declare_use(const Statement& use, int from, int to) {
  File& user = files_[from];
  for (const auto& [name, fn] : files_[to].own) {
    const auto [known, is_new] = user.used.emplace(name, fn);
    if (is_new || known->second == fn || user.own.contains(name)) continue;
    const Location other = source_.location(known->second->mark);
    source_.fail(use.mark, fmt::format("two used files have a function '{}'", name),
                 fmt::format("the other one stands at {}:{}", other.file, other.line),
                 fmt::format("rename one of them, or write a function '{}' of this file, which hides both", name));
  }
}

void Functions::declare_prelude() {
  for (const Statement& fn : prelude()) prelude_.emplace(fn.name.text, &fn);
}

const Statement* Functions::find(const std::string& name) const {
  const auto in = [&](const Table& table) {
    const auto it = table.find(name);
    return it == table.end() ? nullptr : it->second;
  };
  if (const auto file = files_.find(file_); file != files_.end()) {
    for (const Table* table : {&file->second.own, &file->second.used}) {
      if (const Statement* found = in(*table)) return found;
    }
  }
  if (const Statement* found = in(prelude_)) return found;
  return in(found_);
}

// Behind all else: a library does not take the place of what is built in.
void Functions::declare_found(const std::string& name, int file) {
  const ArrayCall* const call = array_call(name);
  const bool built_in = (call != nullptr && !call->yields) || is_scalar(name) || find_scalar_op(name, 1) != nullptr;
  const Table& functions = files_[file].own;
  if (const auto it = functions.find(name); it != functions.end() && !built_in) found_.emplace(name, it->second);
}

const Statement* Functions::fn(const std::string& name) const {
  const Statement* found = find(name);
  return found != nullptr && found->kind == StatementKind::function ? found : nullptr;
}

const Statement* Functions::def(const std::string& name) const {
  const Statement* found = find(name);
  return found != nullptr && found->kind == StatementKind::definition ? found : nullptr;
}

const Statement* Functions::fn(const Node& node) const { return node.kind == NodeKind::name ? fn(node.text) : nullptr; }

const ArrayCall* Functions::array_call(const std::string& name) const {
  const auto it = std::find_if(array_calls_.begin(), array_calls_.end(), [&](auto& c) { return c.name == name; });
  return it == array_calls_.end() ? nullptr : &*it;
}

const SeveralCall* Functions::several_call(const Node& node) const {
  if (node.kind != NodeKind::call || find(node.text) != nullptr) return nullptr;
  const auto it =
      std::find_if(several_calls_.begin(), several_calls_.end(), [&](auto& c) { return c.name == node.text; });
  return it == several_calls_.end() ? nullptr : &*it;
}

bool Functions::is_scalar(const std::string& name) {
  return std::any_of(scalar_op_rows().begin(), scalar_op_rows().end(),
                     [&](const ScalarOpRow& r) { return r.result != ResultRule::special && r.name == name; });
}

bool Functions::contains(const std::string& name) const {
  return find(name) != nullptr || find_scalar_op(name, 1) != nullptr || find_scalar_op(name, 2) != nullptr ||
         array_call(name) != nullptr;
}

void Functions::unknown(const std::string& name, size_t arguments, Mark mark) const {
  Names known;
  for (const ArrayCall& c : array_calls_) {
    if (c.name[0] >= 'a' && c.name.size() > 2) known.push_back(c.name);  // short ones are near to everything
  }
  for (const SeveralCall& c : several_calls_) {
    if (c.name.size() > 2) known.push_back(c.name);
  }
  known.insert(known.end(), {"f64", "f32", "i64", "i32"});
  std::string arities;
  for (const ScalarOpRow& r : scalar_op_rows()) {
    if (r.result == ResultRule::special) continue;
    known.emplace_back(r.name);
    if (r.name == name) arities = std::to_string(r.arity);
  }
  if (!arities.empty()) {
    source_.fail(mark, fmt::format("'{}' with {} arguments", name, arguments), fmt::format("it takes {}", arities));
  }
  for (const auto& [text, fn] : prelude_) known.push_back(text);
  if (const auto file = files_.find(file_); file != files_.end()) {
    for (const auto& [text, fn] : file->second.own) known.push_back(text);
    for (const auto& [text, fn] : file->second.used) known.push_back(text);
  }
  std::string why = "no fn and no built-in function has that name";
  std::string remedy = did_you_mean(name, known, Slips::few);
  const bool taken = scopes_.find(name) != nullptr;
  const Habit* habit = taken ? nullptr : find_habit(name, false);
  if (habit != nullptr) {
    if (!habit->why.empty()) why = habit->why;
    remedy = habit_remedy(*habit);
  }
  if (const std::string_view library = library_with(name); !library.empty()) {
    why = fmt::format("a library has it: use \"{}\" brings it in", library);
    if (habit == nullptr) remedy.clear();
  }
  if (taken) why = "the name stands for a value, not for a function";
  source_.fail(mark, fmt::format("unknown function '{}'", name), why, remedy);
}

void Functions::replace_instance(const Node& fn, FnId made) {
  if (const Statement* user = this->fn(fn)) instances_[user].back().fn = made;
}

const std::vector<Functions::Instance>& Functions::instances(const Statement& fn) const {
  static const std::vector<Instance> none;
  const auto it = instances_.find(&fn);
  return it == instances_.end() ? none : it->second;
}

Node function_node(const std::string& name, Mark mark) {
  Node node;
  node.mark = mark;
  node.text = name;
  return node;
}

}  // namespace kasen::lang
