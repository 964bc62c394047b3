#include "libcomm/data/results/ids.h"

#include <algorithm>
#include <cstring>

namespace kasen {
namespace {

using Indices = std::vector<std::int64_t>;

std::string message_of(const std::int64_t* begin, const std::int64_t* end) {
  return {reinterpret_cast<const char*>(begin), reinterpret_cast<const char*>(end)};
}

Indices indices_of(const std::string& message) {
  Indices result(message.size() / sizeof(std::int64_t));
  if (!result.empty()) std::memcpy(result.data(), message.data(), message.size());
  return result;
}

}  // namespace

UserIds::UserIds(const ResultTable& ids, const std::vector<Part>& parts, std::int64_t window_bytes, ResultRanks& ranks)
    : ranks_(ranks),
      plan_(ids, ranks.ranks(), WindowPlan::Order::ranges, window_bytes),
      whole_(ids.cut < 0 || ranks.ranks() == 1),
      size_(ids.elements()) {
  if (ids.cut < 0) {
    ids_ = parts.at(0).dims.at(ids.dims[0].name).original;
    return;
  }
  first_ = plan_.begin_of(ranks.rank());
  const TableSpread spread(ids, id_shares_of(ids, parts), WindowPlan::Order::ranges, window_bytes, ranks);
  for (std::int64_t round = 0; round < plan_.rounds(); ++round) {
    const ResultWindow window = spread.window(round);
    const auto* values = reinterpret_cast<const std::int64_t*>(window.columns[0].data());
    ids_.insert(ids_.end(), values, values + window.count);
  }
}

void UserIds::name(std::span<std::int64_t> indices) const {
  if (!whole_) return name_by_asking(indices);
  for (std::int64_t& index : indices)
    if (index >= 0 && index < size_) index = ids_[static_cast<std::size_t>(index)];
}

// Asks for each different index once, at the rank that has it: labels and parents name few indices very often.
void UserIds::name_by_asking(std::span<std::int64_t> indices) const {
  Indices asked;
  std::copy_if(indices.begin(), indices.end(), std::back_inserter(asked),
               [&](std::int64_t index) { return index >= 0 && index < size_; });
  std::sort(asked.begin(), asked.end());
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  std::vector<std::string> questions;
  for (int rank = 0; rank < ranks_.ranks(); ++rank) {
    const auto begin = std::lower_bound(asked.begin(), asked.end(), plan_.begin_of(rank));
    const auto end = std::lower_bound(begin, asked.end(), plan_.begin_of(rank + 1));
    questions.push_back(message_of(asked.data() + (begin - asked.begin()), asked.data() + (end - asked.begin())));
  }
  std::vector<std::string> answers;
  for (const std::string& question : ranks_.exchange(std::move(questions))) {
    Indices ids = indices_of(question);
    for (std::int64_t& id : ids) id = ids_[static_cast<std::size_t>(id - first_)];
    answers.push_back(message_of(ids.data(), ids.data() + ids.size()));
  }
  Indices names;  // of `asked`: ranks have ascending runs
  for (const std::string& answer : ranks_.exchange(std::move(answers))) {
    const Indices ids = indices_of(answer);
    names.insert(names.end(), ids.begin(), ids.end());
  }
  for (std::int64_t& index : indices) {
    if (index < 0 || index >= size_) continue;
    index = names[static_cast<std::size_t>(std::lower_bound(asked.begin(), asked.end(), index) - asked.begin())];
  }
}

}  // namespace kasen
