// The forms of a value that are at hand while transitions are placed: as made, gathered, scattered. New blocks are
// built as a stack of frames. A form made in a frame ends with it.
#pragma once

#include <optional>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

class Versions {
 public:
  explicit Versions(Module& module) : module_(&module), forms_(module.values.size()) { frames_.push_back({}); }

  Location here;  // given to every operator that is made

  // ---- frames
  void open(bool loop) { frames_.push_back({loop, {}, {}}); }
  [[nodiscard]] std::vector<Op> close();  // returns its operators; forms made in it are forgotten
  void append(Op op) { frames_.back().ops.push_back(std::move(op)); }

  // ---- undoing all that was appended and made since, in the frames that were open and still are
  struct Point {
    struct Ends {
      size_t ops, touched;
    };
    std::vector<Ends> frames;
  };
  [[nodiscard]] Point point() const;
  void back_to(const Point& point);

  // ---- forms of the program's value v
  void define(ValueId v) { add(v, v, top()); }
  // Defines an array that any frame may make without traffic. It is emitted when a form of it is asked for.
  void define_generated(ValueId v, const Op& op);
  // Returns a form in state P, C (holding `set`), or PR, or nothing. It makes no form.
  [[nodiscard]] std::optional<ValueId> part(ValueId v) const { return find(v, State::Kind::part, nullptr, false); }
  [[nodiscard]] std::optional<ValueId> pre(ValueId v) const { return find(v, State::Kind::pre, nullptr, false); }
  [[nodiscard]] std::optional<ValueId> cons(ValueId v) const { return find(v, State::Kind::cons, nullptr, false); }
  [[nodiscard]] std::optional<ValueId> cons_over(ValueId v, const SlaveSet& set) const {
    return find(v, State::Kind::cons, &set, false);
  }
  [[nodiscard]] std::optional<ValueId> cons_exactly(ValueId v, const SlaveSet& set) const {
    return find(v, State::Kind::cons, &set, true);
  }

  // ---- making forms, each where it costs least: before the loops that do not change its operand
  ValueId make_part(ValueId v);                       // an existing P or C form, else gathers, else generates
  ValueId make_cons(ValueId v, const SlaveSet& set);  // gathers if necessary, then scatters to exactly this set

 private:
  struct Form {
    ValueId id = no_value;
    size_t frame = 0;
  };
  struct Forms {
    std::vector<Form> made;
    std::optional<Op> generator;
    size_t frame = 0;  // of the generator
  };
  struct Frame {
    bool loop = false;
    std::vector<Op> ops;
    std::vector<ValueId> touched;  // values that got a form here
  };

  [[nodiscard]] size_t top() const { return frames_.size() - 1; }
  [[nodiscard]] std::optional<ValueId> find(ValueId v, State::Kind kind, const SlaveSet* set, bool exactly) const;
  void add(ValueId v, ValueId form, size_t frame);
  [[nodiscard]] size_t frame_of(ValueId v, ValueId form) const;
  // Returns the outermost frame, not outside `limit`, that is left through loops alone.
  [[nodiscard]] size_t outermost(size_t limit) const;
  ValueId emit(ValueId v, Op op, const State& state, std::string_view suffix, size_t frame);
  ValueId generate(ValueId v, const State& state);
  ValueId transition(ValueId v, OpCode code, ValueId operand, const State& state, std::string_view suffix);

  Module* module_;
  IdMap<ValueId, Forms> forms_;
  std::vector<Frame> frames_;
};

}  // namespace kasen
