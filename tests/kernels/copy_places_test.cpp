// Copies from places of one array to places of another (KernelSet::copy_places): element by element as the lists say,
// nothing else is touched, on one thread and on several.
#include <numeric>

#include "libcore/data/place_list.h"
#include "tests/kernels/random_functions.h"

namespace kasen::test {
namespace {

IndexList some_indices(Random& random, std::int64_t count, std::int64_t extent) {
  std::vector<std::int64_t> all(static_cast<size_t>(extent));
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), random);
  all.resize(static_cast<size_t>(count));
  std::sort(all.begin(), all.end());
  return IndexList(all);
}

// Places of so many indices along each axis, which is up to `more` longer, or of every few of its indices, also
// backwards.
PlaceList some_places(Random& random, const std::vector<std::int64_t>& counts, int more) {
  std::vector<PlaceList::Axis> axes;
  for (const std::int64_t count : counts) {
    const std::int64_t extent = count + below(random, more + 1);
    if (more > 0 && below(random, 4) == 0) {
      const std::int64_t step = below(random, 3) + 1, last = step * std::max<std::int64_t>(count - 1, 0);
      const bool back = below(random, 2) == 0;
      axes.push_back({IndexList::run(0, count), last + 1 + below(random, 2), back ? last : 0, back ? -step : step});
      continue;
    }
    axes.push_back({below(random, 2) == 0 ? IndexList::run(extent - count, count) : some_indices(random, count, extent),
                    extent, 0, 1});
  }
  return PlaceList(std::move(axes));
}

std::vector<std::int64_t> listed(const PlaceList& places) {
  std::vector<std::int64_t> all;
  places.for_each_run(0, places.size(), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t i = first; i < first + count; ++i) all.push_back(i);
  });
  return all;
}

std::int64_t end_of(const PlaceList& places) {
  const std::vector<std::int64_t> all = listed(places);
  return all.empty() ? 0 : *std::max_element(all.begin(), all.end()) + 1;
}

struct PlaceCase {
  std::vector<PlaceList> from, to;
  std::vector<Array> sources, targets, wanted;
};

PlaceCase make_case(Random& random, const ElementType& element, std::int64_t rows, std::int64_t cols) {
  PlaceCase made;
  for (int k = 0; k < 3; ++k) {
    const std::vector<std::int64_t> counts{below(random, 3) + 1, rows, k == 1 ? 1 : cols};
    made.from.push_back(some_places(random, counts, 3));
    made.to.push_back(some_places(random, counts, 3));
  }
  for (size_t k = 0; k < made.from.size(); ++k) {
    made.sources.push_back(random_array(random, element, end_of(made.from[k]) + 2));
    made.targets.push_back(random_array(random, element, end_of(made.to[k]) + 1));
    Array& wanted = made.wanted.emplace_back(copy(made.targets[k]));
    const std::vector<std::int64_t> from = listed(made.from[k]), to = listed(made.to[k]);
    EXPECT_EQ(from.size(), to.size());
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const std::int64_t size = scalar_bytes(element.plane_scalar(p));
      for (size_t i = 0; i < from.size(); ++i) {
        std::copy_n(made.sources[k].plane(p) + from[i] * size, size, wanted.plane(p) + to[i] * size);
      }
    }
  }
  return made;
}

TEST(CopyPlaces, ElementsGoWhereTheListsSay) {
  Random random(13);
  const ElementType types[] = {ElementType::of(Scalar::f64), ElementType::of(Scalar::f32),
                               ElementType::of(Scalar::boolean), ElementType::array(Scalar::i64, 3)};
  for (const int threads : {0, 1, 3}) {  // 0: the interpreter
    const auto kernels = threads == 0 ? make_interpreter_kernels() : testing::make_kernels({.threads = threads});
    for (const ElementType& element : types) {
      for (const auto& [rows, cols] : {std::pair{0, 4}, {1, 1}, {7, 5}, {300, 1}, {150, 170}}) {
        PlaceCase made = make_case(random, element, rows, cols);
        std::vector<Array> got;
        std::vector<PlaceCopy> copies;
        for (const Array& target : made.targets) got.push_back(copy(target));
        for (size_t k = 0; k < got.size(); ++k) {
          copies.push_back({view(made.sources[k]), &made.from[k], view(got[k]), &made.to[k]});
        }
        kernels->copy_places(element, copies);
        for (size_t k = 0; k < got.size(); ++k) {
          EXPECT_EQ(difference(made.wanted[k], got[k], got[k].count), "") << threads << " threads, " << rows;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kasen::test
