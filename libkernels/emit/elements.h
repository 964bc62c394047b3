// Elements in generated code: arrays in memory, temporaries of a loop, accumulators. Scalar components live in
// registers; small arrays in memory, one coordinate after another.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "libkernels/emit/emit.h"
#include "libkernels/emit/kernel.h"

namespace kasen {

// A component of an element by its number.
[[nodiscard]] inline Scalar scalar_of(const ElementType& element, int component) {
  return element.components[static_cast<size_t>(component)].scalar;
}
[[nodiscard]] inline std::int64_t count_of(const ElementType& element, int component) {
  return element.components[static_cast<size_t>(component)].count;
}
[[nodiscard]] inline int components_of(const ElementType& element) {
  return static_cast<int>(element.components.size());
}

// Memory for a small array, which registers replace if there are few coordinates; null for a scalar.
[[nodiscard]] llvm::Value* make_array(Emitter& emitter, const Component& component);

// The number of a coordinate that is known at generation time.
[[nodiscard]] std::optional<std::int64_t> known_coordinate(const Plane* coordinate);

// Bytes of one coordinate of all lanes in scratch memory.
[[nodiscard]] inline std::int64_t strip_bytes(const Emitter& emitter, Scalar scalar) {
  return scalar_bytes(scalar) * emitter.lanes();
}

// One array of the argument table, read at the function's entry.
struct ArrayPlanes {
  ElementType element;
  struct Component {
    llvm::Value* base;    // address of the first plane
    llvm::Value* stride;  // bytes between planes
  };
  std::vector<Component> components;
};
[[nodiscard]] ArrayPlanes read_array(Emitter& emitter, llvm::Value* arguments, int first_word,
                                     const ElementType& element);
[[nodiscard]] llvm::Value* read_word(Emitter& emitter, llvm::Value* arguments, int number);

// Elements of an array at an index: consecutive ones from a scalar index on, one that all lanes share, or one a lane.
class MemorySource : public Source {
 public:
  enum class Access : std::uint8_t { consecutive, shared, scattered };
  MemorySource(ArrayPlanes planes, Access access) : planes_(std::move(planes)), access_(access) {}

  // Moves to another index (an i64, or a vector of them for `scattered`) and loads the scalar components there. With
  // `each`, the index of every lane by itself, it loads them lane by lane; each is valid, whatever the mask is.
  void move_to(Emitter& emitter, llvm::Value* index, std::span<llvm::Value* const> each = {});
  // The same with scalar components that are loaded already.
  void take(llvm::Value* index, std::vector<Plane> loaded) {
    index_ = index;
    loaded_ = std::move(loaded);
    coordinates_.clear();
  }
  Plane load(Emitter& emitter, int component, const Plane* coordinate) override;
  [[nodiscard]] ReadsFrom reads_from(const ElementType& result, int component) const override;
  void set_index(llvm::Value* index) { index_ = index; }  // for stores: loads nothing
  void store(Emitter& emitter, int component, const Plane* coordinate, const Plane& value);
  [[nodiscard]] const ElementType& element() const { return planes_.element; }
  [[nodiscard]] const ArrayPlanes& planes() const { return planes_; }
  void stream() { streamed_ = true; }  // stores of consecutive elements go past the caches

 private:
  [[nodiscard]] llvm::Value* address(Emitter& emitter, int component, const Plane* coordinate);
  [[nodiscard]] Plane load_from_memory(Emitter& emitter, int component, const Plane* coordinate);
  [[nodiscard]] Plane load_each(Emitter& emitter, int component, std::span<llvm::Value* const> each) const;

  ArrayPlanes planes_;
  Access access_;
  bool streamed_ = false;
  llvm::Value* index_ = nullptr;
  std::vector<Plane> loaded_;
  std::map<std::pair<int, std::int64_t>, Plane> coordinates_;  // loaded at the index, by component
};

// The value of one operator in a loop: scalar components and arrays of few coordinates in registers, others in scratch
// memory.
class OperatorValue : public Source {
 public:
  explicit OperatorValue(const ElementType& element);
  Plane load(Emitter& emitter, int component, const Plane* coordinate) override;
  void set(int component, const Plane& value) { scalars_[static_cast<size_t>(component)] = value; }
  void store(Emitter& emitter, int component, llvm::Value* coordinate, const Plane& value);
  void copy(Emitter& emitter, Source& from);  // the current value of the same element type
  [[nodiscard]] const ElementType& element() const { return element_; }

