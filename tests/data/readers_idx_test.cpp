// IDX files: every type of elements, whole and damaged, plain and packed. tests/tools/idx_test.py holds them against
// NumPy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "libcore/system/memory_limit.h"
#include "tests/data/reader_cases.h"

namespace kasen {
namespace {

using namespace kasen::testing;  // NOLINT: test helpers
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void append_word(std::string& bytes, std::uint64_t word, int width) {
  for (int k = width - 1; k >= 0; --k) bytes += static_cast<char>(word >> static_cast<unsigned>(8 * k) & 255U);
}

// `words` are the elements' bits.
std::string idx(int code, int width, const std::vector<std::uint32_t>& shape, const std::vector<std::uint64_t>& words) {
  std::string bytes(2, '\0');
  bytes += static_cast<char>(code);
  bytes += static_cast<char>(shape.size());
  for (const std::uint32_t size : shape) append_word(bytes, size, 4);
  for (const std::uint64_t word : words) append_word(bytes, word, width);
  return bytes;
}

std::string small_images() { return idx(8, 1, {3, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 128, 255}); }

RawTable read_bytes(const std::string& bytes, Scalar scalar) {
  const Folder folder;
  return read_table(folder.write("a", bytes), table_of(scalar));
}

Refusal refused_bytes(const std::string& bytes, Scalar scalar = Scalar::f64) {
  const Folder folder;
  return table_refusal(folder.write("images-idx3-ubyte", bytes), table_of(scalar));
}

TEST(Idx, EveryTypeOfElements) {
  constexpr std::uint64_t minus = ~std::uint64_t{0};
  EXPECT_THAT(numbers_of(read_bytes(idx(0x08, 1, {3}, {0, 127, 255}), Scalar::i32)), ElementsAre(0, 127, 255));
  EXPECT_THAT(numbers_of(read_bytes(idx(0x09, 1, {3}, {1, minus, 128}), Scalar::i64)), ElementsAre(1, -1, -128));
  EXPECT_THAT(numbers_of(read_bytes(idx(0x0b, 2, {3}, {258, minus, 0x8000}), Scalar::f32)),
              ElementsAre(258, -1, -32768));
  EXPECT_THAT(numbers_of(read_bytes(idx(0x0c, 4, {2}, {0x01020304, 0x80000000}), Scalar::f64)),
              ElementsAre(16909060, -2147483648.0));
  EXPECT_THAT(
      numbers_of(read_bytes(
          idx(0x0d, 4, {2}, {std::bit_cast<std::uint32_t>(-1.5F), std::bit_cast<std::uint32_t>(0.1F)}), Scalar::f64)),
      ElementsAre(-1.5, static_cast<double>(0.1F)));
  EXPECT_THAT(
      numbers_of(read_bytes(
          idx(0x0e, 8, {2}, {std::bit_cast<std::uint64_t>(0.1), std::bit_cast<std::uint64_t>(-1e300)}), Scalar::f64)),
      ElementsAre(0.1, -1e300));
  EXPECT_THAT(numbers_of(read_bytes(idx(0x08, 1, {2}, {1, 0}), Scalar::boolean)), ElementsAre(1, 0));
}

TEST(Idx, TheFirstAxisIsRows) {
  const RawTable images = read_bytes(small_images(), Scalar::i32);
  EXPECT_EQ(images.rows, 3);
  EXPECT_EQ(images.cols, 4);
  EXPECT_THAT(images.axes, ElementsAre(3, 2, 2));
  EXPECT_THAT(numbers_of(images), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 128, 255));
  const RawTable labels = read_bytes(idx(8, 1, {2}, {7, 9}), Scalar::i64);
  EXPECT_EQ(labels.rows, 2);
  EXPECT_EQ(labels.cols, 1);
  const RawTable one = read_bytes(idx(8, 1, {}, {7}), Scalar::i64);
  EXPECT_THAT(numbers_of(one), ElementsAre(7));
  EXPECT_EQ(read_bytes(idx(8, 1, {0, 28, 28}, {}), Scalar::f64).rows, 0);
}

// Many blocks and pieces; elements of 8 bytes, whose blocks begin at none of the file's.
TEST(Idx, LargeFilesPlainAndPacked) {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> words;
  for (int i = 0; i < 700001; ++i) words.push_back(std::bit_cast<std::uint64_t>(std::ldexp(double(random()), -40)));
  const std::string bytes = idx(0x0e, 8, {700001}, words);
  const Folder folder;
  std::string digest;
  for (const std::string& content : {bytes, gzip(bytes), xz(bytes)}) {
    const RawTable t = read_table(folder.write("a", content), table_of(Scalar::f64));
    ASSERT_EQ(t.rows, 700001);
    for (size_t i = 0; i < words.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint64_t>(t.values.as<double>()[i]), words[i]) << i;
    if (digest.empty()) digest = t.digest;
    EXPECT_EQ(t.digest, digest);
  }
}

TEST(Idx, IsToldByItsContentThenByItsName) {
  const Folder folder;
  const std::string bytes = small_images();
  EXPECT_EQ(detect_format(folder.write("a.csv", bytes)), FileFormat::idx);
  EXPECT_EQ(detect_format(folder.write("b", gzip(bytes))), FileFormat::idx);
  EXPECT_EQ(detect_format(folder.write("t10k-labels-idx1-ubyte.gz", gzip("1 2\n"))), FileFormat::idx);
  EXPECT_EQ(detect_format(folder.write("a.idx", "1 2\n")), FileFormat::idx);
  EXPECT_EQ(detect_format(folder.write("c", std::string("\0\0\x07\1", 4))), FileFormat::csv);
}

// A file that is cut off anywhere, and one that goes on, plain and packed.
TEST(Idx, TheLengthIsAsAnnounced) {
  const std::string whole = small_images();
  for (size_t size = 1; size < whole.size(); ++size) {
    for (const bool packed : {false, true}) {
      const std::string cut = whole.substr(0, size);
      const Refusal refused = refused_bytes(packed ? gzip(cut) : cut);
      EXPECT_EQ(refused.status, ExitStatus::bad_input) << size;
      EXPECT_THAT(refused.text, HasSubstr("images-idx3-ubyte: "));
      if (size < 4) {
        EXPECT_THAT(refused.text, HasSubstr("two bytes of 0"));
      } else {
        EXPECT_THAT(refused.text, HasSubstr("ends at byte " + std::to_string(size)));
        EXPECT_THAT(refused.text, HasSubstr("get the file again"));
      }
      if (size >= 16) {
        EXPECT_THAT(refused.text, HasSubstr("announces 3 x 2 x 2 unsigned bytes, 28 bytes with it"));
      }
    }
  }
  for (const std::string& longer : {whole + '\0', gzip(whole + '\0'), whole + whole, xz(whole + whole)}) {
    const Refusal refused = refused_bytes(longer);
    EXPECT_EQ(refused.status, ExitStatus::bad_input);
    EXPECT_THAT(refused.text, HasSubstr("goes on at byte 28"));
    EXPECT_THAT(refused.text, HasSubstr("get the file again"));
  }
}

// Sizes whose product does not fit 64 bits, one that no memory holds, and one that the file is far too short for: each
// is told before memory is taken.
TEST(Idx, VastSizes) {
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  for (const std::vector<std::uint32_t>& shape :
       {std::vector<std::uint32_t>{most, most, most}, {0, most, most, most}, std::vector<std::uint32_t>(255, most)}) {
    for (const bool packed : {false, true}) {
      const std::string bytes = idx(8, 1, shape, {1});
      const Refusal refused = refused_bytes(packed ? gzip(bytes) : bytes);
      EXPECT_EQ(refused.status, ExitStatus::limit);
      EXPECT_THAT(refused.text, HasSubstr("64 bits"));
    }
  }
  const std::string eighth = idx(0x0e, 8, {1U << 31U, 1U << 29U}, {1});  // 2^60 elements, 2^63 bytes
  EXPECT_EQ(refused_bytes(eighth).status, ExitStatus::limit);
  const std::string much = idx(8, 1, {1U << 20U, 1U << 20U}, {1});
  EXPECT_THAT(refused_bytes(much).text, HasSubstr("ends at byte 13, among its elements"));
  EXPECT_THAT(refused_bytes(gzip(much)).text, HasSubstr("ends at byte 13, among its elements"));
}

// What is announced is taken once it is there: a file that announces what memory holds, and has none of it.
TEST(Idx, NoTableOfWhatIsOnlyAnnounced) {
  const std::string megabytes = idx(8, 1, {1U << 20U}, {1});
  set_available_memory(2 << 20);
  const Refusal plain = refused_bytes(megabytes), packed = refused_bytes(gzip(megabytes));
  const Refusal whole = refused_bytes(gzip(idx(8, 1, {1U << 20U}, std::vector<std::uint64_t>(1U << 20U))));
  set_available_memory(-1);
  EXPECT_EQ(plain.status, ExitStatus::bad_input);
  EXPECT_EQ(packed.status, ExitStatus::bad_input) << packed.text;
  EXPECT_EQ(whole.status, ExitStatus::limit);  // its table takes 8 MiB
}

TEST(Idx, Refuses) {
  const std::tuple<std::string, Scalar, const char*> cases[] = {
      {idx(0x0a, 1, {1}, {1}), Scalar::f64, "a type of elements (08, 09, 0b, 0c, 0d or 0e)"},
      {"0 1\n2 3\n", Scalar::f64, "give another format with --input-format"},
      {idx(8, 1, {2, 2}, {0, 1, 2, 1}), Scalar::boolean, "element [1, 0] does not fit type bool"},
      {idx(0x0d, 4, {2}, {std::bit_cast<std::uint32_t>(1.0F), std::bit_cast<std::uint32_t>(2.5F)}), Scalar::i64,
       "element [1, 0] does not fit type i64; the file's type is 32-bit float; declare a wider type"},
      {idx(0x0e, 8, {1}, {std::bit_cast<std::uint64_t>(1e300)}), Scalar::f32, "does not fit type f32"},
      {idx(0x0e, 8, {1}, {std::bit_cast<std::uint64_t>(std::nan(""))}), Scalar::i32, "does not fit type i32"},
  };
  for (const auto& [bytes, scalar, says] : cases) {
    const Refusal refused = refused_bytes(bytes, scalar);
    EXPECT_EQ(refused.status, ExitStatus::bad_input) << refused.text;
    EXPECT_THAT(refused.text, HasSubstr(says));
  }
  const Folder folder;
  const Refusal sparse = matrix_refusal(folder.write("a", small_images()), matrix_of(Scalar::null));
  EXPECT_EQ(sparse.status, ExitStatus::bad_input);
  EXPECT_THAT(sparse.text, HasSubstr("declare the input dense"));
}

// Of several elements that do not fit, the first is told, whoever finds it.
TEST(Idx, TheFirstFaultIsTold) {
  std::vector<std::uint64_t> words(500000);
  for (const size_t at : {450000U, 130000U, 70001U}) words[at] = 2;
  EXPECT_THAT(refused_bytes(idx(8, 1, {500000}, words), Scalar::boolean).text, HasSubstr("element [70001, 0]"));
}

TEST(Idx, DamagedFilesEndInAMessageOrATable) {
  std::mt19937_64 random(6);
  const Folder folder;
  int whole = 0;
  for (int iteration = 0; iteration < 2000; ++iteration) {
    std::string bytes = small_images();
    for (std::uint64_t k = 0; k <= random() % 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(1 + random() % bytes.size());
    const std::string path = folder.write("damaged-ubyte", random() % 3 == 0 ? gzip(bytes) : bytes);
    const Refusal refused = table_refusal(path, table_of(random() % 2 == 0 ? Scalar::f64 : Scalar::i32));
    EXPECT_TRUE(refused.status == ExitStatus::done || refused.status == ExitStatus::bad_input ||
                refused.status == ExitStatus::limit)
        << refused.text;
    whole += refused.status == ExitStatus::done ? 1 : 0;
  }
  EXPECT_GT(whole, 100);
  EXPECT_LT(whole, 1900);
}

}  // namespace
}  // namespace kasen
