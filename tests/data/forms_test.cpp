// Forms in a bundle's folder: what is kept is what is loaded; anything else is refused.
#include "libcomm/data/bundle/forms.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "libcomm/data/bundle/bundle.h"
#include "libcore/base/error.h"
#include "tests/data/bundle_cases.h"
#include "tests/data/mutate_json.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

using testing::Mutator;
using Numbers = std::vector<std::int32_t>;

class Forms : public ::testing::Test {
 protected:
  void SetUp() override {
    digest_ = write_bundle(path(), cases::rich_parts(2), cases::rich_info(2), false).digest;
    for (std::int32_t k = 0; k < std::ssize(large_); ++k) large_[static_cast<size_t>(k)] = k * 7 % 1000;
    keep();
  }
  void keep() {
    BundleForms(path(), digest_, true).keep(name_, std::vector{bytes_of_list(small_), bytes_of_list(large_)});
  }

  [[nodiscard]] std::string path() const { return folder_.file("b"); }
  [[nodiscard]] std::string form_file() const {
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      if (is_form_file(entry.path().filename().string())) return entry.path().string();
    return "";
  }

  std::optional<LoadedForm> load(std::int64_t below = 1000) {
    return BundleForms(path(), digest_, false).load(name_, shapes(below));
  }
  [[nodiscard]] std::vector<FormShape> shapes(std::int64_t below) const {
    return {{4 * std::ssize(small_)}, {4 * std::ssize(large_), below}};
  }
  void expect_whole(const std::optional<LoadedForm>& form) const {
    ASSERT_TRUE(form.has_value());
    EXPECT_EQ(std::memcmp(form->arrays.at(0), small_.data(), 4 * small_.size()), 0);
    EXPECT_EQ(std::memcmp(form->arrays.at(1), large_.data(), 4 * large_.size()), 0);
  }
  template <class Load>
  static std::string refusal(const Load& load) {
    try {
      (void)load();
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input);
      return error.what();
    }
    return "";
  }

  cases::Folder folder_;
  std::string digest_;
  const FormName name_{"matrix of one", 1};
  const Numbers small_{-5, 7};
  Numbers large_ = Numbers(300'000);  // several blocks
};

TEST_F(Forms, AreLoadedAsTheyWereKept) {
  expect_whole(load());
  ASSERT_EQ(chmod(form_file().c_str(), 0666), 0);  // others may write it: copied
  expect_whole(load());
  BundleForms forms(path(), digest_, false);
  EXPECT_FALSE(forms.load({"matrix of one", 0}, shapes(1000)).has_value());
  EXPECT_FALSE(forms.load({"another", 1}, shapes(1000)).has_value());
  EXPECT_EQ(forms.made(), 2);
  forms.keep({"another", 1}, {});  // not asked to keep
  EXPECT_FALSE(forms.load({"another", 1}, {}).has_value());
  const std::vector<KeptForm> kept = kept_forms(path(), digest_);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].text, name_.text);
  EXPECT_EQ(kept[0].workers, 1);
  EXPECT_EQ(kept[0].bytes, static_cast<std::int64_t>(std::filesystem::file_size(form_file())));
  EXPECT_NO_THROW(check_forms(path(), digest_));
  EXPECT_EQ(read_parts(path(), 0, 2).size(), 2U);  // the bundle is as it was
  EXPECT_EQ(read_bundle_info(path()).digest, digest_);
}

TEST_F(Forms, GoWithTheirBundle) {
  EXPECT_NO_THROW((void)write_bundle(path(), cases::rich_parts(2, 2), cases::rich_info(2), true));
  EXPECT_EQ(form_file(), "");
}

TEST_F(Forms, RefuseWhatDoesNotFit) {
  EXPECT_NE(refusal([&] { return load(999); }).find("outside"), std::string::npos);
  BundleForms forms(path(), digest_, false);
  EXPECT_NE(refusal([&] { return forms.load(name_, std::vector<FormShape>{{8}}); }), "");
  EXPECT_NE(refusal([&] { return forms.load(name_, std::vector<FormShape>{{8}, {8}}); }), "");
  BundleForms other(path(), std::string(32, '0'), false);
  EXPECT_NE(refusal([&] { return other.load(name_, shapes(1000)); }).find("another bundle"), std::string::npos);
  std::filesystem::rename(form_file(), folder_.file("away"));
  std::filesystem::create_symlink(folder_.file("away"), path() + "/form-" + std::string(32, '0') + "-0000.bin");
  EXPECT_NE(refusal([&] { return kept_forms(path(), digest_).size(); }).find("link"), std::string::npos);
}

TEST_F(Forms, RefuseEveryChange) {
  const std::string file = form_file(), whole = cases::content(file);
  Mutator mutator(3);
  int refused = 0;
  for (int trial = 0; trial < 60 && !HasFailure(); ++trial) {
    folder_.write("b/" + std::filesystem::path(file).filename().string(), mutator.change(whole));
    const std::string why = refusal([&] {
      expect_whole(load());  // a change of padding is no change
      return 0;
    });
    refused += why.empty() ? 0 : 1;
    EXPECT_EQ(refusal([&] {
                check_forms(path(), digest_);
                return 0;
              }).empty(),
              why.empty());
  }
  EXPECT_GT(refused, 40);
}

// The first line with a digest that fits: what it says is held against the file and what is asked for.
TEST_F(Forms, RefuseChangedHeads) {
  const std::string file = form_file(), whole = cases::content(file);
  const size_t end = whole.find('\n');
  const testing::Json head = testing::Json::parse(whole.substr(0, end));
  Mutator mutator(4);
  int refused = 0;
  for (int trial = 0; trial < 300 && !HasFailure(); ++trial) {
    std::string line = testing::changed_manifest(head, mutator);
    std::erase(line, '\n');
    line.resize(std::max(line.size(), size_t{4095}), ' ');
    folder_.write("b/" + std::filesystem::path(file).filename().string(), line + "\n" + whole.substr(4096));
    const std::string why = refusal([&] {
      expect_whole(load());
      return 0;
    });
    refused += why.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 150);
}

}  // namespace
}  // namespace kasen
