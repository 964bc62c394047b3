// kasen-measure: predicts what a module reads, writes, allocates and sends, and checks a run against that.
#include "tools/step/step.h"

int main(int argc, char** argv) { return kasen::tools::measure_main(argc, argv); }
