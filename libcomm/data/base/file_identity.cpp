#include "libcomm/data/base/file_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <ctime>
#include <vector>

#include "libcomm/data/base/byte_source.h"
#include "libcomm/data/base/digest.h"

namespace kasen {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t settling_ns = 3 * second_ns;  // FAT counts in steps of two seconds, others in some ms

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * second_ns + time.tv_nsec; }

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now);
}

FileIdentity facts_of(const struct stat& facts) {
  FileIdentity identity;
  identity.bytes = facts.st_size;
  identity.modified_ns = nanoseconds(facts.st_mtim);
  identity.changed_ns = nanoseconds(facts.st_ctim);
  identity.inode = facts.st_ino;
  identity.device = facts.st_dev;
  return identity;
}

std::string digest_of_all(ByteSource& bytes) {
  std::vector<char> buffer(std::size_t{1} << 20);
  RunningDigest running;
  for (std::int64_t got = 1; got > 0; running.update(buffer.data(), got))
    got = bytes.read(buffer.data(), std::ssize(buffer));
  return running.hex();
}

// Before the file is read: if it is written meanwhile, it has another time than the one noted here afterwards.
// `regular`: false for a pipe, and opening it would wait. If there is no such file, opening it reports that.
FileIdentity facts_before_reading(const std::string& path, bool& regular) {
  const std::int64_t begin = now_ns();
  struct stat facts {};
  regular = stat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode);
  FileIdentity identity = facts_of(facts);
  identity.settled = regular && begin - identity.changed_ns >= settling_ns;
  return identity;
}

template <class T>
bool take_number(std::string_view& text, T& value) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

bool same_facts(const FileIdentity& a, const FileIdentity& b) {
  return a.bytes == b.bytes && a.modified_ns == b.modified_ns && a.changed_ns == b.changed_ns && a.inode == b.inode &&
         a.device == b.device;
}

bool same_content(const FileIdentity& a, const FileIdentity& b) { return !a.digest.empty() && a.digest == b.digest; }

bool is_untouched(const std::string& path, const FileIdentity& known) {
  struct stat facts {};
  return known.settled && !known.digest.empty() && stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         same_facts(facts_of(facts), known);
}

FileIdentity identify(const std::string& path, const FileIdentity* known) {
  if (known != nullptr && is_untouched(path, *known)) return *known;
  bool regular = true;
  FileIdentity identity = facts_before_reading(path, regular);
  if (regular) identity.digest = digest_of_all(*open_bytes(path).bytes);
  return identity;
}

FileIdentity look_at(const std::string& path) {
  bool regular = true;
  FileIdentity identity = facts_before_reading(path, regular);
  if (regular) (void)open_bytes(path);
  return identity;
}

std::string identity_text(const FileIdentity& identity) {
  return fmt::format("{} {} {} {} {} {} {}", identity.bytes, identity.modified_ns, identity.changed_ns, identity.inode,
                     identity.device, identity.settled ? 1 : 0, identity.digest.empty() ? "-" : identity.digest);
}

std::optional<FileIdentity> parse_identity(std::string_view text) {
  FileIdentity identity;
  int settled = 0;
  const bool numbers = take_number(text, identity.bytes) && take_number(text, identity.modified_ns) &&
                       take_number(text, identity.changed_ns) && take_number(text, identity.inode) &&
                       take_number(text, identity.device) && take_number(text, settled);
  if (!numbers || identity.bytes < 0 || settled < 0 || settled > 1 || (text != "-" && !is_digest(text))) return {};
  identity.settled = settled == 1;
  if (text != "-") identity.digest = text;
  return identity;
}

}  // namespace kasen
