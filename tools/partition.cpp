// kasen-partition: cuts data files into a bundle; `--stats` prints the content of a bundle.
#include "tools/step/step.h"

int main(int argc, char** argv) { return kasen::tools::partition_main(argc, argv); }
