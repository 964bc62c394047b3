#include "libcore/lang/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include "libcore/base/text_kind.h"
#include "libcore/lang/terms/libraries.h"
#include "libcore/syntax/block_loops.h"

namespace kasen::lang {
namespace {

constexpr std::string_view file_line = "## file \"";
constexpr size_t most_files = 200;

bool is_file(const std::string& name) { return name.ends_with(".ks"); }

// `lib/a.ks` where `lib/b.ks` uses "a.ks".
std::string beside(const std::string& user, const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(user).parent_path();
  return (folder / name).lexically_normal().generic_string();
}

bool only_functions(StatementKind kind) {
  return kind == StatementKind::function || kind == StatementKind::definition || kind == StatementKind::use;
}

using Take = std::function<void(const Node& call)>;

void each_call(const Node& node, const Take& take) {
  if (node.kind == NodeKind::call) take(node);
  for (const Node& arg : node.args) each_call(arg, take);
}

void each_call(const std::vector<Statement>& list, const Take& take) {
  for (const Statement& s : list) {
    for (const auto* nodes : {&s.value, &s.index, &s.arguments, &s.expect}) {
      for (const Node& node : *nodes) each_call(node, take);
    }
    for (const ParamNode& param : s.params) {
      for (const Node& node : param.usual) each_call(node, take);
    }
    each_call(s.body, take);
    each_call(s.other, take);
  }
}

size_t lines_of(std::string_view text) { return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

Program::Program(std::string_view text, const std::string& file, const ReadFile& read)
    : read_(read), folder_(file.substr(0, file.find_last_of('/') + 1)) {
  source_.file = file;
  split(text);
  source_.text = text_;
  statements_ = with_declared_blocks(parse_program(source_), source_);
  take_uses(0);
  find_called();
}

// Those of the statements from there on, and of the files that they use.
void Program::take_uses(size_t from) {
  for (size_t i = from; i < statements_.size(); ++i) {
    if (statements_[i].kind != StatementKind::use) continue;
    const Statement use = statements_[i];  // more statements move the others
    const int user = source_.section(use.mark);
    const int to = file_of(use, user);
    if (to != user) uses_.push_back({i, user, to});
  }
}

// Functions of libraries that are called by names that nothing else has.
void Program::find_called() {
  std::set<std::string> known;
  for (const Statement& s : statements_) {
    if (s.kind == StatementKind::function || s.kind == StatementKind::definition) known.insert(s.name.text);
  }
  const std::vector<Statement> own = statements_;
  each_call(own, [&](const Node& call) {
    if (!known.insert(call.text).second) return;
    const std::string_view library = library_with(call.text);
    if (library.empty()) return;
    Statement use;
    use.kind = StatementKind::use;
    use.mark = call.mark;
    use.name = {std::string(library), call.mark};
    const size_t before = statements_.size();
    found_.push_back({call.text, file_of(use, 0)});
    take_uses(before);
  });
}

// Takes the files out of the text that a plan carries.
void Program::split(std::string_view text) {
  std::string* current = &text_;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    std::string_view name = line.substr(0, line.find_last_not_of("\r\n") + 1);
    if (name.starts_with(file_line) && name.size() > file_line.size() && name.ends_with('"')) {
      name.remove_prefix(file_line.size());
      name.remove_suffix(1);
      current = &given_[std::string(name)];
      current->clear();
    } else {
      *current += line;
    }
  }
}

// Its number; the file is read the first time.
int Program::file_of(const Statement& use, int from) {
  const std::string& written = use.name.text;
  const auto good = [](char c) { return c >= ' ' && c <= '~' && c != '\\' && c != '"'; };
  if (written.empty() || !std::all_of(written.begin(), written.end(), good)) {
    source_.fail(use.mark, "this is no name of a file", "it has signs that such a name does not have here",
                 "write use \"file.ks\", or use \"stats\"");
  }
  const std::string user = from == 0 ? std::string() : names_[static_cast<size_t>(from) - 1];
  const std::string name = is_file(written) ? beside(is_file(user) ? user : "", written) : written;
  const auto known = std::find(names_.begin(), names_.end(), name);
  if (known != names_.end()) return static_cast<int>(known - names_.begin()) + 1;
  if (names_.size() >= most_files) {
    source_.fail(use.mark, fmt::format("more than {} used files", most_files), {},
                 "put functions together in one file");
  }
  const std::string text = text_of(use, name);
  const Diagnostic place = source_.diagnostic(use.mark, {});
  try {
    add(text, name);
  } catch (const UserError& error) {
    std::vector<Diagnostic> faults = error.diagnostics();
    for (Diagnostic& fault : faults) {
      fault.why += fmt::format("{}the file is used at {}:{}:{}", fault.why.empty() ? "" : "; ", place.where.file,
                               place.where.line, place.where.column);
    }
    throw UserError(error.status(), std::move(faults));
  }
  return static_cast<int>(names_.size());
}

std::string Program::shown(const std::string& name) const {
  if (!is_file(name)) return fmt::format("<{}>", name);
  return name.starts_with('/') ? name : folder_ + name;
}

std::string Program::text_of(const Statement& use, const std::string& name) const {
  if (const auto given = given_.find(name); given != given_.end()) return given->second;
  if (!is_file(name)) {
    std::vector<std::string_view> names;
    for (const Library& library : libraries()) {
      if (library.name == name) return std::string(library.text);
      names.push_back(library.name);
    }
    source_.fail(use.mark, fmt::format("there is no library '{}'", name),
                 fmt::format("the libraries are {}", fmt::join(names, ", ")),
                 fmt::format("write use \"{}.ks\" for a file beside the program", name));
  }
  if (!read_) {
    source_.fail(use.mark, fmt::format("cannot read '{}'", name), "this program is a text without a folder",
                 "put the functions into the program");
  }
  std::string text;
  try {
    text = read_(shown(name));
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    throw UserError(error.status(), source_.diagnostic(use.mark, d.what, d.why, d.remedy));
  }
  const TextKind kind = text_kind(text);
  const bool marked = text.starts_with(file_line) || text.find(fmt::format("\n{}", file_line)) != std::string::npos;
  const bool other = kind == TextKind::ir || kind == TextKind::data;
  if (!marked && !other) return text;
  source_.fail(
      use.mark, fmt::format("'{}' is not a file of functions", name),
      marked ? fmt::format("it holds several files: a line begins with {}", file_line) : std::string(kind_text(kind)),
      "name a file with fn and def");
}

// Appends a file, whose lines follow those that are there.
void Program::add(const std::string& text, const std::string& name) {
  if (!text_.empty() && text_.back() != '\n') text_ += '\n';
  text_ += fmt::format("{}{}\"\n", file_line, name);
  const auto first = static_cast<int>(lines_of(text_)) + 1;
  names_.push_back(name);
  source_.sections.push_back({first, shown(name)});
  const SourceText own{text, shown(name), first, {{first, shown(name)}}};
  std::vector<Statement> found = with_declared_blocks(parse_program(own), own);
  for (Statement& s : found) {
    if (!only_functions(s.kind)) {
      own.fail(s.mark, "a used file holds functions alone", "whoever uses it has dimensions and values of its own",
               "write fn, def and use in it, and all else in the program");
    }
    statements_.push_back(std::move(s));
  }
  text_ += text;
  source_.text = text_;
}

}  // namespace kasen::lang
