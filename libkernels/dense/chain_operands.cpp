#include "libkernels/dense/chain_operands.h"

#include <algorithm>

#include "libkernels/dense/compressed_product.h"
#include "libkernels/dense/turn_columns.h"

namespace kasen {

std::int64_t room_bytes(const ChainKernels& kernels, std::int64_t rows) {
  std::int64_t bytes = 0;
  for (const ElementType& element : kernels.rooms) bytes += storage_bytes(element, rows);
  return bytes;
}

RoomPlaces rooms_at(const ChainKernels& kernels, std::byte* memory, std::int64_t first, std::int64_t rows) {
  RoomPlaces places{first, {}};
  for (const ElementType& element : kernels.rooms) {
    places.views.push_back({memory, rows});
    memory += storage_bytes(element, rows);
  }
  return places;
}

std::int64_t strip_bytes(const ChainKernels& kernels) {
  std::int64_t dense = 0;  // of a compressed operand's rows, behind the rooms
  for (const ChainKernels::LoadedRows& loaded : kernels.loads) {
    const Scalar scalar = kernels.rooms[static_cast<size_t>(loaded.room)].scalar();
    if (loaded.compressed) dense = std::max(dense, reduction_block * loaded.stride * scalar_bytes(scalar));
  }
  return room_bytes(kernels, reduction_block) + dense;
}

std::int64_t most_strip_bytes(const PlanKernels& plan) {
  std::int64_t most = 0;
  for (const auto& [op, product] : plan.products) {
    if (product.epilogue) most = std::max(most, strip_bytes(product.kernel));
  }
  for (const auto& [op, chain] : plan.chains) most = std::max(most, strip_bytes(chain));
  return most;
}

ChainOperands::ChainOperands(Workshop& shop, const ChainKernels& kernels, const DenseProductCall& call)
    : shop_(shop), kernels_(kernels), call_(call) {
  inputs_.assign(call_.inputs.begin(), call_.inputs.end());
  vectors_ = inputs_;
  outputs_.assign(call_.outputs.begin(), call_.outputs.end());
  for (const ChainKernels::TurnedWhole& turned : kernels_.whole_inputs) {
    View& view = (turned.along ? vectors_ : inputs_)[static_cast<size_t>(turned.place)];
    const View planes = planes_of(turned);
    to_planes(turned.scalar, view.data, planes, {0, planes.capacity}, RowShape(turned.columns));
    view = planes;
  }
  for (const ChainKernels::TurnedWhole& turned : kernels_.whole_outputs) {
    View& view = outputs_[static_cast<size_t>(turned.place)];
    const View planes = planes_of(turned);
    to_planes(turned.scalar, view.data, planes, {0, planes.capacity}, RowShape(turned.columns));
    view = planes;
  }
}

View ChainOperands::planes_of(const ChainKernels::TurnedWhole& turned) {
  const std::int64_t count = turned.along ? call_.cols : 1;
  planes_.emplace_back(storage_bytes(ElementType::array(turned.scalar, turned.columns), count));
  return {planes_.back().data(), count};
}

void ChainOperands::turn_back() const {
  for (const ChainKernels::TurnedWhole& turned : kernels_.whole_outputs) {
    const View& planes = outputs_[static_cast<size_t>(turned.place)];
    from_planes(turned.scalar, planes, {0, planes.capacity}, call_.outputs[static_cast<size_t>(turned.place)].data,
                turned.columns);
  }
}

void ChainOperands::load_rows(const ChainKernels::LoadedRows& loaded, const RoomPlaces& rooms, Range range,
                              int thread) const {
  const ElementType& element = kernels_.rooms[static_cast<size_t>(loaded.room)];
  const View& operand = inputs_[static_cast<size_t>(loaded.place)];
  if (operand.compressed != nullptr) return load_expanded(loaded, *operand.compressed, rooms, range, thread);
  const std::int64_t first = range.begin * loaded.stride + first_column(loaded);
  to_planes(element.scalar(), operand.data + first * scalar_bytes(element.scalar()),
            rooms.views[static_cast<size_t>(loaded.room)], {range.begin - rooms.first, range.end - rooms.first},
            RowShape(element.planes(), loaded.stride));
}

std::int64_t ChainOperands::first_column(const ChainKernels::LoadedRows& loaded) const {
  return loaded.begin < 0 ? 0 : load_word(Scalar::i64, inputs_[static_cast<size_t>(loaded.begin)].data).i;
}

void ChainOperands::load_expanded(const ChainKernels::LoadedRows& loaded, const CompressedArray& operand,
                                  const RoomPlaces& rooms, Range range, int thread) const {
  const ElementType& element = kernels_.rooms[static_cast<size_t>(loaded.room)];
  std::byte* dense = shop_.strip(thread) + room_bytes(kernels_, reduction_block);
  std::vector<char> columns(static_cast<size_t>(operand.cols));
  std::fill_n(columns.begin() + first_column(loaded), element.planes(), 1);
  expand_rows(operand, range.begin, range.end, dense, columns);
  dense += first_column(loaded) * scalar_bytes(element.scalar());
  to_planes(element.scalar(), dense, rooms.views[static_cast<size_t>(loaded.room)],
            {range.begin - rooms.first, range.end - rooms.first}, RowShape(element.planes(), loaded.stride));
}

void ChainOperands::store_rows(const ChainKernels::TurnedRows& turned, const RoomPlaces& rooms, Range range) const {
  const ElementType& element = kernels_.rooms[static_cast<size_t>(turned.room)];
  const View& result = outputs_[static_cast<size_t>(turned.place)];
  from_planes(element.scalar(), rooms.views[static_cast<size_t>(turned.room)],
              {range.begin - rooms.first, range.end - rooms.first}, result.data + range.begin * element.bytes(),
              element.planes());
}

}  // namespace kasen
