#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <new>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/hdf5/content.h"
#include "libcomm/data/hdf5/handle.h"

namespace kasen {
namespace {

constexpr int most_depth = 16;
constexpr std::int64_t most_objects = 1 << 20;

// The library's access to the bytes: one open file, by its descriptor. It can neither open another nor write.
struct OpenFile {
  H5FD_t common;
  int file;
  haddr_t end_of_addresses, bytes;
};

#ifdef H5FD_CLASS_VERSION
constexpr H5FD_class_value_t own_driver = 511;  // lower ones are the library's, higher ones are given out to others
#endif

constexpr const char* no_memory = "memory\n";  // an answer that takes none

// For the current file: errno of a read that failed, and whether memory ran out.
int read_fault = 0;
bool memory_ended = false;

H5FD_t* open_by_number(const char* name, unsigned, hid_t, haddr_t) {
  int file = -1;
  const char* const end = name + std::strlen(name);
  const bool named = std::from_chars(name, end, file).ptr == end;
  const std::int64_t bytes = named ? lseek(file, 0, SEEK_END) : -1;
  if (bytes < 0) return nullptr;
  auto* const made = new (std::nothrow) OpenFile{};
  memory_ended = made == nullptr;
  if (memory_ended) return nullptr;
  made->file = file;
  made->bytes = static_cast<haddr_t>(bytes);
  return &made->common;
}

herr_t forget(H5FD_t* file) {
  delete reinterpret_cast<OpenFile*>(file);
  return 0;
}

herr_t read_exactly(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, std::size_t bytes, void* to) {
  const OpenFile& from = *reinterpret_cast<OpenFile*>(file);
  if (at > from.bytes || bytes > from.bytes - at) return -1;
  for (auto* next = static_cast<char*>(to); bytes > 0;) {
    const ssize_t got = pread(from.file, next, bytes, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) read_fault = errno;
    if (got <= 0) return -1;
    next += got;
    at += static_cast<haddr_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return 0;
}

const H5FD_class_t& open_file_driver() {
  static const H5FD_class_t driver = [] {
    H5FD_class_t d{};
#ifdef H5FD_CLASS_VERSION  // since HDF5 1.14, which refuses drivers that do not tell these
    d.version = H5FD_CLASS_VERSION;
    d.value = own_driver;
#endif
    d.name = "open-file";
    d.maxaddr = (haddr_t{1} << 62) - 1;
    d.fc_degree = H5F_CLOSE_STRONG;
    d.open = open_by_number;
    d.close = forget;
    d.get_eoa = [](const H5FD_t* f, H5FD_mem_t) { return reinterpret_cast<const OpenFile*>(f)->end_of_addresses; };
    d.set_eoa = [](H5FD_t* f, H5FD_mem_t, haddr_t end) {
      reinterpret_cast<OpenFile*>(f)->end_of_addresses = end;
      return herr_t{0};
    };
    d.get_eof = [](const H5FD_t* f, H5FD_mem_t) { return reinterpret_cast<const OpenFile*>(f)->bytes; };
    d.read = read_exactly;
    d.write = [](H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return herr_t{-1}; };
    const H5FD_mem_t kinds[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(kinds), std::end(kinds), d.fl_map);
    return d;
  }();
  return driver;
}

// Types of numbers as NumPy names them, which a survey reports.
struct SurveyedType {
  const char* name;
  hid_t (*id)();
};
constexpr std::array<SurveyedType, 20> surveyed_types{{
    {"<f8", [] { return H5T_IEEE_F64LE; }}, {">f8", [] { return H5T_IEEE_F64BE; }},
    {"<f4", [] { return H5T_IEEE_F32LE; }}, {">f4", [] { return H5T_IEEE_F32BE; }},
    {"<i8", [] { return H5T_STD_I64LE; }},  {">i8", [] { return H5T_STD_I64BE; }},
    {"<i4", [] { return H5T_STD_I32LE; }},  {">i4", [] { return H5T_STD_I32BE; }},
    {"<i2", [] { return H5T_STD_I16LE; }},  {">i2", [] { return H5T_STD_I16BE; }},
    {"<u8", [] { return H5T_STD_U64LE; }},  {">u8", [] { return H5T_STD_U64BE; }},
    {"<u4", [] { return H5T_STD_U32LE; }},  {">u4", [] { return H5T_STD_U32BE; }},
    {"<u2", [] { return H5T_STD_U16LE; }},  {">u2", [] { return H5T_STD_U16BE; }},
    {"|i1", [] { return H5T_STD_I8LE; }},   {"|u1", [] { return H5T_STD_U8LE; }},
    {"|i1", [] { return H5T_STD_I8BE; }},   {"|u1", [] { return H5T_STD_U8BE; }},
}};

// Visits all objects of a file and accepts only groups and contiguous datasets of numbers. A survey passes over the
// others, and says what is wrong with a dataset.
class Examination {
 public:
  explicit Examination(int file, bool survey = false) : survey_(survey) {
    read_fault = 0;
    memory_ended = false;
    bytes_ = static_cast<std::uint64_t>(std::max<std::int64_t>(lseek(file, 0, SEEK_END), 0));
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    const hid_t driver = H5FDregister(&open_file_driver());
    if (driver < 0 || H5Pset_driver(access.get(), driver, nullptr) < 0) return;
    file_ = Hdf5Handle(H5Fopen(std::to_string(file).c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  }

  std::string answer() {
    const bool good = file_.valid() && !has_user_block() && has_sound_root() && members(file_.get(), "", 0);
    if (memory_ended || (!good && memory_is_short())) return no_memory;
    if (read_fault != 0) return fmt::format("unread\n{}\n", std::strerror(read_fault));
    if (!good) return fmt::format("no\n{}\n{}\n", object_, why_);
    return "ok\n" + found_;
  }

 private:
  struct Place {
    Examination& self;
    const std::string& path;
    int depth;
  };

  bool refuse(const std::string& object, const char* why) {
    if (object_.empty()) {
      object_ = object;
      why_ = why;
    }
    return false;
  }

  bool has_user_block() {
    const Hdf5Handle create(H5Fget_create_plist(file_.get()), H5Pclose);
    hsize_t bytes = 0;
    const bool none = H5Pget_userblock(create.get(), &bytes) >= 0 && bytes == 0;
    return !none && !refuse("/", "there is something before its beginning");
  }

  // Asks for all facts: they include the structures beside groups of many objects, which other readers read as well.
  bool has_sound_root() {
    H5O_info_t facts{};
    return H5Oget_info2(file_.get(), &facts, H5O_INFO_ALL) >= 0 || refuse("/", "cannot be read");
  }

  // C code calls this, so nothing is thrown.
  static herr_t visit(hid_t group, const char* name, const H5L_info_t* link, void* place) {
    auto& [self, path, depth] = *static_cast<Place*>(place);
    try {
      return self.member(group, name, *link, path, depth) ? 0 : -1;
    } catch (const std::bad_alloc&) {
      memory_ended = true;
      return -1;
    }
  }

  bool members(hid_t group, const std::string& path, int depth) {
    if (depth > most_depth) return refuse(path, "lies too deep");
    Place place{*this, path, depth};
    hsize_t first = 0;
    return H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, &first, visit, &place) >= 0 ||
           refuse(path.empty() ? "/" : path, "cannot be read");
  }

  bool member(hid_t group, const char* name, const H5L_info_t& link, const std::string& parent, int depth) {
    const std::string path = parent + "/" + name;
    if (survey_) return survey_member(group, name, link, path, depth);
    if (!is_stored_name(name)) return refuse(parent + "/", "holds a name that is never written");
    if (link.type != H5L_TYPE_HARD) return refuse(path, "is a link to somewhere else");
    if (++objects_ > most_objects) return refuse(path, "is one object too many");
    const Hdf5Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
    H5O_info_t facts{};
    if (!object.valid() || H5Oget_info2(object.get(), &facts, H5O_INFO_ALL) < 0)
      return refuse(path, "cannot be opened");
    if (facts.rc != 1) return refuse(path, "is linked from elsewhere, too");
    for (const char* name_of_text : stored_texts) note_text(object.get(), name_of_text, path);
    if (facts.type == H5O_TYPE_GROUP) return members(object.get(), path, depth + 1);
    return facts.type == H5O_TYPE_DATASET ? dataset(object.get(), path) : refuse(path, "is no dataset");
  }

  bool survey_member(hid_t group, const char* name, const H5L_info_t& link, const std::string& path, int depth) {
    const std::string_view text = name;
    const bool shown = !text.empty() && text.size() < 256 && std::none_of(text.begin(), text.end(), [](char c) {
      return static_cast<signed char>(c) < ' ' || c == 127;
    });
    if (!shown || link.type != H5L_TYPE_HARD) return true;
    if (++objects_ > most_objects) return refuse(path, "is one object too many");
    const Hdf5Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
    H5O_info_t facts{};
    if (!object.valid() || H5Oget_info2(object.get(), &facts, H5O_INFO_ALL) < 0)
      return refuse(path, "cannot be opened");
    if (facts.rc != 1) return true;
    if (facts.type == H5O_TYPE_GROUP) return members(object.get(), path, depth + 1);
    if (facts.type == H5O_TYPE_DATASET) survey_dataset(object.get(), path);
    return true;
  }

  // Complex numbers as h5py writes them: records of r and i.
  static std::string_view other_content(hid_t type) {
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_STRING) return holds_strings;
    if (kind != H5T_COMPOUND) return "";
    return H5Tget_nmembers(type) == 2 && H5Tget_member_index(type, "r") == 0 && H5Tget_member_index(type, "i") == 1
               ? holds_complex
               : holds_records;
  }

  void survey_dataset(hid_t set, const std::string& path) {
    const auto unread = [&](std::string_view why) { found_ += fmt::format("! {}|{}\n", why, path); };
    const Hdf5Handle create(H5Dget_create_plist(set), H5Pclose);
    const Hdf5Handle stored(H5Dget_type(set), H5Tclose), space(H5Dget_space(set), H5Sclose);
    if (!create.valid() || !stored.valid() || !space.valid()) return unread("cannot be read");
    if (H5Pget_external_count(create.get()) != 0) return unread("lies in another file");
    if (const std::string_view other = other_content(stored.get()); !other.empty()) return unread(other);
    if (H5Pget_layout(create.get()) != H5D_CONTIGUOUS || H5Pget_nfilters(create.get()) != 0)
      return unread("is stored in chunks, or compressed");
    const char* type = nullptr;
    for (const SurveyedType& known : surveyed_types)
      if (type == nullptr && H5Tequal(stored.get(), known.id()) > 0) type = known.name;
    if (type == nullptr && H5Tget_class(stored.get()) == H5T_ENUM && H5Tget_size(stored.get()) == 1) type = "|b1";
    if (type == nullptr) return unread("does not hold numbers of 8 to 64 bits");
    const int rank = H5Sget_simple_extent_ndims(space.get());
    const H5S_class_t kind = H5Sget_simple_extent_type(space.get());
    if (kind != (rank == 0 ? H5S_SCALAR : H5S_SIMPLE) || rank > most_file_rank) return unread("has no values");
    std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
    if (rank > 0 && H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr) < 0) return unread("cannot be read");
    std::uint64_t bytes = H5Tget_size(stored.get());
    std::string sizes;
    for (const hsize_t dim : dims) {
      if (__builtin_mul_overflow(bytes, dim, &bytes)) return unread("is longer than the file");
      sizes += fmt::format("{} ", dim);
    }
    const haddr_t offset = bytes == 0 ? 0 : H5Dget_offset(set);
    if (offset == HADDR_UNDEF) return unread("has no values yet");
    if (bytes > bytes_ || offset > bytes_ - bytes) return unread("lies outside the file");
    found_ += fmt::format("{} {} {} {}{} {}\n", type, offset, rank, sizes, rank > 0 ? first_dim_of(set) : "-", path);
  }

  // The name of the first dimension of a result (the attribute `dims`, a list in JSON); else "-".
  static std::string first_dim_of(hid_t set) {
    if (H5Aexists(set, "dims") <= 0) return "-";
    const Hdf5Handle attribute(H5Aopen(set, "dims", H5P_DEFAULT), H5Aclose);
    const Hdf5Handle type(H5Aget_type(attribute.get()), H5Tclose), space(H5Aget_space(attribute.get()), H5Sclose);
    std::array<char, 4096> text{};
    const bool fits = H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0 &&
                      H5Tget_size(type.get()) < text.size() && H5Sget_simple_extent_npoints(space.get()) == 1;
    if (!fits || H5Aread(attribute.get(), type.get(), text.data()) < 0) return "-";
    std::string_view list(text.data(), std::find(text.begin(), text.end(), '\0') - text.begin());
    if (!list.starts_with("[\"")) return "-";
    list.remove_prefix(2);
    const std::string_view name = list.substr(0, list.find('"'));
    return is_stored_name(name) ? std::string(name) : "-";
  }

  bool dataset(hid_t set, const std::string& path) {
    const Hdf5Handle create(H5Dget_create_plist(set), H5Pclose);
    if (!create.valid()) return refuse(path, "cannot be read");
    if (H5Pget_external_count(create.get()) != 0) return refuse(path, "lies in another file");
    if (H5Pget_layout(create.get()) != H5D_CONTIGUOUS) return refuse(path, "is not contiguous");
    if (H5Pget_nfilters(create.get()) != 0) return refuse(path, "is filtered");
    const Hdf5Handle stored(H5Dget_type(set), H5Tclose);
    std::size_t type = 0;
    while (type < file_type_names.size() && H5Tequal(stored.get(), hdf5_type(static_cast<FileType>(type))) <= 0) ++type;
    if (type == file_type_names.size()) return refuse(path, "has a type that is never written");
    return extents(set, path, type);
  }

  bool extents(hid_t set, const std::string& path, std::size_t type) {
    const Hdf5Handle space(H5Dget_space(set), H5Sclose);
    const H5S_class_t kind = H5Sget_simple_extent_type(space.get());
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if ((kind != H5S_SIMPLE && kind != H5S_SCALAR) || rank < 0 || rank > most_file_rank)
      return refuse(path, "has a rank that is never written");
    std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
    if (rank > 0 && H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr) < 0)
      return refuse(path, "cannot be read");
    auto bytes = static_cast<std::uint64_t>(file_bytes(static_cast<FileType>(type)));
    std::string sizes;
    for (const hsize_t dim : dims) {
      if (__builtin_mul_overflow(bytes, dim, &bytes)) return refuse(path, "is longer than the file");
      sizes += fmt::format("{} ", dim);
    }
    if (bytes > bytes_) return refuse(path, "is longer than the file");
    const haddr_t offset = bytes == 0 ? 0 : H5Dget_offset(set);
    if (offset == HADDR_UNDEF || offset > bytes_ - bytes) return refuse(path, "lies outside the file");
    const std::string digest = digest_of(set);
    if (digest.empty()) return refuse(path, "has a digest that is never written");
    found_ += fmt::format("{} {} {} {}{} {}\n", file_type_names[type], offset, rank, sizes, digest, path);
    return true;
  }

