// What a process says that ends where nothing can be caught: without memory before main(), in a thread or a destructor,
// or inside a library that asked for some, got none and crashed.
#pragma once

#include <string_view>

namespace kasen::tools {

inline constexpr std::string_view no_memory =
    "error: out of memory; the data does not fit; use more workers or a smaller input";

// From now on such an end is told in one message, leaves no temporary file, and has the right exit status.
void prepare_last_words();
// Put before the message, for whoever reads it (launch/launch.h); '\0': nothing.
void mark_last_words(char mark);

}  // namespace kasen::tools
