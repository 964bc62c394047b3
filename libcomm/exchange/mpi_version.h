// The version of Open MPI; may be called before MPI starts.
#pragma once

#include "libcore/base/library_versions.h"

namespace kasen {

[[nodiscard]] LibraryVersions mpi_versions();

}  // namespace kasen
