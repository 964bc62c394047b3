// Files and folders under temporary names. A signal that ends the process removes them.
#pragma once

#include <cerrno>
#include <string>

namespace kasen {

// While it lives, remove_temporaries() removes the file of this name, or the folder with its files. Nobody else may
// have the name.
class Temporary {
 public:
  explicit Temporary(const std::string& path);
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

 private:
  struct Place;
  friend void remove_temporaries();
  friend void forget_temporaries();
  static Place* places();
  Place* place_;
};

// A name beside `path` for an incomplete file: "PATH.tmp-" and 12 random letters and digits. No two makers collide,
// whatever their process numbers are (containers repeat them), and it is not taken for a user's own file.
[[nodiscard]] std::string temporary_name(const std::string& path);
// Makes something new under such a name. `make` returns false, with errno, if it cannot. Other names are tried if the
// name is taken. Returns the name; empty, with errno, if it cannot be made.
template <class Make>
[[nodiscard]] std::string make_temporary(const std::string& path, const Make& make) {
  for (;;) {
    std::string name = temporary_name(path);
    if (make(name)) return name;
    if (errno != EEXIST) return {};
  }
}
// The final name of a temporary file, or of a file in a folder of such a name; other paths are unchanged.
[[nodiscard]] std::string shown_path(const std::string& path);

// Removes a file, or a folder with the files in it; allocates no memory.
void remove_temporary(const char* path);

// For the end of a process that unwinds no stack; a signal handler may call it. Files that another thread makes in a
// folder at the same time can stay.
void remove_temporaries();

// In a fork of this process: the files are the other's.
void forget_temporaries();

}  // namespace kasen
