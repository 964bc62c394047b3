/// \file
/// What the system's refusals to make and write files mean: a disk that is full is told alike wherever it shows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/base/error.h"

namespace kasen {

/// A full disk, a quota or a limit on the sizes of files.
[[nodiscard]] bool is_full_disk(int fault);
/// The number of such a fault whose text `reason` is; 0: of none. Libraries keep the text alone.
[[nodiscard]] int full_disk_fault(std::string_view reason);
/// What to do about it: which disk holds `path`, what is free there, and what is `needed` (0: nobody knows).
[[nodiscard]] std::string full_disk_remedy(int fault, const std::string& path, std::int64_t needed = 0);
/// Throws UserError: of `status`, or ExitStatus::io with a remedy where the disk of `path` is full.
[[noreturn]] void fail_on_disk(ExitStatus status, std::string what, int fault, const std::string& path,
                               std::string remedy = "", std::int64_t needed = 0);

}  // namespace kasen
