// The version of HDF5.
#pragma once

#include "libcore/base/library_versions.h"

namespace kasen {

[[nodiscard]] LibraryVersions hdf5_versions();

}  // namespace kasen
