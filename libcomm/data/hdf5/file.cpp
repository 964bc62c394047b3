#include "libcomm/data/hdf5/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include "libcomm/data/hdf5/content.h"
#include "libcomm/data/hdf5/handle.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "libcore/system/fault.h"

namespace kasen {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian and moved without conversion");

// The system's error in the HDF5 call that failed last; empty if there is none.
std::string system_reason() {
  std::string reason;
  const auto look = [](unsigned /*n*/, const H5E_error2_t* fault, void* to) -> herr_t {
    constexpr std::string_view mark = "error message = '";
    const std::string_view text = fault->desc != nullptr ? fault->desc : "";
    const std::size_t begin = text.find(mark);
    if (begin == std::string_view::npos) return 0;
    const std::string_view rest = text.substr(begin + mark.size());
    *static_cast<std::string*>(to) = rest.substr(0, rest.find('\''));
    return 1;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look, &reason);
  return reason;
}

// A call failed. If the library got no memory, that is the reason.
[[noreturn]] void fail_to_write(const std::string& path, std::string_view what, ExitStatus status = ExitStatus::io) {
  const bool no_memory = errno == ENOMEM;
  const std::string reason = system_reason();
  if (reason.empty() && no_memory)
    fail(ExitStatus::limit, fmt::format("no memory to write '{}'", shown_path(path)), "HDF5 got none",
         "use more workers on more machines, or a smaller input");
  if (const int fault = full_disk_fault(reason); fault != 0)
    fail_on_disk(status, fmt::format("cannot write '{}'", shown_path(path)), fault, path);
  fail(status, fmt::format("cannot write '{}'", shown_path(path)),
       reason.empty() ? fmt::format("HDF5 failed: {}", what) : reason);
}

struct TypeRow {
  std::int64_t bytes;
  hid_t (*id)();
};
const std::array<TypeRow, 5> type_rows{{
    {8, [] { return H5T_IEEE_F64LE; }},
    {4, [] { return H5T_IEEE_F32LE; }},
    {8, [] { return H5T_STD_I64LE; }},
    {4, [] { return H5T_STD_I32LE; }},
    {1, [] { return H5T_STD_U8LE; }},
}};

std::vector<hsize_t> to_hsize(const std::vector<std::int64_t>& extents) { return {extents.begin(), extents.end()}; }

std::int64_t bytes_of(FileType type, const std::vector<std::int64_t>& extents) {
  std::int64_t bytes = file_bytes(type);
  for (const std::int64_t e : extents) bytes = checked_mul(bytes, e, "a dataset's size");
  return bytes;
}

}  // namespace

namespace {

// The library always prints a failed start, whatever its settings, through the C library's stream.
class QuietStandardError {
 public:
  QuietStandardError() : nowhere_(std::fopen("/dev/null", "we")) {
    if (nowhere_ == nullptr) throw std::bad_alloc();
    stderr = nowhere_;
  }
  ~QuietStandardError() {
    stderr = before_;
    (void)std::fclose(nowhere_);
  }
  QuietStandardError(const QuietStandardError&) = delete;
  QuietStandardError& operator=(const QuietStandardError&) = delete;

 private:
  FILE* before_ = stderr;
  FILE* nowhere_;
};

}  // namespace

// After a failure HDF5's own clean-up at exit can crash; after a failed start, any call of it does.
void prepare_hdf5() {
  static const bool started = [] {
    const QuietStandardError quiet;
    return H5dont_atexit() >= 0 && H5open() >= 0 && H5PLset_loading_state(0) >= 0 &&
           H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  }();
  if (!started) fail(ExitStatus::limit, "HDF5 does not start", "it got no memory", "free some");
}

hid_t hdf5_type(FileType type) { return type_rows[static_cast<std::size_t>(type)].id(); }

FileType file_type(Scalar scalar) {
  static constexpr std::array rows{FileType::f64, FileType::f32, FileType::i64, FileType::i32,
                                   FileType::u8,  FileType::u8,  FileType::i64};
  return rows[static_cast<std::size_t>(scalar)];
}

std::int64_t file_bytes(FileType type) { return type_rows[static_cast<std::size_t>(type)].bytes; }

struct Hdf5Writer::State {
  std::string path;
  Hdf5Handle file{-1, H5Fclose};
  struct Place {
    std::int64_t offset, bytes;
  };
  std::vector<Place> places;
  std::unique_ptr<FileHandle> raw;

