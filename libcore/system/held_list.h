// Lists of numbers that lie in memory of their own, or in that of another owner: a mapping of a file.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "libcore/system/memory.h"

namespace kasen {

template <class T>
class HeldList {
 public:
  using value_type = T;
  HeldList() = default;
  // `data`, which nobody may write, lives as long as `owner`.
  HeldList(std::shared_ptr<const void> owner, const T* data, std::size_t count)
      : owner_(std::move(owner)), there_(data), count_(count) {}

  [[nodiscard]] const T* data() const { return owner_ == nullptr ? own_.data() : there_; }
  [[nodiscard]] std::size_t size() const { return owner_ == nullptr ? own_.size() : count_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size(); }
  [[nodiscard]] const T& operator[](std::size_t k) const { return data()[k]; }
  [[nodiscard]] const T& front() const { return *begin(); }
  [[nodiscard]] const T& back() const { return end()[-1]; }
  // To fill a list in memory of its own.
  [[nodiscard]] LargeVector<T>& own() { return own_; }

 private:
  LargeVector<T> own_;
  std::shared_ptr<const void> owner_;
  const T* there_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace kasen
