// Which elements of a result are indices, in the dictionary beside it.
#pragma once

#include <map>
#include <string>

#include "libcomm/data/table/dictionary.h"

namespace kasen {

// By output, as w, or w.1 of a tuple: the dimension whose indices its elements are.
using ElementDims = std::map<std::string, std::string>;

// UserError: missing_input, bad_input, io.
[[nodiscard]] ElementDims read_element_dims(const std::string& path);
[[nodiscard]] std::string dictionary_text(const Dictionary& dictionary, const DimNames& names,
                                          const ElementDims& elements);  // JSON

}  // namespace kasen
