#include "libcore/base/checked.h"

#include <string>

namespace kasen {

void throw_size_overflow(std::string_view what) {
  fail(ExitStatus::limit, std::string(what) + " does not fit in 64 bits",
       "the product or sum of the given sizes is too large", "check the sizes in the input");
}

}  // namespace kasen
