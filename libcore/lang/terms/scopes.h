// What names stand for: in the blocks of the program (scopes), and inside its functions (frames).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/lang/terms/located.h"
#include "libcore/lang/terms/term.h"

namespace kasen::lang {

using Names = std::vector<std::string>;

// Thrown for the name of a faulty definition, whose errors are reported there, once.
struct Poisoned {};

// The meaning of a name of the program.
struct Binding {
  // formula: an expression over nonzeros; poisoned: its definition had an error
  enum class Kind { value, constant, dimension, formula, poisoned };
  Kind kind = Kind::value;
  ValueId id = no_value;
  Term term;                // constants and formulas
  DimId dim = no_dim;       // no_dim: it stands for `dims`, none or several
  std::vector<DimId> dims;  // that a call of a def hands over
  std::string fixed;        // why it cannot be assigned ("" if it can)
  bool in_blocks = false;   // a dimension whose rows come in blocks: its name is no number

  [[nodiscard]] bool is(Kind wanted) const { return kind == wanted; }
};

class Scopes {
 public:
  using Scope = std::map<std::string, Binding>;

  explicit Scopes(const SourceText& source) : source_(source), scopes_(1) {}
  // A block's scope, with names of its own; it ends with this object.
  class Inner {
   public:
    // `block`: where the program begins it.
    Inner(Scopes& scopes, Scope names, Mark block = {}) : all_(scopes), block_(block) {
      all_.scopes_.push_back(std::move(names));
    }
    ~Inner() { all_.end_block(block_); }
    Inner(const Inner&) = delete;
    Inner& operator=(const Inner&) = delete;

   private:
    Scopes& all_;
    Mark block_;
  };

  // The names of one call of a def: `names`, and the program's consts and dimensions if it is the program's own.
  class Call {
   public:
    enum class Of { program, used_file };
    Call(Scopes& scopes, Of of);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Scopes& scopes_;
  };

  [[nodiscard]] const Binding* find(const std::string& name) const;  // or null
  // What a fn of the program sees: inside a def none of its names.
  [[nodiscard]] const Binding* find_for_fn(const std::string& name) const;
  [[nodiscard]] bool in_call() const { return !callers_.empty(); }
  [[nodiscard]] bool is_hidden(
      const std::string& name) const;  // a name of the program that the def around does not see
  // The block that a name without a meaning ended with; line 0: there was none.
  [[nodiscard]] Mark ended_with(const std::string& name) const;
  [[nodiscard]] Names visible() const;
  [[nodiscard]] std::vector<ValueId> values(const Names& names) const;
  void define(const std::string& name, Mark mark, Binding binding);         // refuses a name that has a meaning
  void define_inside(const std::string& name, Mark mark, Binding binding);  // the same, of the innermost scope alone
  void shadow(const std::string& name, Binding binding) { scopes_.back()[name] = std::move(binding); }
  void rebind(const std::string& name, ValueId id);
  void poison(const std::string& name);  // if it has no meaning, so that its uses are no errors

 private:
  void end_block(Mark block);

  const SourceText& source_;
  std::vector<Scope> scopes_;
  std::map<std::string, Mark> ended_;
  std::vector<std::vector<Scope>> callers_;  // of the defs around, from the program on
};

// Names inside a `fn`, a lambda or a coordinate loop. The latter two see the frame that contains them.
struct Frame {
  bool fn = false;  // of the program's names, only consts are visible
  std::map<std::string, Term> names;
  const Frame* outer = nullptr;
};

class Frames {
 public:
  [[nodiscard]] Until<const Frame*> inside(Frame& frame);
  [[nodiscard]] bool empty() const { return frame_ == nullptr; }  // else whole-array work is not possible
  [[nodiscard]] const Term* find(const std::string& name) const;  // or null
  [[nodiscard]] const Frame* fn() const;                          // the `fn` around this position, or null

 private:
  const Frame* frame_ = nullptr;
};

}  // namespace kasen::lang
