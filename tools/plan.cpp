// kasen-plan: turns a program's text into level 1 IR.
#include "tools/step/step.h"

int main(int argc, char** argv) { return kasen::tools::plan_main(argc, argv); }
