#include "libcomm/data/sources/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "libcore/base/error.h"

namespace kasen {
namespace {

constexpr std::uint64_t elsewhere = 0xffffffff;  // in place of a length: it stands among the extra fields
constexpr std::int64_t end_bytes = 22, long_end_bytes = 56, locator_bytes = 20, entry_bytes = 46, local_bytes = 30;
constexpr std::int64_t most_directory = std::int64_t{64} << 20;

std::uint64_t number(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t b = bytes; b-- > 0;) value = value << 8U | static_cast<unsigned char>(text[at + b]);
  return value;
}

std::string bytes_at(const FileHandle& file, std::int64_t at, std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  file.read(at, reinterpret_cast<std::byte*>(text.data()), bytes);
  return text;
}

[[noreturn]] void fail_archive(const std::string& path, const std::string& why) {
  fail(ExitStatus::bad_input, "the archive is damaged", why, "fetch or make it again", {path});
}

// Where the directory lies, as the end of the archive states it.
struct Directory {
  std::uint64_t begin = 0, bytes = 0, count = 0;
  std::int64_t end = 0;  // what follows it begins here
};

// The end's record is the last one in the file whose comment reaches up to the end.
std::optional<Directory> find_directory(const FileHandle& file) {
  const std::int64_t whole = file.size();
  const std::int64_t tail = std::min<std::int64_t>(whole, end_bytes + 0xffff);
  const std::string text = bytes_at(file, whole - tail, tail);
  std::int64_t at = tail - end_bytes;
  const auto is_end = [&] {
    const auto place = static_cast<std::size_t>(at);
    return number(text, place, 4) == 0x06054b50 &&
           number(text, place + 20, 2) == static_cast<std::uint64_t>(tail - at - end_bytes);
  };
  while (at >= 0 && !is_end()) --at;
  if (at < 0) return std::nullopt;
  const auto place = static_cast<std::size_t>(at);
  Directory found{.begin = number(text, place + 16, 4),
                  .bytes = number(text, place + 12, 4),
                  .count = number(text, place + 10, 2),
                  .end = whole - tail + at};
  const bool is_long = found.begin == elsewhere || found.bytes == elsewhere || found.count == 0xffff;
  if (!is_long || found.end < locator_bytes + long_end_bytes) return found;
  const std::string locator = bytes_at(file, found.end - locator_bytes, locator_bytes);
  const std::uint64_t long_end = number(locator, 8, 8);
  if (number(locator, 0, 4) != 0x07064b50) return found;
  if (long_end > static_cast<std::uint64_t>(found.end - locator_bytes - long_end_bytes)) return std::nullopt;
  const std::string record = bytes_at(file, static_cast<std::int64_t>(long_end), long_end_bytes);
  if (number(record, 0, 4) != 0x06064b50) return std::nullopt;
  return Directory{.begin = number(record, 48, 8),
                   .bytes = number(record, 40, 8),
                   .count = number(record, 32, 8),
                   .end = static_cast<std::int64_t>(long_end)};
}

// Takes the lengths of 64 bits of an entry's extra fields; false if one that must be there is not.
bool take_long_lengths(std::string_view extra, std::array<std::uint64_t*, 3> lengths) {
  while (extra.size() >= 4) {
    const std::size_t bytes = number(extra, 2, 2);
    if (bytes > extra.size() - 4) return false;
    std::string_view field = extra.substr(4, bytes);
    const bool is_long = number(extra, 0, 2) == 1;
    extra.remove_prefix(4 + bytes);
    if (!is_long) continue;
    for (std::uint64_t* const length : lengths) {
      if (*length != elsewhere) continue;
      if (field.size() < 8) return false;
      *length = number(field, 0, 8);
      field.remove_prefix(8);
    }
    return true;
  }
  return std::none_of(lengths.begin(), lengths.end(), [](const auto* length) { return *length == elsewhere; });
}

// The content of a member, whose size and checksum are compared at its end.
class MemberBytes : public ByteSource {
 public:
  MemberBytes(std::shared_ptr<const FileHandle> file, const ZipMember& member, std::int64_t begin)
      : file_(std::move(file)), member_(member), at_(begin), end_(begin + member.packed) {
    if (member.method == 0) return;
    buffer_.resize(std::size_t{1} << 18);
    if (inflateInit2(&stream_, -15) != Z_OK)
      fail(ExitStatus::limit, "no memory to decompress", {}, {}, {file_->path()});
    inflating_ = true;
  }
  ~MemberBytes() override {
    if (inflating_) inflateEnd(&stream_);
  }
  MemberBytes(const MemberBytes&) = delete;
  MemberBytes& operator=(const MemberBytes&) = delete;

  [[nodiscard]] std::int64_t read(char* to, std::int64_t bytes) override {
    const std::int64_t room = std::min(bytes, std::int64_t{1} << 30);  // zlib counts in 32 bits
    const std::int64_t got = inflating_ ? inflate_some(to, room) : read_some(to, room);
    checksum_ = crc32(checksum_, reinterpret_cast<const Bytef*>(to), static_cast<uInt>(got));
    total_ += got;
    if (total_ > member_.size) fail_member("its content is longer than the archive states");
    if (got == 0 && room > 0) {
      if (total_ != member_.size) fail_member("its content is shorter than the archive states");
      if (checksum_ != member_.checksum) fail_member("its checksum is another one");
    }
    return got;
  }

 private:
  [[noreturn]] void fail_member(const std::string& why) const {
    fail_archive(file_->path(), fmt::format("{}: {}", member_.name, why));
  }

