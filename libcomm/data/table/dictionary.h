// The words of text columns and their codes. A dictionary outlives its file: results that use its codes mean the same
// words for another file that is read with it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kasen {

struct WordColumn {
  std::string name;                // of the column, if a line of the file names it
  std::vector<std::string> words;  // word k has code k
  std::vector<std::string> over;   // dimensions of the input whose elements they are: no code is an index there
  friend bool operator==(const WordColumn&, const WordColumn&) = default;
};
using WordColumns = std::map<int, WordColumn>;          // by column of the file, from 1
using Dictionary = std::map<std::string, WordColumns>;  // by input of the program

// Reads a file that dictionary_text made. UserError: missing_input, bad_input, io.
[[nodiscard]] Dictionary read_dictionary(const std::string& path);
[[nodiscard]] std::string dictionary_text(const Dictionary& dictionary);  // JSON, for people too

}  // namespace kasen
