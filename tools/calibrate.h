// kasen measure --calibrate: what this machine does, as a machine profile (configs/machine.yaml).
#pragma once

#include <string>

namespace kasen::tools {

// The profile's text: the memory's bandwidth with all cores, measured here; the network's between two ranks on this
// machine, measured by kasen-run under mpirun (without mpirun the built-in numbers, and a comment that says so).
// Between machines: `srun -N 2 -n 2 kasen-run --network-profile` prints the two lines.
[[nodiscard]] std::string calibrated_profile();

}  // namespace kasen::tools
