// Files and folders under temporary names: a signal that ends the process takes them away.
#pragma once

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

// For the end of a process that unwinds no stack; a signal handler may call it. What another thread makes meanwhile in
// a folder can stay.
void remove_temporaries();

}  // namespace kasen
