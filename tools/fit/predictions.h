// Predictions as text, and whether a model holds what its kind needs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcomm/data/model/model.h"
#include "tools/fit/models.h"

namespace kasen::tools {

// UserError(bad_input): an unknown kind, or arrays of other sizes than its features and classes.
const ModelRow& require_sound(const Model& model, const std::string& path);

// CSV: a line for each row of the table. `outputs` are those of the program, which had no rows `dropped`: there is NA.
[[nodiscard]] std::string prediction_text(const Model& model, const ModelRow& row,
                                          const std::map<std::string, ModelArray>& outputs, bool chances,
                                          const std::vector<std::int64_t>& dropped);
}  // namespace kasen::tools
