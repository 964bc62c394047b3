// Files and folders under temporary names: a signal that ends the process takes them away.
#pragma once

#include <cerrno>
#include <string>

namespace kasen {

// While it lives, remove_temporaries() removes the file of this name, or the folder with the files in it. Nobody else
// may have the name.
class Temporary {
 public:
  explicit Temporary(const std::string& path);
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

 private:
  struct Place;
  friend void remove_temporaries();
  static Place* places();
  Place* place_;
};

// A name beside `path` for what is not whole yet: "PATH.tmp-" and 12 letters and digits by chance. No two makers meet,
// whatever their process numbers are (those of containers repeat), and nobody's own file is taken for one.
[[nodiscard]] std::string temporary_name(const std::string& path);
// Makes something new under such a name: `make` says false, with errno, where it cannot. Others are tried where the
// name is taken. Returns the name; empty, with errno, where it cannot be made.
template <class Make>
[[nodiscard]] std::string make_temporary(const std::string& path, const Make& make) {
  for (;;) {
    std::string name = temporary_name(path);
    if (make(name)) return name;
    if (errno != EEXIST) return {};
  }
}
// What a temporary name, or a file in a folder of such a name, will be called; other paths as they are.
[[nodiscard]] std::string shown_path(const std::string& path);

// A file, or a folder with the files in it; takes no memory.
void remove_temporary(const char* path);

// For the end of a process that unwinds no stack; a signal handler may call it. What another thread makes meanwhile in
// a folder can stay.
void remove_temporaries();

}  // namespace kasen
