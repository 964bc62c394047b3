#include "libopt/picture/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "libopt/draw/page_text.h"

namespace kasen {
namespace {

constexpr size_t longest_text = 60;  // of a part of a text: boxes show less, and its title has the operator itself

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool begins_word(char c) { return is_word(c) && std::isdigit(static_cast<unsigned char>(c)) == 0; }

// Calls `take` with each word or number of a text, and `other` with each other character.
template <typename Take, typename Other>
void for_each_word(std::string_view text, const Take& take, const Other& other) {
  for (size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      other(text[at++]);
      continue;
    }
    size_t end = at;
    const bool number = !begins_word(text[at]);
    while (end < text.size() && (is_word(text[end]) || (number && text[end] == '.'))) ++end;
    take(text.substr(at, end - at), end);
    at = end;
  }
}

// Whether the text would fall apart beside an operator: it has a blank outside of brackets.
bool is_compound(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ' ' && depth == 0) return true;
  }
  return false;
}

std::string in_brackets(const std::string& text) { return is_compound(text) ? "(" + text + ")" : text; }

// The plan adds these to a program's name: versions of it, and what it became by a gather or a scatter.
std::string_view without_ending(std::string_view name) {
  constexpr std::array<std::string_view, 6> endings{"_g", "_s", "_first", "_carried", "_next", "_last"};
  for (const std::string_view ending : endings)
    if (name.size() > ending.size() && name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
  return end < name.size() && end > 1 && name[end - 1] == '_' ? name.substr(0, end - 1) : std::string_view();
}

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find('#')); }

// The text of a function, behind its parameters.
std::string body_of(const Module& module, const ScalarFunction& fn) {
  const std::string text = print_function(module, fn);
  const size_t result = text.find(") -> "), equals = text.find(" = ", std::min(result, text.size()));
  return equals == std::string::npos ? "" : text.substr(equals + 3);
}

// "1.0" as people write it.
std::string shown_number(std::string_view word) {
  return std::string(word.ends_with(".0") ? word.substr(0, word.size() - 2) : word);
}

std::string transposed(const std::string& matrix) { return in_brackets(matrix) + "'"; }

}  // namespace

ValueLabels::ValueLabels(const Module& module) : module_(module) {
  for (const std::string& whole : module.source) {
    const std::string_view line = without_comment(whole);
    for_each_word(
        line,
        [&](std::string_view word, size_t end) {
          const size_t next = std::min(line.find_first_not_of(' ', end), line.size());
          const bool call = next < line.size() && line[next] == '(' && next == end;
          if (begins_word(word[0]) && !call) words_.emplace(word);
        },
        [](char) {});
  }
  look_at(module.body);
}

void ValueLabels::look_at(const Block& block) {
  for (const Op& op : block.ops) {
    for (const ValueId result : op.results) makers_[result] = &op;
    for (const Block& inner : op.blocks) look_at(inner);
    if (op.blocks.empty()) continue;
    const Block& body = op.blocks[0];
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
    const size_t own = op.code == OpCode::for_loop ? 1 : 0;
    if (own > 0 && !body.args.empty() && named(body.args[0]).empty()) known_[body.args[0]] = "i";
    for (size_t i = own; loop && i < body.args.size() && i + own < op.operands.size(); ++i)
      (is_one_place(op.operands[i + own], body.ops.back().operands.at(i - own)) ? same_ : carried_)[body.args[i]] =
          op.operands[i + own];
    for (size_t i = 0; i < op.results.size(); ++i) {
      if (loop && i + own < body.args.size()) same_[op.results[i]] = body.args[i + own];
      if (op.code == OpCode::region && !body.ops.empty() && i < body.ops.back().operands.size())
        same_[op.results[i]] = body.ops.back().operands[i];
    }
  }
}

// The operator that makes it: of a region's result the one inside. Nullptr: none is known yet.
const Op* ValueLabels::inner_maker(ValueId value) const {
  for (auto inside = same_.find(value); inside != same_.end(); inside = same_.find(value)) value = inside->second;
  const auto maker = makers_.find(value);
  return maker == makers_.end() ? nullptr : maker->second;
}

// Whether one place of the program makes both: the plan has moved its first half into the iteration before.
bool ValueLabels::is_one_place(ValueId before, ValueId next) const {
  const Op* first = inner_maker(before);
  const Op* again = inner_maker(next);
  return first != nullptr && again != nullptr && first->code == again->code && first->where.line > 0 &&
         first->where == again->where;
}

std::string ValueLabels::named(ValueId value) const {
  for (std::string_view name = module_.value(value).name; !name.empty(); name = without_ending(name)) {
    const size_t dot = name.rfind('.');  // of a def: `rich.x`
    if (dot != std::string_view::npos && words_.contains(name.substr(dot + 1))) return std::string(name);
    if (words_.contains(name) && (name != "t" || assigns_t(value))) return std::string(name);
  }
  return {};
}

