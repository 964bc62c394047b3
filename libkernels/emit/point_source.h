// Operands of a pass over nonzeros in generated code (entries.h). A point is all columns at an index of an array over
// [N, K], side by side.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "libcore/ir/entries.h"
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

// An operand of a pass over nonzeros: an element, or a point.
class PassOperand {
 public:
  PassOperand(Emitter& e, const EntryPass::Operand& of, const ArrayPlanes& planes) : of_(&of) {
    if (of.is_point()) {
      point_ = std::make_unique<PointSource>(planes, of.columns);
    } else {
      element_ = std::make_unique<MemorySource>(planes, MemorySource::Access::shared);
    }
    if (of.side == EntrySide::shared) element_->move_to(e, e.integer(0));
  }

  [[nodiscard]] const EntryPass::Operand& of() const { return *of_; }
  [[nodiscard]] PointSource* point() const { return point_.get(); }  // null: an element
  [[nodiscard]] Source* source() const { return point_ ? static_cast<Source*>(point_.get()) : element_.get(); }
  [[nodiscard]] bool is_at_side() const { return of_->side == EntrySide::rows || of_->side == EntrySide::cols; }

  void move_to(Emitter& e, llvm::Value* index) {
    if (point_) return point_->move_to(e, index);
    element_->move_to(e, index);
  }

 private:
  const EntryPass::Operand* of_;
  std::unique_ptr<PointSource> point_;
  std::unique_ptr<MemorySource> element_;
};

// The sum of the lanes of a coordinate sum, vector by vector and then within one (entries.h). Null: zeros.
using LaneTotals = std::array<llvm::Value*, static_cast<std::size_t>(point_lanes / reduction_lanes)>;
inline Plane sum_of_lanes(Emitter& e, LaneTotals totals) {
  for (size_t half = totals.size() / 2; half > 0; half /= 2) {
    for (size_t v = 0; v < half; ++v) {
      llvm::Value* more = totals.at(v + half);
      if (more != nullptr) totals.at(v) = e.b.CreateFAdd(totals.at(v), more);
    }
  }
  llvm::Value* total = totals[0];
  for (int by = reduction_lanes / 2; by > 0; by /= 2) {
    std::vector<int> places;
    for (int l = 0; l < reduction_lanes; ++l) places.push_back((l + by) % reduction_lanes);
    total = e.b.CreateFAdd(total, e.b.CreateShuffleVector(total, places));
  }
  return {e.b.CreateExtractElement(total, std::uint64_t{0}), true};
}

}  // namespace kasen
