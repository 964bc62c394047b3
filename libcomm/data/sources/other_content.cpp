#include "libcomm/data/sources/other_content.h"

#include <fmt/format.h>

namespace kasen {

std::string remedy_for_strings(std::string_view text, std::string_view modules) {
  return fmt::format(
      "write a table of words, and read it with --words INPUT=1: python3 -c \"import csv, {}; a = {}; "
      "csv.writer(open('data.csv', 'w', newline=''), quoting=csv.QUOTE_ALL).writerows(a.reshape(len(a), -1))\"",
      modules, text);
}

std::string remedy_for_complex(std::string_view array, std::string_view modules) {
  return fmt::format(
      "save the real and the imaginary part, as two inputs: python3 -c \"import {}; a = {}; "
      "numpy.save('real.npy', a.real); numpy.save('imaginary.npy', a.imag)\"",
      modules, array);
}

std::string remedy_for_records(std::string_view array, std::string_view modules) {
  return fmt::format(
      "save each field: python3 -c \"import {}; a = {}; [numpy.save(name + '.npy', a[name]) for name in "
      "a.dtype.names]\"",
      modules, array);
}

}  // namespace kasen
