/// \file
/// Patterns that follow from those of inputs (docs/ir.md, "Patterns of several matrices"). A recipe is the name of such
/// a pattern: `X|Y` has the positions of both, `X&Y` those that both have, `A@B` those of a product, and `A'`
/// those of A with rows and columns exchanged. `A~` has the first position of each row that A has not; a row that A has
/// whole has none. Brackets group. A bundle holds the pattern as a matrix of this name.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kasen {

enum class RecipeKind : std::uint8_t { input, either, both, product, turned, gaps };

struct Recipe {
  RecipeKind kind = RecipeKind::input;
  std::string name;           ///< of an input
  std::vector<Recipe> parts;  ///< either, both: at least two; product: two; turned, gaps: one
};

inline constexpr int most_recipe_depth = 32;
inline constexpr std::size_t most_recipe_length = 255;  // of a stored name

/// True for the name of a pattern that follows from others, which has signs; names of inputs are words.
[[nodiscard]] bool is_recipe(std::string_view name);
/// The recipe, or nothing if the text is none, is too long, or is not as recipe_text writes it.
[[nodiscard]] std::optional<Recipe> parse_recipe(std::string_view text);
[[nodiscard]] std::string recipe_text(const Recipe& recipe);
/// The inputs that it names.
[[nodiscard]] std::set<std::string> recipe_inputs(const Recipe& recipe);
/// A word for it, from which names are made: `X_or_Y`.
[[nodiscard]] std::string recipe_word(std::string_view text);

/// The pattern of all positions that all of one set of these patterns have. Names may be recipes. Nothing that others
/// have anyway stays, so that equal patterns have one name mostly. Empty: it is too long.
[[nodiscard]] std::string pattern_of_sets(const std::vector<std::vector<std::string>>& sets);
[[nodiscard]] std::string product_of_patterns(const std::string& left, const std::string& right);
[[nodiscard]] std::string turned_pattern(const std::string& name);
/// The first position that each row lacks, or each column.
[[nodiscard]] std::string gaps_pattern(const std::string& name, bool of_columns);

}  // namespace kasen
