#include "libkernels/jit/code_image.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libkernels/jit/relocation.h"

namespace kasen {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t this_machine = EM_X86_64;
constexpr std::array<std::uint8_t, 8> jump_code{0xff, 0x25, 2, 0, 0, 0, 0, 0};  // jmp *8(start)
#else
constexpr std::uint16_t this_machine = EM_AARCH64;
constexpr std::array<std::uint8_t, 8> jump_code{0x50, 0, 0, 0x58, 0, 2, 0x1f, 0xd6};  // ldr x16, 8(start); br x16
#endif
constexpr std::size_t jump_bytes = jump_code.size() + sizeof(std::uint64_t);

[[noreturn]] void refuse_object(const std::string& why) { throw InternalError("an object of generated code: " + why); }

// An object, whose every read is checked.
class Object {
 public:
  explicit Object(std::string_view bytes) : bytes_(bytes), header_(at<Elf64_Ehdr>(0)) {
    if (std::memcmp(&header_.e_ident[0], ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64 ||
        header_.e_type != ET_REL || header_.e_machine != this_machine || header_.e_shentsize != sizeof(Elf64_Shdr))
      refuse_object("it is none of this machine");
    for (std::size_t k = 0; k < header_.e_shnum; ++k) sections.push_back(at<Elf64_Shdr>(header_.e_shoff, k));
    places.resize(sections.size());
    for (const Elf64_Shdr& s : sections) {
      if (s.sh_type != SHT_SYMTAB) continue;
      names_ = section(s.sh_link);
      for (std::size_t k = 0; k < s.sh_size / sizeof(Elf64_Sym); ++k) symbols.push_back(at<Elf64_Sym>(s.sh_offset, k));
    }
  }

  template <class T>
  [[nodiscard]] T at(std::uint64_t offset, std::size_t number = 0) const {
    T value;
    if (offset > bytes_.size() || (bytes_.size() - offset) / sizeof(T) <= number) refuse_object("it is cut short");
    std::memcpy(&value, bytes_.data() + offset + number * sizeof(T), sizeof(T));
    return value;
  }

  [[nodiscard]] std::string_view content(const Elf64_Shdr& s) const {
    if (s.sh_offset > bytes_.size() || bytes_.size() - s.sh_offset < s.sh_size) refuse_object("it is cut short");
    return bytes_.substr(s.sh_offset, s.sh_size);
  }

  [[nodiscard]] std::string name(const Elf64_Sym& symbol) const {
    const std::string_view names = content(names_);
    if (symbol.st_name >= names.size()) refuse_object("a name outside its table");
    return std::string(names.substr(symbol.st_name, names.find('\0', symbol.st_name) - symbol.st_name));
  }

  [[nodiscard]] const Elf64_Shdr& section(std::size_t number) const {
    if (number >= sections.size()) refuse_object("a section outside its table");
    return sections[number];
  }

  // Where a symbol stands in memory; null: it is not defined here.
  [[nodiscard]] std::byte* place_of(const Elf64_Sym& symbol) const {
    if (symbol.st_shndx == SHN_UNDEF) return nullptr;
    const std::size_t size = section(symbol.st_shndx).sh_size;
    if (places[symbol.st_shndx] == nullptr || symbol.st_value > size) refuse_object("a symbol outside its section");
    return places[symbol.st_shndx] + symbol.st_value;
  }

  std::vector<Elf64_Shdr> sections;
  std::vector<std::byte*> places;  // of the sections in memory; null: not loaded
  std::vector<Elf64_Sym> symbols;

 private:
  std::string_view bytes_;
  Elf64_Ehdr header_;
  Elf64_Shdr names_{};
};

bool is_loaded(const Elf64_Shdr& s) { return (s.sh_flags & SHF_ALLOC) != 0 && s.sh_size > 0; }

bool is_code(const Elf64_Shdr& s) { return (s.sh_flags & SHF_EXECINSTR) != 0; }

// Code first, then, in pages of their own, constants: the place of each section from the beginning of both.
struct ImagePlan {
  std::size_t code = 0, all = 0;  // bytes
  std::vector<std::vector<std::size_t>> offsets;

  ImagePlan(const std::vector<Object>& objects, std::size_t jumps) : code(jumps * jump_bytes) {
    for (const Object& object : objects) offsets.emplace_back(object.sections.size());
    place(objects, true, code);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    code = (code + page - 1) / page * page;
    all = code;
    place(objects, false, all);
    all = (all + page - 1) / page * page;
  }

 private:
  void place(const std::vector<Object>& objects, bool of_code, std::size_t& end) {
    for (std::size_t o = 0; o < objects.size(); ++o) {
      for (std::size_t k = 0; k < objects[o].sections.size(); ++k) {
        const Elf64_Shdr& s = objects[o].sections[k];
        if (!is_loaded(s) || is_code(s) != of_code) continue;
        const std::size_t align = s.sh_addralign == 0 ? 1 : s.sh_addralign;
        if (s.sh_type != SHT_PROGBITS || (s.sh_flags & SHF_WRITE) != 0 || align > 4096 || (align & (align - 1)) != 0)
          refuse_object("a section that is neither code nor constants");
        end = (end + align - 1) / align * align;
        offsets[o][k] = end;
        end += objects[o].content(s).size();
      }
    }
  }
};

class Linker {
 public:
  Linker(std::vector<Object>& objects, const ImagePlan& layout, std::byte* memory)
      : objects_(objects), memory_(memory), jumps_(memory) {
    for (std::size_t o = 0; o < objects_.size(); ++o) {
      for (std::size_t k = 0; k < objects_[o].sections.size(); ++k) {
        const Elf64_Shdr& s = objects_[o].sections[k];
        if (!is_loaded(s)) continue;
        const std::string_view content = objects_[o].content(s);
        objects_[o].places[k] = memory_ + layout.offsets[o][k];
        std::memcpy(objects_[o].places[k], content.data(), content.size());
      }
    }
  }

