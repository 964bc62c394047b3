#include "libkernels/code_cache.h"

#include <fcntl.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/BLAKE3.h>
#include <llvm/Support/CachePruning.h>
#include <llvm/Support/MemoryBuffer.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>
#include <optional>

#include "libcore/file_calls.h"
#include "libcore/temporaries.h"

namespace kasen {
namespace {

constexpr std::int64_t most_code = std::int64_t{64} << 20;  // bytes of a file
constexpr mode_t for_others = S_IRWXG | S_IRWXO;

// Closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }

 private:
  int number_;
};

bool is_ours_alone(const struct stat& info) { return info.st_uid == geteuid() && (info.st_mode & for_others) == 0; }

std::optional<std::string> read_all(int descriptor, size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = file_calls::read(descriptor, text.data() + done, bytes - done);
    if (n <= 0) return std::nullopt;
    done += static_cast<size_t>(n);
  }
  return text;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = file_calls::write(descriptor, text.data(), text.size());
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// pruneCache knows its files by this beginning; those that are being written have it as well, so that what a killed
// process left goes like all else.
std::string file_name(const std::string& key) { return "llvmcache-" + key; }

std::string digest_of_pieces(std::initializer_list<std::string_view> pieces) {
  llvm::BLAKE3 hash;
  for (const std::string_view piece : pieces)
    hash.update(llvm::ArrayRef<std::uint8_t>(reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()));
  return llvm::toHex(hash.final(), true);
}

// Of the code and of what it is the code of: a file that got another's name is no longer whole. Keys have one length.
std::string digest_of_file(const std::string& key, std::string_view code) { return digest_of_pieces({key, code}); }

}  // namespace

std::string code_digest(std::string_view bytes) { return digest_of_pieces({bytes}); }

CodeCache::CodeCache(const std::string& folder) {
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), ignored);
  mkdir(folder.c_str(), S_IRWXU);
  folder_descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info {};
  if (open() && (fstat(folder_descriptor_, &info) != 0 || !is_ours_alone(info))) {
    close(folder_descriptor_);
    folder_descriptor_ = -1;
  }
}

CodeCache::~CodeCache() {
  if (open()) close(folder_descriptor_);
}

std::unique_ptr<llvm::MemoryBuffer> CodeCache::find(const std::string& key) const {
  if (!open()) return nullptr;
  const Descriptor file(
      file_calls::openat(folder_descriptor_, file_name(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file.open() || fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode) || !is_ours_alone(info))
    return nullptr;
  const size_t digits = code_digest({}).size();
  if (info.st_size < static_cast<std::int64_t>(digits) || info.st_size > most_code) return nullptr;
  const auto text = read_all(file.number(), static_cast<size_t>(info.st_size));
  if (!text) return nullptr;
  const std::string_view code = std::string_view(*text).substr(digits);
  if (digest_of_file(key, code) != std::string_view(*text).substr(0, digits)) return nullptr;
  (void)futimens(file.number(), nullptr);  // used now: pruned late
  return llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(code.data(), code.size()), key);
}

void CodeCache::keep(const std::string& key, std::string_view code) const {
  if (!open()) return;
  int number = -1;
  const std::string made = make_temporary(file_name(key), [&](const std::string& name) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    number = file_calls::openat(folder_descriptor_, name.c_str(), flags, S_IRUSR | S_IWUSR);
    return number >= 0;
  });
  if (made.empty()) return;
  const Descriptor file(number);
  const bool whole = write_all(file.number(), digest_of_file(key, code)) && write_all(file.number(), code);
  if (!whole ||
      file_calls::renameat(folder_descriptor_, made.c_str(), folder_descriptor_, file_name(key).c_str()) != 0) {
    unlinkat(folder_descriptor_, made.c_str(), 0);
  }
}

void CodeCache::prune() const {
  if (!open()) return;
  llvm::CachePruningPolicy policy;
  policy.MaxSizeBytes = std::uint64_t{256} << 20;
  // By its descriptor: what stands at the folder's name may be another by now.
  llvm::pruneCache("/proc/self/fd/" + std::to_string(folder_descriptor_), policy);
}

}  // namespace kasen
