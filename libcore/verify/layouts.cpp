// Checks the mesh, the cuts of each type, and that cuts go through the operators that pass them on.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "libcore/ir/axis_ops.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

constexpr std::int64_t most_workers = std::int64_t{1} << 31;

class LayoutCheck {
 public:
  LayoutCheck(const Module& module, Faults& faults) : m_(module), faults_(faults) {}

  void mesh() {
    std::set<std::string> seen;
    std::int64_t workers = 1;
    for (const MeshAxis& axis : m_.mesh) {
      const bool letter = axis.name.size() == 1 && axis.name[0] >= 'a' && axis.name[0] <= 'z';
      if (!letter) faults_.add(fmt::format("'{}' names no axis of a mesh", axis.name), "an axis is one letter, a to z");
      if (!seen.insert(axis.name).second) faults_.add(fmt::format("the mesh has two axes '{}'", axis.name));
      const bool possible = axis.size >= 1 && axis.size <= most_workers / workers;
      if (!possible) return faults_.add(fmt::format("axis '{}' of the mesh has {} workers", axis.name, axis.size));
      workers *= axis.size;
    }
    if (m_.mesh.size() > most_mesh_axes) faults_.add(fmt::format("a mesh has at most {} axes", most_mesh_axes));
  }

  // The error in the cuts of an array; "" if there is none.
  [[nodiscard]] std::string cuts_fault(const std::vector<DimId>& dims, const std::vector<AxisCut>& cuts,
                                       bool sparse) const {
    const Layout usual(m_, dims);
    if (cuts.empty()) {
      const bool right = m_.mesh.empty() || sparse || usual.is_shared();
      return right ? "" : "a module with a mesh names the layout of each array";
    }
    if (sparse) return "the rows and columns of a sparse matrix are dealt out by the bundle";
    if (cuts.size() != dims.size()) return fmt::format("{} cuts of {} dimensions", cuts.size(), dims.size());
    MeshAxes taken = 0;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const std::string& name = m_.dim(dims[axis]).name;
      const MeshAxes over = cuts[axis].axes;
      if ((over & ~all_mesh_axes(m_)) != 0) return fmt::format("'{}' is cut over no axis of the mesh", name);
      if (over != 0 && m_.dim(dims[axis]).local) return fmt::format("'{}' is local, which is never cut", name);
      if ((over & taken) != 0) {
        return fmt::format("axis '{}' of the mesh cuts two dimensions", mesh_axes_text(m_, over & taken));
      }
      taken |= over;
      if (std::string fault = block_fault(dims[axis], cuts[axis]); !fault.empty()) return fault;
    }
    return {};
  }

  [[nodiscard]] std::string block_fault(DimId dim, AxisCut cut) const {
    const std::string& name = m_.dim(dim).name;
    if (cut.block == 0) return {};
    if (cut.is_whole())
      return fmt::format("'{}' has blocks, and no axis of the mesh that they are dealt out over", name);
    if (cut.block < 0 || cut.block > most_block) return fmt::format("'{}' is cut in blocks of {}", name, cut.block);
    if (m_.dim(dim).is_workers()) return fmt::format("index w of '{}' is worker w's, so it has no blocks", name);
    return {};
  }

  void types() {
    for (const Dimension& dim : m_.dims) {
      if (!dim.is_entries() || !names_layouts(m_)) continue;
      if (const Op* const first = m_.mesh.empty() ? asks_for_layouts(m_.body) : nullptr) {
        refuse_beside_nonzeros(*first, dim.entries_of);
        break;
      }
      faults_.add(fmt::format("'{}' has the nonzeros of '{}'", dim.name, dim.entries_of),
                  "they lie where the bundle put them, and a module with layouts cuts all arrays itself");
    }
    for (const Value& v : m_.values) {
      std::string fault = cuts_fault(v.type.dims, v.type.cuts, v.type.sparse);
      if (fault.empty() && v.type.compressed && !v.type.cuts.empty()) fault = "a compressed input has the usual layout";
      if (!fault.empty()) faults_.add(fmt::format("the layout of %{} is not possible", v.name), fault);
    }
    for (const BufferId b : m_.buffers.ids()) {
      const std::string fault = cuts_fault(m_.buffers[b].dims, m_.buffers[b].cuts, false);
      if (!fault.empty()) faults_.add(fmt::format("the layout of buffer ~b{} is not possible", b), fault);
    }
  }

  void operators() {
    for_each_op(m_, [&](const Op& op, int, int) { one(op); });
  }

 private:
  // The first operator that the default layout does not have, or null.
  [[nodiscard]] const Op* asks_for_layouts(const Block& block) const {
    for (const Op& op : block.ops) {
      const bool on_workers = (is_axis_op(op) && crosses_workers(m_, op)) || is_linear_on_workers(m_, op);
      if (op.code == OpCode::contract || on_workers) return &op;
      for (const Block& inner : op.blocks) {
        if (const Op* const found = asks_for_layouts(inner)) return found;
      }
    }
    return nullptr;
  }

  void refuse_beside_nonzeros(const Op& op, const std::string& matrix) {
    std::string remedy = "compute it in a program of its own";
    if (is_grouping(op) && !m_.dim(key_dim(m_, op)).local) {
      remedy = fmt::format("declare dim C local = size({}), write by k in C, and i64(k) of keys that are ids; or {}",
                           m_.dim(key_dim(m_, op)).name, remedy);
    }
    faults_.add_plain(
        op, fmt::format("this needs all arrays to be dense, and the program works at the nonzeros of '{}'", matrix),
        "its elements lie on several workers, and nonzeros where the bundle put them", std::move(remedy));
  }

  void one(const Op& op) {
    if (op.code == OpCode::transpose) return passes_on(op, std::vector<std::size_t>{1, 0});
    if (op.code == OpCode::reduce || op.code == OpCode::at) return passes_on(op, kept_axes(op));
    if (is_grouping(op)) return groups(op);
    if (is_linear_on_workers(m_, op)) return lies_alike(op);
    if (op.code == OpCode::range) return passes_on(op, kept_axes(op));
    if (is_fold(op) || is_sparse_product(m_, op)) dealt_out(op);
  }

  // All results of linear algebra are of the same matrices.
  void lies_alike(const Op& op) {
    const std::size_t rank = batch_rank(m_, op);
    const Type& first = m_.type(op.results.at(0));
    for (const ValueId v : op.results) {
      const Layout own(m_, v), wanted(m_, first);
      bool alike = m_.type(v).state == first.state;
      for (std::size_t axis = 0; axis < m_.type(v).dims.size(); ++axis) {
        alike = alike && own.cut_of(axis) == (axis < rank ? wanted.cut_of(axis) : AxisCut());
      }
      if (!alike) wrong(op, v, "its results lie where their matrices are, and in one state");
    }
  }

  // Behind the axes of its operand that it keeps, a reduce_by has one of keys.
  void groups(const Op& op) {
    std::vector<std::ptrdiff_t> from(m_.type(op.results[0]).dims.size(), no_axis);
    const std::vector<std::ptrdiff_t> places = grouped_places(m_, op);
    for (std::size_t axis = 0; axis < places.size(); ++axis) {
      if (places[axis] != no_axis) from[static_cast<std::size_t>(places[axis])] = static_cast<std::ptrdiff_t>(axis);
    }
    passes_on(op, from, walked_operand(m_, op));
  }

  // The operand's axis of each axis of the result, for an operator that drops some.
  [[nodiscard]] std::vector<std::size_t> kept_axes(const Op& op) const {
    const std::vector<DimId>& dims = m_.type(op.operands[0]).dims;
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const bool dropped = op.code != OpCode::range && (op.over.empty() || contains(op.over, dims[axis]));
      if (!dropped) axes.push_back(axis);
    }
    return axes;
  }

  // `from`: of each axis of the result that of the operand, which may have none.
  template <class Axis>
  void passes_on(const Op& op, const std::vector<Axis>& from, std::size_t operand = 0) {
    const Layout own(m_, op.operands[operand]), result(m_, op.results[0]);
    const auto own_cuts = [&](Axis axis) {
      return static_cast<std::ptrdiff_t>(axis) == no_axis ? AxisCut() : own.cut_of(static_cast<std::size_t>(axis));
    };
    MeshAxes left = own.all_cuts();  // of dimensions that are reduced: axes along which owners are free
    for (const Axis axis : from) left &= ~own_cuts(axis).axes;
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
      const AxisCut cut = own_cuts(from[axis]);
      if ((result.cuts(axis) & ~left) == cut.axes && axes_cut_alike(cut, result.cut_of(axis)) == cut.axes) continue;
      return wrong(op, op.results[0], "it is cut like its operand along the dimensions that they share");
    }
  }

  // The vectors of a sparse matrix lie as its rows or columns do: over all workers.
  void dealt_out(const Op& op) {
    std::vector<ValueId> vectors = op.results;
    vectors.insert(vectors.end(), op.operands.begin(), op.operands.end());
    for (const ValueId v : vectors) {
      const Type& type = m_.type(v);
      if (type.sparse || Layout(m_, type).is_shared()) continue;
      if (Layout(m_, type).cut_of(0) != AxisCut{all_mesh_axes(m_), 0})
        return wrong(op, v, "it lies along a sparse matrix, which is cut over all axes of the mesh");
    }
  }

  void wrong(const Op& op, ValueId v, const char* why) {
    faults_.add(op, fmt::format("{} is {}", value_text(m_, v), type_text(m_, m_.type(v))), why);
  }

  const Module& m_;
  Faults& faults_;
};

}  // namespace

void verify_mesh(const Module& module, Faults& faults) {
  LayoutCheck check(module, faults);
  check.mesh();
  if (faults.empty()) check.types();
}

void verify_layouts(const Module& module, Faults& faults) { LayoutCheck(module, faults).operators(); }

}  // namespace kasen
