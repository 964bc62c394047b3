#include "libopt/picture/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libopt/cost/rules.h"
#include "libopt/draw/page_text.h"
#include "libopt/picture/labels.h"

namespace kasen {
namespace {

constexpr size_t widest_label = 34;
constexpr int large_region = 24;

bool is_control(const Op& op) { return row(op.code).group == OpGroup::control && op.code != OpCode::region; }

int operators_in(const Op& op) {
  int count = 0;
  for (const Block& block : op.blocks) {
    for (const Op& inner : block.ops) {
      if (inner.code != OpCode::yield) count += 1 + operators_in(inner);
    }
  }
  return count;
}

// The values from outside that an operator's blocks use, in order of first use.
class Captured {
 public:
  explicit Captured(const Op& op) {
    for (const ValueId operand : op.operands) add(operand);
    walk(op);
  }
  [[nodiscard]] const std::vector<ValueId>& values() const { return values_; }

 private:
  void walk(const Op& op) {
    for (const Block& block : op.blocks) {
      own_.insert(block.args.begin(), block.args.end());
      for (const Op& inner : block.ops) {
        for (const ValueId operand : inner.operands) add(operand);
        walk(inner);
        own_.insert(inner.results.begin(), inner.results.end());
      }
    }
  }
  void add(ValueId value) {
    const bool known = own_.contains(value) || std::find(values_.begin(), values_.end(), value) != values_.end();
    if (!known) values_.push_back(value);
  }

  std::set<ValueId> own_;
  std::vector<ValueId> values_;
};

struct Look {
  std::string style, badge;
};

Look look_of(const Module& module, const Type& type) {
  if (type.sparse) return {"matrix", ""};
  if (Layout(module, type).is_shared()) return {"shared", type.state.is_pre() ? "PR" : ""};
  switch (type.state.kind) {
    case State::Kind::unplaced:
      return {"unplaced", ""};
    case State::Kind::part:
      return {"part", "P"};
    case State::Kind::cons:
      return {"cons", "C"};
    case State::Kind::pre:
      return {"pre", "PR"};
  }
  throw InternalError("a state outside the table");
}

// Draws one picture at a time; folded bodies wait in `waiting`.
class Drawing {
 public:
  Drawing(const ReportContext& context, const NodeNote& note, int most)
      : context_(context),
        module_(context.module()),
        note_(note),
        most_(most),
        costs_(cost_context(context.module())),
        labels_(context.module()) {
    for_each_op(module_, [&](const Op& op, int number, int) { numbers_[&op] = number; });
  }

  std::vector<Picture> all() {
    std::vector<Picture> pictures;
    begin(-1, "The program");
    draw(module_.body, -1);
    pictures.push_back(std::move(picture_));
    for (size_t i = 0; i < waiting_.size(); ++i) {
      const Op& op = *waiting_[i];
      begin(number(op), title_of(op));
      draw_inside(op, -1, true);
      pictures.push_back(std::move(picture_));
    }
    return pictures;
  }

 private:
  [[nodiscard]] int number(const Op& op) const { return numbers_.at(&op); }
  [[nodiscard]] const CostRow& cost(const Op& op) const {
    return context_.report().rows.at(static_cast<size_t>(number(op)));
  }

  void begin(int number, std::string title) {
    picture_ = {};
    picture_.number = number;
    picture_.title = std::move(title);
    made_.clear();
  }

  // Returns the line in the program that the module carries, or 0 if it is not there.
  [[nodiscard]] int line_of(const Op& op) const { return context_.source_line(op.where).empty() ? 0 : op.where.line; }

  [[nodiscard]] std::string title_of(const Op& op) const {
    if (op.code == OpCode::region) return fmt::format("region {}", region_name(op.kind));
    return context_.place(cost(op));
  }

  [[nodiscard]] std::string names(const std::vector<ValueId>& values) {
    std::string text;
    for (const ValueId value : values) text += (text.empty() ? "" : ", ") + labels_.of(value);
    return clipped(text, widest_label);
  }

  // Returns the second line of a box: what makes a value that has a name, else the operator's name.
  [[nodiscard]] std::string what_it_does(const Op& op) {
    const std::string name(row(op.code).name);
    if (row(op.code).group == OpGroup::transition) return clipped(name + " " + bytes_of(op), widest_label);
    const bool has_name = op.results.size() == 1 && !labels_.named(op.results[0]).empty();
    const std::string text = has_name ? labels_.expression(op) : "";
    return clipped(text.empty() ? name + function_names(op) : "= " + text, widest_label);
  }

