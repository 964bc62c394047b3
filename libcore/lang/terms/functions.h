// Which functions a program can call: its own fns, those of the prelude, calls that work on whole arrays, and scalar
// functions. Also where the program's fns are used whole, which assumptions are about.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "libcore/lang/terms/scopes.h"

namespace kasen::lang {

// A call that works on whole arrays.
struct ArrayCall {
  using Lower = std::function<Term(const Node& call, const std::string& hint)>;  // the hint names the result
  std::string name;
  Lower lower;
  bool yields = false;  // a program may have a fn of that name instead
};

// One that gives several arrays, which an assignment names: `Q, R = qr(X)`.
struct SeveralCall {
  using Lower = std::function<std::vector<Term>(const Node& call, const std::vector<std::string>& hints)>;
  std::string name;
  std::size_t results = 0;
  Lower lower;
};

class Functions {
 public:
  Functions(const SourceText& source, const Scopes& scopes) : source_(source), scopes_(scopes) {}

  enum class Name { kept, yields };
  // Capital letters make another spelling, which is not suggested.
  void add(std::initializer_list<const char*> names, Name name, const ArrayCall::Lower& lower);
  void add_several(std::string name, std::size_t results, SeveralCall::Lower lower) {
    several_calls_.push_back({std::move(name), results, std::move(lower)});
  }
  void declare(const Statement& fn);  // a fn or a def
  // File `from` uses the functions of file `to` (SourceText::section), its own ones before them.
  void declare_use(const Statement& use, int from, int to);
  void declare_found(const std::string& name, int file);  // of a library that is not used by name
  void declare_prelude();

  // A function sees those of its own file. What a name stands for depends on the file that is lowered.
  [[nodiscard]] Until<int> inside(const Statement& fn) { return {file_, source_.section(fn.mark)}; }
  [[nodiscard]] bool in_used_file() const { return file_ > 0; }

  [[nodiscard]] const Statement* def(const std::string& name) const;  // or null
  [[nodiscard]] const Statement* fn(const std::string& name) const;   // or null
  [[nodiscard]] const Statement* fn(const Node& node) const;          // the fn that it names, or null
  [[nodiscard]] const ArrayCall* array_call(const std::string& name) const;
  // Null if the node calls none, or a fn of the program of that name.
  [[nodiscard]] const SeveralCall* several_call(const Node& node) const;
  [[nodiscard]] static bool is_scalar(const std::string& name);
  [[nodiscard]] bool contains(const std::string& name) const;
  [[noreturn]] void unknown(const std::string& name, size_t arguments, Mark mark) const;

  // A function of the module that is a fn of the program, whole.
  struct Instance {
    FnId fn;
    std::vector<int> operand_of;  // parameter of the fn -> operand
  };
  void add_instance(const Statement& fn, Instance instance) { instances_[&fn].push_back(std::move(instance)); }
  void replace_instance(const Node& fn, FnId made);  // the newest one, if the node names a fn
  [[nodiscard]] const std::vector<Instance>& instances(const Statement& fn) const;

 private:
  const SourceText& source_;
  const Scopes& scopes_;
  std::vector<ArrayCall> array_calls_;
  std::vector<SeveralCall> several_calls_;
  using Table = std::map<std::string, const Statement*>;
  [[nodiscard]] const Statement* find(const std::string& name) const;

  struct File {
    Table own, used;
  };
  std::map<int, File> files_;  // by their number
  Table prelude_;
  Table found_;  // of libraries that no file uses
  int file_ = 0;
  std::map<const Statement*, std::vector<Instance>> instances_;
};

// A built-in scalar function as an argument.
[[nodiscard]] Node function_node(const std::string& name, Mark mark);

}  // namespace kasen::lang
