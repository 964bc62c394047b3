// An input file's whole content in memory, for readers that cannot take it block by block: plain files are mapped,
// others read or decompressed. If others shorten a file while it is mapped, that ends the process (SIGBUS) with a
// message that names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>

#include "libcomm/data/text/text_source.h"

namespace kasen {

class InputFile {
 public:
  // Takes all of `source`, of which at most the beginning was peeked at. UserError as TextSource::rest. Only a digest
  // that is wanted at once is computed while others parse.
  enum class Digest : std::uint8_t { at_once, later };
  explicit InputFile(TextSource& source, TextSource::Content content = TextSource::Content::text,
                     Digest digest = Digest::at_once);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string_view text() const { return text_; }       // without a byte order mark
  [[nodiscard]] std::string digest() const { return digest_.get(); }  // XXH3-128 of the content

  // Throws UserError(bad_input) that shows the line, and a caret at the byte `offset` of text().
  [[noreturn]] void fail_at(std::int64_t offset, const std::string& what, std::string why = {},
                            std::string remedy = {}) const;

 private:
  std::string path_;
  std::shared_ptr<const void> owner_;  // the mapping or the heap block
  std::string_view text_;
  std::shared_future<std::string> digest_;  // its thread ends before the mapping does
};

// The same for whole lines that follow `lines_before` others.
[[noreturn]] void fail_in_text(const std::string& path, std::string_view text, std::int64_t lines_before,
                               std::int64_t offset, const std::string& what, std::string why = {},
                               std::string remedy = {});

// Refuses memory beyond the limit of this process (memory_limit.h), before it is allocated: UserError(limit).
void check_memory(std::int64_t bytes, const std::string& what, const std::string& path);

}  // namespace kasen
