#include "libcomm/exchange/mpi_version.h"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <string_view>

namespace kasen {

LibraryVersions mpi_versions() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string_view running(text.data(), static_cast<std::size_t>(length));  // "Open MPI v4.1.4, package: ..."
  if (const auto v = running.find(" v"); v != std::string_view::npos) running.remove_prefix(v + 2);
  running = running.substr(0, running.find(','));
#ifdef OMPI_MAJOR_VERSION
  const std::string built = fmt::format("{}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#else
  const std::string built(running);
#endif
  return {built, std::string(running)};
}

}  // namespace kasen
