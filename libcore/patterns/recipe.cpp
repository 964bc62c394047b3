#include "libcore/patterns/recipe.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace kasen {
namespace {

bool may_begin_name(char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool may_be_in_name(char c) { return may_begin_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

// How tightly the signs bind, from the loosest.
int level_of(RecipeKind kind) {
  if (kind == RecipeKind::either) return 0;
  if (kind == RecipeKind::both) return 1;
  return kind == RecipeKind::product ? 2 : 3;
}

Recipe of_one(RecipeKind kind, Recipe part) {
  Recipe made{kind, {}, {}};
  made.parts.push_back(std::move(part));
  return made;
}

class RecipeParser {
 public:
  explicit RecipeParser(std::string_view text) : text_(text) {}

  std::optional<Recipe> parse() {
    std::optional<Recipe> made = list(RecipeKind::either, 0);
    return at_ == text_.size() ? std::move(made) : std::nullopt;
  }

 private:
  bool accept(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  static std::string_view sign(RecipeKind kind) {
    if (kind == RecipeKind::either) return "|";
    return kind == RecipeKind::both ? "&" : "@";
  }

  std::optional<Recipe> part(RecipeKind kind, int depth) {
    if (kind == RecipeKind::either) return list(RecipeKind::both, depth);
    return kind == RecipeKind::both ? list(RecipeKind::product, depth) : turned(depth);
  }

  std::optional<Recipe> list(RecipeKind kind, int depth) {
    Recipe made{kind, {}, {}};
    do {
      std::optional<Recipe> next = part(kind, depth);
      if (!next) return std::nullopt;
      made.parts.push_back(std::move(*next));
    } while (accept(sign(kind)));
    if (made.parts.size() == 1) return std::move(made.parts[0]);
    if (kind == RecipeKind::product && made.parts.size() > 2) return std::nullopt;
    return made;
  }

  std::optional<Recipe> turned(int depth) {
    std::optional<Recipe> made = atom(depth);
    if (!made) return made;
    if (accept("'")) return of_one(RecipeKind::turned, std::move(*made));
    return accept("~") ? of_one(RecipeKind::gaps, std::move(*made)) : std::move(made);
  }

  std::optional<Recipe> atom(int depth) {
    if (accept("(")) {
      std::optional<Recipe> inside = depth < most_recipe_depth ? list(RecipeKind::either, depth + 1) : std::nullopt;
      return accept(")") ? std::move(inside) : std::nullopt;
    }
    const std::size_t first = at_;
    while (at_ < text_.size() && (at_ == first ? may_begin_name(text_[at_]) : may_be_in_name(text_[at_]))) ++at_;
    if (at_ == first) return std::nullopt;
    return Recipe{RecipeKind::input, std::string(text_.substr(first, at_ - first)), {}};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string text_of(const Recipe& recipe, int within) {
  if (recipe.kind == RecipeKind::input) return recipe.name;
  const int level = level_of(recipe.kind);
  std::string text;
  for (const Recipe& part : recipe.parts) {
    if (!text.empty()) text += recipe.kind == RecipeKind::either ? "|" : recipe.kind == RecipeKind::both ? "&" : "@";
    text += text_of(part, level + 1);
  }
  if (recipe.kind == RecipeKind::turned) text += '\'';
  if (recipe.kind == RecipeKind::gaps) text += '~';
  return level < within ? '(' + text + ')' : text;
}

Recipe known(const std::string& name) { return parse_recipe(name).value_or(Recipe{RecipeKind::input, name, {}}); }

constexpr std::size_t most_sets = 64;

// Patterns as sets of names that are neither joined nor met, one of which has all that a position needs.
using NameSet = std::set<std::string>;
using NameSets = std::set<NameSet>;

NameSets without_more(const NameSets& sets) {
  NameSets least;
  for (const NameSet& set : sets) {
    const bool more = std::any_of(sets.begin(), sets.end(), [&](const NameSet& other) {
      return other != set && std::includes(set.begin(), set.end(), other.begin(), other.end());
    });
    if (!more) least.insert(set);
  }
  return least;
}

NameSets each_with_each(const NameSets& a, const NameSets& b) {
  NameSets made;
  for (const NameSet& left : a) {
    for (NameSet set : b) {
      set.insert(left.begin(), left.end());
      made.insert(std::move(set));
    }
    if (made.size() > most_sets * most_sets) return made;
  }
  return without_more(made);
}

NameSets sets_of(const Recipe& recipe) {
  if (recipe.kind != RecipeKind::either && recipe.kind != RecipeKind::both) return {{recipe_text(recipe)}};
  NameSets made = sets_of(recipe.parts[0]);
  for (std::size_t k = 1; k < recipe.parts.size(); ++k) {
    NameSets next = sets_of(recipe.parts[k]);
    if (recipe.kind == RecipeKind::both) {
      made = each_with_each(made, next);
    } else {
      made.merge(next);
    }
    if (made.size() > most_sets) return made;
  }
  return without_more(made);
}

Recipe joined(RecipeKind kind, std::vector<Recipe> parts) {
  if (parts.size() == 1) return std::move(parts[0]);
  return {kind, {}, std::move(parts)};
}

void add_inputs(const Recipe& recipe, std::set<std::string>& names) {
  if (recipe.kind == RecipeKind::input) names.insert(recipe.name);
  for (const Recipe& part : recipe.parts) add_inputs(part, names);
}

}  // namespace

bool is_recipe(std::string_view name) {
  constexpr std::string_view signs = "|&@'~() ";
  const auto is_sign = [&](char c) { return signs.find(c) != std::string_view::npos; };
  return std::any_of(name.begin(), name.end(), is_sign) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_sign(c) || may_be_in_name(c); });
}

std::optional<Recipe> parse_recipe(std::string_view text) {
  if (text.size() > most_recipe_length) return std::nullopt;
  std::optional<Recipe> made = RecipeParser(text).parse();
  if (!made || recipe_text(*made) != text) return std::nullopt;
  return made;
}

std::string recipe_text(const Recipe& recipe) { return text_of(recipe, 0); }

std::set<std::string> recipe_inputs(const Recipe& recipe) {
  std::set<std::string> names;
  add_inputs(recipe, names);
  return names;
}

std::string recipe_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (may_be_in_name(c)) word += c;
    if (c == '|') word += "_or_";
    if (c == '&') word += "_and_";
    if (c == '@') word += "_times_";
    if (c == '\'') word += "_turned";
    if (c == '~') word += "_gaps";
  }
  return word;
}

std::string pattern_of_sets(const std::vector<std::vector<std::string>>& sets) {
  Recipe all{RecipeKind::either, {}, {}};
  for (const std::vector<std::string>& names : sets) {
    std::vector<Recipe> parts;
    for (const std::string& name : names) parts.push_back(known(name));
    all.parts.push_back(joined(RecipeKind::both, std::move(parts)));
  }
  const NameSets least = sets_of(all);
  if (least.size() > most_sets) return {};
  std::vector<Recipe> either;
  for (const NameSet& set : least) {
    std::vector<Recipe> parts;
    for (const std::string& name : set) parts.push_back(known(name));
    either.push_back(joined(RecipeKind::both, std::move(parts)));
  }
  std::string text = recipe_text(joined(RecipeKind::either, std::move(either)));
  return text.size() > most_recipe_length ? std::string() : text;
}

std::string product_of_patterns(const std::string& left, const std::string& right) {
  return recipe_text({RecipeKind::product, {}, {known(left), known(right)}});
}
// Of what patterns are made of, so that equal ones have one name: (A|A')' is A|A'.
std::string turned_pattern(const std::string& name) {
  Recipe inner = known(name);
  if (inner.kind == RecipeKind::turned) return recipe_text(inner.parts[0]);
  std::vector<std::string> parts;
  for (const Recipe& part : inner.parts) parts.push_back(turned_pattern(recipe_text(part)));
  std::string made;
  if (inner.kind == RecipeKind::product) made = product_of_patterns(parts[1], parts[0]);
  if (inner.kind == RecipeKind::both) made = pattern_of_sets({parts});
  if (inner.kind == RecipeKind::either) {
    std::vector<std::vector<std::string>> sets;
    for (std::string& part : parts) sets.push_back({std::move(part)});
    made = pattern_of_sets(sets);
  }
  if (!made.empty() && made.size() <= most_recipe_length) return made;
  return recipe_text(of_one(RecipeKind::turned, std::move(inner)));
}
std::string gaps_pattern(const std::string& name, bool of_columns) {
  const std::string gaps = recipe_text(of_one(RecipeKind::gaps, known(of_columns ? turned_pattern(name) : name)));
  return of_columns ? turned_pattern(gaps) : gaps;
}

}  // namespace kasen
