// The words of text columns and their codes. A dictionary outlives its file: results that use its codes mean the same
// words for another file that is read with it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kasen {

struct WordColumn {
  std::string name;                // of the column, if a line of the file names it
  std::vector<std::string> words;  // word k has code k
  std::vector<std::string> over;   // dimensions of the input whose elements they are: no code is an index there
  bool one_hot = false;            // each word is a column of its own, with 1 where a row has it
  friend bool operator==(const WordColumn&, const WordColumn&) = default;
};
using WordColumns = std::map<int, WordColumn>;          // by column of the file, from 1
using Dictionary = std::map<std::string, WordColumns>;  // by input of the program
// By dimension: the names of its indices, which are columns of a table whose first line names them.
using DimNames = std::map<std::string, std::vector<std::string>>;

// Reads a file that dictionary_text made. UserError: missing_input, bad_input, io.
[[nodiscard]] Dictionary read_dictionary(const std::string& path);
[[nodiscard]] DimNames read_dim_names(const std::string& path);
[[nodiscard]] std::string dictionary_text(const Dictionary& dictionary, const DimNames& names = {});  // JSON
// How each such text begins, and no other file.
inline constexpr const char* dictionary_begin = "{\n \"kasen_dictionary\": 1";

// Whether a column's name may stand in results and messages: UTF-8 without control characters, and not empty.
[[nodiscard]] bool is_shown_name(std::string_view name);

}  // namespace kasen
