// What kasen fit tells of a model.
#pragma once

#include <string>

#include "libcomm/data/model/model.h"
#include "tools/fit/models.h"

namespace kasen::tools {

// `top`: rows of the table of coefficients.
[[nodiscard]] std::string report_of(const Model& model, const ModelRow& row, const std::string& table, int top);
// The same as a report of the kind "fit". `output`: the file of the model.
[[nodiscard]] std::string fit_document(const Model& model, const ModelRow& row, const std::string& table, int top,
                                       const std::string& output);

// The names of X's columns, in its order: "age", "protocol=tcp", or numbers from 1.
[[nodiscard]] std::vector<std::string> feature_names(const Model& model);

}  // namespace kasen::tools
