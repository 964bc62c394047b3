#include "libkernels/emit/keyed_sums.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "libkernels/emit/elements.h"

namespace kasen {
namespace {

constexpr std::int64_t row_alignment = 64;

// The lanes of `a` and `b` in turn, `group` of them at a time: the first or the second half.
llvm::Value* interleave(Emitter& e, llvm::Value* a, llvm::Value* b, int group, bool second) {
  std::vector<int> lanes;
  for (int begin = second ? reduction_lanes / 2 : 0; static_cast<int>(lanes.size()) < reduction_lanes; begin += group) {
    for (const int from : {0, static_cast<int>(reduction_lanes)}) {
      for (int l = 0; l < group; ++l) lanes.push_back(from + begin + l);
    }
  }
  return e.b.CreateShuffleVector(a, b, lanes);
}

// From planes (one vector each, 2^n of them) to elements: all planes of lane 0, then all of lane 1, and so on, eight
// numbers a vector.
std::vector<llvm::Value*> by_lane(Emitter& e, const std::vector<llvm::Value*>& planes) {
  if (planes.size() == 1) return planes;
  const auto middle = planes.begin() + static_cast<std::ptrdiff_t>(planes.size() / 2);
  const std::vector<llvm::Value*> low = by_lane(e, {planes.begin(), middle}), high = by_lane(e, {middle, planes.end()});
  std::vector<llvm::Value*> made;
  for (size_t k = 0; k < low.size(); ++k) {
    for (const bool second : {false, true}) {
      made.push_back(interleave(e, low[k], high[k], static_cast<int>(low.size()), second));
    }
  }
  return made;
}

}  // namespace

// One number's sums.
class KeyedSums::Row : public Source {
 public:
  Row(const KeyedSums& sums, llvm::Value* row) : sums_(sums), row_(row) {}

  Plane load(Emitter& e, int component, const Plane* coordinate) override {
    const Place& place = sums_.places_[static_cast<size_t>(component)];
    const std::int64_t bytes = scalar_bytes(place.scalar);
    llvm::Value* row = e.at_byte(sums_.table_, e.b.CreateMul(row_, e.integer(sums_.row_bytes_)));
    llvm::Value* at = e.at_byte(row, e.integer(place.offset));
    if (coordinate != nullptr) at = e.at_byte(at, e.b.CreateMul(coordinate->value, e.integer(bytes)));
    llvm::Value* lanes = e.b.CreateMul(e.lane_numbers(), e.spread({e.integer(place.count * bytes), true}));
    return {e.gather(place.scalar, e.at_byte(at, lanes)), false};
  }

 private:
  const KeyedSums& sums_;
  llvm::Value* row_;
};

KeyedSums::KeyedSums(Emitter& emitter, const KeyedBody& body, std::int64_t first, std::int64_t count)
    : e_(emitter), body_(body), first_(first), count_(count) {
  for (const Component& c : body.value->type.components) {
    const std::int64_t planes = std::max<std::int64_t>(1, c.count);
    places_.push_back({c.scalar, row_bytes_, planes});
    row_bytes_ += reduction_lanes * planes * scalar_bytes(c.scalar);
  }
  row_bytes_ = (row_bytes_ + row_alignment - 1) / row_alignment * row_alignment;
  table_ = e_.scratch((count_ + 1) * row_bytes_);
}

void KeyedSums::clear() {
  e_.loop(e_.integer(0), e_.integer((count_ + 1) * row_bytes_), row_alignment, [&](llvm::Value* at) {
    auto* words = llvm::FixedVectorType::get(e_.b.getInt64Ty(), row_alignment / 8);
    e_.b.CreateStore(llvm::Constant::getNullValue(words), e_.at_byte(table_, at));
  });
}

std::vector<llvm::Value*> KeyedSums::rows(const Sources& arguments) {
  llvm::Value* key = e_.spread(e_.value(*body_.key, arguments));
  key = e_.b.CreateSExt(key, e_.wide(e_.b.getInt64Ty()));
  llvm::Value* row = e_.b.CreateSub(key, e_.spread({e_.integer(first_), true}));
  llvm::Value* none = e_.spread({e_.integer(count_), true});
  llvm::Value* belongs = e_.b.CreateICmpULT(row, none);
  if (e_.mask != nullptr) belongs = e_.b.CreateAnd(belongs, e_.mask);
  row = e_.b.CreateSelect(belongs, row, none);
  llvm::Value* offset = e_.b.CreateMul(row, e_.spread({e_.integer(row_bytes_), true}));
  std::vector<llvm::Value*> rows;
  for (int l = 0; l < reduction_lanes; ++l) {
    rows.push_back(e_.at_byte(table_, e_.b.CreateExtractElement(offset, e_.integer(l))));
  }
  return rows;
}

void KeyedSums::add(const Sources& arguments) {
  const std::vector<llvm::Value*> at = rows(arguments);
  for (int c = 0; c < components_of(body_.value->type); ++c) add_component(c, arguments, at);
}

void KeyedSums::add_component(int component, const Sources& arguments, const std::vector<llvm::Value*>& rows) {
  const Place& place = places_[static_cast<size_t>(component)];
  const bool array = count_of(body_.value->type, component) > 0;
  std::vector<llvm::Value*> planes;
  for (std::int64_t j = 0; j < place.count; ++j) {
    const Plane coordinate{e_.integer(j), true};
    planes.push_back(e_.spread(e_.value_at(*body_.value, arguments, component, array ? &coordinate : nullptr)));
  }
  for (std::int64_t from = 0; from < place.count;) {
    const auto left = static_cast<std::uint64_t>(std::min<std::int64_t>(place.count - from, reduction_lanes));
    const auto taken = static_cast<std::int64_t>(std::bit_floor(left));
    add_planes(place, from, {planes.begin() + from, planes.begin() + from + taken}, rows);
    from += taken;
  }
}

void KeyedSums::add_planes(const Place& place, std::int64_t from, std::vector<llvm::Value*> planes,
                           const std::vector<llvm::Value*>& rows) {
  const auto width = static_cast<int>(planes.size());
  const std::int64_t bytes = scalar_bytes(place.scalar);
  const std::vector<llvm::Value*> elements = by_lane(e_, planes);
  for (int l = 0; l < reduction_lanes; ++l) {
    llvm::Value* vector = elements[static_cast<size_t>(l * width / reduction_lanes)];
    std::vector<int> own(static_cast<size_t>(width));
    std::iota(own.begin(), own.end(), l * width % static_cast<int>(reduction_lanes));
    llvm::Value* more = width == reduction_lanes ? vector : e_.b.CreateShuffleVector(vector, own);
    llvm::Value* at =
        e_.at_byte(rows[static_cast<size_t>(l)], e_.integer(place.offset + (l * place.count + from) * bytes));
    const llvm::Align align(static_cast<std::uint64_t>(bytes));
    llvm::Value* sum = e_.b.CreateAlignedLoad(more->getType(), at, align);
    sum = is_float(place.scalar) ? e_.b.CreateFAdd(sum, more) : e_.b.CreateAdd(sum, more);
    e_.b.CreateAlignedStore(sum, at, align);
  }
}

std::unique_ptr<Source> KeyedSums::sums_of(llvm::Value* row) { return std::make_unique<Row>(*this, row); }

}  // namespace kasen
