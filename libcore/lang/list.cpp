#include "libcore/lang/list.h"

#include <fmt/format.h>

#include <utility>

#include "libcore/syntax/habits.h"

namespace kasen::lang {

ValueId Lists::named(const NameAt& name) const {
  const Binding* b = scopes_.find(name.text);
  if (b == nullptr) {
    source_.fail(name.mark, fmt::format("unknown list '{}'", name.text), "no statement before this place declares it",
                 did_you_mean(name.text, scopes_.visible()));
  }
  if (b->is(Binding::Kind::poisoned)) throw Poisoned{};
  if (b->is(Binding::Kind::value) && module_.type(b->id).list > 0) return b->id;
  source_.fail(name.mark, fmt::format("'{}' is no list", name.text), "push is for lists of arrays",
               fmt::format("declare another name as one: list {}s[5] : f64 = 0", name.text));
}

// The number of one of the list's arrays.
ValueId Lists::place(ValueId list, const std::string& name, const Node& index) {
  const std::int64_t length = module_.type(list).list;
  const Term place = evaluator_.element(index);
  const bool known = place.literal && place.type().is(Scalar::i64);
  if (known && (place.expr.literal.i < 0 || place.expr.literal.i >= length)) {
    source_.fail(index.mark, fmt::format("{} is outside the list", place.expr.literal.i),
                 fmt::format("'{}' holds {} arrays, 0 to {}", name, length, length - 1));
  }
  return evaluator_.shared(index, Scalar::i64, "i", "an index of a list");
}

// The array that the statement stores. `list`: its type.
ValueId Lists::array_of(const Statement& s, Type list, const std::string& hint) {
  const Node& node = s.value[0];
  list.list = 0;
  Term term = values_.conform(evaluator_.typed(node, list.element), list, node.mark, "an array of the list");
  return values_.materialise(std::move(term), hint, node.mark);
}

void Lists::declare(const Statement& s) {
  constexpr std::int64_t longest = 10'000;
  Type type = types_.array(s.type[0]);
  type.list = evaluator_.count(s.index[0], 1, "the length of the list");
  if (type.list > longest) {
    source_.fail(s.index[0].mark, fmt::format("a list of {} arrays", type.list),
                 fmt::format("at most {} are possible", longest));
  }
  const ValueId first = array_of(s, type, "t");
  const ValueId made = builder_.emit({.code = OpCode::make_list, .operands = {first}}, s.mark, s.name.text, type);
  scopes_.define(s.name.text, s.mark, {.id = made});
}

void Lists::put(const Statement& s) {
  const std::string& name = s.name.text;
  const ValueId list = named(s.name);
  const Type type = module_.type(list);
  if (s.index.size() > 1) {
    source_.fail(s.index[1].mark, fmt::format("several indices of the list '{}'", name), "it has arrays, one by one",
                 fmt::format("write {}[i] = ...", name));
  }
  const ValueId i = place(list, name, s.index[0]);
  const ValueId array = array_of(s, type, name + "_i");
  scopes_.rebind(name, builder_.emit({.code = OpCode::put, .operands = {list, i, array}}, s.mark, name, type));
}

void Lists::push(const Statement& s) {
  const std::string& name = s.name.text;
  const ValueId list = named(s.name);
  const Type type = module_.type(list);
  const ValueId array = array_of(s, type, name + "_new");
  scopes_.rebind(name, builder_.emit({.code = OpCode::push, .operands = {list, array}}, s.mark, name, type));
}

Term Lists::get(ValueId list, const Node& node, const std::string& hint) {
  Type type = module_.type(list);
  const ValueId i = place(list, node.args[0].text, node.args[1]);
  type.list = 0;
  return values_.term(builder_.emit({.code = OpCode::get, .operands = {list, i}}, node.mark, hint, type));
}

}  // namespace kasen::lang
