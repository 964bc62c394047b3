// Texts on verified outputs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tools/run/summary.h"
#include "tools/run/verify.h"

namespace kasen::tools {
namespace {

constexpr std::int64_t nobody_knows = std::numeric_limits<std::int64_t>::min();

std::int64_t id_here(const std::vector<Part>& parts, const std::string& dim, std::int64_t index) {
  for (const Part& part : parts) {
    const PartDim& d = part.dims.at(dim);
    if (d.original.empty() || !d.masters.contains(index)) continue;
    return d.original[static_cast<std::size_t>(d.masters.lower_bound(index))];
  }
  return nobody_knows;
}

// Of one that was verified.
std::string verified_text(const VerifiedOutput& output) {
  if (output.differing > 0)
    return fmt::format("wrong: {} of {} elements of {} differ", grouped(output.differing), grouped(output.recomputed),
                       output.output);
  const std::string some = output.recomputed == output.elements
                               ? fmt::format("all {}", grouped(output.elements))
                               : fmt::format("{} of {}", grouped(output.recomputed), grouped(output.elements));
  const std::string what = output.elements == 1 ? output.output : fmt::format("{} elements of {}", some, output.output);
  std::string text = fmt::format("verified: {} recomputed; ", what);
  if (output.largest == 0) return text + "equal";
  text += fmt::format("largest relative difference {:.0e}", output.largest);
  return text + (output.by_rounding ? ", which rounding explains" : "");
}

}  // namespace

// Where the dimension was relabelled, the rank that owns the index knows the user's id.
std::int64_t RunVerification::user_id(const std::string& dim, std::int64_t index) {
  const std::int64_t known = cluster_.largest(id_here(parts_, dim, index));
  return known == nobody_knows ? index : known;
}

std::string RunVerification::index_text(const Target& target, std::int64_t place) {
  std::vector<std::pair<std::string, std::int64_t>> indices;
  for (std::size_t d = target.type.dims.size(); d-- > 0;) {
    const std::string& dim = module_.dim(target.type.dims[d]).name;
    const std::int64_t size = std::max<std::int64_t>(sizes_.at(dim), 1);
    indices.emplace_back(dim, user_id(dim, place % size));
    place /= size;
  }
  std::string text;
  for (std::size_t k = indices.size(); k-- > 0;)
    text += fmt::format("{}{} = {}", text.empty() ? " at " : ", ", indices[k].first, indices[k].second);
  return text;
}

std::string RunVerification::word_text(const Target& target, std::int64_t plane, Word word) {
  const ElementType& element = target.type.element;
  for (std::size_t c = 0; c < element.components.size(); ++c) {
    const Component& component = element.components[c];
    const std::int64_t first = element.first_plane(static_cast<int>(c));
    if (plane < first || plane >= first + component.planes() || component.scalar != Scalar::id) continue;
    return std::to_string(user_id(module_.dim(component.id_of).name, word.i));
  }
  return literal_text(element.plane_scalar(plane), word);
}

std::string RunVerification::difference() {
  for (const Target& target : targets_) {
    if (!target.not_verified.empty() || !target.compared.first) continue;
    const ElementDifference& at = *target.compared.first;
    const std::string component =
        target.type.element.planes() > 1 ? fmt::format(", number {} of the element,", at.plane) : "";
    return fmt::format("{}{}{} is {}, but {} where it is computed again", target.name, index_text(target, at.place),
                       component, word_text(target, at.plane, at.made), word_text(target, at.plane, at.wanted));
  }
  return "";
}

std::vector<std::string> verified_lines(const std::vector<VerifiedOutput>& outputs) {
  std::vector<std::string> lines;
  std::set<std::string> told;
  for (const VerifiedOutput& output : outputs) {
    const std::string& reason = output.not_verified;
    if (reason.empty()) lines.push_back(verified_text(output));
    if (reason.empty() || !told.insert(reason).second) continue;
    std::vector<std::string> names;
    for (const VerifiedOutput& other : outputs)
      if (other.not_verified == reason) names.push_back(other.output);
    lines.push_back(
        fmt::format("not verified: {}{}: {}", fmt::join(names, ", "), names.size() > 1 ? ", each" : "", reason));
  }
  return lines;
}

}  // namespace kasen::tools