  void require(bool good, std::string_view what, ExitStatus status = ExitStatus::io) const {
    if (!good) fail_to_write(path, what, status);
  }
  Hdf5Handle require(Hdf5Handle handle, std::string_view what) const {
    require(handle.valid(), what);
    return handle;
  }
};

Hdf5Writer::Hdf5Writer(const std::string& path) : state_(std::make_unique<State>()) {
  prepare_hdf5();
  state_->path = path;
  Hdf5Handle access = state_->require(Hdf5Handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose), "file access list");
  Hdf5Handle create = state_->require(Hdf5Handle(H5Pcreate(H5P_FILE_CREATE), H5Pclose), "file creation list");
  state_->require(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0, "version bounds");
  state_->require(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) >= 0, "close degree");
  state_->require(H5Pset_alignment(access.get(), 512, 64) >= 0, "alignment");
  state_->require(H5Pset_obj_track_times(create.get(), false) >= 0, "time stamps");
  if (pass_point(FaultPoint::create) < 0)
    fail_on_disk(ExitStatus::cannot_create, fmt::format("cannot create '{}'", shown_path(path)), errno, path);
  state_->file = Hdf5Handle(H5Fcreate(path.c_str(), H5F_ACC_EXCL, create.get(), access.get()), H5Fclose);
  state_->require(state_->file.valid(), "create", ExitStatus::cannot_create);
}

Hdf5Writer::~Hdf5Writer() = default;

void Hdf5Writer::group(const std::string& path) {
  Hdf5Handle create = state_->require(Hdf5Handle(H5Pcreate(H5P_GROUP_CREATE), H5Pclose), "group creation list");
  state_->require(H5Pset_obj_track_times(create.get(), false) >= 0, "time stamps");
  Hdf5Handle group = state_->require(
      Hdf5Handle(H5Gcreate2(state_->file.get(), path.c_str(), H5P_DEFAULT, create.get(), H5P_DEFAULT), H5Gclose), path);
  state_->require(group.close(), path);
}

