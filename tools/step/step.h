// The tools that prepare and describe a run, each as a function from its command line to its exit status. Each belongs
// to a process that has done nothing else yet: a main, or a fork of a program that has them all
// (system/start_process.h).
#pragma once

namespace kasen::tools {

int plan_main(int argc, char** argv);
int partition_main(int argc, char** argv);
int fuse_main(int argc, char** argv);
int measure_main(int argc, char** argv);

}  // namespace kasen::tools
