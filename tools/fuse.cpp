// kasen-fuse: turns level 1 IR into a plan. It places states and transitions, fuses operators and assigns buffers.
#include "tools/step/step.h"

int main(int argc, char** argv) { return kasen::tools::fuse_main(argc, argv); }
