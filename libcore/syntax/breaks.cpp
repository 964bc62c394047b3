#include "libcore/syntax/breaks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libcore/syntax/make_nodes.h"

namespace kasen::lang {
namespace {

using Body = std::vector<Statement>;

bool breaks(const Body& body) {
  return std::any_of(body.begin(), body.end(), [](const Statement& s) {
    if (s.kind == StatementKind::break_loop) return true;
    return s.kind == StatementKind::if_else && (breaks(s.body) || breaks(s.other));
  });
}

// True if nothing behind the block is reached.
bool ends_in_break(const Body& body) {
  if (body.empty()) return false;
  const Statement& last = body.back();
  if (last.kind == StatementKind::break_loop) return true;
  return last.kind == StatementKind::if_else && ends_in_break(last.body) && ends_in_break(last.other);
}

Statement assignment(Mark mark, const std::string& to, Node value) {
  Statement s;
  s.kind = StatementKind::assign;
  s.mark = mark;
  s.name = {to, mark};
  s.value.push_back(std::move(value));
  return s;
}

class Flagged {
 public:
  explicit Flagged(const std::string& flag) : flag_(flag) {}

  // The block, which sets the flag where it breaks.
  [[nodiscard]] Body of(Body body) const {
    Body out;
    for (auto s = body.begin(); s != body.end(); ++s) {
      if (s->kind == StatementKind::break_loop) {
        out.push_back(assignment(s->mark, flag_, made_node(NodeKind::boolean, s->mark, "true")));
      } else if (s->kind == StatementKind::if_else && (breaks(s->body) || breaks(s->other))) {
        Body rest(std::make_move_iterator(s + 1), std::make_move_iterator(body.end()));
        branch(out, std::move(*s), of(std::move(rest)));
        return out;
      } else {
        out.push_back(std::move(*s));
      }
    }
    return out;
  }

 private:
  // `rest` follows the branch if that has not reached a break.
  void branch(Body& out, Statement s, Body rest) const {
    const Mark mark = s.mark;
    const bool alone = s.body.size() == 1 && ends_in_break(s.body) && s.other.empty();
    if (alone && rest.empty()) {
      out.push_back(assignment(mark, flag_, std::move(s.value[0])));
      return;
    }
    Body* const goes_on = ends_in_break(s.body) ? &s.other : ends_in_break(s.other) ? &s.body : nullptr;
    s.body = of(std::move(s.body));
    s.other = of(std::move(s.other));
    if (goes_on != nullptr) {
      std::move(rest.begin(), rest.end(), std::back_inserter(*goes_on));
      rest.clear();
    }
    out.push_back(std::move(s));
    if (rest.empty()) return;
    Statement guarded;
    guarded.kind = StatementKind::if_else;
    guarded.mark = mark;
    guarded.value.push_back(made_operation(ScalarOp::logical_not, mark, {made_name(mark, flag_)}));
    guarded.body.push_back(
        assignment(mark, flag_, made_node(NodeKind::boolean, mark, "false")));  // a branch changes a name
    std::move(rest.begin(), rest.end(), std::back_inserter(guarded.body));
    out.push_back(std::move(guarded));
  }

  const std::string& flag_;
};

}  // namespace

bool has_break(const Statement& loop) { return breaks(loop.body); }

Statement without_breaks(Statement loop, const std::string& flag) {
  const Mark mark = loop.value[0].mark;
  Node goes_on = made_operation(ScalarOp::logical_not, mark, {made_name(mark, flag)});
  loop.value[0] = made_operation(ScalarOp::logical_and, mark, {std::move(goes_on), std::move(loop.value[0])});
  loop.body = Flagged(flag).of(std::move(loop.body));
  return loop;
}

// The variable is set first, so that a break leaves nothing behind.
Statement as_while(Statement loop, const std::string& begin, const std::string& at, const std::string& end) {
  const Mark mark = loop.name.mark;
  Statement out = loop;
  out.kind = StatementKind::while_loop;
  out.value[0] = made_operation(ScalarOp::lt, mark, {made_name(mark, at), made_name(mark, end)});
  out.index.clear();
  out.down = false;
  Node one = made_node(NodeKind::integer, mark, "1");
  Node variable = made_name(mark, at);
  if (loop.down) {  // begin + (end - 1 - at)
    Node last = made_operation(ScalarOp::sub, mark, {made_name(mark, end), one});
    Node left = made_operation(ScalarOp::sub, mark, {std::move(last), made_name(mark, at)});
    variable = made_operation(ScalarOp::add, mark, {made_name(mark, begin), std::move(left)});
  }
  out.body.clear();
  out.body.push_back(assignment(mark, loop.name.text, std::move(variable)));
  out.body.push_back(assignment(mark, at, made_operation(ScalarOp::add, mark, {made_name(mark, at), std::move(one)})));
  std::move(loop.body.begin(), loop.body.end(), std::back_inserter(out.body));
  return out;
}

}  // namespace kasen::lang
