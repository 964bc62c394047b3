// Compressed arrays as the interpreter kernels read them. Internal to libcore/kernels/interpreter_kernels.cpp.
#pragma once

#include <span>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/system/memory.h"

namespace kasen::interpreter {

// The same views, with compressed arrays decompressed. Only the cells decide the interpreter's results for them.
class ExpandedViews {
 public:
  explicit ExpandedViews(std::span<const View> views) : views_(views.begin(), views.end()) {
    for (View& view : views_) {
      if (view.compressed == nullptr) continue;
      memory_.emplace_back(storage_bytes(ElementType::of(view.compressed->scalar), view.capacity));
      expand_rows(*view.compressed, 0, view.compressed->rows, memory_.back().data());
      view.data = memory_.back().data();
    }
  }
  [[nodiscard]] std::span<const View> views() const { return views_; }

 private:
  std::vector<View> views_;
  std::vector<Bytes> memory_;
};

}  // namespace kasen::interpreter