// Of what a loop carries and the program writes in two places: its name before the loop, or its own. Its text before
// the loop would be that of the first iteration alone.
std::string ValueLabels::carried_name(ValueId value) const {
  for (auto at = carried_.find(value); at != carried_.end(); at = carried_.find(at->second))
    if (std::string name = named(at->second); !name.empty()) return name;
  std::string_view name = module_.value(value).name;
  for (std::string_view shorter = without_ending(name); !shorter.empty(); shorter = without_ending(shorter))
    name = shorter;
  return std::string(name);
}

// The lowering calls its own values t: the name counts only where the program's line assigns it.
bool ValueLabels::assigns_t(ValueId value) const {
  const auto maker = makers_.find(value);
  const int line = maker == makers_.end() ? 0 : maker->second->where.line;
  if (line < 1 || static_cast<size_t>(line) > module_.source.size()) return false;
  const std::string& text = module_.source[static_cast<size_t>(line) - 1];
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const size_t next = text.find_first_not_of(' ', begin + 1);
  return begin < text.size() && text[begin] == 't' && next != std::string::npos &&
         (text[next] == '=' || text[next] == ':');
}

const std::string& ValueLabels::of(ValueId value) {
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  known_[value] = module_.value(value).name;  // ends what would go round
  return known_[value] = clipped(text_of(value), longest_text);
}

std::string ValueLabels::text_of(ValueId value) {
  if (std::string name = named(value); !name.empty()) return name;
  if (carried_.contains(value)) return carried_name(value);
  if (const auto same = same_.find(value); same != same_.end()) return of(same->second);
  const auto maker = makers_.find(value);
  std::string text = maker == makers_.end() ? "" : expression(*maker->second);
  return text.empty() ? module_.value(value).name : text;
}

std::string ValueLabels::expression(const Op& op) {
  switch (op.code) {
    case OpCode::map:
    case OpCode::apply:
      return applied(op);
    case OpCode::reduce:
      return reduced(op);
    case OpCode::mxv:
    case OpCode::mxvt:
      return product(op);
    case OpCode::gather:
    case OpCode::scatter:
    case OpCode::relayout:
      return of(op.operands.at(0));
    case OpCode::transpose:
      return transposed(of(op.operands.at(0)));
    case OpCode::literal:
    case OpCode::fill:
      return constant(op);
    case OpCode::index:
    case OpCode::size:
      return fmt::format("{}({})", row(op.code).name, op.dim == no_dim ? "" : module_.dim(op.dim).name);
    case OpCode::get:
      return fmt::format("{}[{}]", in_brackets(of(op.operands.at(0))), of(op.operands.at(1)));
    default:
      break;
  }
  if (op.results.size() != 1 || op.operands.empty() || !op.blocks.empty()) return {};
  std::string text;
  for (const ValueId operand : op.operands) text += (text.empty() ? "" : ", ") + of(operand);
  return fmt::format("{}({})", row(op.code).name, text);
}

std::string ValueLabels::constant(const Op& op) const {
  const ElementType& element = module_.type(op.results.at(0)).element;
  if (!element.is_scalar() || op.literal.size() != 1) return {};
  return shown_number(literal_text(element.scalar(), op.literal[0]));
}

// The function's text with what its operands are called in the place of its parameters.
std::string ValueLabels::applied(const Op& op) {
  if (op.fns.empty()) return {};
  const ScalarFunction& fn = module_.fn(op.fns[0]);
  const std::string body = body_of(module_, fn);
  std::string text;
  for_each_word(
      body,
      [&](std::string_view word, size_t end) {
        const auto param =
            std::find_if(fn.params.begin(), fn.params.end(), [&](const ScalarParam& p) { return p.name == word; });
        const auto place = static_cast<size_t>(param - fn.params.begin());
        if (param == fn.params.end() || place >= op.operands.size()) {
          text += shown_number(word);
          return;
        }
        const char before = text.empty() ? '(' : text.back(), after = end < body.size() ? body[end] : ')';
        const bool alone = (before == '(' || text.ends_with(", ")) && (after == ')' || after == ',');
        text += alone ? of(op.operands[place]) : in_brackets(of(op.operands[place]));
      },
      [&](char c) { text += c; });
  return text;
}

std::string ValueLabels::reduced(const Op& op) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> names{
      {{"add", "sum"}, {"mul", "prod"}, {"and", "all"}, {"or", "any"}}};
  std::string name = op.fns.empty() ? "reduce" : module_.fn(op.fns[0]).name;
  for (const auto& [function, word] : names)
    if (name == function) name = word;
  return fmt::format("{}({})", name, of(op.operands.at(0)));
}

// mxv goes over the rows of the matrix: the product with its transpose.
std::string ValueLabels::product(const Op& op) {
  const std::string vector = in_brackets(of(op.operands.at(0))), matrix = of(op.operands.at(1));
  const std::string left = op.code == OpCode::mxv ? transposed(matrix) : in_brackets(matrix);
  const bool plain = op.fns.size() < 2 || (module_.fn(op.fns[0]).name == "mul" && module_.fn(op.fns[1]).name == "add");
  return plain ? left + " @ " + vector
               : fmt::format("{} @ {} by {}, {}", left, vector, module_.fn(op.fns[0]).name, module_.fn(op.fns[1]).name);
}

}  // namespace kasen
