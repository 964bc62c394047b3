// Element types, dimensions, storage states and array types: the terms of the IR (docs/ir.md).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/id.h"

namespace kasen {

// The scalars that a machine word holds. `null` has no bytes (a nonzero of a pattern matrix); `id` is an index of a
// named dimension, held as 64 bits.
enum class Scalar : std::uint8_t { f64, f32, i64, i32, boolean, null, id };

[[nodiscard]] std::string_view scalar_name(Scalar scalar);  // "f64", ..., "bool", "null", "id"
[[nodiscard]] std::int64_t scalar_bytes(Scalar scalar);     // 8 4 8 4 1 0 8
[[nodiscard]] inline bool is_float(Scalar s) { return s == Scalar::f64 || s == Scalar::f32; }
[[nodiscard]] inline bool is_integer(Scalar s) { return s == Scalar::i64 || s == Scalar::i32; }
[[nodiscard]] inline bool is_numeric(Scalar s) { return is_float(s) || is_integer(s); }

using DimId = Id<struct DimTag>;  // index in Module::dims
inline constexpr DimId no_dim{-1};

// Short lists of ids of dimensions, values and the like, in an order that matters.
template <class Number>
[[nodiscard]] bool contains(const std::vector<Number>& ids, Number id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// How the indices of a dimension follow from those of others, which are declared before it (ir/derived_dims.h).
struct Derivation {
  enum class Kind : std::uint8_t {
    none,      // they do not: a size of its own, or the data's
    slice,     // N[begin:end:step], as in Python
    product,   // N * M: all pairs, the last index first
    sum,       // N + M: those of N, then those of M
    quotient,  // N / M: of N in |M| equal parts, those of one part
    some,      // some N: as many as the run finds, at most those of N
    workers,   // one for each worker of the run, which owns it
  };
  Kind kind = Kind::none;
  std::vector<DimId> sources;              // slice, some: one; quotient: two; product, sum: two or more; workers: none
  std::optional<std::int64_t> begin, end;  // slice; negative: from the end
  std::int64_t step = 1;

  friend bool operator==(const Derivation&, const Derivation&) = default;
};

struct Dimension {
  std::string name;
  bool local = false;      // every worker holds all of it: never cut
  std::int64_t size = -1;  // known at plan time (`dim K = 10`), else -1: bound by the data
  Derivation derived = {};
  std::string entries_of = {};  // its indices are the stored nonzeros of this sparse input (ir/entries.h); "": not so

  [[nodiscard]] bool is_entries() const { return !entries_of.empty(); }
  [[nodiscard]] bool is_derived() const { return derived.kind != Derivation::Kind::none; }
  // Its size is known when it runs (ir/observed.h).
  [[nodiscard]] bool is_observed() const { return derived.kind == Derivation::Kind::some; }
  [[nodiscard]] bool is_workers() const { return derived.kind == Derivation::Kind::workers; }

  friend bool operator==(const Dimension&, const Dimension&) = default;
};

// One member of an element: a scalar (count 0) or a small fixed array of `count` scalars.
struct Component {
  Scalar scalar = Scalar::f64;
  DimId id_of = no_dim;    // for Scalar::id: the dimension it indexes
  std::int64_t count = 0;  // 0: a plain scalar; n > 0: `[f64; n]`

  [[nodiscard]] std::int64_t planes() const { return count == 0 ? 1 : count; }
  friend auto operator<=>(const Component&, const Component&) = default;
};

// The type of one element: a scalar `f64`, a small array `[f64; 3]`, or a flat tuple `(i64, [f64; 3])`. Arrays of
// elements are stored plane by plane, one plane for each scalar. So nothing is padded, and loops over elements load
// whole vectors. Planes are numbered in the order of components and coordinates.
struct ElementType {
  std::vector<Component> components{Component{}};
  bool tuple = false;

  static ElementType of(Scalar scalar) { return ElementType{{Component{scalar, no_dim, 0}}, false}; }
  static ElementType array(Scalar scalar, std::int64_t n) { return ElementType{{Component{scalar, no_dim, n}}, false}; }
  static ElementType id(DimId dim) { return ElementType{{Component{Scalar::id, dim, 0}}, false}; }

  [[nodiscard]] bool is_scalar() const { return !tuple && components[0].count == 0; }
  [[nodiscard]] bool is_array() const { return !tuple && components[0].count > 0; }
  [[nodiscard]] bool is(Scalar s) const { return is_scalar() && components[0].scalar == s; }
  [[nodiscard]] Scalar scalar() const { return components[0].scalar; }  // of the first component
  [[nodiscard]] std::int64_t planes() const;
  [[nodiscard]] std::int64_t bytes() const;  // of one element, without padding
  [[nodiscard]] std::int64_t first_plane(int component) const;
  [[nodiscard]] Scalar plane_scalar(std::int64_t plane) const;

  friend auto operator<=>(const ElementType&, const ElementType&) = default;
};

// Axes of the mesh of workers, as bits: bit i is axis i (module.h). Of an array's axis: those that it is cut over.
using MeshAxes = std::uint32_t;

// How an axis of an array is cut: over these axes of the mesh (none: it is whole), in equal runs, or in blocks of so
// many indices that are dealt out cyclically (layout.h).
struct AxisCut {
  MeshAxes axes = 0;
  std::int64_t block = 0;  // 0: equal runs, and where it is whole

  [[nodiscard]] bool is_whole() const { return axes == 0; }
  friend auto operator<=>(const AxisCut&, const AxisCut&) = default;
};

enum class Axis : std::uint8_t { rows, cols, all, mesh };

// The ghosts that one matrix needs along one axis: `G.rows`. With `all`, and without a matrix, every index on every
// worker: a dense array needs these along the dimensions by which it is not cut. With `mesh`, an axis of the mesh of
// workers: what one worker along it owns, all others along it have, too.
struct SlaveAtom {
  std::string matrix;  // name of the input, or of the mesh's axis
  Axis axis = Axis::rows;

  friend auto operator<=>(const SlaveAtom&, const SlaveAtom&) = default;
};

// A set of ghosts: the union over its atoms, which are sorted and without repeats. `all` contains every other atom and
// stands alone.
using SlaveSet = std::vector<SlaveAtom>;

[[nodiscard]] SlaveSet all_slaves();
[[nodiscard]] bool is_all(const SlaveSet& set);
// "G.rows, G.cols" or "all", as in the text form, without braces.
[[nodiscard]] std::string slaves_text(const SlaveSet& set);

[[nodiscard]] SlaveSet set_union(const SlaveSet& a, const SlaveSet& b);
[[nodiscard]] SlaveSet set_intersection(const SlaveSet& a, const SlaveSet& b);
[[nodiscard]] bool set_contains(const SlaveSet& a, const SlaveSet& b);  // a contains b

using FnId = Id<struct FnTag>;  // index in Module::functions
inline constexpr FnId no_fn{-1};

// How a distributed value is stored (KASEN section 4.1). For shareds, `cons` means that every worker holds it, `part`
// that worker 0 alone does, and `pre` that each worker holds a contribution. The ghost sets of shareds are empty.
struct State {
  enum class Kind : std::uint8_t { unplaced, part, cons, pre };
  Kind kind = Kind::unplaced;
  FnId reducer = no_fn;  // for pre
  SlaveSet slaves;       // for cons and pre of distributed values

  static State unplaced() { return {}; }
  static State part() { return {Kind::part, no_fn, {}}; }
  static State cons(SlaveSet slaves = {}) { return {Kind::cons, no_fn, std::move(slaves)}; }
  static State pre(FnId reducer, SlaveSet slaves = {}) { return {Kind::pre, reducer, std::move(slaves)}; }

  [[nodiscard]] bool is_part() const { return kind == Kind::part; }
  [[nodiscard]] bool is_cons() const { return kind == Kind::cons; }
  [[nodiscard]] bool is_pre() const { return kind == Kind::pre; }
  [[nodiscard]] bool placed() const { return kind != Kind::unplaced; }

  friend bool operator==(const State&, const State&) = default;
};

// The type of a value. Shapes are global and by name; a type never contains local shapes.
struct Type {
  ElementType element;
  std::vector<DimId> dims;  // empty: rank 0
  bool sparse = false;      // matrices only: only nonzeros are stored
  std::int64_t list = 0;    // 0: one array; m > 0: a fixed list of m arrays
  State state;
  bool compressed = false;    // inputs only: a dense matrix by columns' distinct values (compressed.h)
  std::vector<AxisCut> cuts;  // for each dimension; empty: the default layout (layout.h)

  friend bool operator==(const Type&, const Type&) = default;
};

}  // namespace kasen
