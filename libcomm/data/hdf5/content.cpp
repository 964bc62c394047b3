#include "libcomm/data/hdf5/content.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <optional>

#include "libcomm/data/base/digest.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

struct SharedExaminer {
  std::mutex one_at_a_time;
  Examiner examiner{hdf5_examination()};
};

SharedExaminer& shared_examiner() {
  static SharedExaminer shared;
  return shared;
}

// Takes words and lines from an answer. The process may have made it up, so nothing in it is trusted.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}
  [[nodiscard]] bool done() const { return text_.empty(); }
  std::string_view until(char end) {
    const std::size_t at = text_.find(end);
    const std::string_view word = text_.substr(0, at);
    text_.remove_prefix(at == std::string_view::npos ? text_.size() : at + 1);
    return word;
  }
  std::optional<std::int64_t> number() {
    const std::string_view word = until(' ');
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (fault != std::errc() || end != word.data() + word.size() || value < 0) return std::nullopt;
    return value;
  }

 private:
  std::string_view text_;
};

// Names from files of others in a message: no control characters, no page of text.
std::string shown_object(std::string_view name) {
  constexpr std::size_t most = 120;
  std::string shown(name.substr(0, most));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<signed char>(c) < ' ' || c == 127; }, '?');
  return name.size() > most ? shown + "..." : shown;
}

// Takes the answer's first line, and refuses the file where that says so.
void require_good(Words& words, const std::string& path) {
  const std::string_view verdict = words.until('\n');
  // A disk that cannot be read says nothing about its content.
  if (verdict == "unread") fail(ExitStatus::io, fmt::format("cannot read '{}'", path), shown_object(words.until('\n')));
  if (verdict == "memory") fail_unexamined(path);
  if (verdict != "ok") {
    const std::string_view object = words.until('\n'), why = words.until('\n');
    if (object.empty()) fail(ExitStatus::bad_input, fmt::format("'{}' is not an HDF5 file", path));
    fail(ExitStatus::bad_input, fmt::format("'{}' is not as it was written", path),
         fmt::format("{}: {}", shown_object(object), shown_object(why)), "make it again");
  }
}

[[noreturn]] void fail_impossible(const std::string& path) {
  fail(ExitStatus::bad_input, fmt::format("'{}' cannot be examined", path),
       "the process that examines it reported the impossible", "it is made to do harm: do not use it");
}

// The bytes of an element; 0: no type of a survey.
std::int64_t surveyed_bytes(std::string_view type) {
  static constexpr std::array<std::string_view, 8> kinds{"f8", "f4", "i8", "i4", "i2", "u8", "u4", "u2"};
  if (type == "|i1" || type == "|u1" || type == "|b1") return 1;
  const bool known = type.size() == 3 && (type[0] == '<' || type[0] == '>') &&
                     std::find(kinds.begin(), kinds.end(), type.substr(1)) != kinds.end();
  return known ? type[2] - '0' : 0;
}

bool is_printable(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127; });
}

// False for a line that no survey writes.
bool read_surveyed(Words& words, std::int64_t whole, SurveyedDataset& set) {
  set.type = words.until(' ');
  if (set.type == "!") {
    set.why = words.until('|');
    set.path = words.until('\n');
    return is_printable(set.why) && is_printable(set.path);
  }
  set.bytes = surveyed_bytes(set.type);
  const auto offset = words.number(), rank = words.number();
  if (set.bytes == 0 || !offset || !rank || *rank > most_file_rank) return false;
  set.offset = *offset;
  for (std::int64_t k = 0; k < *rank; ++k) {
    const auto extent = words.number();
    if (!extent || __builtin_mul_overflow(set.bytes, *extent, &set.bytes)) return false;
    set.extents.push_back(*extent);
  }
  set.first_dim = words.until(' ');
  if (set.first_dim == "-") set.first_dim.clear();
  set.path = words.until('\n');
  return set.bytes <= whole && set.offset <= whole - set.bytes && is_printable(set.path) &&
         (set.first_dim.empty() || (*rank > 0 && is_stored_name(set.first_dim)));
}

