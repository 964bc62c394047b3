// Machine code in memory: a compiler's objects, linked to each other and to the libraries of this process.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "libkernels/jit/code_cache.h"

namespace kasen {

// Relocatable ELF files for this processor, as LLVM writes them for its large code model: code, and constants that it
// reads. Nothing can be written once it is loaded, and only code can be executed.
class CodeImage {
 public:
  CodeImage() = default;
  // Objects do not call each other. InternalError: an object is none, has another kind of section or relocation, lacks
  // a function, or names what no library defines.
  explicit CodeImage(std::span<const CompiledObject> objects);
  CodeImage(CodeImage&& other) noexcept;
  CodeImage& operator=(CodeImage&& other) noexcept;
  CodeImage(const CodeImage&) = delete;
  CodeImage& operator=(const CodeImage&) = delete;
  ~CodeImage();

  // The address of one of the objects' functions, by the plan's name; InternalError: there is none.
  [[nodiscard]] void* find(const std::string& name) const;

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::map<std::string, std::byte*, std::less<>> functions_;
};

}  // namespace kasen
