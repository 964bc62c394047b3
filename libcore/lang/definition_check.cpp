#include "libcore/lang/definition_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "libcore/lang/shapes/axis_words.h"
#include "libcore/syntax/habits.h"

namespace kasen::lang {
namespace {

struct CallOf {
  const Statement* def;
  Mark mark;
};

// The names of one def.
class NameCheck {
 public:
  // `program`: the names that it sees of the program; `values`: those that it does not see.
  NameCheck(const SourceText& source, const Functions& functions, const std::set<std::string>& program,
            const std::set<std::string>& values)
      : source_(source), functions_(functions), values_(values), scopes_{program, {}} {}

  std::vector<CallOf> run(const Statement& def) {
    head(def);
    statements(def.body);
    for (const Node& value : def.arguments) expression(value);
    return std::move(calls_);
  }
  [[nodiscard]] std::vector<Diagnostic> faults() { return std::move(faults_); }

 private:
  void head(const Statement& def) {
    std::set<std::string> dims;
    for (const ParamNode& param : def.params) {
      parameter({param.name, param.mark});
      if (param.type.empty()) continue;
      for (const NameAt& dim : param.type[0].dims) {
        if (dims.insert(dim.text).second) parameter(dim);  // the same name again is the same dimension
      }
    }
    for (const NameAt& name : def.names) parameter(name);
  }

  void parameter(const NameAt& name) {
    if (scopes_.back().insert(name.text).second) return;
    fault(name.mark, fmt::format("two parameters are called '{}'", name.text), "dimensions of the head count, too",
          "choose another name");
  }

  void statements(const std::vector<Statement>& list) {
    for (const Statement& s : list) statement(s);
  }

  void statement(const Statement& s) {
    for (const Node& node : s.index) expression(node);
    for (const Node& node : s.value) expression(node);
    for (const Node& node : s.expect) expression(node);
    for (const TypeNode& type : s.type) {
      for (const NameAt& dim : type.dims) use(dim);
    }
    const bool changes = s.kind == StatementKind::put || s.kind == StatementKind::push;
    if (changes) use(s.name);
    for (const std::optional<Node>& node : s.slice) {
      if (node) expression(*node);
    }
    const bool makes =
        s.kind == StatementKind::assign || s.kind == StatementKind::list || s.kind == StatementKind::dimension;
    if (makes) define(s.name);
    for (const NameAt& name : s.names) define(name);
    block(s, s.body);
    block(s, s.other);
  }

  void block(const Statement& s, const std::vector<Statement>& body) {
    scopes_.emplace_back();
    if (s.kind == StatementKind::for_loop) define(s.name);
    statements(body);
    scopes_.pop_back();
  }

  // In a call, a name may be that of a function.
  void expression(const Node& node, bool argument = false) {
    switch (node.kind) {
      case NodeKind::name: {
        const bool function = argument && (functions_.contains(node.text) || scalar_named(node.text) != Scalar::null);
        if (!function) use({node.text, node.mark});
        return;
      }
      case NodeKind::over:
        for (const NameAt& name : node.names) {
          if (!names_axis(name.text)) use(name);
        }
        for (const Node& arg : node.args) expression(arg);
        return;
      case NodeKind::call:
        return call(node);
      case NodeKind::loop:
        for (size_t i = 0; i + 1 < node.args.size(); ++i) expression(node.args[i]);
        return inside(node.names, node.args.back());
      case NodeKind::lambda: {
        std::vector<NameAt> names;
        for (const ParamNode& param : node.params) names.push_back({param.name, param.mark});
        return inside(names, node.args[0]);
      }
      default:
        for (const Node& arg : node.args) expression(arg);
    }
  }

  void inside(const std::vector<NameAt>& names, const Node& body) {
    scopes_.emplace_back();
    for (const NameAt& name : names) define(name);
    expression(body);
    scopes_.pop_back();
  }

  void call(const Node& node) {
    if (const Statement* def = functions_.def(node.text)) calls_.push_back({def, node.mark});
    try {
      const bool known = functions_.contains(node.text) || scalar_named(node.text) != Scalar::null ||
                         functions_.several_call(node) != nullptr;
      if (!known) functions_.unknown(node.text, node.args.size(), node.mark);
    } catch (const UserError& error) {
      faults_.push_back(error.diagnostics().front());
    }
    for (const Node& arg : node.args) expression(arg, true);
  }

  void define(const NameAt& name) { scopes_.back().insert(name.text); }

