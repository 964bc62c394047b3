#include "libopt/layouts/hints.h"

#include <fmt/format.h>

#include <charconv>

#include "libcore/base/error.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

// The first operator that the default layout does not have.
const Op* first_over_mesh(const Module& module, const Block& block) {
  for (const Op& op : block.ops) {
    const bool on_workers = (is_axis_op(op) && crosses_workers(module, op)) || is_linear_on_workers(module, op);
    if (op.code == OpCode::contract || on_workers) return &op;
    for (const Block& inner : op.blocks) {
      if (const Op* const found = first_over_mesh(module, inner)) return found;
    }
  }
  return nullptr;
}

// The size of blocks behind a colon; 0 for none. UserError (usage).
std::int64_t named_block(const LayoutHint& hint, const std::string& text) {
  if (text.empty()) return 0;
  std::int64_t block = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), block);
  if (error == std::errc() && end == text.data() + text.size() && block >= 1 && block <= most_block) return block;
  fail(ExitStatus::usage, fmt::format("the layout of '{}' names blocks of '{}'", hint.array, text.substr(1)),
       "a block has 1 to 2^62 indices", "write the number of them, as in N/a:256");
}

// The dimension's cut, as the user names it. UserError (usage).
AxisCut named_cut(const Module& module, const LayoutHint& hint, const std::string& text) {
  const std::string letters = text.substr(0, text.find(':'));
  MeshAxes axes = 0;
  for (const char letter : letters) {
    const std::size_t axis = find_mesh_axis(module, std::string_view(&letter, 1));
    if (axis == mesh_rank(module)) {
      fail(ExitStatus::usage, fmt::format("the layout of '{}' names axis '{}'", hint.array, letter),
           "the mesh has the axes " + mesh_axes_text(module, all_mesh_axes(module)), "name one of these");
    }
    axes |= MeshAxes{1} << axis;
  }
  return {axes, named_block(hint, text.substr(letters.size()))};
}

// The cuts that a hint asks for an array over these dimensions.
Cuts asked_cuts(const Module& module, const LayoutHint& hint, const std::vector<DimId>& dims) {
  Cuts cuts;
  std::vector<std::string> names;
  MeshAxes taken = 0;
  for (const DimId dim : dims) names.push_back(module.dim(dim).name);
  const auto refuse = [&](const std::string& why) {
    fail(ExitStatus::usage, fmt::format("the layout of '{}' does not fit it", hint.array), why,
         fmt::format("it is over [{}]", fmt::join(names, ", ")));
  };
  if (hint.cuts.size() != dims.size()) refuse(fmt::format("it names {} dimensions", hint.cuts.size()));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto& [name, text] = hint.cuts[i];
    if (name != names[i]) refuse(fmt::format("its dimension {} is not '{}'", i + 1, name));
    const AxisCut cut = cuts.emplace_back(named_cut(module, hint, text));
    if (!cut.is_whole() && module.dim(dims[i]).local) refuse(fmt::format("'{}' is local, which is never cut", name));
    if (cut.is_whole() && cut.block != 0) refuse(fmt::format("'{}' has blocks, and no axis cuts it", name));
    if ((cut.axes & taken) != 0) refuse("an axis cuts two dimensions");
    const bool other = cut.axes != all_mesh_axes(module) || cut.block != 0;
    if (module.dim(dims[i]).is_workers() && !cut.is_whole() && other)
      refuse(fmt::format("all axes cut '{}': its index w is worker w's", name));
    taken |= cut.axes;
  }
  return cuts;
}

}  // namespace

void require_dense(const Module& module, bool asked) {
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input) continue;
    const Type& type = module.type(op.results.at(0));
    if (!type.sparse && !type.compressed) continue;
    const char* const kind = type.sparse ? "sparse" : "compressed";
    const DimId tiles = workers_dim(module.dims);
    if (!asked && tiles != no_dim) {
      fail(ExitStatus::bad_input,
           fmt::format("input '{}' is {}, and '{}' a dimension of workers", op.name, kind, module.dim(tiles).name),
           "tiles are of dense arrays", "compute it in a program of its own", op.where);
    }
    const Op* const first = asked ? nullptr : first_over_mesh(module, module.body);
    if (first == nullptr) {
      fail(ExitStatus::bad_input, fmt::format("input '{}' is {}", op.name, kind),
           "a mesh of workers takes dense arrays alone", "leave out --mesh: all workers share sparse matrices",
           op.where);
    }
    fail(ExitStatus::bad_input, fmt::format("this needs all arrays to be dense, and input '{}' is {}", op.name, kind),
         first->code != OpCode::contract ? "its lines or matrices lie on several workers"
                                         : "names of dimensions cannot say which axes of its arrays meet",
         first->code != OpCode::contract
             ? "compute it in a program of its own, or declare the dimension local"
             : "compute it in a program of its own, or write it by names: products with @, sum(A, over M)",
         first->where);
  }
}

std::map<ValueId, Cuts> asked_layouts(const Module& module, const std::vector<LayoutHint>& hints) {
  std::map<ValueId, Cuts> asked;
  for (const LayoutHint& hint : hints) {
    bool known = false;
    for (const Op& op : module.body.ops) {
      if ((op.code != OpCode::input && op.code != OpCode::output) || op.name != hint.array) continue;
      const ValueId value = op.code == OpCode::input ? op.results.at(0) : op.operands.at(0);
      asked[value] = asked_cuts(module, hint, module.type(value).dims);
      known = true;
    }
    if (known) continue;
    fail(ExitStatus::usage, fmt::format("a layout of '{}', which is no input or output", hint.array),
         "layouts of values in between follow from these", "name an input or an output");
  }
  return asked;
}

}  // namespace kasen
