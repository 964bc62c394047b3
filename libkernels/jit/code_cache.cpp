#include "libkernels/jit/code_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "libcore/system/file_calls.h"
#include "libcore/system/temporaries.h"
#include "libkernels/jit/code_digest.h"

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
  bool close_now() { return close(std::exchange(number_, -1)) == 0; }

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

// Files that are being written have this beginning as well, so that remains of a killed process are removed like all
// else.
constexpr std::string_view beginning = "llvmcache-";
std::string file_name(const std::string& key) { return std::string(beginning) + key; }

constexpr const char* looked_at = "llvmcache.timestamp";  // its time is that of the last search for files to remove
constexpr std::int64_t most_cached_bytes = std::int64_t{256} << 20;
constexpr std::time_t between_looks = 20 * 60;

// Whether it is time to look again; then the file shows the others that somebody does.
bool takes_its_turn(int folder) {
  struct stat info {};
  if (fstatat(folder, looked_at, &info, AT_SYMLINK_NOFOLLOW) == 0) {
    if (std::time(nullptr) - info.st_mtim.tv_sec < between_looks) return false;
    return utimensat(folder, looked_at, nullptr, AT_SYMLINK_NOFOLLOW) == 0;
  }
  const Descriptor file(
      ::openat(folder, looked_at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  return file.open();
}

struct KeptFile {
  timespec used;
  std::int64_t bytes;
  std::string name;
};

// What a file takes of a disk: most kernels are smaller than a block of it.
std::int64_t on_disk(std::int64_t bytes) {
  constexpr std::int64_t block = 4096;
  return (bytes + block - 1) / block * block;
}

std::vector<KeptFile> kept_files(int folder) {
  std::vector<KeptFile> files;
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const list = again < 0 ? nullptr : fdopendir(again);
  if (list == nullptr && again >= 0) close(again);
  if (list == nullptr) return files;
  while (const dirent* const entry = readdir(list)) {
    struct stat info {};
    if (std::string_view(entry->d_name).starts_with(beginning) &&
        fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
      files.push_back({info.st_mtim, on_disk(info.st_size), entry->d_name});
  }
  closedir(list);
  return files;
}

// The digest of the code and of its key: a file that got another's name is no longer whole. Keys have one length.
std::string digest_of_file(const std::string& key, std::string_view code) { return code_digest({key, code}); }

}  // namespace

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

std::optional<std::string> CodeCache::find(const std::string& key) const {
  if (!open()) return std::nullopt;
  const Descriptor file(
      file_calls::openat(folder_descriptor_, file_name(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file.open() || fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode) || !is_ours_alone(info))
    return std::nullopt;
  const size_t digits = code_digest({}).size();
  if (info.st_size < static_cast<std::int64_t>(digits) || info.st_size > most_code) return std::nullopt;
  auto text = read_all(file.number(), static_cast<size_t>(info.st_size));
  if (!text) return std::nullopt;
  const std::string_view code = std::string_view(*text).substr(digits);
  if (digest_of_file(key, code) != std::string_view(*text).substr(0, digits)) return std::nullopt;
  (void)futimens(file.number(), nullptr);  // used now: pruned late
  text->erase(0, digits);
  return text;
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
  Descriptor file(number);
  const bool whole =
      write_all(file.number(), digest_of_file(key, code)) && write_all(file.number(), code) && file.close_now();
  if (!whole ||
      file_calls::renameat(folder_descriptor_, made.c_str(), folder_descriptor_, file_name(key).c_str()) != 0) {
    unlinkat(folder_descriptor_, made.c_str(), 0);
  }
}

void CodeCache::prune() const {
  if (!open() || !takes_its_turn(folder_descriptor_)) return;
  std::vector<KeptFile> files = kept_files(folder_descriptor_);
  std::sort(files.begin(), files.end(), [](const KeptFile& a, const KeptFile& b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) > std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  std::int64_t bytes = 0;
  for (const KeptFile& file : files) {
    bytes += file.bytes;
    if (bytes > most_cached_bytes) (void)unlinkat(folder_descriptor_, file.name.c_str(), 0);
  }
}

}  // namespace kasen