 private:
  ElementType element_;
  std::vector<Plane> scalars_;
  std::vector<llvm::Value*> arrays_;                           // by component; null: nothing has been stored
  std::map<std::pair<int, std::int64_t>, Plane> coordinates_;  // stored at known coordinates, by component
};

// The value of a map that is read once: arrays are computed where they are needed, coordinate by coordinate, and so are
// scalars if there are no `scalars`.
class Deferred : public Source {
 public:
  Deferred(const Expr& body, Sources arguments, std::unique_ptr<OperatorValue> scalars)
      : body_(body), arguments_(std::move(arguments)), scalars_(std::move(scalars)) {}
  Plane load(Emitter& emitter, int component, const Plane* coordinate) override;
  [[nodiscard]] ReadsFrom reads_from(const ElementType& result, int component) const override;

 private:
  const Expr& body_;
  Sources arguments_;
  std::unique_ptr<OperatorValue> scalars_;
};

// Like a temporary, but it keeps its value over iterations of a loop.
class Accumulator : public Source {
 public:
  enum class Home : std::uint8_t {
    registers,  // except arrays of many coordinates
    block,      // the same, and it takes no more than reduction_block elements
    scratch,    // as `block`, in memory: if there are more accumulators than registers
  };
  Accumulator(Emitter& emitter, const ElementType& element, Home home = Home::registers);
  Plane load(Emitter& emitter, int component, const Plane* coordinate) override;
  void copy(Emitter& emitter, Source& from);  // of the same element
  // Whether `body` makes the new value of each component by adding something to the old one.
  [[nodiscard]] static bool only_adds(const Expr& body);
  // Whether it adds to each component the same one of the other parameter, as it is.
  [[nodiscard]] static bool only_sums(const Expr& body);
  // What it will be filled with, one word a plane. Sums that begin with 0 take shorter code.
  void begin_with(const std::vector<Word>& words);
  void fill(Emitter& emitter, const std::vector<Word>& words);
  // The one that lies `bytes` behind this one in scratch memory: of the same element, and begun with the same words.
  [[nodiscard]] Accumulator moved(Emitter& emitter, llvm::Value* bytes) const;
  // Becomes body(sources); sources may read this accumulator. Lanes that do not count keep their value.
  void assign(Emitter& emitter, const Expr& body, const Sources& sources);
  [[nodiscard]] const ElementType& element() const { return element_; }

 private:
  [[nodiscard]] Plane next(Emitter& emitter, const Expr& body, const Sources& sources, int component,
                           const Plane* coordinate);
  [[nodiscard]] llvm::Value* plus(Emitter& emitter, int component, const Plane& old, const Plane& more) const;
  void set(Emitter& emitter, int component, const Plane* coordinate, const Plane& value);

  ElementType element_;
  Home home_;
  std::vector<llvm::Value*> scalars_, arrays_, spare_;  // by component; spare_: of arrays that may be loops
  std::vector<bool> from_zero_;                         // by component: it begins with 0 (of floats not -0)
};

// Another element's lanes moved down by `by`: the tree over lanes at the end of a block.
class ShiftedSource : public Source {
 public:
  ShiftedSource(Source& of, int by) : of_(of), by_(by) {}
  Plane load(Emitter& emitter, int component, const Plane* coordinate) override;

 private:
  Source& of_;
  int by_;
};

// Elements in slots: plane p at `address + 8 p`; one element for all lanes (partial results between threads).
class SlotSource : public Source {
 public:
  SlotSource(ElementType element, llvm::Value* address) : element_(std::move(element)), address_(address) {}
  Plane load(Emitter& emitter, int component, const Plane* coordinate) override;
  void store(Emitter& emitter, int component, const Plane* coordinate, llvm::Value* value);  // a single lane's value

 private:
  [[nodiscard]] llvm::Value* slot(Emitter& emitter, int component, const Plane* coordinate) const;
  ElementType element_;
  llvm::Value* address_;
};

// Calls visit(component, coordinate) once for each scalar component (null), and in a generated loop for each small
// array.
void for_each_plane(Emitter& emitter, const ElementType& element,
                    const std::function<void(int component, const Plane* coordinate)>& visit);

}  // namespace kasen
