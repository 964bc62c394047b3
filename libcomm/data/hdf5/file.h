// HDF5 files of one plain profile: contiguous datasets, fixed-length strings, formats of HDF5 1.8, no time stamps. The
// library handles structure alone. It lays datasets out, and our own reads and writes move their bytes at the offsets
// it gives. So every failed write is seen (HDF5 hides some), and the same content gives the same bytes. Files to be
// read may come from others and be hostile. The library examines them in a process of its own (content.h), and its
// answer is compared with the expected structure before a byte is allocated. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/base/huge_pages.h"
#include "libcomm/data/base/new_file.h"
#include "libcomm/data/base/stored_name.h"
#include "libcore/base/types.h"

namespace kasen {

// Numbers in files: the types of Scalar (null has none; bool is u8, as NumPy reads it).
enum class FileType : std::uint8_t { f64, f32, i64, i32, u8 };
[[nodiscard]] FileType file_type(Scalar scalar);
[[nodiscard]] constexpr FileType file_type(const std::vector<std::int64_t>&) { return FileType::i64; }
[[nodiscard]] constexpr FileType file_type(const std::vector<std::int32_t>&) { return FileType::i32; }
[[nodiscard]] std::int64_t file_bytes(FileType type);

// The attribute with the digest (digest.h) of a dataset's bytes, in the order of the file; results have it.
inline constexpr const char* digest_attribute = "xxh3_128";

// The process that examines files (examiner.h) starts with the first of them. Started earlier, it copies less and need
// not be waited for. It can be stopped once all are read.
void start_examiner();
void stop_examiner();

class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::string& path);  // a new file: cannot_create
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void group(const std::string& path);
  void attribute(const std::string& object, const std::string& name, std::string_view text);
  // Lays out a dataset; returns its number. Its bytes come later, through write(), after layout_done().
  int dataset(const std::string& path, FileType type, const std::vector<std::int64_t>& extents);
  void layout_done();                                    // closes HDF5's side of the file
  [[nodiscard]] std::int64_t offset(int dataset) const;  // where its bytes begin, after layout_done()
  void write(int dataset, std::int64_t first_byte, const void* data, std::int64_t bytes);
  // The file, written completely and not synced yet; the last call.
  [[nodiscard]] FileHandle release();
  void close();  // synced

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct DatasetDigest {
  std::string dataset, hex;
};
// Writes digests into a file of ours that is complete but for them: its attributes get other texts of the same length.
// Not synced. UserError(io).
void set_digests(const std::string& path, const std::vector<DatasetDigest>& digests);

class Hdf5Reader {
 public:
  // UserError: bad_input (not an HDF5 file of this profile), limit, missing_input, io.
  explicit Hdf5Reader(const std::string& path);
  explicit Hdf5Reader(const FileHandle& file);  // which stays open
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;

  // Finds a complete dataset of exactly this type and shape; else bad_input. Returns where its bytes begin.
  [[nodiscard]] std::int64_t locate(const std::string& path, FileType type, const std::vector<std::int64_t>& extents);
  void read(std::int64_t offset, void* data, std::int64_t bytes);
  // bad_input if the file has a dataset that was never located: it is not the file that its reader expects.
  void expect_no_other() const;

  template <class T>
  [[nodiscard]] std::vector<T> vector(const std::string& path, FileType type, std::int64_t count) {
    const std::int64_t offset = locate(path, type, {count});
    std::vector<T> data;
    reserve_large(data, static_cast<std::size_t>(count));
    data.resize(static_cast<std::size_t>(count));
    read(offset, data.data(), count * static_cast<std::int64_t>(sizeof(T)));
    return data;
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kasen
