// The checks of `kasen doctor`: one function a check, one row each in doctor.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kasen::tools {

enum class Verdict : std::uint8_t { ok, better, broken };  // better: usable, but could be better

struct Finding {
  Verdict verdict = Verdict::ok;
  std::string what;
  std::string remedy;  // how to fix it; "" where there is nothing to fix
};

// The subject of the checks. Tests have a system of their own below `root`.
struct Patient {
  std::string root;
  std::string machine;  // a profile to compare with; "": the built-in one
  std::string folder;   // to write in, removed at the end
  double patience;      // seconds that each started tool may take

  // A file's first line; nothing where it cannot be read.
  [[nodiscard]] std::optional<std::string> line(const std::string& path) const;
};

// The leftovers of killed runs in a folder, for a message; "": there are none.
[[nodiscard]] std::string left_jobs_text(const std::string& above);

// Processor
[[nodiscard]] Finding check_cores(const Patient& patient);
[[nodiscard]] Finding check_threads(const Patient& patient);
[[nodiscard]] Finding check_vectors(const Patient& patient);
[[nodiscard]] Finding check_governor(const Patient& patient);
// Memory
[[nodiscard]] Finding check_memory(const Patient& patient);
[[nodiscard]] Finding check_huge_pages(const Patient& patient);
[[nodiscard]] Finding check_shared_memory(const Patient& patient);
[[nodiscard]] Finding check_bandwidth(const Patient& patient);
// Folders and files
[[nodiscard]] Finding check_current_folder(const Patient& patient);
[[nodiscard]] Finding check_temporary_folder(const Patient& patient);
[[nodiscard]] Finding check_code_cache(const Patient& patient);
[[nodiscard]] Finding check_open_files(const Patient& patient);
// Libraries and MPI
[[nodiscard]] Finding check_libraries(const Patient& patient);
[[nodiscard]] Finding check_kernels(const Patient& patient);
[[nodiscard]] Finding check_mpi(const Patient& patient);
[[nodiscard]] Finding check_root(const Patient& patient);
[[nodiscard]] Finding check_bindings(const Patient& patient);
[[nodiscard]] Finding check_job(const Patient& patient);

}  // namespace kasen::tools
