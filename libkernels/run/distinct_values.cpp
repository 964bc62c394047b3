#include "libkernels/run/distinct_values.h"

#include <algorithm>
#include <utility>

#include "libcore/ir/products.h"
#include "libkernels/run/run_loops.h"

namespace kasen {
namespace {

// For each cell of the tuples, the number of rows that hold it.
template <class T>
void spread_counts(const CompressedArray& matrix, std::byte* out) {
  T* to = reinterpret_cast<T*>(out);
  for (const ColumnGroup& group : matrix.groups) {
    for (std::int64_t t = 0; t < group.tuples; ++t) {
      to = std::fill_n(to, group.width, static_cast<T>(matrix.counts[static_cast<size_t>(group.first_tuple + t)]));
    }
  }
}

View counts_of_cells(const CompressedArray& matrix, Scalar scalar, std::int64_t cells, std::byte* room) {
  if (scalar == Scalar::f64) {
    spread_counts<double>(matrix, room);
  } else {
    spread_counts<float>(matrix, room);
  }
  return {room, cells};
}

}  // namespace

ValueId DistinctLift::counts_of(const Type& cells, Scalar scalar, LoopBody& body, DistinctKernel& made) {
  const auto known = std::find(made.weights.begin(), made.weights.end(), scalar);
  const auto place = static_cast<size_t>(known - made.weights.begin());
  if (known != made.weights.end()) return body.inputs[body.inputs.size() - made.weights.size() + place];
  Type type = cells;
  type.element = ElementType::of(scalar);
  body.inputs.push_back(module_.add_value("counts", std::move(type)));
  made.weights.push_back(scalar);
  return body.inputs.back();
}

DistinctKernel DistinctLift::emit(KernelMaker& maker, const LoopBody& whole, const std::string& name) {
  DistinctKernel made;
  LoopBody body{{}, whole.inputs, whole.outputs, whole.where};
  std::vector<Op> ops;
  for (const Op* op : whole.ops) {
    ops.push_back(*op);
    if (op->code != OpCode::reduce || !is_plain_operator(module_.fn(op->fns.at(0)), ScalarOp::add)) continue;
    const Type cells = module_.type(op->operands.at(0));
    const ElementType& element = cells.element;
    ScalarFunction times{"times", {{"x", element, {}}, {"n", element, {}}}, {}};
    times.body = make_op(ScalarOp::mul, {make_param(0, element), make_param(1, element)});
    Op& weigh = ops.back();
    weigh.code = OpCode::map;
    weigh.over.clear();
    weigh.operands = {op->operands[0], counts_of(cells, element.scalar(), body, made)};
    weigh.fns = {module_.add_function(std::move(times))};
    weigh.results = {module_.add_value("weighed", cells)};
    Op sum = *op;
    sum.operands = weigh.results;
    ops.push_back(std::move(sum));
  }
  for (const Op& op : ops) body.ops.push_back(&op);
  made.kernel = maker.elementwise(module_, body, name);
  return made;
}

void run_distinct_values(Workshop& shop, const PlanKernels& plan, const DistinctKernel& distinct,
                         const ElementwiseKernel& cells, const ElementwiseCall& call) {
  const auto is_matrix = [](const View& v) { return v.compressed != nullptr; };
  const CompressedArray& matrix = *std::find_if(call.inputs.begin(), call.inputs.end(), is_matrix)->compressed;
  const std::vector<std::int64_t> sizes(cells.local_dims.size(), matrix.cols);
  std::vector<View> views(call.inputs.begin(), call.inputs.end());
  const auto take = [&](const std::byte* first, std::int64_t count) {
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (is_matrix(call.inputs[i])) views[i] = {const_cast<std::byte*>(first), count};
    }
  };
  const std::int64_t values = matrix.values.size() / scalar_bytes(matrix.scalar);
  take(matrix.values.data(), values);
  const std::int64_t room_bytes = storage_bytes(ElementType::of(Scalar::f64), values);
  std::byte* room = shop.rooms(room_bytes * std::ssize(distinct.weights));
  for (const Scalar scalar : distinct.weights) {
    views.push_back(counts_of_cells(matrix, scalar, values, room));
    room += room_bytes;
  }
  run_elementwise(shop, plan, distinct.kernel, views, call.outputs, 0, values, sizes);
  views.resize(call.inputs.size());
  for (const ColumnGroup& group : matrix.groups) {
    if (group.format != GroupFormat::plain) continue;
    const std::int64_t count = matrix.rows * group.width;
    take(matrix.data.data() + group.first_byte, count);
    run_elementwise(shop, plan, cells, views, call.outputs, 0, count, sizes);
  }
}

}  // namespace kasen