  void use(const NameAt& name) {
    const auto holds = [&](const std::set<std::string>& scope) { return scope.contains(name.text); };
    if (std::any_of(scopes_.begin(), scopes_.end(), holds)) return;
    define(name);  // one fault a name
    if (values_.contains(name.text)) {
      return fault(name.mark, fmt::format("'{}' is not visible in a function", name.text),
                   "a def sees its parameters, its own names, consts and dimensions", "pass it as an argument");
    }
    Names known;
    for (const std::set<std::string>& scope : scopes_) known.insert(known.end(), scope.begin(), scope.end());
    const Habit* habit = find_habit(name.text, true);
    fault(name.mark, fmt::format("unknown name '{}'", name.text),
          "no parameter and no statement before this place has it",
          habit != nullptr ? habit_remedy(*habit) : did_you_mean(name.text, known));
  }

  void fault(Mark mark, std::string what, std::string why, std::string remedy) {
    faults_.push_back(source_.diagnostic(mark, std::move(what), std::move(why), std::move(remedy)));
  }

  const SourceText& source_;
  const Functions& functions_;
  const std::set<std::string>& values_;
  std::vector<std::set<std::string>> scopes_;
  std::vector<CallOf> calls_;
  std::vector<Diagnostic> faults_;
};

// Which def calls which: each is visited once, and a call of one that is still open closes a circle.
class CallCheck {
 public:
  CallCheck(const SourceText& source, const std::map<const Statement*, std::vector<CallOf>>& calls)
      : source_(source), calls_(calls) {}

  void visit(const Statement& def, std::vector<Diagnostic>& faults) {
    if (!visited_.insert(&def).second) return;
    for (const CallOf& call : calls_.at(&def)) {
      path_.push_back({&def, call.mark});
      if (is_open(*call.def)) {
        faults.push_back(circle(*call.def));
      } else if (path_.size() > max_block_depth) {
        faults.push_back(source_.diagnostic(call.mark,
                                            fmt::format("more than {} functions in each other", max_block_depth),
                                            "each is lowered inside of the one that calls it"));
      } else {
        visit(*call.def, faults);
      }
      path_.pop_back();
    }
  }

 private:
  [[nodiscard]] bool is_open(const Statement& def) const {
    return std::any_of(path_.begin(), path_.end(), [&](const CallOf& call) { return call.def == &def; });
  }

  // `path_` ends with the call that closes it.
  [[nodiscard]] Diagnostic circle(const Statement& def) const {
    const auto from = std::find_if(path_.begin(), path_.end(), [&](const CallOf& call) { return call.def == &def; });
    std::string chain;
    for (auto link = from; link != path_.end(); ++link) {
      const auto next = link + 1;
      const Location at = source_.location(link->mark);
      chain += fmt::format("{}{} calls {} at {}:{}:{}", chain.empty() ? "" : ", ", link->def->name.text,
                           next == path_.end() ? def.name.text : next->def->name.text, at.file, at.line, at.column);
    }
    return source_.diagnostic(path_.back().mark, fmt::format("def '{}' calls itself", def.name.text),
                              chain + "; each call is lowered where it stands, which would never end", "use a loop");
  }

  const SourceText& source_;
  const std::map<const Statement*, std::vector<CallOf>>& calls_;
  std::vector<CallOf> path_;
  std::set<const Statement*> visited_;
};

}  // namespace

std::vector<Diagnostic> definition_faults(const std::vector<Statement>& all, const SourceText& source,
                                          Functions& functions) {
  std::set<std::string> constants, values;
  for (const Statement& s : all) {
    const bool constant = s.kind == StatementKind::constant || s.kind == StatementKind::dimension;
    const bool value = s.kind == StatementKind::input || s.kind == StatementKind::param ||
                       s.kind == StatementKind::assign || s.kind == StatementKind::list;
    if (constant) constants.insert(s.name.text);
    if (value) values.insert(s.name.text);
  }
  const std::set<std::string> none;
  std::vector<Diagnostic> faults;
  std::map<const Statement*, std::vector<CallOf>> calls;
  for (const Statement& s : all) {
    if (s.kind != StatementKind::definition) continue;
    const Until file = functions.inside(s);
    const bool own = !functions.in_used_file();
    NameCheck names(source, functions, own ? constants : none, own ? values : none);
    calls[&s] = names.run(s);
    const std::vector<Diagnostic> found = names.faults();
    faults.insert(faults.end(), found.begin(), found.end());
  }
  CallCheck check(source, calls);
  for (const Statement& s : all) {
    if (s.kind == StatementKind::definition) check.visit(s, faults);
  }
  return faults;
}

}  // namespace kasen::lang
