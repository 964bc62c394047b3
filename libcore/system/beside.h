// Files that belong to this program.
#pragma once

#include <string>

namespace kasen {

// A module or library of Kasen's own: beside the program in a build, and in LIBDIR/kasen below the prefix where it is
// installed. "": there is none.
[[nodiscard]] std::string file_beside_program(const std::string& name);

}  // namespace kasen
