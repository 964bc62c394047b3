// What people should know of how a table in text was read; private to the reader.
#pragma once

#include <string>

#include "libcomm/data/table/table_form.h"
#include "libcomm/data/table/text_rows.h"
#include "libcomm/data/text/first_lines.h"

namespace kasen {

// Of a first line that may be a head, where all columns hold words; empty if it is a head, or certainly none.
[[nodiscard]] std::string head_note(const FirstLines& first, const TableForm& form);
// Of lines behind the first row, or the head, that were left out as comments; empty if there are none.
[[nodiscard]] std::string comments_note(const TextRows& rows);

}  // namespace kasen
