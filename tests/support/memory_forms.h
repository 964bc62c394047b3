// A store of forms in memory, which looks at what it is asked for as a bundle's does.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/kernels/form_store.h"

namespace kasen::testing {

class MemoryForms final : public FormStore {
 public:
  using Arrays = std::vector<Bytes>;

  std::optional<LoadedForm> load(const FormName& name, std::span<const FormShape> shapes) override {
    const std::scoped_lock lock(mutex_);
    const auto found = forms_.find({name.text, name.worker});
    if (found == forms_.end()) return std::nullopt;
    LoadedForm form{found->second.arrays, {}};
    const std::vector<std::int64_t>& sizes = found->second.sizes;
    require(sizes.size() == shapes.size());
    for (std::size_t a = 0; a < shapes.size(); ++a) {
      const Bytes& array = (*found->second.arrays)[a];
      require(sizes[a] == shapes[a].bytes);
      const auto* const numbers = reinterpret_cast<const std::int32_t*>(array.data());
      for (std::int64_t k = 0; shapes[a].below > 0 && k < sizes[a] / 4; ++k)
        require(numbers[k] >= 0 && numbers[k] < shapes[a].below);
      form.arrays.push_back(array.data());
    }
    ++loaded;
    return form;
  }

  void keep(const FormName& name, std::span<const std::span<const std::byte>> arrays) override {
    const std::scoped_lock lock(mutex_);
    Form form{std::make_shared<Arrays>(), {}};
    for (const auto& array : arrays) {
      Bytes& bytes = form.arrays->emplace_back((std::ssize(array) + 63) / 64 * 64 + 64);
      if (!array.empty()) std::memcpy(bytes.data(), array.data(), array.size());
      form.sizes.push_back(std::ssize(array));
    }
    forms_[{name.text, name.worker}] = std::move(form);
    ++kept;
  }

  // The arrays of the forms whose text begins with `part`, or holds it behind a semicolon.
  [[nodiscard]] std::vector<std::shared_ptr<Arrays>> with(const std::string& part) const {
    std::vector<std::shared_ptr<Arrays>> found;
    for (const auto& [name, form] : forms_)
      if (name.first.starts_with(part) || name.first.find("; " + part) != std::string::npos)
        found.push_back(form.arrays);
    return found;
  }

  int loaded = 0, kept = 0;

 private:
  static void require(bool good) {
    if (!good) fail(ExitStatus::bad_input, "a form is not as it was written");
  }
  struct Form {
    std::shared_ptr<Arrays> arrays;
    std::vector<std::int64_t> sizes;
  };
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, Form> forms_;
};

}  // namespace kasen::testing