std::optional<StoredText> read_text_line(std::string_view name, Words& words) {
  const std::string_view text = words.until(' '), object = words.until('\n');
  if (!is_stored_text(text) || object.empty()) return std::nullopt;
  return StoredText{std::string(name), std::string(text), std::string(object)};
}

std::optional<StoredDataset> read_dataset(std::string_view type_name, Words& words, std::int64_t whole) {
  StoredDataset set;
  const auto type = std::find(file_type_names.begin(), file_type_names.end(), type_name);
  if (type == file_type_names.end()) return std::nullopt;
  set.type = static_cast<FileType>(type - file_type_names.begin());
  const auto offset = words.number(), rank = words.number();
  if (!offset || !rank || *rank > most_file_rank) return std::nullopt;
  set.offset = *offset;
  std::int64_t bytes = file_bytes(set.type);
  for (std::int64_t k = 0; k < *rank; ++k) {
    const auto extent = words.number();
    if (!extent) return std::nullopt;
    set.extents.push_back(*extent);
    if (__builtin_mul_overflow(bytes, *extent, &bytes)) return std::nullopt;
  }
  if (bytes > whole || set.offset > whole - bytes) return std::nullopt;
  const std::string_view digest = words.until(' ');
  if (digest != "-" && !is_digest(digest)) return std::nullopt;
  if (digest != "-") set.digest = digest;
  return set;
}

}  // namespace

bool is_stored_text(std::string_view text) {
  return !text.empty() && text.size() < most_text_bytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

std::vector<SurveyedDataset> surveyed_datasets(const FileHandle& file, const std::string& path) {
  Examiner surveyor(hdf5_survey());
  return survey_of_answer(surveyor.ask(file, path), file.size(), path);
}

std::vector<SurveyedDataset> survey_of_answer(std::string_view answer, std::int64_t bytes, const std::string& path) {
  Words words(answer);
  require_good(words, path);
  std::vector<SurveyedDataset> sets;
  while (!words.done())
    if (!read_surveyed(words, bytes, sets.emplace_back())) fail_impossible(path);
  return sets;
}

void start_examiner() {
  const std::lock_guard lock(shared_examiner().one_at_a_time);
  try {
    shared_examiner().examiner.start();
  } catch (const UserError&) {  // reported with the first file
  }
}

void stop_examiner() {
  const std::lock_guard lock(shared_examiner().one_at_a_time);
  shared_examiner().examiner.stop();
}

StoredDatasets stored_datasets(const FileHandle& file, const std::string& path, std::vector<StoredText>* texts) {
  const std::int64_t bytes = file.size();
  std::string answer;
  {
    const std::lock_guard lock(shared_examiner().one_at_a_time);
    answer = shared_examiner().examiner.ask(file, path);
  }
  return datasets_of_answer(answer, bytes, path, texts);
}

StoredDatasets datasets_of_answer(std::string_view answer, std::int64_t bytes, const std::string& path,
                                  std::vector<StoredText>* texts) {
  Words words(answer);
  require_good(words, path);
  StoredDatasets sets;
  while (!words.done()) {
    const std::string_view first = words.until(' ');
    if (std::find(stored_texts.begin(), stored_texts.end(), first) != stored_texts.end()) {
      std::optional<StoredText> text = read_text_line(first, words);
      if (!text) fail_impossible(path);
      if (texts != nullptr) texts->push_back(std::move(*text));
      continue;
    }
    std::optional<StoredDataset> set = read_dataset(first, words, bytes);
    const std::string_view name = words.until('\n');
    if (!set || !sets.emplace(name, std::move(*set)).second) fail_impossible(path);
  }
  return sets;
}

}  // namespace kasen
