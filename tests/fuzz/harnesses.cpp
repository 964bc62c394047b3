#include <array>

#include "tests/fuzz/harness.h"
#include "tests/fuzz/kinds.h"

namespace kasen::fuzz {

std::span<const Harness> harnesses() {
  static constexpr std::array<Harness, 15> all{{
      {"program", fuzz_program, false},
      {"ir", fuzz_ir, true},
      {"passes", fuzz_passes, true},
      {"config", fuzz_config, false},
      {"machine", fuzz_machine, false},
      {"manifest", fuzz_manifest, false},
      {"checkpoint", fuzz_checkpoint, false},
      {"run_report", fuzz_run_report, false},
      {"edge_list", fuzz_edge_list, false},
      {"matrix_market", fuzz_matrix_market, false},
      {"libsvm", fuzz_libsvm, false},
      {"csv", fuzz_csv, false},
      {"npy", fuzz_npy, false},
      {"idx", fuzz_idx, false},
      {"packed", fuzz_packed, false},
  }};
  return all;
}

}  // namespace kasen::fuzz
