// The harnesses, by input kind. Each throws UserError for what it refuses.
#pragma once

#include <string_view>

namespace kasen::fuzz {

void fuzz_program(std::string_view content);
void fuzz_ir(std::string_view content);
void fuzz_passes(std::string_view content);
void fuzz_config(std::string_view content);
void fuzz_machine(std::string_view content);
void fuzz_manifest(std::string_view content);
void fuzz_checkpoint(std::string_view content);
void fuzz_run_report(std::string_view content);

// Data files: reader.cpp.
void fuzz_edge_list(std::string_view content);
void fuzz_matrix_market(std::string_view content);
void fuzz_libsvm(std::string_view content);
void fuzz_csv(std::string_view content);
void fuzz_npy(std::string_view content);
void fuzz_idx(std::string_view content);
void fuzz_packed(std::string_view content);  // the content tells its format: gzip and xz streams above all

}  // namespace kasen::fuzz
