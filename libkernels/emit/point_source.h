// Points in generated code: all columns at an index of an array over [N, K], side by side (entries.h).
#pragma once

#include <cstdint>

#include "libkernels/emit/elements.h"

namespace kasen {

// Neighbouring columns of a point, from one column on: those on the current lanes, or one for all lanes.
class PointSource : public Source {
 public:
  PointSource(const ArrayPlanes& planes, std::int64_t columns)
      : scalar_(planes.element.scalar()), base_(planes.components[0].base), columns_(columns) {}

  void move_to(Emitter& e, llvm::Value* index) {
    here_ = e.at_byte(base_, e.b.CreateMul(index, e.integer(columns_ * scalar_bytes(scalar_))));
  }

  Plane load(Emitter& e, int /*component*/, const Plane* coordinate) override {
    if (coordinate->uniform) return {e.load_one(scalar_, at(e, coordinate->value)), true};
    llvm::Value* size = e.spread({e.integer(scalar_bytes(scalar_)), true});
    return {e.gather(scalar_, e.at_byte(here_, e.b.CreateMul(coordinate->value, size))), false};
  }

  // Prefetches the data at an index that comes up soon.
  void fetch(Emitter& e, llvm::Value* index) const {
    const std::int64_t bytes = columns_ * scalar_bytes(scalar_);
    llvm::Value* there = e.at_byte(base_, e.b.CreateMul(index, e.integer(bytes)));
    for (std::int64_t at = 0; at < bytes; at += 64) e.ask_for(e.at_byte(there, e.integer(at)));
  }

  // The columns from `first` on, one a lane.
  [[nodiscard]] Plane columns(Emitter& e, std::int64_t first) {
    return {e.load_lanes(scalar_, at(e, e.integer(first))), false};
  }

 private:
  llvm::Value* at(Emitter& e, llvm::Value* column) {
    return e.at_byte(here_, e.b.CreateMul(column, e.integer(scalar_bytes(scalar_))));
  }

  Scalar scalar_;
  llvm::Value* base_;
  std::int64_t columns_;
  llvm::Value* here_ = nullptr;
};

// A value in a register.
class ValueSource : public Source {
 public:
  Plane load(Emitter& /*e*/, int /*component*/, const Plane* /*coordinate*/) override { return value; }
  Plane value;
};

// The columns of one point, if a function reads them one after another.
class ColumnsSource : public Source {
 public:
  ColumnsSource(PointSource& point, const std::int64_t& first) : point_(&point), first_(&first) {}
  Plane load(Emitter& e, int /*component*/, const Plane* /*coordinate*/) override {
    return point_->columns(e, *first_);
  }

 private:
  PointSource* point_;
  const std::int64_t* first_;
};

}  // namespace kasen
