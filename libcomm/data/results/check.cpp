#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/hdf5/content.h"
#include "libcomm/data/results/files.h"
#include "libcore/base/count_text.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

[[noreturn]] void refuse_result(const std::string& path, const std::string& why) {
  fail(ExitStatus::bad_input, fmt::format("'{}' is not a result of kasen run", path), why, "run the plan again");
}

// "/w/1": output w, component 1; "/v": output v, which is no tuple.
struct ResultName {
  std::string output;
  int component = -1;
};

ResultName result_name(const std::string& path, std::string_view set) {
  set.remove_prefix(1);
  const std::size_t slash = set.find('/');
  ResultName name{std::string(set.substr(0, slash)), -1};
  if (slash == std::string_view::npos) return name;
  const std::string_view digits = set.substr(slash + 1);
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), name.component);
  if (fault != std::errc() || end != digits.data() + digits.size() || name.component < 0)
    refuse_result(path, fmt::format("it holds '{}', which is neither an output nor a component of one", set));
  return name;
}

using Extents = std::vector<std::int64_t>;
using Components = std::map<int, Extents>;

// Components of a tuple: 0, 1, ..., over the same dimensions; those that are small arrays have one more axis.
void check_tuple(const std::string& path, const std::string& output, const Components& components) {
  if (components.rbegin()->first + 1 != std::ssize(components))
    refuse_result(path, fmt::format("a component of '{}' is missing", output));
  const auto rank = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  const auto [low, high] = std::minmax_element(components.begin(), components.end(), rank);
  const std::size_t least = low->second.size(), most = high->second.size();
  const auto common = static_cast<std::ptrdiff_t>(least < most || least == 0 ? least : least - 1);
  for (const auto& [component, extents] : components) {
    if (most - least > 1 || !std::equal(extents.begin(), extents.begin() + common, low->second.begin()))
      refuse_result(path, fmt::format("components of '{}' are of different sizes", output));
  }
}

void read_through(const FileHandle& file) {
  std::vector<std::byte> block(std::size_t{1} << 20);
  for (std::int64_t at = 0, size = file.size(); at < size;) {
    const std::int64_t bytes = std::min<std::int64_t>(std::ssize(block), size - at);
    file.read(at, block.data(), bytes);
    at += bytes;
  }
}

std::int64_t bytes_of(const StoredDataset& set) {
  return std::accumulate(set.extents.begin(), set.extents.end(), file_bytes(set.type), std::multiplies<>());
}

// Whether there are digests: all datasets have one, or none has.
bool check_digests(const FileHandle& file, const std::string& path, const StoredDatasets& sets) {
  const auto has_digest = [](const auto& set) { return !set.second.digest.empty(); };
  if (std::none_of(sets.begin(), sets.end(), has_digest)) {
    read_through(file);
    return false;
  }
  for (const auto& [name, set] : sets) {
    if (set.digest.empty())
      refuse_result(path, fmt::format("'{}' has no digest, but others have: it was added later", name.substr(1)));
    if (digest_of_range(file, set.offset, bytes_of(set)) != set.digest)
      fail(ExitStatus::bad_input, fmt::format("'{}' was altered", path),
           fmt::format("the digest of the values of '{}' differs from its attribute {}", name.substr(1),
                       digest_attribute),
           "run the plan again");
  }
  return true;
}

}  // namespace

VerifiedResult verify_hdf5_results(const std::string& path) {
  const FileHandle file = FileHandle::open_to_read(path);
  std::map<std::string, Components> tuples;
  std::size_t outputs = 0;
  const StoredDatasets sets = stored_datasets(file, path);
  for (const auto& [set, facts] : sets) {
    const ResultName name = result_name(path, set);
    if (name.component < 0)
      ++outputs;
    else
      tuples[name.output].emplace(name.component, facts.extents);
  }
  for (const auto& [output, components] : tuples) check_tuple(path, output, components);
  outputs += tuples.size();
  if (outputs == 0) refuse_result(path, "it holds nothing");
  return {"a result of " + count_text(outputs, "array"), check_digests(file, path, sets)};
}

}  // namespace kasen