  // Returns the full text: operator, type, state, functions.
  [[nodiscard]] std::string full_title(const Op& op) const {
    const CostRow& made = cost(op);
    std::string text = is_control(op) ? title_of(op) : made.text;
    for (const ValueId result : op.results) {
      text += fmt::format("\n{} : {}", module_.value(result).name, print_type(module_, module_.type(result)));
    }
    for (const FnId fn : op.fns) text += '\n' + print_function(module_, module_.fn(fn));
    if (op.speculated) text += "\ncomputed ahead";
    if (const std::string line = context_.source_line(op.where); !line.empty()) {
      text += fmt::format("\nline {}: {}", op.where.line, line);
    }
    return text;
  }

  [[nodiscard]] std::string bytes_of(const Op& op) const {
    const Polynomial sent = printed_form(transition_network(costs_, op).network);
    const auto value = context_.value(sent);
    if (!value) return context_.formula(sent) + " bytes";
    return *value < 10'000 ? fmt::format("{} bytes", *value) : short_bytes(static_cast<double>(*value));
  }

  [[nodiscard]] std::string function_names(const Op& op) const {
    std::string text;
    for (const FnId fn : op.fns) text += (text.empty() ? " " : ", ") + module_.fn(fn).name;
    return text;
  }

  // Returns the box of an operator, without its operands' and results' arrows.
  [[nodiscard]] PictureNode box(const Op& op, int around, std::string style, std::vector<std::string> lines) const {
    PictureNode node;
    node.number = number(op);
    node.frame = around;
    node.line = line_of(op);
    node.style = std::move(style);
    node.lines = std::move(lines);
    OperatorNote said = note_(node.number);
    node.title = full_title(op) + said.title;
    node.lines.insert(node.lines.end(), said.lines.begin(), said.lines.end());
    node.warnings = std::move(said.warnings);
    return node;
  }

  // Adds arrows from the makers of the operands. Operands may get boxes of their own before this one.
  void place(PictureNode node, const std::vector<ValueId>& operands, const std::vector<ValueId>& results,
             bool network = false) {
    std::vector<int> from;
    from.reserve(operands.size());
    for (const ValueId operand : operands) from.push_back(maker(operand));
    const int to = add(std::move(node), results);
    for (const int made : from) connect(made, to, network);
  }

  int add(PictureNode node, const std::vector<ValueId>& results) {
    const int place = static_cast<int>(picture_.nodes.size());
    for (const ValueId result : results) made_[result] = place;
    picture_.nodes.push_back(std::move(node));
    return place;
  }

  void connect(int from, int to, bool network = false, bool back = false) {
    for (const PictureEdge& edge : picture_.edges) {
      if (edge.from == from && edge.to == to) return;
    }
    picture_.edges.push_back({from, to, network, back});
  }

  // Returns the box that makes a value, or a box that stands for a value from outside of this picture.
  int maker(ValueId value) {
    if (const auto found = made_.find(value); found != made_.end()) return found->second;
    PictureNode node;
    node.lines = {clipped(labels_.of(value), widest_label)};
    node.style = "outside";
    node.badge = look_of(module_, module_.type(value)).badge;
    node.title = module_.value(value).name + " : " + print_type(module_, module_.type(value)) + "\nmade outside";
    // A number with many users has a box beside each: lines across the picture would hide what it shows.
    return add(std::move(node), Layout(module_, value).is_shared() ? std::vector<ValueId>{} : std::vector{value});
  }

  int frame(const Op& op, std::string title, const char* style, int parent) {
    picture_.frames.push_back({number(op), std::move(title), style, line_of(op), parent});
    return static_cast<int>(picture_.frames.size()) - 1;
  }

  int noted_frame(const Op& op, std::string title, const char* style, int parent) {
    const OperatorNote said = note_(number(op));
    for (const std::string& line : said.lines) title += (&line == said.lines.data() ? ": " : ", ") + line;
    const int made = frame(op, std::move(title), style, parent);
    for (const std::string& line : said.warnings) picture_.frames.back().warning += "  " + line;
    picture_.frames.back().about = full_title(op) + said.title;
    return made;
  }

  // Returns the operators of a block that have pictures of their own.
  [[nodiscard]] std::set<const Op*> folded(const Block& block) const {
    int drawn = 0;
    for (const Op& op : block.ops) drawn += 1 + operators_in(op);
    std::set<const Op*> away;
    const auto fold = [&](const auto& is_large) {
      for (const Op& op : block.ops) {
        const int inside = operators_in(op);
        if (drawn <= most_ || !is_large(op, inside)) continue;
        away.insert(&op);
        drawn -= inside;
      }
    };
    fold([](const Op& op, int inside) { return is_control(op) && inside > 3; });
    fold([](const Op& op, int inside) { return op.code == OpCode::region && inside > large_region; });
    return away;
  }

