// Files of models, whole, altered and hostile; and what the first lines of a table show of its columns.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/base/new_file.h"
#include "libcomm/data/model/model.h"
#include "libcomm/data/text/table_head.h"
#include "libcore/base/error.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

Model random_model(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  Model model;
  model.kind = "logistic";
  model.table = "csv";
  model.table_columns = static_cast<int>(below(9)) + 3;
  model.sparse = below(2) == 0;
  for (std::int64_t k = 0, count = below(5) + 1; k < count; ++k) {
    model.features.push_back({static_cast<int>(k) + 1, below(2) == 0 ? "" : "a \"name\", \xc3\xa4", {}});
    if (below(2) == 0) model.features.back().levels = {"x", "", "\xe2\x82\xac"};
    if (below(2) == 0) model.features.back().mean = -1.0 / 7;
  }
  if (below(3) > 0) model.target.push_back({9, "y", {"no", "yes"}});
  model.classes = {"no", "yes"};
  if (below(2) == 0) model.left_out = {"id", "note"};
  if (below(2) == 0) model.marks = {"-999", "a \"mark\""};
  model.facts = {{"loss", 0.1 * static_cast<double>(below(1000))}, {"rows", 7}};
  model.arrays["coefficients"] = {{model.width()},
                                  std::vector<double>(static_cast<std::size_t>(model.width()), 1.0 / 3)};
  model.arrays["wide"] = {{2, 3}, {1, -2, 3e300, 4, 5e-324, 6}};
  model.arrays["nothing"] = {{0}, {}};
  if (below(2) == 0) model.arrays["N_ids"] = {{2}, {}, {9007199254740993, 9223372036854775806}};
  return model;
}

TEST(Models, AreReadAsTheyWere) {
  const cases::Folder folder;
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Model model = random_model(seed);
    write_model(folder.file("m.h5"), model);
    EXPECT_EQ(read_model(folder.file("m.h5")), model) << seed;
    write_model(folder.file("again.h5"), model);
    EXPECT_EQ(read_whole_file(folder.file("m.h5"), 1 << 20), read_whole_file(folder.file("again.h5"), 1 << 20));
  }
}

// Version 2 is written where version 1 cannot say it.
TEST(Models, HaveTheOldestVersionThatHoldsThem) {
  const cases::Folder folder;
  Model model;
  model.kind = "als";
  model.table = "csv";
  model.features = {{1, "user", {}, 0.5}, {2, "item", {}}, {3, "stars", {}}};
  model.marks = {"-"};
  const auto version = [&] {
    write_model(folder.file("m.h5"), model);
    EXPECT_EQ(read_model(folder.file("m.h5")), model);
    const std::string whole = read_whole_file(folder.file("m.h5"), 1 << 20), key = "\"kasen_model\": ";
    return whole.substr(whole.find(key) + key.size(), 1);
  };
  model.arrays["N_ids"] = {{2}, {4, 7}};
  EXPECT_EQ(version(), "1");
  model.arrays["N_ids"] = {{2}, {}, {4, 7}};
  EXPECT_EQ(version(), "2");
  model.arrays["N_ids"] = {{2}, {4, 7}};
  model.features[1].levels = {"x", "y"};
  EXPECT_EQ(version(), "2");
}

TEST(Models, WidthCountsWords) {
  Model model;
  model.features = {{1, "a", {}}, {2, "b", {"x", "y", "z"}}, {3, "c", {}}};
  EXPECT_EQ(model.width(), 5);
}

TEST(Models, RefuseWhatTheyCannotBe) {
  const cases::Folder folder;
  Model model = random_model(3);
  model.arrays["wide"].values[2] = std::numeric_limits<double>::infinity();
  write_model(folder.file("m.h5"), model);
  EXPECT_THROW((void)read_model(folder.file("m.h5")), UserError);
  EXPECT_THROW((void)read_model(folder.file("none.h5")), UserError);
  EXPECT_THROW(write_model(folder.file("no/m.h5"), random_model(1)), UserError);
}

// A file with any byte altered, or cut, is refused, or holds the same model: bytes that no number or name is in.
TEST(Models, AlteredBytesAreSeen) {
  const cases::Folder folder;
  const Model model = random_model(5);
  write_model(folder.file("m.h5"), model);
  const std::string whole = read_whole_file(folder.file("m.h5"), 1 << 20);
  std::mt19937 random(1);
  int refused = 0;
  for (int turn = 0; turn < 150; ++turn) {
    std::string bytes = turn % 5 == 0 ? whole.substr(0, random() % whole.size()) : whole;
    if (!bytes.empty()) bytes[random() % bytes.size()] ^= static_cast<char>(1 << (random() % 8));
    const std::string path = folder.file("bad-" + std::to_string(turn) + ".h5");
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      EXPECT_EQ(read_model(path), model);
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

struct HeadCase {
  std::string text;
  bool by_name;
  std::vector<std::string> names;
  std::vector<bool> words;
};

TEST(TableHeads, ShowNamesAndWords) {
  const std::vector<HeadCase> cases{
      {"a,b\n1,x\n2,y\n", false, {"a", "b"}, {false, true}},
      {"1,x\n2,y\n", false, {}, {false, true}},
      {"a,b\nx,y\n", false, {}, {true, true}},
      {"a,b\nx,y\n", true, {"a", "b"}, {true, true}},
      {"a;b;c\n1;\"2\";\"x;y\"\n", false, {"a", "b", "c"}, {false, false, true}},
      {"a,b\n1,NA\n2,3\n", false, {"a", "b"}, {false, false}},
      {"# note\na,b\n\n# more\n1,x\n", false, {"a", "b"}, {false, true}},
      {"1 2 3\n4 5 6\n", false, {}, {false, false, false}},
      {"5\n6\n", false, {}, {false}},
  };
  const cases::Folder folder;
  for (const HeadCase& each : cases) {
    std::ofstream(folder.file("t.csv")) << each.text;
    const TableHead head = read_table_head(folder.file("t.csv"), each.by_name);
    std::vector<std::string> names;
    std::vector<bool> words;
    for (const HeadColumn& column : head.columns) {
      if (head.named) names.push_back(column.name);
      words.push_back(column.words);
    }
    EXPECT_EQ(names, each.names) << each.text;
    EXPECT_EQ(words, each.words) << each.text;
  }
}

TEST(TableHeads, KnowHowCellsAreWritten) {
  const cases::Folder folder;
  HeadCells cells{.numbers = {.point = ',', .group = '.'}, .marks = {"none"}, .is_missing = {}};
  cells.is_missing = [](std::string_view text) { return text == "none" || text == "NA"; };
  std::ofstream(folder.file("t.csv")) << "a;b;c;d\n1.234,5;NA;none;x\n2,5;NA;none;none\n";
  const TableHead head = read_table_head(folder.file("t.csv"), false, cells);
  ASSERT_EQ(head.columns.size(), 4U);
  EXPECT_TRUE(head.named);
  std::vector<bool> words;
  for (const HeadColumn& column : head.columns) words.push_back(column.words);
  EXPECT_EQ(words, (std::vector<bool>{false, false, false, true}));
}

TEST(TableHeads, RefuseTablesWithoutRows) {
  const cases::Folder folder;
  for (const char* text : {"", "a,b\n", "# only a note\n"}) {
    std::ofstream(folder.file("t.csv")) << text;
    EXPECT_THROW((void)read_table_head(folder.file("t.csv"), true), UserError) << text;
  }
}

}  // namespace
}  // namespace kasen
