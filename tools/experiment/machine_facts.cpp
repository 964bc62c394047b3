#include "tools/experiment/machine_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "libcore/system/hardware.h"
#include "libcore/system/processors.h"
#include "tools/common/version.h"
#include "tools/experiment/versions.h"

namespace kasen::tools {
namespace {

std::string processor() {
  const std::string model = hardware().model;
  return model.empty() ? "unknown" : model;
}

}  // namespace

Json host_facts() {
  utsname name{};
  (void)uname(&name);
  return {{"name", name.nodename},
          {"processor", processor()},
          {"cores", allowed_processors()},
          {"memory_bytes", std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE)},
          {"system", std::string(name.sysname) + ' ' + name.release}};
}

Json built_versions() {
  return {{"kasen", version},
          {"compiler", compiler_version},
          {"mpi", mpi_version},
          {"hdf5", hdf5_version},
          {"llvm", llvm_version}};
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace kasen::tools