  void draw(const Block& block, int around) {
    const std::set<const Op*> away = folded(block);
    for (const Op& op : block.ops) {
      if (op.code == OpCode::yield) continue;
      if (away.contains(&op)) {
        draw_folded(op, around);
      } else if (op.code == OpCode::region || is_control(op)) {
        draw_inside(op, around, false);
      } else {
        draw_operator(op, around);
      }
    }
  }

  void draw_operator(const Op& op, int around) {
    if (op.code == OpCode::output) {
      const std::string what(row(op.code).name);
      place(box(op, around, "output", {clipped(op.name, widest_label), what}), op.operands, {});
      return;
    }
    const bool network = row(op.code).group == OpGroup::transition;
    const Look look = look_of(module_, module_.type(op.results.at(0)));
    PictureNode node = box(op, around, network ? "network" : look.style, {names(op.results), what_it_does(op)});
    node.badge = look.badge;
    place(std::move(node), op.operands, op.results, network);
  }

  void draw_folded(const Op& op, int around) {
    waiting_.push_back(&op);
    PictureNode node = box(op, around, "folded", {title_of(op), fmt::format("{} operators, below", operators_in(op))});
    node.unfold = true;
    place(std::move(node), Captured(op).values(), op.results);
  }

  // If `alone`, the picture belongs to this operator, and the page is its frame.
  void draw_inside(const Op& op, int around, bool alone) {
    const auto around_it = [&](std::string title, const char* style) {
      return alone ? -1 : noted_frame(op, std::move(title), style, around);
    };
    if (op.code == OpCode::region) {
      draw(op.blocks.at(0), around_it(std::string(region_name(op.kind)), "region"));
      hand_on(op.blocks[0], op.results);
    } else if (op.code == OpCode::if_else) {
      draw_branches(op, alone ? -1 : frame(op, title_of(op), "branch", around));  // its box has the note
    } else {
      draw_loop(op, around_it(title_of(op), "loop"));
    }
  }

  void hand_on(const Block& block, const std::vector<ValueId>& results) {
    const std::vector<ValueId>& given = block.ops.back().operands;
    for (size_t i = 0; i < results.size(); ++i) made_[results[i]] = maker(given.at(i));
  }

  void draw_loop(const Op& op, int inside) {
    const Block& body = op.blocks.at(0);
    const size_t own = op.code == OpCode::for_loop ? 1 : 0;  // the variable, which two operands bound
    for (size_t i = 0; i < body.args.size(); ++i) {
      const Look look = look_of(module_, module_.type(body.args[i]));
      PictureNode node;
      node.frame = inside;
      node.line = line_of(op);
      node.lines = {clipped(labels_.of(body.args[i]), widest_label), i < own ? "counts" : "carried"};
      node.style = look.style + " carried";
      node.badge = look.badge;
      node.title = module_.value(body.args[i]).name + " : " + print_type(module_, module_.type(body.args[i]));
      const int to = add(std::move(node), {body.args[i]});
      if (i < own) {
        connect(maker(op.operands.at(0)), to);
        connect(maker(op.operands.at(1)), to);
      } else {
        connect(maker(op.operands.at(i + own)), to);
      }
    }
    draw(body, inside);
    const std::vector<ValueId>& given = body.ops.back().operands;
    for (size_t i = own; i < body.args.size(); ++i) {
      const int from = maker(given.at(i - own)), to = made_.at(body.args[i]);
      if (from != to) connect(from, to, false, true);
    }
    for (size_t i = 0; i < op.results.size(); ++i) made_[op.results[i]] = maker(given.at(i));
  }

  void draw_branches(const Op& op, int around) {
    std::vector<ValueId> joined{op.operands.at(0)};
    for (size_t b = 0; b < op.blocks.size(); ++b) {
      const int inside = frame(op, b == 0 ? "then" : "else", "branch", around);
      draw(op.blocks[b], inside);
      const std::vector<ValueId>& given = op.blocks[b].ops.back().operands;
      joined.insert(joined.end(), given.begin(), given.end());
    }
    const std::string style = op.results.empty() ? "shared" : look_of(module_, module_.type(op.results[0])).style;
    place(box(op, around, style, {names(op.results), "if"}), joined, op.results);
  }

  const ReportContext& context_;
  const Module& module_;
  const NodeNote& note_;
  int most_;
  CostContext costs_;
  ValueLabels labels_;
  std::map<const Op*, int> numbers_;
  std::vector<const Op*> waiting_;
  Picture picture_;
  std::map<ValueId, int> made_;
};

}  // namespace

std::vector<Picture> pictures_of(const ReportContext& context, const NodeNote& note, int most) {
  return Drawing(context, note, most).all();
}

}  // namespace kasen
