#include "libcore/patterns/recipe.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace kasen {
namespace {

bool is_letter(char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

// How tightly the signs bind, from the loosest.
int level_of(RecipeKind kind) {
  if (kind == RecipeKind::either) return 0;
  if (kind == RecipeKind::both) return 1;
  return kind == RecipeKind::product ? 2 : 3;
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
    if (kind == RecipeKind::either) return " | ";
    return kind == RecipeKind::both ? " & " : " @ ";
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
    if (!made || !accept("'")) return made;
    Recipe turned{RecipeKind::turned, {}, {}};
    turned.parts.push_back(std::move(*made));
    return turned;
  }

  std::optional<Recipe> atom(int depth) {
    if (accept("(")) {
      std::optional<Recipe> inside = depth < most_recipe_depth ? list(RecipeKind::either, depth + 1) : std::nullopt;
      return accept(")") ? std::move(inside) : std::nullopt;
    }
    const std::size_t first = at_;
    while (at_ < text_.size() && (at_ == first ? is_letter(text_[at_]) : is_word(text_[at_]))) ++at_;
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
    if (!text.empty())
      text += recipe.kind == RecipeKind::either ? " | " : recipe.kind == RecipeKind::both ? " & " : " @ ";
    text += text_of(part, level + 1);
  }
  if (recipe.kind == RecipeKind::turned) text += '\'';
  return level < within ? '(' + text + ')' : text;
}

Recipe known(const std::string& name) { return parse_recipe(name).value_or(Recipe{RecipeKind::input, name, {}}); }

std::string combined(RecipeKind kind, const std::vector<std::string>& names) {
  Recipe made{kind, {}, {}};
  for (const std::string& name : names) made.parts.push_back(known(name));
  return recipe_text(made.parts.size() == 1 ? made.parts[0] : made);
}

void add_inputs(const Recipe& recipe, std::set<std::string>& names) {
  if (recipe.kind == RecipeKind::input) names.insert(recipe.name);
  for (const Recipe& part : recipe.parts) add_inputs(part, names);
}

}  // namespace

bool is_recipe(std::string_view name) { return !std::all_of(name.begin(), name.end(), is_word); }

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
    if (is_word(c)) word += c;
    if (c == '|') word += "_or_";
    if (c == '&') word += "_and_";
    if (c == '@') word += "_times_";
    if (c == '\'') word += "_turned";
  }
  return word;
}

std::string either_of(const std::vector<std::string>& names) { return combined(RecipeKind::either, names); }
std::string both_of(const std::vector<std::string>& names) { return combined(RecipeKind::both, names); }
std::string product_of_patterns(const std::string& left, const std::string& right) {
  return combined(RecipeKind::product, {left, right});
}
std::string turned_pattern(const std::string& name) {
  Recipe inner = known(name);
  if (inner.kind == RecipeKind::turned) return recipe_text(inner.parts[0]);
  Recipe made{RecipeKind::turned, {}, {}};
  made.parts.push_back(std::move(inner));
  return recipe_text(made);
}

}  // namespace kasen
