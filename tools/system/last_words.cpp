#include "tools/system/last_words.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <new>

#include "libcore/base/address_limit.h"
#include "libcore/base/error.h"
#include "libcore/json/report.h"
#include "libcore/system/mapped_file.h"
#include "libcore/system/temporaries.h"
#include "tools/system/files.h"
#include "tools/system/messages.h"

namespace kasen::tools {
namespace {

constexpr std::string_view fault_of_ours = "; this is a bug of Kasen; please report it with this command line";
constexpr std::string_view error_word = "error: ";

std::atomic<char> message_mark{'\0'};
pid_t own_process = 0;

constexpr std::string_view data_too_large =
    "error: out of memory; the data does not fit; use more workers or a smaller input";

// Texts that need no memory when they are told.
struct KeptText {
  std::array<char, 256> bytes{};
  size_t size = 0;
  void add(std::string_view text) {
    const size_t room = std::min(text.size(), bytes.size() - size);
    std::copy_n(text.begin(), room, bytes.begin() + static_cast<std::ptrdiff_t>(size));
    size += room;
  }
  [[nodiscard]] std::string_view text() const { return {bytes.data(), size}; }
};
KeptText tool_name, limit_text;

std::string_view shown_tool() { return tool_name.size > 0 ? tool_name.text() : program_invocation_short_name; }

// A library may have asked for little, and the limit is what refused it.
void keep_limit() {
  const auto limit = address_limit();
  limit_text.size = 0;
  if (!limit) return;
  std::array<char, 24> number{};
  const auto end = std::to_chars(number.begin(), number.end(), *limit / 1024).ptr;
  limit_text.add("error: out of memory; the process may have no more than ");
  limit_text.add({number.data(), static_cast<size_t>(end - number.begin())});
  limit_text.add(" KiB of addresses (ulimit -v); raise that limit, or use more workers or a smaller input");
}

static_assert(report_version == 1, "the message below states it");

// Allocates no memory.
void tell_pieces(ExitStatus status, std::initializer_list<std::string_view> pieces) {
  const char mark = message_mark;
  if (mark != '\0') write_as_it_is({&mark, 1});
  if (!messages_are_json()) {
    write_as_it_is(shown_tool());
    write_as_it_is(": ");
    for (const std::string_view piece : pieces) write_as_it_is(piece);
    write_as_it_is("\n");
    return;
  }
  const auto escaped = [](std::string_view text) { escape_json(text, write_as_it_is); };
  write_as_it_is(R"({"kind":"message","version":1,"severity":"error","tool":")");
  escaped(shown_tool());
  write_as_it_is(R"(","file":null,"line":null,"column":null,"source":null,"what":")");
  for (std::string_view piece : pieces) {
    if (piece.starts_with(error_word)) piece.remove_prefix(error_word.size());
    escaped(piece);
  }
  std::array<char, 8> number{};
  const auto end = std::to_chars(number.begin(), number.end(), static_cast<int>(status)).ptr;
  const std::string_view digits(number.data(), static_cast<size_t>(end - number.begin()));
  for (const std::string_view piece : {std::string_view(R"(","why":"","remedy":"","status":)"), digits,
                                       std::string_view(R"(,"code":")"), digits, std::string_view("\"}\n")})
    write_as_it_is(piece);
}

[[noreturn]] void leave_without_memory() noexcept {
  remove_temporaries();
  tell_pieces(ExitStatus::limit, {no_memory()});
  _exit(static_cast<int>(ExitStatus::limit));
}

[[noreturn]] void end_for_good() noexcept {
  if (errno == ENOMEM) leave_without_memory();
  std::string_view what = "an exception that nobody catches";
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    leave_without_memory();
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {  // it has no text
  }
  remove_temporaries();
  tell_pieces(ExitStatus::internal, {error_word, what, fault_of_ours});
  _exit(static_cast<int>(ExitStatus::internal));
}
[[maybe_unused]] const std::terminate_handler before_ours = std::set_terminate(end_for_good);

// Another thread may come to the same place of the same file; the first one reports.
[[noreturn]] void leave_without_file(const char* name) {
  static std::atomic_flag begun;
  while (begun.test_and_set()) pause();
  remove_temporaries();
  tell_pieces(ExitStatus::io, {error_word, "'", name,
                               "' cannot be read any more; it was cut short while it was in use, or its disk fails"});
  _exit(static_cast<int>(ExitStatus::io));
}

// A library that got no memory soon uses a null pointer, calls itself for ever or gives up; errno still shows that. Any
// other crash stays as it is: the signal comes again once this returns, and ends the process.
void on_crash(int number, siginfo_t* facts, void* /*context*/) {
  const bool own = getpid() == own_process;  // else a fork for one piece of work: its maker reports
  const char* const file = own && number == SIGBUS ? name_of_mapped_file(facts->si_addr) : nullptr;
  if (file != nullptr) leave_without_file(file);
  std::signal(number, SIG_DFL);
  if (own && errno == ENOMEM) leave_without_memory();
}

// exit(-1) is no status of ours. HDF5 exits so where it gets no memory for a name of its own (H5I_register).
void on_exit_by_library(int status, void* /*unused*/) {
  if (status != -1 || getpid() != own_process) return;
  if (errno == ENOMEM) leave_without_memory();
  remove_temporaries();
  tell_pieces(ExitStatus::internal, {error_word, "a library ended the process", fault_of_ours});
  _exit(static_cast<int>(ExitStatus::internal));
}

}  // namespace

std::string_view no_memory() { return limit_text.size > 0 ? limit_text.text() : data_too_large; }

void prepare_last_words(std::string_view tool) {
  own_process = getpid();
  tool_name.size = 0;
  tool_name.add(tool);
  keep_limit();
  on_exit(on_exit_by_library, nullptr);
  static std::array<std::byte, 1 << 15> own_stack;
  const stack_t stack{.ss_sp = own_stack.data(), .ss_flags = 0, .ss_size = own_stack.size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT}) sigaction(number, &action, nullptr);
  errno = 0;
}

void mark_last_words(char mark) { message_mark = mark; }

}  // namespace kasen::tools
