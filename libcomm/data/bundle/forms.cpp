#include "libcomm/data/bundle/forms.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/json_fields.h"
#include "libcomm/data/base/parallel.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/system/mapped_file.h"
#include "libcore/system/memory.h"
#include "libcore/system/temporaries.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;

constexpr int form_version = 1;
constexpr std::int64_t alignment = 4096, most_head = std::int64_t{1} << 16;
const char* const remedy = "remove the file, and the form is made again";

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  fail(ExitStatus::bad_input, fmt::format("'{}' is not as it was written", file), why, remedy);
}

std::int64_t aligned(std::int64_t bytes) {
  return checked_add(bytes, alignment - 1, "a form's size") / alignment * alignment;
}

struct StoredArray {
  std::int64_t bytes = 0, offset = 0;
  std::string digest;  // BlockDigest
};

// The first line of a form's file, padded to the first array.
struct Head {
  std::string bundle, name;
  int worker = 0;
  std::vector<StoredArray> arrays;
};

// Places the arrays behind a head of that many bytes, each with the bytes behind it that may be read. Returns the
// file's size.
std::int64_t place(std::vector<StoredArray>& arrays, std::int64_t head) {
  std::int64_t at = head;
  for (StoredArray& array : arrays) {
    array.offset = at;
    at = aligned(checked_add(at, checked_add(array.bytes, Bytes::readable_behind, "a form's size"), "a form's size"));
  }
  return at;
}

std::string head_text(const Head& head) {
  Json content = {{"bundle", head.bundle}, {"name", head.name}, {"worker", head.worker}, {"arrays", Json::array()}};
  for (const StoredArray& array : head.arrays)
    content["arrays"].push_back({{"bytes", array.bytes}, {"digest", array.digest}});
  const Json whole = {{"kasen_form", form_version}, {"digest", digest_of(content.dump())}, {"content", content}};
  std::string text = whole.dump() + "\n";
  text.resize(static_cast<std::size_t>(aligned(std::ssize(text))), ' ');
  return text;
}

// Checks everything but the arrays' content.
Head read_head(const FileHandle& file) {
  std::string text(static_cast<std::size_t>(std::min(most_head, file.size())), '\0');
  file.read(0, reinterpret_cast<std::byte*>(text.data()), std::ssize(text));
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) refuse(file.path(), "it does not begin with a line that describes it");
  text.resize(end);
  const JsonFields f{file.path(), "a form", remedy};
  std::int64_t version = 0;
  const Json whole = f.parse(text, "kasen_form", 1, form_version, version);
  const Json& content = f.content(whole);
  constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
  Head head{f.text(content, "bundle"),
            f.text(content, "name"),
            static_cast<int>(f.integer(content, "worker", std::numeric_limits<int>::max())),
            {}};
  for (const Json& array : f.list(content, "arrays"))
    head.arrays.push_back({f.integer(array, "bytes", most_bytes), 0, f.text(array, "digest")});
  if (place(head.arrays, aligned(static_cast<std::int64_t>(end) + 1)) != file.size())
    refuse(file.path(), fmt::format("it has {} bytes, and its arrays another number", file.size()));
  return head;
}

void require_of_bundle(const Head& head, const std::string& digest, const std::string& file) {
  if (head.bundle != digest)
    fail(ExitStatus::bad_input, fmt::format("'{}' is a form of another bundle", file),
         fmt::format("it names the digest {}, this one has {}", head.bundle, digest), remedy);
}

bool all_below(const std::byte* data, std::int64_t bytes, std::int64_t below) {
  const auto* numbers = reinterpret_cast<const std::int32_t*>(data);
  std::uint32_t largest = 0;  // negative numbers are above all others
  for (std::int64_t k = 0; k < bytes / 4; ++k) largest = std::max(largest, static_cast<std::uint32_t>(numbers[k]));
  return std::int64_t{largest} < below || bytes < 4;
}

