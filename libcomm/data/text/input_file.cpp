#include "libcomm/data/text/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "libcomm/data/base/digest.h"
#include "libcore/base/error.h"
#include "libcore/system/file_calls.h"
#include "libcore/system/mapped_file.h"
#include "libcore/system/memory_limit.h"

namespace kasen {
namespace {

struct Content {
  std::shared_ptr<const void> owner;
  std::string_view text;
};

// Unmaps in another thread, if the system gives one: with small pages it takes a fifth of the time of parsing the file.
void unmap(const MappedFile* mapped) {
  try {
    std::thread([=] { delete mapped; }).detach();
  } catch (const std::system_error&) {
    delete mapped;
  }
}

Content map_file(const std::string& path) {
  const int file = file_calls::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat facts {};
  std::unique_ptr<const MappedFile> mapped;
  if (file >= 0 && fstat(file, &facts) == 0) mapped = std::make_unique<const MappedFile>(file, 0, facts.st_size, path);
  const int error = errno;
  if (file >= 0) close(file);
  const bool refused = mapped == nullptr || mapped->data() == nullptr;
  if (refused && error == ENOMEM) check_memory(facts.st_size, "the file", path);
  if (refused) fail(ExitStatus::io, "cannot map the file", std::strerror(error), {}, {path});
  const std::string_view text{reinterpret_cast<const char*>(mapped->data()), static_cast<size_t>(facts.st_size)};
  madvise(const_cast<char*>(text.data()), text.size(), MADV_WILLNEED);
  return {std::shared_ptr<const MappedFile>(mapped.release(), unmap), text};
}

Content keep(HeldText text) {
  const std::string_view view{text.bytes.get(), static_cast<size_t>(text.size)};
  return {std::move(text.bytes), view};
}

constexpr std::int64_t longest_shown = 160;

}  // namespace

InputFile::InputFile(TextSource& source, TextSource::Content held, Digest digest) : path_(source.path()) {
  const bool mapped = source.plain_file();
  Content content = mapped ? map_file(path_) : keep(source.rest(held));
  owner_ = std::move(content.owner);
  text_ = content.text;
  // If the system gives no thread, it is computed on demand.
  digest_ = std::async(
      mapped && digest == Digest::at_once ? std::launch::async | std::launch::deferred : std::launch::deferred,
      [text = text_, read = mapped ? std::string() : source.digest()] {
        return read.empty() ? digest_of(text) : read;
      });
  if (mapped) text_.remove_prefix(static_cast<size_t>(source.mark_bytes()));
}

void InputFile::fail_at(std::int64_t offset, const std::string& what, std::string why, std::string remedy) const {
  fail_in_text(path_, text_, 0, offset, what, std::move(why), std::move(remedy));
}

void fail_in_text(const std::string& path, std::string_view text, std::int64_t lines_before, std::int64_t offset,
                  const std::string& what, std::string why, std::string remedy) {
  const auto at = std::min(static_cast<size_t>(offset), text.size());
  const size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  size_t end = std::min(text.find('\n', at), text.size());
  if (end > begin && text[end - 1] == '\r') --end;
  const auto lines =
      lines_before + 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  const auto column = static_cast<std::int64_t>(at - begin) + 1;

  Diagnostic diagnostic;
  diagnostic.where = {path, static_cast<int>(std::min<std::int64_t>(lines, std::numeric_limits<int>::max())), 0};
  diagnostic.what = what;
  diagnostic.why = std::move(why);
  diagnostic.remedy = std::move(remedy);
  if (column <= longest_shown) {
    diagnostic.where.column = static_cast<int>(column);
    diagnostic.source_line = text.substr(begin, std::min<size_t>(end - begin, longest_shown + 40));
  } else {
    diagnostic.source_line =
        "..." + std::string(text.substr(at - 40, std::min<size_t>(std::max(end, at) - at + 40, 120)));
  }
  throw UserError(ExitStatus::bad_input, std::move(diagnostic));
}

void check_memory(std::int64_t bytes, const std::string& what, const std::string& path) {
  const std::optional<std::int64_t> available = available_memory();
  if (!available || bytes <= *available) return;
  fail(ExitStatus::limit, fmt::format("{} needs {} bytes of memory", what, bytes),
       fmt::format("this process can take {}", *available), "use a larger machine or a smaller input", {path});
}

}  // namespace kasen