void Hdf5Writer::attribute(const std::string& object, const std::string& name, std::string_view text) {
  const State& s = *state_;
  Hdf5Handle type = s.require(Hdf5Handle(H5Tcopy(H5T_C_S1), H5Tclose), name);
  s.require(H5Tset_size(type.get(), text.size() + 1) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0, name);
  Hdf5Handle space = s.require(Hdf5Handle(H5Screate(H5S_SCALAR), H5Sclose), name);
  Hdf5Handle target = s.require(Hdf5Handle(H5Oopen(s.file.get(), object.c_str(), H5P_DEFAULT), H5Oclose), object);
  Hdf5Handle attribute = s.require(
      Hdf5Handle(H5Acreate2(target.get(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose),
      name);
  const std::string value(text);
  s.require(H5Awrite(attribute.get(), type.get(), value.c_str()) >= 0, name);
  s.require(attribute.close() && target.close(), name);
}

int Hdf5Writer::dataset(const std::string& path, FileType type, const std::vector<std::int64_t>& extents) {
  State& s = *state_;
  Hdf5Handle create = s.require(Hdf5Handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose), path);
  s.require(
      H5Pset_layout(create.get(), H5D_CONTIGUOUS) >= 0 && H5Pset_alloc_time(create.get(), H5D_ALLOC_TIME_EARLY) >= 0 &&
          H5Pset_fill_time(create.get(), H5D_FILL_TIME_NEVER) >= 0 && H5Pset_obj_track_times(create.get(), false) >= 0,
      path);
  const std::vector<hsize_t> dims = to_hsize(extents);
  Hdf5Handle space =
      s.require(Hdf5Handle(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose), path);
  Hdf5Handle data = s.require(Hdf5Handle(H5Dcreate2(s.file.get(), path.c_str(), hdf5_type(type), space.get(),
                                                    H5P_DEFAULT, create.get(), H5P_DEFAULT),
                                         H5Dclose),
                              path);
  const std::int64_t bytes = bytes_of(type, extents);
  const haddr_t offset = bytes == 0 ? 0 : H5Dget_offset(data.get());
  s.require(offset != HADDR_UNDEF, path);
  s.require(data.close(), path);
  s.places.push_back({static_cast<std::int64_t>(offset), bytes});
  return static_cast<int>(s.places.size()) - 1;
}

void Hdf5Writer::layout_done() {
  state_->require(H5Fflush(state_->file.get(), H5F_SCOPE_GLOBAL) >= 0, "flush");
  state_->require(state_->file.close(), "close");
  state_->raw = std::make_unique<FileHandle>(FileHandle::open_to_write(state_->path));
}

std::int64_t Hdf5Writer::offset(int dataset) const {
  return state_->places.at(static_cast<std::size_t>(dataset)).offset;
}

void Hdf5Writer::write(int dataset, std::int64_t first_byte, const void* data, std::int64_t bytes) {
  const State::Place& place = state_->places.at(static_cast<std::size_t>(dataset));
  if (first_byte < 0 || bytes < 0 || first_byte + bytes > place.bytes)
    throw InternalError("a write outside its dataset");
  state_->raw->write(place.offset + first_byte, data, bytes);
  state_->raw->start_syncing(place.offset + first_byte, bytes);
}

FileHandle Hdf5Writer::release() { return std::move(*state_->raw); }

void Hdf5Writer::close() { release().close(Sync::yes); }

void set_digests(const std::string& path, const std::vector<DatasetDigest>& digests) {
  const auto require = [&](bool good, std::string_view what) {
    if (!good) fail_to_write(path, what);
  };
  if (pass_point(FaultPoint::open) < 0)
    fail(ExitStatus::io, fmt::format("cannot open '{}'", shown_path(path)), std::strerror(errno));
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  require(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0, "version bounds");
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose);
  require(file.valid(), "open");
  for (const auto& [dataset, hex] : digests) {
    // The library does not find the attribute again on an object that is not open.
    const Hdf5Handle object(H5Oopen(file.get(), dataset.c_str(), H5P_DEFAULT), H5Oclose);
    require(object.valid(), dataset);
    Hdf5Handle attribute(H5Aopen(object.get(), digest_attribute, H5P_DEFAULT), H5Aclose);
    require(attribute.valid(), dataset);
    const Hdf5Handle type(H5Aget_type(attribute.get()), H5Tclose);
    require(type.valid(), dataset);
    if (H5Tget_size(type.get()) != hex.size() + 1) throw InternalError("a digest that does not fit its attribute");
    require(H5Awrite(attribute.get(), type.get(), hex.c_str()) >= 0 && attribute.close(), dataset);
  }
  require(H5Fflush(file.get(), H5F_SCOPE_GLOBAL) >= 0 && file.close(), "close");
}

struct Hdf5Reader::State {
  std::unique_ptr<const FileHandle> own;
  const FileHandle& file;
  StoredDatasets sets;
  std::set<std::string, std::less<>> located;

  explicit State(const FileHandle& of) : file(of), sets(stored_datasets(of, of.path())) {}
  explicit State(std::unique_ptr<const FileHandle> of)
      : own(std::move(of)), file(*own), sets(stored_datasets(file, file.path())) {}

  [[noreturn]] void refuse(std::string_view object, std::string_view why) const {
    fail(ExitStatus::bad_input, fmt::format("'{}' is not as it was written", file.path()),
         fmt::format("{}: {}", object, why), "make it again");
  }
};

Hdf5Reader::Hdf5Reader(const FileHandle& file) : state_(std::make_unique<State>(file)) {}

Hdf5Reader::Hdf5Reader(const std::string& path)
    : state_(std::make_unique<State>(std::make_unique<const FileHandle>(FileHandle::open_in_folder(path)))) {}

Hdf5Reader::~Hdf5Reader() = default;

std::int64_t Hdf5Reader::locate(const std::string& path, FileType type, const std::vector<std::int64_t>& extents) {
  const auto found = state_->sets.find(path);
  if (found == state_->sets.end()) state_->refuse(path, "is missing");
  const StoredDataset& set = found->second;
  if (set.type != type) state_->refuse(path, "has another type");
  if (set.extents.size() != extents.size()) state_->refuse(path, "has another rank");
  if (set.extents != extents) state_->refuse(path, "has another shape");
  state_->located.insert(path);
  return set.offset;
}

void Hdf5Reader::expect_no_other() const {
  for (const auto& [path, set] : state_->sets)
    if (!state_->located.contains(path)) state_->refuse(path, "is not expected");
}

void Hdf5Reader::read(std::int64_t offset, void* data, std::int64_t bytes) {
  state_->file.read(offset, static_cast<std::byte*>(data), bytes);
}

}  // namespace kasen
