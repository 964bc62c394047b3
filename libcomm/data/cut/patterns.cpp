// Patterns that follow from those of inputs (libcore/patterns/recipe.h), made when the inputs' entries are indices.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcomm/data/cut/partition_steps.h"
#include "libcore/base/checked.h"
#include "libcore/patterns/recipe.h"

namespace kasen {
namespace {

using Positions = std::vector<std::uint64_t>;  // ascending: row, then column, which have 32 bits each

std::uint64_t position(std::int64_t row, std::int64_t col) {
  return static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(col);
}
std::int64_t row_of(std::uint64_t position) { return static_cast<std::int64_t>(position >> 32); }
std::int64_t col_of(std::uint64_t position) { return static_cast<std::int64_t>(position & 0xffffffff); }

void sort_once(Positions& positions) {
  if (!std::is_sorted(positions.begin(), positions.end())) std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

Positions turned(const Positions& from) {
  Positions made;
  made.reserve(from.size());
  for (const std::uint64_t p : from) made.push_back(position(col_of(p), row_of(p)));
  sort_once(made);
  return made;
}

// Where the row of each index begins.
std::vector<std::size_t> row_begins(const Positions& positions, std::int64_t rows) {
  std::vector<std::size_t> begins(static_cast<std::size_t>(rows) + 1);
  for (const std::uint64_t p : positions) ++begins[static_cast<std::size_t>(row_of(p)) + 1];
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  return begins;
}

// The terms of a product: as many positions as it can have at most, but for its rows times its columns.
std::int64_t terms_of(const Positions& left, const Positions& right) {
  std::int64_t size = 0;
  for (const std::uint64_t p : left) size = std::max(size, col_of(p) + 1);
  for (const std::uint64_t p : right) size = std::max(size, row_of(p) + 1);
  const std::vector<std::size_t> begins = row_begins(right, size);
  std::int64_t terms = 0;
  for (const std::uint64_t p : left) {
    const auto k = static_cast<std::size_t>(col_of(p));
    terms = checked_add(terms, static_cast<std::int64_t>(begins[k + 1] - begins[k]), "the terms of a product");
  }
  return terms;
}

// The positions of a product, row by row: those of the rows of the right factor that the row names.
Positions product(const Positions& left, const Positions& right) {
  std::int64_t rows = 0, cols = 0;
  for (const std::uint64_t p : left) rows = std::max(rows, col_of(p) + 1);
  for (const std::uint64_t p : right) {
    rows = std::max(rows, row_of(p) + 1);
    cols = std::max(cols, col_of(p) + 1);
  }
  const std::vector<std::size_t> begins = row_begins(right, rows);
  std::vector<std::int64_t> seen(static_cast<std::size_t>(cols), -1);
  Positions made;
  for (std::size_t e = 0; e < left.size();) {
    const std::int64_t row = row_of(left[e]);
    const std::size_t first = made.size();
    for (; e < left.size() && row_of(left[e]) == row; ++e) {
      const auto k = static_cast<std::size_t>(col_of(left[e]));
      for (std::size_t r = begins[k]; r < begins[k + 1]; ++r) {
        const std::int64_t col = col_of(right[r]);
        if (std::exchange(seen[static_cast<std::size_t>(col)], row) != row) made.push_back(position(row, col));
      }
    }
    std::sort(made.begin() + static_cast<std::ptrdiff_t>(first), made.end());
  }
  return made;
}

// The first column of each row that it lacks.
Positions gaps(const Positions& from, std::int64_t rows, std::int64_t cols) {
  Positions made;
  auto at = from.begin();
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t col = 0;
    for (; at != from.end() && row_of(*at) == row; ++at)
      if (col_of(*at) == col) ++col;
    if (col < cols) made.push_back(position(row, col));
  }
  return made;
}

class PatternMaker {
 public:
  PatternMaker(const std::vector<InputData>& inputs, const std::vector<DimLayout>& layouts,
               const std::vector<EntryList>& entries)
      : inputs_(inputs), layouts_(layouts), entries_(entries) {}