  std::int64_t read_some(char* to, std::int64_t room) {
    const std::int64_t some = std::min(room, end_ - at_);
    if (some > 0) file_->read(at_, reinterpret_cast<std::byte*>(to), some);
    at_ += some;
    return some;
  }

  std::int64_t inflate_some(char* to, std::int64_t room) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(room);
    while (!ended_ && stream_.avail_out == static_cast<uInt>(room) && room > 0) {
      if (stream_.avail_in == 0) {
        stream_.avail_in = static_cast<uInt>(read_some(buffer_.data(), std::ssize(buffer_)));
        stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        if (stream_.avail_in == 0) fail_member("its stream ends too early");
      }
      const int status = inflate(&stream_, Z_NO_FLUSH);
      ended_ = status == Z_STREAM_END;
      if (status == Z_MEM_ERROR) fail(ExitStatus::limit, "no memory to decompress", {}, {}, {file_->path()});
      if (!ended_ && status != Z_OK && status != Z_BUF_ERROR) fail_member("its stream is not valid");
    }
    return room - static_cast<std::int64_t>(stream_.avail_out);
  }

  std::shared_ptr<const FileHandle> file_;
  ZipMember member_;
  std::int64_t at_, end_, total_ = 0;
  uLong checksum_ = crc32(0, nullptr, 0);
  std::vector<char> buffer_;
  z_stream stream_{};
  bool inflating_ = false, ended_ = false;
};

}  // namespace

ZipArchive::ZipArchive(const std::string& path)
    : file_(std::make_shared<const FileHandle>(FileHandle::open_to_read(path))) {
  if (file_->size() < end_bytes) fail_damaged("it is too short");
  const std::optional<Directory> found = find_directory(*file_);
  if (!found) fail_damaged("its directory, which is at its end, is missing");
  const auto room = static_cast<std::uint64_t>(found->end);
  if (found->bytes > room || found->begin > room - found->bytes)
    fail_damaged("its directory would lie outside of the file");
  if (found->bytes > static_cast<std::uint64_t>(most_directory))
    fail_damaged(fmt::format("its directory has {} bytes", found->bytes));
  if (found->count > found->bytes / entry_bytes) fail_damaged("its directory is too short for its members");
  end_ = static_cast<std::int64_t>(found->begin);
  read_directory(end_, static_cast<std::int64_t>(found->bytes), static_cast<std::int64_t>(found->count));
}

void ZipArchive::fail_damaged(const std::string& why) const { fail_archive(file_->path(), why); }

void ZipArchive::read_directory(std::int64_t begin, std::int64_t bytes, std::int64_t count) {
  const std::string text = bytes_at(*file_, begin, bytes);
  std::string_view rest = text;
  std::set<std::string> names;
  for (std::int64_t k = 0; k < count; ++k) {
    const bool is_entry = std::ssize(rest) >= entry_bytes && number(rest, 0, 4) == 0x02014b50;
    const std::size_t name = is_entry ? number(rest, 28, 2) : 0, extra = is_entry ? number(rest, 30, 2) : 0;
    const std::size_t behind = entry_bytes + name + extra + (is_entry ? number(rest, 32, 2) : 0);
    if (!is_entry || behind > rest.size()) fail_damaged("its directory is not valid");
    ZipMember member{.name = std::string(rest.substr(entry_bytes, name))};
    std::uint64_t packed = number(rest, 20, 4), size = number(rest, 24, 4), header = number(rest, 42, 4);
    if (!take_long_lengths(rest.substr(entry_bytes + name, extra), {&size, &packed, &header}))
      fail_damaged("its directory lacks the length of a member");
    const auto room = static_cast<std::uint64_t>(end_);
    if (packed > room || header > room - packed || room - packed - header < local_bytes)
      fail_damaged("a member would lie outside of the file");
    member.method = static_cast<int>(number(rest, 10, 2));
    member.encrypted = (number(rest, 8, 2) & 1U) != 0;
    member.checksum = static_cast<std::uint32_t>(number(rest, 16, 4));
    constexpr std::uint64_t most_ratio = 1032;  // of deflate
    const bool possible = member.method == 0 ? size == packed : size / most_ratio <= packed;
    if (!possible) fail_damaged("a member cannot have the size that it announces");
    member.header = static_cast<std::int64_t>(header);
    member.packed = static_cast<std::int64_t>(packed);
    member.size = static_cast<std::int64_t>(size);
    if (!names.insert(member.name).second) fail_damaged("two of its members have one name");
    members_.push_back(std::move(member));
    rest.remove_prefix(behind);
  }
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto at = std::find_if(members_.begin(), members_.end(), [&](const auto& m) { return m.name == name; });
  return at == members_.end() ? nullptr : &*at;
}

std::unique_ptr<ByteSource> ZipArchive::open(const ZipMember& member) const {
  const std::string& path = file_->path();
  if (member.encrypted || (member.method != 0 && member.method != Z_DEFLATED))
    fail(ExitStatus::bad_input, "a member of the archive cannot be read",
         member.encrypted ? "it is encrypted" : fmt::format("it is compressed by method {}", member.method),
         "save the array again: numpy.savez or numpy.savez_compressed", {path});
  const std::string local = bytes_at(*file_, member.header, local_bytes);
  if (number(local, 0, 4) != 0x04034b50) fail_damaged("a member's header is not where the directory says");
  const auto begin =
      member.header + local_bytes + static_cast<std::int64_t>(number(local, 26, 2) + number(local, 28, 2));
  if (begin > end_ - member.packed) fail_damaged("a member would lie outside of the file");
  return std::make_unique<MemberBytes>(file_, member, begin);
}

}  // namespace kasen
