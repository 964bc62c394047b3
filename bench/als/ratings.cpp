#include "bench/als/ratings.h"

#include <cmath>
#include <vector>

#include "bench/numbers.h"
#include "libcomm/data/read/readers.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t ml_users = 943, ml_items = 1682, ml_ratings = 100'000;

// Those whose cell's number is low enough, whatever the file's order.
SparseInput some_of_file(const std::string& file, std::int64_t wanted) {
  ReadOptions options;
  options.element = ElementType::of(Scalar::f64);
  options.columns = {1, 2, 3};
  const RawMatrix raw = read_matrix(file, options);
  const std::vector<std::int64_t> users = raw.entries.rows(), items = raw.entries.cols();
  const Array values = raw.entries.values();
  const double share = static_cast<double>(wanted) / ml_ratings;
  SparseInput x{"X", "N", "M", ml_users, ml_items, {}, {}, {}};
  for (size_t k = 0; k < users.size(); ++k) {
    const std::int64_t user = users[k] - 1, item = items[k] - 1;  // the file counts from 1
    if (uniform(33, static_cast<std::uint64_t>(user * ml_items + item)) >= share) continue;
    x.rows.push_back(user);
    x.cols.push_back(item);
    x.values.push_back(values.as<double>()[k]);
  }
  return x;
}

// 1 to 5, as MovieLens' ratings are. Fewer ones are among more of them.
SparseInput make_ratings(std::int64_t wanted) {
  SparseInput x{"X", "N", "M", made_users, made_items, {}, {}, {}};
  const double density = static_cast<double>(wanted) / (made_users * made_items);
  for (std::int64_t cell = 0; cell < made_users * made_items; ++cell) {
    const auto number = static_cast<std::uint64_t>(cell);
    if (uniform(31, number) >= density) continue;
    x.rows.push_back(cell / made_items);
    x.cols.push_back(cell % made_items);
    x.values.push_back(1 + std::floor(5 * uniform(32, number)));
  }
  return x;
}

}  // namespace

SparseInput read_ratings(const Ratings& ratings) {
  return ratings.file.empty() ? make_ratings(ratings.wanted) : some_of_file(ratings.file, ratings.wanted);
}

}  // namespace kasen::bench
