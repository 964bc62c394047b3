#include "libcomm/data/results/sparse_order.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "libcomm/data/results/share.h"

namespace kasen {
namespace {

struct Nonzero {
  std::int64_t row, col;
  std::size_t rank, number;  // who asks, and its how manieth question
};

// Each rank orders the nonzeros of a run of rows.
class RowRuns {
 public:
  RowRuns(std::int64_t rows, int ranks) : length_(std::max<std::int64_t>(1, (rows + ranks - 1) / ranks)) {}
  [[nodiscard]] std::size_t rank_of(std::int64_t row) const { return static_cast<std::size_t>(row / length_); }

 private:
  std::int64_t length_;
};

void put_number(std::string& bytes, std::int64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::int64_t number_at(const std::string& bytes, std::size_t place) {
  std::int64_t number = 0;
  std::memcpy(&number, bytes.data() + place * sizeof number, sizeof number);
  return number;
}

std::vector<Nonzero> nonzeros_asked(const std::vector<std::string>& questions) {
  std::vector<Nonzero> all;
  for (std::size_t rank = 0; rank < questions.size(); ++rank) {
    const std::size_t count = questions[rank].size() / (2 * sizeof(std::int64_t));
    for (std::size_t k = 0; k < count; ++k)
      all.push_back({number_at(questions[rank], 2 * k), number_at(questions[rank], 2 * k + 1), rank, k});
  }
  std::sort(all.begin(), all.end(),
            [](const Nonzero& a, const Nonzero& b) { return std::pair(a.row, a.col) < std::pair(b.row, b.col); });
  return all;
}

// The places of the nonzeros about which each rank asked. Places of lower ranks' rows come first.
std::vector<std::string> answers_to(const std::vector<std::string>& questions, ResultRanks& ranks) {
  const std::vector<Nonzero> all = nonzeros_asked(questions);
  const std::vector<std::int64_t> counts = share_number(std::ssize(all), ranks);
  std::int64_t place = std::accumulate(counts.begin(), counts.begin() + ranks.rank(), std::int64_t{0});
  std::vector<std::string> answers;
  for (const std::string& question : questions) answers.emplace_back(question.size() / 2, '\0');
  for (const Nonzero& one : all) {
    std::memcpy(answers[one.rank].data() + one.number * sizeof place, &place, sizeof place);
    ++place;
  }
  return answers;
}

SortedNonzeros sorted_part(const Array& data, const std::vector<std::int64_t>& places) {
  std::vector<std::int64_t> order(places.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto place = [&](std::int64_t k) { return places[static_cast<std::size_t>(k)]; };
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return place(a) < place(b); });
  SortedNonzeros made{{}, Array(data.element, data.count)};
  std::vector<std::int64_t> ascending;
  for (const std::int64_t k : order) ascending.push_back(place(k));
  made.places = IndexList(std::move(ascending));
  for (std::int64_t p = 0; p < data.element.planes(); ++p) {
    const auto bytes = static_cast<std::size_t>(scalar_bytes(data.element.plane_scalar(p)));
    std::byte* to = made.elements.plane(p);
    for (const std::int64_t k : order) {
      std::memcpy(to, data.plane(p) + static_cast<std::size_t>(k) * bytes, bytes);
      to += bytes;
    }
  }
  return made;
}

}  // namespace

std::vector<SortedNonzeros> sorted_nonzeros(const Output& output, std::int64_t rows, ResultRanks& ranks) {
  const RowRuns runs(rows, ranks.ranks());
  std::vector<std::string> questions(static_cast<std::size_t>(ranks.ranks()));
  for (const OutputPart& part : output.parts) {
    const auto *row = part.data.as<std::int64_t>(0), *col = part.data.as<std::int64_t>(1);
    for (std::int64_t k = 0; k < part.data.count; ++k) {
      std::string& question = questions.at(runs.rank_of(row[k]));
      put_number(question, row[k]);
      put_number(question, col[k]);
    }
  }
  const std::vector<std::string> answers = ranks.exchange(answers_to(ranks.exchange(std::move(questions)), ranks));
  std::vector<std::size_t> next(answers.size());
  std::vector<SortedNonzeros> made;
  for (const OutputPart& part : output.parts) {
    const auto* row = part.data.as<std::int64_t>(0);
    std::vector<std::int64_t> places;
    for (std::int64_t k = 0; k < part.data.count; ++k) {
      const std::size_t rank = runs.rank_of(row[k]);
      places.push_back(number_at(answers[rank], next[rank]++));
    }
    made.push_back(sorted_part(part.data, places));
  }
  return made;
}

std::vector<ResultShare> shares_of(const std::vector<SortedNonzeros>& sorted) {
  std::vector<ResultShare> shares;
  for (const SortedNonzeros& part : sorted) {
    ResultShare& share = shares.emplace_back();
    share.masters = &part.places;
    for (std::int64_t p = 0; p < part.elements.element.planes(); ++p) share.planes.push_back(part.elements.plane(p));
  }
  return shares;
}

}  // namespace kasen