  [[nodiscard]] Positions make(const Recipe& recipe) const {
    if (recipe.kind == RecipeKind::input) return taken(recipe.name);
    Positions made = make(recipe.parts[0]);
    if (recipe.kind == RecipeKind::turned) return turned(made);
    if (recipe.kind == RecipeKind::gaps) {
      const Shape shape = shape_of(recipe);
      return gaps(made, shape.rows, shape.cols);
    }
    for (std::size_t k = 1; k < recipe.parts.size(); ++k) made = joined(recipe.kind, made, make(recipe.parts[k]));
    return made;
  }

 private:
  struct Shape {
    std::int64_t rows = 0, cols = 0;
  };

  [[nodiscard]] Shape shape_of(const Recipe& recipe) const {
    if (recipe.kind == RecipeKind::input) {
      const InputData& input = inputs_[number_of(recipe.name)];
      return {find_layout(layouts_, input, input.dims[0]).size, find_layout(layouts_, input, input.dims[1]).size};
    }
    const Shape first = shape_of(recipe.parts[0]);
    if (recipe.kind == RecipeKind::turned) return {first.cols, first.rows};
    return recipe.kind == RecipeKind::product ? Shape{first.rows, shape_of(recipe.parts[1]).cols} : first;
  }

  [[nodiscard]] std::size_t number_of(const std::string& name) const {
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      if (inputs_[k].name == name && inputs_[k].sparse) return k;
    fail(ExitStatus::bad_input, fmt::format("a pattern names the sparse input '{}', which has no data", name));
  }

  static Positions joined(RecipeKind kind, const Positions& a, const Positions& b) {
    if (kind == RecipeKind::product) return product(a, b);
    Positions made;
    if (kind == RecipeKind::either) {
      std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(made));
    } else {
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(made));
    }
    return made;
  }

  [[nodiscard]] Positions taken(const std::string& name) const {
    const EntryList& entries = entries_[number_of(name)];
    constexpr std::int64_t bytes = 2 * sizeof(std::uint64_t);  // of a position, here and in what is made of it
    if (entries.spill != nullptr) {
      entries.spill->room().reserve(checked_mul(entries.count(), bytes, "the positions of a matrix"),
                                    fmt::format("the positions of '{}'", name));
    }
    Positions made;
    made.reserve(static_cast<std::size_t>(entries.count()));
    for_each_entry(entries, false, 0, [&](std::int64_t i, std::int64_t j) { made.push_back(position(i, j)); });
    sort_once(made);
    return made;
  }

  const std::vector<InputData>& inputs_;
  const std::vector<DimLayout>& layouts_;
  const std::vector<EntryList>& entries_;
};

void require_short(const DimLayout& dim) {
  if (dim.size <= std::int64_t{1} << 32) return;
  fail(ExitStatus::limit, fmt::format("dimension '{}' has {} indices", dim.name, dim.size),
       "patterns of several matrices number rows and columns by 32 bits", "use one matrix in each expression");
}

}  // namespace

void make_patterns(const std::vector<InputData>& inputs, const std::vector<DimLayout>& layouts,
                   std::vector<EntryList>& entries, std::vector<std::string>* notes) {
  const PatternMaker maker(inputs, layouts, entries);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].sparse || !is_recipe(inputs[k].name)) continue;
    const std::optional<Recipe> recipe = parse_recipe(inputs[k].name);
    if (!recipe) throw InternalError("a pattern without a recipe");
    for (const std::string& dim : inputs[k].dims) require_short(find_layout(layouts, inputs[k], dim));
    const Positions positions = maker.make(*recipe);
    if (notes != nullptr && recipe->kind == RecipeKind::product) {
      const auto size = [&](std::size_t axis) { return find_layout(layouts, inputs[k], inputs[k].dims[axis]).size; };
      const std::int64_t most = std::min(terms_of(maker.make(recipe->parts[0]), maker.make(recipe->parts[1])),
                                         checked_mul(size(0), size(1), "the elements of a product"));
      notes->push_back(fmt::format("the product '{}' has {} entries; by those of its factors it has at most {}",
                                   inputs[k].name, positions.size(), most));
    }
    std::vector<std::int64_t> rows, cols;
    rows.reserve(positions.size());
    cols.reserve(positions.size());
    for (const std::uint64_t p : positions) {
      rows.push_back(row_of(p));
      cols.push_back(col_of(p));
    }
    entries[k] = EntryList(rows, cols, Array(ElementType::of(Scalar::null), 0));
  }
}

}  // namespace kasen