// The blocks of several arrays, one after another, for all threads.
class Blocks {
 public:
  explicit Blocks(const std::vector<StoredArray>& arrays) {
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      digests_.emplace_back(arrays[a].bytes);
      for (std::int64_t k = 0; k < digests_[a].blocks(); ++k) blocks_.emplace_back(a, k);
    }
  }
  // work(array, first byte, bytes) returns where these bytes are now.
  template <class Work>
  void each(const Work& work) {
    parallel_for(std::ssize(blocks_), [&](std::int64_t i, int thread) {
      const auto& [a, k] = blocks_[static_cast<std::size_t>(i)];
      digests_[a].set(k, work(a, k * BlockDigest::block, digests_[a].bytes_of(k), thread));
    });
  }
  [[nodiscard]] std::string digest(std::size_t array) const { return digests_[array].hex(); }

 private:
  std::vector<BlockDigest> digests_;
  std::vector<std::pair<std::size_t, std::int64_t>> blocks_;
};

// Nobody else can write the file.
bool belongs_to_user_alone(const FileHandle& file) {
  struct stat facts {};
  return fstat(file.descriptor(), &facts) == 0 && facts.st_uid == geteuid() &&
         (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// The arrays of a form: the file's own pages, or copies.
class FormMemory {
 public:
  FormMemory(const FileHandle& file, const Head& head) : file_(file), head_(head) {
    if (belongs_to_user_alone(file)) {
      mapped_ = std::make_shared<const MappedFile>(file.descriptor(), 0, file.size(), file.path());
      if (mapped_->data() != nullptr) return;
      mapped_ = nullptr;
    }
    copies_ = std::make_shared<std::vector<Bytes>>();
    for (const StoredArray& array : head.arrays) copies_->emplace_back(rounded(array.bytes));
  }

  // Returns where these bytes are from now on. Each is brought in once; any thread.
  [[nodiscard]] const std::byte* bring_in(std::size_t array, std::int64_t first, std::int64_t bytes) const {
    const std::int64_t at = head_.arrays[array].offset + first;
    if (mapped_ != nullptr) {
      if (!mapped_->bring_in(at, bytes)) refuse(file_.path(), "some of it cannot be read");
      return mapped_->data() + at;
    }
    std::byte* const to = (*copies_)[array].data() + first;
    file_.read(at, to, bytes);
    return to;
  }

  [[nodiscard]] LoadedForm form() const {
    LoadedForm made;
    for (std::size_t a = 0; a < head_.arrays.size(); ++a)
      made.arrays.push_back(mapped_ != nullptr ? mapped_->data() + head_.arrays[a].offset : (*copies_)[a].data());
    if (mapped_ != nullptr) {
      made.owner = mapped_;
    } else {
      made.owner = copies_;
    }
    return made;
  }

 private:
  static std::int64_t rounded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

  const FileHandle& file_;
  const Head& head_;
  std::shared_ptr<const MappedFile> mapped_;  // null: copies
  std::shared_ptr<std::vector<Bytes>> copies_;
};

void require_digests(const Blocks& blocks, const Head& head, const std::string& file) {
  for (std::size_t a = 0; a < head.arrays.size(); ++a)
    if (blocks.digest(a) != head.arrays[a].digest) refuse(file, "its digest is another: it was altered");
}

// Kernels may take them for indices.
void require_zeros_behind(const FileHandle& file, const Head& head) {
  for (const StoredArray& array : head.arrays) {
    std::array<std::byte, Bytes::readable_behind> behind{};
    file.read(array.offset + array.bytes, behind.data(), std::ssize(behind));
    if (behind != decltype(behind){}) refuse(file.path(), "it has other bytes than zeros behind an array");
  }
}

std::vector<std::string> form_files(const std::string& bundle) {
  std::vector<std::string> names;
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(bundle, fault)) {
    std::string name = entry.path().filename().string();
    if (is_form_file(name) && shown_path(name) == name) names.push_back(std::move(name));
  }
  if (fault) fail(ExitStatus::io, fmt::format("cannot list '{}'", bundle), fault.message());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

BundleForms::BundleForms(std::string bundle, std::string digest, bool keeps, Sync sync)
    : bundle_(std::move(bundle)), digest_(std::move(digest)), keeps_(keeps), sync_(sync) {}

std::string BundleForms::path_of(const FormName& name) const {
  return fmt::format("{}/form-{}-{:04}.bin", bundle_, digest_of(name.text), name.worker);
}

std::optional<LoadedForm> BundleForms::load(const FormName& name, std::span<const FormShape> shapes) {
  const std::string path = path_of(name);
  if (!exists(path)) {
    ++made_;
    return std::nullopt;
  }
  const FileHandle file = FileHandle::open_in_folder(path);
  const Head head = read_head(file);
  require_of_bundle(head, digest_, path);
  bool same = head.name == name.text && head.worker == name.worker && head.arrays.size() == shapes.size();
  for (std::size_t a = 0; same && a < shapes.size(); ++a) same = head.arrays[a].bytes == shapes[a].bytes;
  if (!same) refuse(path, "it is another form than its name says");
  const FormMemory memory(file, head);
  std::atomic<bool> inside = true;
  Blocks blocks(head.arrays);
  blocks.each([&](std::size_t a, std::int64_t first, std::int64_t bytes, int) {
    const std::byte* const there = memory.bring_in(a, first, bytes);
    if (shapes[a].below > 0 && !all_below(there, bytes, shapes[a].below)) inside = false;
    return there;
  });
  require_digests(blocks, head, path);
  require_zeros_behind(file, head);
  if (!inside) refuse(path, "it has indices that lie outside of the matrix");
  ++loaded_;
  return memory.form();
}

void BundleForms::keep(const FormName& name, std::span<const std::span<const std::byte>> arrays) {
  if (!keeps_) return;
  Head head{digest_, name.text, name.worker, {}};
  for (const auto& array : arrays) head.arrays.push_back({std::ssize(array), 0, std::string(digest_digits, '0')});
  const std::int64_t first = std::ssize(head_text(head));
  if (first > most_head) return;  // nothing reads a longer one
  const std::int64_t size = place(head.arrays, first);
  NewFile whole(path_of(name));
  FileHandle file = FileHandle::create(whole.temporary());
  Blocks blocks(head.arrays);
  blocks.each([&](std::size_t a, std::int64_t at, std::int64_t bytes, int) {
    file.write(head.arrays[a].offset + at, arrays[a].data() + at, bytes);
    return arrays[a].data() + at;
  });
  for (std::size_t a = 0; a < head.arrays.size(); ++a) head.arrays[a].digest = blocks.digest(a);
  const std::string text = head_text(head);
  file.write(0, text.data(), std::ssize(text));
  if (!head.arrays.empty() && head.arrays.back().offset + head.arrays.back().bytes < size)
    file.write(size - 1, "", 1);  // the padding behind the last array
  file.close(sync_);
  whole.commit();
}

std::vector<KeptForm> kept_forms(const std::string& bundle, const std::string& digest) {
  std::map<std::string, KeptForm> forms;
  for (const std::string& name : form_files(bundle)) {
    const FileHandle file = FileHandle::open_in_folder(bundle + "/" + name);
    const Head head = read_head(file);
    require_of_bundle(head, digest, file.path());
    KeptForm& form = forms[head.name];
    form.text = head.name;
    ++form.workers;
    form.bytes += file.size();
  }
  std::vector<KeptForm> listed;
  for (auto& [text, form] : forms) listed.push_back(std::move(form));
  return listed;
}

void check_forms(const std::string& bundle, const std::string& digest) {
  std::vector<std::vector<std::byte>> buffers(static_cast<std::size_t>(data_threads()));
  for (const std::string& name : form_files(bundle)) {
    const FileHandle file = FileHandle::open_in_folder(bundle + "/" + name);
    const Head head = read_head(file);
    require_of_bundle(head, digest, file.path());
    Blocks blocks(head.arrays);
    blocks.each([&](std::size_t a, std::int64_t first, std::int64_t bytes, int thread) {
      std::vector<std::byte>& buffer = buffers[static_cast<std::size_t>(thread)];
      buffer.resize(static_cast<std::size_t>(BlockDigest::block));
      file.read(head.arrays[a].offset + first, buffer.data(), bytes);
      return buffer.data();
    });
    require_digests(blocks, head, file.path());
  }
}

bool is_form_file(const std::string& name) {
  const std::string shown = shown_path(name);
  return shown.starts_with("form-") && shown.ends_with(".bin");
}

}  // namespace kasen
