#include "tests/fuzz/harness.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "libcore/base/error.h"
#include "libcore/system/memory_limit.h"

namespace kasen::fuzz {

void require(bool holds, std::string_view what, std::string_view detail) {
  if (holds) return;
  fmt::print(stderr, "does not hold: {}\n{}\n", what, detail);
  std::abort();
}

MemoryFile::MemoryFile(std::string_view content) : fd_(memfd_create("input", MFD_CLOEXEC)) {
  require(fd_ >= 0 && write(fd_, content.data(), content.size()) == static_cast<ssize_t>(content.size()),
          "a file in memory can be made");
}

MemoryFile::~MemoryFile() { close(fd_); }

std::string MemoryFile::path() const { return fmt::format("/proc/self/fd/{}", fd_); }

namespace {

// What the process may take as far as readers know; libFuzzer's own limits (scripts/fuzz) stand far above.
constexpr std::int64_t memory = std::int64_t{16} << 20;

const Harness* chosen = nullptr;

// The program's first argument; it goes, and libFuzzer sees the others.
void choose(int& argc, char** argv) {
  for (const Harness& harness : harnesses())
    if (argc > 1 && harness.name == argv[1]) chosen = &harness;
  if (chosen == nullptr) {
    fmt::print(stderr, "{}: the first argument is one of", argv[0]);
    for (const Harness& harness : harnesses()) fmt::print(stderr, " {}", harness.name);
    fmt::print(stderr, "\n");
    std::exit(static_cast<int>(ExitStatus::usage));
  }
  std::copy(argv + 2, argv + argc + 1, argv + 1);
  --argc;
}

void check_refusal(const UserError& error) {
  const std::string_view text = error.what();
  require(!error.diagnostics().empty() && !text.empty(), "a refusal says something");
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t'; };
  require(std::none_of(text.begin(), text.end(), control), "messages have no control characters", text);
  const ExitStatus status = error.status();
  require(status == ExitStatus::bad_input || status == ExitStatus::limit || status == ExitStatus::usage ||
              status == ExitStatus::configuration,
          "a refusal has a status of inputs", text);
  for (const Diagnostic& diagnostic : error.diagnostics())
    require(!chosen->lines || status != ExitStatus::bad_input || diagnostic.where.line > 0, "a refusal says where",
            text);
}

}  // namespace
}  // namespace kasen::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  kasen::fuzz::choose(*argc, *argv);
  kasen::set_available_memory(kasen::fuzz::memory);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    kasen::fuzz::chosen->run({reinterpret_cast<const char*>(data), size});
  } catch (const kasen::UserError& error) {
    kasen::fuzz::check_refusal(error);
  }
  return 0;
}
