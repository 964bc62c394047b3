#include "libcomm/data/hdf5/version.h"

#include <fmt/format.h>
#include <hdf5.h>

namespace kasen {

LibraryVersions hdf5_versions() {
  unsigned major = 0, minor = 0, release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0) major = 0;
  return {fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE),
          fmt::format("{}.{}.{}", major, minor, release)};
}

}  // namespace kasen
