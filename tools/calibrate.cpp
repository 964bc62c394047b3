#include "tools/calibrate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "libcore/error.h"
#include "libopt/machine.h"
#include "tools/common/files.h"
#include "tools/common/process.h"

namespace kasen::tools {
namespace {

// Three arrays that no cache holds: 64 MiB each.
constexpr std::size_t elements = std::size_t{8} << 20;
constexpr int repetitions = 9;

// What an iter_on_vec region does: reads two vectors, writes one.
void triad(const std::vector<double>& b, const std::vector<double>& c, std::vector<double>& a, unsigned threads) {
  std::vector<std::thread> team;
  for (unsigned t = 0; t < threads; ++t) {
    team.emplace_back([&, begin = elements * t / threads, end = elements * (t + 1) / threads] {
      for (std::size_t i = begin; i < end; ++i) a[i] = b[i] + 0.85 * c[i];
    });
  }
  for (std::thread& thread : team) thread.join();
}

double memory_bandwidth(unsigned threads) {
  std::vector<double> a(elements, 1), b(elements, 2), c(elements, 3);
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    triad(b, c, a, threads);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return 3.0 * sizeof(double) * static_cast<double>(elements) / seconds[repetitions / 2];
}

std::string built_in_network(const std::string& why) {
  const MachineProfile built_in;
  return fmt::format(
      "# not measured: {}; these are the built-in numbers\nnetwork_bandwidth: {:.4g}\nnetwork_latency: {:.4g}\n", why,
      built_in.network_bandwidth, built_in.network_latency);
}

// A file of its own, which goes away.
class TemporaryFile {
 public:
  TemporaryFile() : path_((std::filesystem::temp_directory_path() / "kasen-network-XXXXXX").string()) {
    const int fd = mkstemp(path_.data());
    if (fd < 0) fail(ExitStatus::io, "cannot make a temporary file in " + path_, std::strerror(errno), "set TMPDIR");
    close(fd);
    remember_temporary(path_);
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    forget_temporary();
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string network_lines() {
  if (!command_exists("mpirun")) return built_in_network("mpirun is not in PATH");
  const TemporaryFile lines;
  const int status = run_process({tool_folder() + "/kasen-run", "-n", "2", "--network-profile"}, lines.path());
  if (status != 0) return built_in_network(fmt::format("two ranks under mpirun ended with status {}", status));
  return "# between two ranks on this machine: bytes a second, seconds of a message\n" + read_text(lines.path());
}

}  // namespace

std::string calibrated_profile() {
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  return fmt::format(
             "# Measured by kasen measure --calibrate.\n# bytes a second that {} threads read and "
             "write\nmemory_bandwidth: {:.4g}\n",
             threads, memory_bandwidth(threads)) +
         network_lines();
}

}  // namespace kasen::tools
