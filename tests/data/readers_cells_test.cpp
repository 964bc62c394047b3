// Cells as people write them: numbers of other countries, and marks of missing values.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "libcomm/data/table/missing.h"
#include "libcomm/data/text/number_style.h"
#include "tests/data/reader_cases.h"

namespace kasen {
namespace {

using testing::Folder;

constexpr const char* none = "none";

std::string plain(const NumberStyle& style, std::string_view cell) { return style.plain_text(cell).value_or(none); }

TEST(NumberStyle, NumbersAsProgramsWriteThem) {
  const NumberStyle comma{.point = ','}, german{.point = ',', .group = '.'}, swiss{.point = '.', .group = '\''};
  for (const auto& [style, cell, want] :
       {std::tuple{comma, "2,5", "2.5"}, std::tuple{comma, "-,5", "-.5"}, std::tuple{comma, "+7", "+7"},
        std::tuple{comma, "1,5e-3", "1.5e-3"}, std::tuple{comma, "nan", "nan"}, std::tuple{comma, "2.5", none},
        std::tuple{comma, "1,2,3", none}, std::tuple{comma, "1,2.3", none},
        std::tuple{german, "1.234.567,25", "1234567.25"}, std::tuple{german, "12.345", "12345"},
        std::tuple{german, "1234", "1234"}, std::tuple{german, "1.5", none}, std::tuple{german, "1234.567", none},
        std::tuple{german, ".123", none}, std::tuple{german, "1..234", none}, std::tuple{german, "1,234.567", none},
        std::tuple{swiss, "1'234.5", "1234.5"}, std::tuple{swiss, "1'23.5", none},
        std::tuple{NumberStyle{}, "1,5", "1,5"}})
    EXPECT_EQ(plain(style, cell), want) << cell;
}

TEST(Missing, MarksOfMissingValues) {
  const MissingRule rule{.how = MissingRule::How::drop, .marks = {"-999"}};
  for (const char* cell : {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-", "-999"})
    EXPECT_TRUE(rule.is_missing(cell)) << cell;
  for (const char* cell : {"0", " ", "na", "--", "-99", "-9990", "inf"}) EXPECT_FALSE(rule.is_missing(cell)) << cell;
}

// By column, as points are held, and row by row.
TEST(Missing, MeansOfColumns) {
  const Folder folder;
  const std::string path = folder.write("x.csv", "1,NA\n3,4\n?,8\n");
  ReadOptions options = testing::table_of(Scalar::f64);
  options.missing.how = MissingRule::How::mean;
  EXPECT_EQ(testing::numbers_of(read_table(path, options)), (std::vector<double>{1, 6, 3, 4, 2, 8}));
  options.by_column = true;
  const RawTable points = read_table(path, options);
  const double* const first = points.values.as<double>(0);
  EXPECT_EQ(std::vector<double>(first, first + 3), (std::vector<double>{1, 3, 2}));
  const double* const second = points.values.as<double>(1);
  EXPECT_EQ(std::vector<double>(second, second + 3), (std::vector<double>{6, 4, 8}));
}

TEST(Missing, RowsThatAreToBeLeftOut) {
  const Folder folder;
  ReadOptions options = testing::table_of(Scalar::i32);
  options.missing.how = MissingRule::How::drop;
  const RawTable table = read_table(folder.write("x.csv", "1,2\nNA,?\n3,4\n5,\n"), options);
  EXPECT_EQ(table.left_out, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(table.rows, 4);
}

}  // namespace
}  // namespace kasen
