// Hints to the processor that C++ has no word for; nothing where it has no such hint.
#pragma once

namespace kasen {

// Tells the processor that this thread waits for another; nothing where it has no such hint.
void spin_pause();

}  // namespace kasen
