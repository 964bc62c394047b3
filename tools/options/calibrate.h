// kasen measure --calibrate: measures this machine as a machine profile (configs/machine.yaml).
#pragma once

#include <string>

namespace kasen::tools {

// The profile's text as kasen-run measures it: memory and computing of generated kernels on all cores, and the network
// between two ranks on this machine under mpirun. Without mpirun it has the built-in numbers, and a comment that says
// so. Between machines, `srun -N 2 -n 2 kasen-run --network-profile` prints the two lines.
[[nodiscard]] std::string calibrated_profile();

}  // namespace kasen::tools
