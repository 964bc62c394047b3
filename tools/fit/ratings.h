// Ratings: a file of lines of row, column and rating, LIBSVM, or an array whose every cell is one.
#pragma once

#include <string>
#include <vector>

#include "libcomm/data/model/model.h"
#include "tools/fit/models.h"
#include "tools/fit/samples.h"

namespace kasen::tools {

// UserError.
[[nodiscard]] Samples ratings_samples(const std::string& path, const ModelRow& row, const SampleChoice& choice);
// Whether rows or columns are words. Then `kasen go` gets a file of their numbers.
[[nodiscard]] bool has_words(const Samples& ratings);
inline constexpr const char* numbered_ratings = "ratings.txt";
// The lines of that file. UserError(bad_input): a rating that is there twice.
[[nodiscard]] std::string numbered_text(const Samples& ratings);
[[nodiscard]] std::vector<std::string> ratings_arguments(const Samples& ratings);

// The products of factors for a table of rows and columns. UserError(bad_input): one that the model does not know.
[[nodiscard]] std::string rating_predictions(const Model& model, const std::string& path);

}  // namespace kasen::tools
