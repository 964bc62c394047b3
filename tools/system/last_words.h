// The message of a process that ends where nothing can be caught. It lacks memory before main(), in a thread or a
// destructor, or a library got no memory and crashed.
#pragma once

#include <string_view>

namespace kasen::tools {

inline constexpr std::string_view no_memory =
    "error: out of memory; the data does not fit; use more workers or a smaller input";

// From now on, such an end gives one message, leaves no temporary file, and has the right exit status.
void prepare_last_words();
// A mark before the message, for its reader (launch/launch.h); '\0': none.
void mark_last_words(char mark);

}  // namespace kasen::tools
