/// \file
/// The schedule of a plan (level 4; docs/ir.md, "The schedule"): for each block a flat list of what happens in which
/// order. It says when an exchange starts and when it is waited for, which rows of a product run meanwhile, which
/// shareds travel together, which memory is made, and when a matrix's form is freed. The executor runs its lines, and
/// the cost model and the simulator read them. A plan below level 4 gets its schedule here, too, when it runs.
#pragma once

#include <functional>
#include <vector>

#include "libcore/analysis/liveness.h"
#include "libcore/ir/module.h"

namespace kasen {

/// A sparse matrix in the form in which products read it. There is one for each matrix, direction, and pair of sets of
/// ghosts, whatever the number of products.
struct ProductForm {
  ValueId matrix = no_value;
  bool by_rows = false;                           ///< the results are over the matrix's rows
  ValueId operand = no_value, result = no_value;  ///< of its first product; of an `entries` what lies along its rows
  std::vector<ValueId> products;                  ///< the results of the products and folds that read it, in preorder
  bool numbered = false;                          ///< it knows the index of each nonzero (LocalMatrix::numbers)
};
/// In preorder of their first products.
[[nodiscard]] std::vector<ProductForm> product_forms(const Module& module);

/// Arrays with memory of their own: they have no buffer, and are no inputs, no views, not on a disk, and not inside a
/// region. In order.
[[nodiscard]] std::vector<ValueId> arrays_without_buffer(const Module& module);

/// True if the operator is computed in parts, by rows of a sparse matrix.
[[nodiscard]] bool runs_by_rows(const Module& module, const Op& op);
/// True for a gather or a scatter, and for a region that holds a gather.
[[nodiscard]] bool has_exchange(const Op& op);

/// The lines at the head of the program's block: memory and forms.
[[nodiscard]] std::vector<ScheduleLine> memory_lines(const Module& module);
/// The lines at the end of a block of a loop or branch: the arrays that it hands on with their memory, and those that
/// it copies (liveness.h). Single values have none. `live`: of the operator that holds the block.
[[nodiscard]] std::vector<ScheduleLine> end_lines(const Module& module, const OpLiveness& live, const Op& op,
                                                  size_t block);
/// All lines of a module with a schedule: those of a block, then those of the blocks in its operators.
void for_each_line(const Module& module,
                   const std::function<void(const Block& block, const ScheduleLine& line)>& visit);
/// Writes the schedule of every block in place of what stands there. The module is valid, of level 2 or higher; its
/// level stays.
void write_schedule(Module& module);

}  // namespace kasen
