// The words of text columns and their codes. A dictionary outlives the file that it was made from: what is computed
// with its codes means the same words for another file that is read with it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kasen {

struct WordColumn {
  std::string name;                // of the column, where a line of the file names it
  std::vector<std::string> words;  // word k has code k
  friend bool operator==(const WordColumn&, const WordColumn&) = default;
};
using WordColumns = std::map<int, WordColumn>;          // by column of the file, from 1
using Dictionary = std::map<std::string, WordColumns>;  // by input of the program

// Of a file that dictionary_text made. UserError: missing_input, bad_input, io.
[[nodiscard]] Dictionary read_dictionary(const std::string& path);
[[nodiscard]] std::string dictionary_text(const Dictionary& dictionary);  // JSON, for people too

}  // namespace kasen
