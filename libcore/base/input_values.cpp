#include "libcore/base/input_values.h"

#include <fmt/format.h>

#include "libcore/base/error.h"

namespace kasen {

void refuse_value_of_input(const std::string& name, const std::string& value) {
  const bool numbers = value.find_first_not_of("0123456789+-.eE,; []") == std::string::npos;
  const std::string file = numbers ? name + ".csv" : value;
  fail(ExitStatus::usage, fmt::format("-D {}={}: '{}' is an array, whose numbers a file gives", name, value, name), "",
       fmt::format("{}give the file as data: {}={}, without an option (in an experiment: data: {{{}: {}}})",
                   numbers ? fmt::format("write the numbers into {}, a row a line, and ", file) : "", name, file, name,
                   file));
}

}  // namespace kasen
