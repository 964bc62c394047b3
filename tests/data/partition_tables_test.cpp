// Tables: arrays cut along a dimension, batches, ids, and rows that there is no memory for.
#include <gtest/gtest.h>

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/system/memory_limit.h"
#include "tests/data/partition_calls.h"

namespace kasen {
namespace {

using cases::cut, cases::inputs_of, cases::refusal;

TEST(PartitionTables, CutsTablesAlongTheFirstDimensionThatIsNotLocal) {
  std::vector<DimData> dims{{.name = "K", .local = true, .size = 2}, {.name = "N"}};
  auto rows = cases::table("x", {"N", "K"}, ElementType::array(Scalar::f64, 3), 3, 6);
  auto cols = cases::table("y", {"K", "N"}, ElementType::of(Scalar::f64), 2, 3);
  auto whole = cases::table("z", {"K"}, ElementType::of(Scalar::f64), 2, 1);
  const auto parts = cut(dims, inputs_of(std::move(rows), std::move(cols), std::move(whole)), {.workers = 2});
  const Array& x = parts[1].arrays.at("x").data;  // index 2 of N: numbers 12 to 17, two elements of three coordinates
  ASSERT_EQ(x.count, 2);
  EXPECT_EQ(x.as<double>(0)[0], 12.5);
  EXPECT_EQ(x.as<double>(2)[0], 14.5);
  EXPECT_EQ(x.as<double>(0)[1], 15.5);
  const Array& y = parts[1].arrays.at("y").data;  // column 2 of both rows
  ASSERT_EQ(y.count, 2);
  EXPECT_EQ(y.as<double>()[0], 2.5);
  EXPECT_EQ(y.as<double>()[1], 5.5);
  for (const Part& part : parts) EXPECT_EQ(part.arrays.at("z").data.as<double>()[1], 1.5);
}

TEST(PartitionTables, LongTablesComeOutPlaneByPlane) {
  for (const int workers : {1, 2, 70}) {
    std::vector<DimData> dims{{.name = "N"}, {.name = "K", .local = true, .size = 2}};
    const std::int64_t n = 1500, width = 6;  // two elements of three coordinates for each index
    auto rows = cases::table("x", {"N", "K"}, ElementType::array(Scalar::f64, 3), n, width);
    const auto parts = cut(dims, inputs_of(std::move(rows)), {.workers = workers});
    for (const Part& part : parts) {
      const auto& masters = part.dims.at("N").masters;
      const Array& x = part.arrays.at("x").data;
      ASSERT_EQ(x.count, 2 * masters.size());
      for (std::int64_t k = 0; k < masters.size(); ++k) {
        for (std::int64_t e = 0; e < width; ++e) {
          const double number = x.as<double>(e % 3)[2 * k + e / 3];
          ASSERT_EQ(number, static_cast<double>(masters[k] * width + e) + 0.5);
        }
      }
    }
  }
}

// What a reader gives by column becomes the planes of parts: of one part as it is.
TEST(PartitionTables, ColumnsBecomePlanes) {
  constexpr std::int64_t n = 1300;
  const auto element = ElementType::array(Scalar::f64, 3);
  for (const int workers : {1, 2, 70}) {
    for (const char* local : {"", "N"}) {
      std::vector<DimData> dims{{.name = "N", .local = *local != '\0'}, {.name = "M"}}, same = dims;
      const auto by_row = [&] { return cases::table("x", {"N"}, element, n, 3); };
      const auto other = [] { return cases::table("y", {"M"}, ElementType::of(Scalar::f64), 80, 1); };
      InputData rows = by_row(), columns = by_row();
      columns.table.values = Array(element, n);
      for (std::int64_t k = 0; k < 3 * n; ++k)
        columns.table.values.as<double>(k % 3)[k / 3] = rows.table.values.as<double>()[k];
      const double* const first = columns.table.values.as<double>();
      const auto expected = cut(dims, inputs_of(std::move(rows), other()), {.workers = workers});
      const auto got = cut(same, inputs_of(std::move(columns), other()), {.workers = workers});
      for (size_t w = 0; w < got.size(); ++w) {
        const Array &right = expected[w].arrays.at("x").data, &x = got[w].arrays.at("x").data;
        ASSERT_EQ(x.element, right.element);
        ASSERT_EQ(x.count, right.count);
        for (std::int64_t k = 0; k < 3 * x.count; ++k)
          ASSERT_EQ(x.as<double>(k % 3)[k / 3], right.as<double>(k % 3)[k / 3]) << workers << " " << w << " " << k;
      }
      EXPECT_EQ(got[0].arrays.at("x").data.as<double>() == first, workers == 1);
    }
  }
}

TEST(PartitionTables, IdsByColumnBecomeIndices) {
  ElementType pairs = ElementType::array(Scalar::id, 2);
  pairs.components[0].id_of = DimId(0);
  std::vector<DimData> dims{{.name = "N"}, {.name = "Q"}};
  InputData ends{.name = "ends", .dims = {"Q"}, .element = pairs};
  ends.table.rows = 3;
  ends.table.cols = 2;
  ends.table.values = Array(ElementType::array(Scalar::i64, 2), 3);
  const std::int64_t ids[2][3] = {{1000, 7, 7}, {7, 1000, 7}};
  for (int p = 0; p < 2; ++p) std::copy_n(ids[p], 3, ends.table.values.as<std::int64_t>(p));
  const auto parts = cut(dims, inputs_of(cases::pattern("G", "N", "N", {{1000, 7}}), std::move(ends)), {.workers = 1});
  const Array& made = parts[0].arrays.at("ends").data;
  for (int p = 0; p < 2; ++p)
    for (int k = 0; k < 3; ++k) EXPECT_EQ(made.as<std::int64_t>(p)[k], ids[p][k] == 7 ? 0 : 1);
}

// Element (t, n, f) of an array over a local T, N and a local F is number (t * size(N) + n) * size(F) + f of its table,
// whatever of it the table calls a row.
void expect_batches(std::vector<DimData> dims, InputData input, const std::vector<std::int64_t>& sizes) {
  const std::int64_t planes = input.element.planes();
  const auto parts = cut(dims, inputs_of(std::move(input)), {.workers = 2});
  for (size_t d = 0; d < dims.size(); ++d) EXPECT_EQ(dims[d].size, sizes[d]) << dims[d].name;
  const std::int64_t inner = sizes.size() > 2 ? sizes[2] : 1;
  for (const Part& part : parts) {
    const auto& masters = part.dims.at("N").masters;
    const Array& x = part.arrays.at("x").data;
    ASSERT_EQ(x.count, std::ssize(masters) * sizes[0] * inner);
    for (std::int64_t e = 0; e < x.count; ++e) {
      const std::int64_t n = masters[static_cast<size_t>(e / inner / sizes[0])], t = e / inner % sizes[0];
      const std::int64_t number = ((t * sizes[1] + n) * inner + e % inner) * planes;
      for (std::int64_t p = 0; p < planes; ++p) ASSERT_EQ(x.as<double>(p)[e], static_cast<double>(number + p) + 0.5);
    }
  }
}

std::vector<DimData> batch_dims(std::int64_t batches, std::int64_t samples, std::int64_t features) {
  return {{.name = "T", .local = true, .size = batches},
          {.name = "N", .size = samples},
          {.name = "F", .local = true, .size = features}};
}

TEST(PartitionTables, RowsOfATableAreThoseOfBatches) {
  const std::vector<std::string> three{"T", "N", "F"};
  const ElementType number = ElementType::of(Scalar::f64);
  const std::vector<std::int64_t> sizes{4, 3, 2};
  for (const std::int64_t features : {unknown_size, std::int64_t{2}}) {
    expect_batches(batch_dims(4, unknown_size, features), cases::table("x", three, number, 12, 2), sizes);
    expect_batches(batch_dims(unknown_size, 3, features), cases::table("x", three, number, 12, 2), sizes);
  }
  expect_batches(batch_dims(4, 3, 2), cases::table("x", three, number, 4, 6), sizes);  // a batch a row
  expect_batches(batch_dims(unknown_size, 3, 2), cases::table("x", three, number, 4, 6), sizes);
  expect_batches(batch_dims(4, unknown_size, unknown_size),
                 cases::table("x", three, ElementType::array(Scalar::f64, 3), 12, 6), sizes);
  std::vector<DimData> two = batch_dims(4, unknown_size, unknown_size);
  two.pop_back();
  expect_batches(two, cases::table("x", {"T", "N"}, number, 12, 1), {4, 3});
  expect_batches(two, cases::table("x", {"T", "N"}, number, 4, 3), {4, 3});
}

TEST(PartitionTables, AxesOfAFileAreThoseOfItsArray) {
  for (const bool given : {false, true}) {
    InputData cube = cases::table("x", {"T", "N", "F"}, ElementType::of(Scalar::f64), 4, 6);
    cube.table.axes = {4, 3, 2};
    expect_batches(given ? batch_dims(4, 3, 2) : batch_dims(unknown_size, unknown_size, unknown_size), std::move(cube),
                   {4, 3, 2});
  }
  InputData points = cases::table("x", {"T", "N"}, ElementType::array(Scalar::f64, 2), 4, 6);
  points.table.axes = {4, 3, 2};
  std::vector<DimData> two = batch_dims(unknown_size, unknown_size, unknown_size);
  two.pop_back();
  expect_batches(two, std::move(points), {4, 3});
}

// Six arrays of 4 x 2 are no 24 samples for 3 batches of 8, nor 6 rows of 8. Of images the first axis is the samples.
TEST(PartitionTables, AxesOfAnotherSizeAreRefused) {
  const auto input = [](bool named) {
    InputData cube = cases::table("x", {"T", "N", "F"}, ElementType::of(Scalar::f64), 6, 8);
    cube.table.axes = {6, 4, 2};
    cube.table.named_axes = named;
    return cube;
  };
  EXPECT_NE(refusal(batch_dims(3, unknown_size, unknown_size), inputs_of(input(true)))
                .find("shape (6, 4, 2); axis 0 has 6 indices, and T has 3"),
            std::string::npos);
  EXPECT_NE(refusal(batch_dims(unknown_size, 2, unknown_size), inputs_of(input(true)))
                .find("axis 1 has 4 indices, and N has 2"),
            std::string::npos);
  EXPECT_NE(refusal(batch_dims(6, 4, 3), inputs_of(input(true))).find("reshape(len(array), -1)"), std::string::npos);
  expect_batches(batch_dims(6, 4, 2), input(true), {6, 4, 2});
  expect_batches(batch_dims(3, unknown_size, unknown_size), input(false), {3, 2, 8});
}

TEST(PartitionTables, IdsInTablesBecomeIndices) {
  std::vector<DimData> dims{{.name = "N"}, {.name = "Q"}};
  InputData start = cases::table("start", {"Q"}, ElementType::id(DimId(0)), 2, 1);
  start.table.values = Array(ElementType::of(Scalar::i64), 2);
  start.table.values.as<std::int64_t>()[0] = 1000;
  start.table.values.as<std::int64_t>()[1] = 7;
  const auto parts = cut(dims, inputs_of(cases::pattern("G", "N", "N", {{1000, 7}}), std::move(start)), {.workers = 1});
  EXPECT_EQ(parts[0].arrays.at("start").data.as<std::int64_t>()[0], 1);
  EXPECT_EQ(parts[0].arrays.at("start").data.as<std::int64_t>()[1], 0);
}

// Only batches are told from a table's rows: three rows of one number are no row of three.
TEST(PartitionTables, ATableOfAnotherWidthIsNotSplit) {
  InputData narrow = cases::table("x", {"N", "F"}, ElementType::of(Scalar::f64), 6, 1);
  const std::string said =
      refusal({{.name = "N"}, {.name = "F", .local = true, .size = 3}}, inputs_of(std::move(narrow)));
  EXPECT_NE(said.find("'x'"), std::string::npos) << said;
  EXPECT_NE(said.find('F'), std::string::npos) << said;
}

TEST(PartitionTables, RefusesRowsThatAreNoBatches) {
  const auto number = ElementType::of(Scalar::f64);
  const auto said = [&](std::int64_t rows, std::int64_t columns, std::int64_t samples, std::int64_t features) {
    return refusal(batch_dims(4, samples, features),
                   inputs_of(cases::table("x", {"T", "N", "F"}, number, rows, columns)));
  };
  EXPECT_NE(said(14, 2, unknown_size, 2).find("leave out 2 rows"), std::string::npos);
  EXPECT_NE(said(16, 2, 3, 2).find("4 indices of dimension N"), std::string::npos);
  EXPECT_NE(said(12, 3, 3, 2).find("3 indices of dimension F"), std::string::npos);
  EXPECT_NE(said(4, 6, unknown_size, 2).find("--dim N=SIZE"), std::string::npos);
  EXPECT_EQ(said(12, 2, 3, 2), "accepted");
}

// A table may say that it has no rows of very many columns: their indices are runs. Those of a matrix are lists.
TEST(PartitionTables, NoListsBeyondTheMemory) {
  constexpr std::int64_t many = std::int64_t{1} << 30;
  InputData input = cases::table("x", {"N", "F"}, ElementType::of(Scalar::f64), 0, 1);
  input.table.cols = many;
  std::vector<DimData> dims{{.name = "N"}, {.name = "F", .local = true}, {.name = "M", .size = many}};
  set_available_memory(1 << 20);
  const auto parts = cut(dims, inputs_of(std::move(input)), {.workers = 2});
  EXPECT_EQ(parts[1].dims.at("F").masters, IndexList::run(0, many));
  EXPECT_EQ(parts[1].dims.at("M").masters, IndexList::run(many / 2, many / 2));
  EXPECT_NE(refusal({{.name = "N"}, {.name = "M", .size = many}}, inputs_of(cases::pattern("G", "N", "M", {{0, 7}})),
                    ExitStatus::limit),
            "accepted");
  set_available_memory(-1);
}

}  // namespace
}  // namespace kasen