  // By the plan's names.
  [[nodiscard]] std::map<std::string, std::byte*, std::less<>> functions(
      std::span<const CompiledObject> described) const {
    std::map<std::string, std::byte*, std::less<>> all;
    for (std::size_t o = 0; o < objects_.size(); ++o) {
      std::map<std::string, std::byte*> defined;
      for (const Elf64_Sym& symbol : objects_[o].symbols) {
        const bool global = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL;
        if (global && symbol.st_shndx != SHN_UNDEF)
          defined.emplace(objects_[o].name(symbol), objects_[o].place_of(symbol));
      }
      for (const NamedFunction& function : described[o].functions) {
        const auto found = defined.find(function.symbol);
        if (found == defined.end()) refuse_object("it lacks '" + function.symbol + "'");
        all.emplace(function.name, found->second);
      }
    }
    return all;
  }

  void link() {
    for (const Object& object : objects_) {
      for (const Elf64_Shdr& s : object.sections) {
        if (s.sh_type == SHT_REL) refuse_object("a table of relocations without addends");
        if (s.sh_type != SHT_RELA || object.section(s.sh_info).sh_size == 0 || object.places[s.sh_info] == nullptr)
          continue;
        for (std::size_t k = 0; k < s.sh_size / sizeof(Elf64_Rela); ++k)
          link(object, s.sh_info, object.at<Elf64_Rela>(s.sh_offset, k));
      }
    }
  }

 private:
  void link(const Object& object, std::size_t section, const Elf64_Rela& entry) {
    const std::size_t number = ELF64_R_SYM(entry.r_info);
    if (number >= object.symbols.size()) refuse_object("a symbol outside its table");
    const Elf64_Sym& symbol = object.symbols[number];
    Relocation r{this_machine, static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info)), 0};
    std::byte* target = object.place_of(symbol);
    if (target == nullptr) target = elsewhere(object.name(symbol), is_short_call(r));
    r.value = reinterpret_cast<std::uint64_t>(target) + static_cast<std::uint64_t>(entry.r_addend);
    const std::size_t size = object.section(section).sh_size, bytes = relocated_bytes(r);
    if (size < bytes || entry.r_offset > size - bytes) refuse_object("a relocation outside its section");
    std::byte* const place = object.places[section] + entry.r_offset;
    if (!relocate(r, place, reinterpret_cast<std::uint64_t>(place)))
      refuse_object("a relocation of type " + std::to_string(r.type));
  }

  // What a library of this process defines; `nearby`: code that jumps there.
  std::byte* elsewhere(const std::string& name, bool nearby) {
    auto* const address = static_cast<std::byte*>(dlsym(RTLD_DEFAULT, name.c_str()));
    if (address == nullptr) refuse_object("no library has '" + name + "'");
    if (!nearby) return address;
    const auto [jump, added] = jump_to_.emplace(name, jumps_);
    if (added) {
      std::memcpy(jumps_, jump_code.data(), jump_code.size());
      std::memcpy(jumps_ + jump_code.size(), &address, sizeof address);
      jumps_ += jump_bytes;
    }
    return jump->second;
  }

  std::vector<Object>& objects_;
  std::byte* memory_;
  std::byte* jumps_;  // where the next one comes
  std::map<std::string, std::byte*> jump_to_;
};

// So many jumps are enough.
std::size_t undefined_symbols(const std::vector<Object>& objects) {
  std::size_t count = 0;
  for (const Object& object : objects) {
    for (const Elf64_Sym& symbol : object.symbols) count += symbol.st_shndx == SHN_UNDEF ? 1 : 0;
  }
  return count;
}

}  // namespace

CodeImage::CodeImage(std::span<const CompiledObject> objects) {
  std::vector<Object> parts;
  for (const CompiledObject& object : objects) parts.emplace_back(object.code);
  const ImagePlan layout(parts, undefined_symbols(parts));
  if (layout.all == 0) return;
  void* const memory = mmap(nullptr, layout.all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  CodeImage made;
  made.memory_ = static_cast<std::byte*>(memory);
  made.bytes_ = layout.all;
  Linker linker(parts, layout, made.memory_);
  made.functions_ = linker.functions(objects);
  linker.link();
  __builtin___clear_cache(reinterpret_cast<char*>(memory), reinterpret_cast<char*>(memory) + layout.code);
  const bool closed =
      mprotect(made.memory_, layout.code, PROT_READ | PROT_EXEC) == 0 &&
      (layout.all == layout.code || mprotect(made.memory_ + layout.code, layout.all - layout.code, PROT_READ) == 0);
  if (!closed) refuse_object("the system does not let this process execute it");
  *this = std::move(made);
}

CodeImage::CodeImage(CodeImage&& other) noexcept { *this = std::move(other); }

CodeImage& CodeImage::operator=(CodeImage&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(functions_, other.functions_);
  return *this;
}

CodeImage::~CodeImage() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

void* CodeImage::find(const std::string& name) const {
  const auto found = functions_.find(name);
  if (found == functions_.end()) throw InternalError("generated code lacks '" + name + "'");
  return found->second;
}

}  // namespace kasen
