// Operators of whole arrays as a graph of block operators (NumS, section 4 and Figure 5). An axis has a label in each
// operator, as in an index notation: a transpose is another order of labels and no operator.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libopt/spread/graph.h"
#include "libopt/spread/grid.h"

namespace kasen::spread {

using ArrayId = Id<struct ArrayTag>;

struct Array {
  std::string name;
  Shape shape;
  Grid grid;
  std::vector<ObjectId> blocks;  // row-major
  std::int64_t planes = 1;       // numbers of an element: of tuples and small arrays more than one
};

// An array with the labels of its axes, each once: "ik". A label has one length and one number of blocks.
struct Labelled {
  ArrayId array;
  std::string labels;
};

class Arrays {
 public:
  explicit Arrays(Layout layout);  // throws UserError(usage) for one that none can be

  // All of these throw UserError(usage) if the shape and the grid do not fit, or operands are cut differently, and
  // UserError(limit) for too many blocks.
  ArrayId input(std::string name, Shape shape, const Grid& grid, std::int64_t planes = 1);
  // An operand without a label of the result is used for all of its blocks.
  ArrayId elementwise(std::string name, std::string_view result, const std::vector<Labelled>& operands,
                      std::int64_t planes = 1);
  // Labels that the result lacks are reduced: within each block, then over the blocks (ReduceAxis and Reduce).
  ArrayId reduce(std::string name, std::string_view result, const Labelled& operand, std::int64_t planes = 1);
  // Labels that the result lacks are summed: a product for each combination of blocks, then sums.
  ArrayId contract(std::string name, std::string_view result, const std::vector<Labelled>& operands,
                   std::int64_t planes = 1);
  // Some indices of an axis that is not cut: within each block.
  ArrayId narrowed(std::string name, ArrayId operand, std::size_t axis, std::int64_t length);
  // One operator reads whole arrays and makes a whole one (inverse, solve): these have one block.
  ArrayId whole(std::string name, Shape shape, const std::vector<ArrayId>& operands);

  void output(ArrayId array);  // its blocks end where its layout puts them

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Array& array(ArrayId id) const { return arrays_[id]; }
  [[nodiscard]] const Layout& layout() const { return layout_; }

 private:
  class Axes;
  ArrayId add(Array array);
  [[nodiscard]] ObjectId block_of(const Labelled& operand, const std::function<std::int64_t(char)>& at) const;
  ArrayId combine(Kind kind, std::string name, std::string_view result, const std::vector<Labelled>& operands,
                  std::int64_t planes);

  Layout layout_;
  Graph graph_;
  IdMap<ArrayId, Array> arrays_;
};

// "X[3,0]"
[[nodiscard]] std::string block_name(const std::string& array, const Grid& index);

}  // namespace kasen::spread
