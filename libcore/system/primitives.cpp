#include "libcore/system/primitives.h"

namespace kasen {

void spin_pause() {
#if defined(__x86_64__)
  asm volatile("pause");
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace kasen
