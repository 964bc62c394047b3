// The common parts of the code that calls the HDF5 library.
#pragma once

#include <hdf5.h>

#include <utility>

#include "libcomm/data/hdf5/file.h"

namespace kasen {

// Owns one identifier; closing it may fail and is then an error, except when unwinding.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), closer_(closer) {}
  ~Hdf5Handle() {
    if (id_ >= 0) closer_(id_);
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  [[nodiscard]] hid_t get() const { return id_; }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  [[nodiscard]] bool close() { return closer_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  herr_t (*closer_)(hid_t);
};

// Before the first call: no plug-ins, no messages on standard error, no work at exit.
void prepare_hdf5();
[[nodiscard]] hid_t hdf5_type(FileType type);

}  // namespace kasen
