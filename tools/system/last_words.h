// The message of a process that ends where nothing can be caught. It lacks memory before main(), in a thread or a
// destructor, or a library got no memory and crashed.
#pragma once

#include <string_view>

namespace kasen::tools {

// That it lacks memory, with the limit on its address space (ulimit -v) where there is one. Allocates none.
[[nodiscard]] std::string_view no_memory();

// From now on, such an end gives one message by this tool's name, leaves no temporary file, and has the right exit
// status.
void prepare_last_words(std::string_view tool);
// A mark before the message, for its reader (launch/launch.h); '\0': none.
void mark_last_words(char mark);

}  // namespace kasen::tools
