// The version of a library that Kasen was built with, and the version that it runs with.
#pragma once

#include <string>

namespace kasen {

struct LibraryVersions {
  std::string built, running;  // "1.10.8"
};

}  // namespace kasen