  // Reports a short text in an attribute. Any other attribute of this name tells nothing.
  void note_text(hid_t object, const char* name, const std::string& path) {
    if (H5Aexists(object, name) <= 0) return;
    const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    const Hdf5Handle type(H5Aget_type(attribute.get()), H5Tclose), space(H5Aget_space(attribute.get()), H5Sclose);
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0) return;
    const std::size_t bytes = H5Tget_size(type.get());
    if (bytes < 2 || bytes > most_text_bytes || H5Sget_simple_extent_npoints(space.get()) != 1) return;
    std::string text(bytes, '\0');
    if (H5Aread(attribute.get(), type.get(), text.data()) < 0 || text.back() != '\0') return;
    text.pop_back();
    if (is_stored_text(text)) found_ += fmt::format("{} {} {}\n", name, text, path);
  }

  // The digest in its attribute; "-" without one, nothing if that is no digest.
  static std::string digest_of(hid_t set) {
    const htri_t there = H5Aexists(set, digest_attribute);
    if (there <= 0) return there == 0 ? "-" : "";
    const Hdf5Handle attribute(H5Aopen(set, digest_attribute, H5P_DEFAULT), H5Aclose);
    const Hdf5Handle type(H5Aget_type(attribute.get()), H5Tclose), space(H5Aget_space(attribute.get()), H5Sclose);
    std::array<char, digest_digits + 1> text{};
    const bool fits = H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0 &&
                      H5Tget_size(type.get()) == text.size() && H5Sget_simple_extent_npoints(space.get()) == 1;
    if (!fits || H5Aread(attribute.get(), type.get(), text.data()) < 0 || text.back() != '\0') return "";
    const std::string_view digits(text.data(), digest_digits);
    return is_digest(digits) ? std::string(digits) : "";
  }

  Hdf5Handle file_{-1, H5Fclose};
  std::uint64_t bytes_ = 0;
  bool survey_ = false;
  std::int64_t objects_ = 0;
  std::string found_, object_, why_;
};

}  // namespace

Examiner::Work hdf5_survey() {
  const auto examine = [](int file) -> std::string {
    try {
      return Examination(file, true).answer();
    } catch (const std::bad_alloc&) {
      return no_memory;
    }
  };
  return {prepare_hdf5, examine};
}

Examiner::Work hdf5_examination() {
  const auto examine = [](int file) -> std::string {
    try {
      return Examination(file).answer();
    } catch (const std::bad_alloc&) {
      return no_memory;
    }
  };
  return {prepare_hdf5, examine};
}

}  // namespace kasen
