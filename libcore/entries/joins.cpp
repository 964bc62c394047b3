#include "libcore/entries/joins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "libcore/base/error.h"

namespace kasen {
namespace {

// The local index in `to` of each local index in `from` along one axis; absent_entry where it has none. Owned indices
// are the same in both.
std::vector<std::int32_t> axis_map(std::int64_t masters, const AxisSlaves& from, const AxisSlaves& to) {
  std::unordered_map<std::int64_t, std::int32_t> known;
  for (std::size_t k = 0; k < to.slaves.size(); ++k)
    known.emplace(to.slaves[k], static_cast<std::int32_t>(masters) + static_cast<std::int32_t>(k));
  std::vector<std::int32_t> map(static_cast<std::size_t>(masters) + from.slaves.size(), absent_entry);
  for (std::int64_t i = 0; i < masters; ++i) map[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i);
  for (std::size_t k = 0; k < from.slaves.size(); ++k) {
    const auto at = known.find(from.slaves[k]);
    if (at != known.end()) map[static_cast<std::size_t>(masters) + k] = at->second;
  }
  return map;
}

}  // namespace

std::vector<std::int32_t> aligned_entries(const Part& part, const PartMatrix& to, const PartMatrix& from) {
  if (std::max(to.entries(), from.entries()) > std::numeric_limits<std::int32_t>::max()) {
    fail(ExitStatus::limit, fmt::format("a part with {} nonzeros", std::max(to.entries(), from.entries())),
         "values at nonzeros are numbered by 31 bits on each worker", "partition the data for more workers");
  }
  const auto rows = axis_map(part.dims.at(to.row_dim).masters.size(), from.row_slaves, to.row_slaves);
  const auto cols = axis_map(part.dims.at(to.col_dim).masters.size(), from.col_slaves, to.col_slaves);
  std::vector<std::int32_t> places(static_cast<std::size_t>(to.entries()), absent_entry);
  for (std::size_t r = 0; r + 1 < from.row_pointers.size(); ++r) {
    if (rows[r] == absent_entry) continue;
    const auto row = static_cast<std::size_t>(rows[r]);
    const auto first = to.columns.begin() + to.row_pointers[row], last = to.columns.begin() + to.row_pointers[row + 1];
    auto at = first;
    for (std::int64_t e = from.row_pointers[r]; e < from.row_pointers[r + 1]; ++e) {
      const std::int32_t wanted = cols[static_cast<std::size_t>(from.columns[static_cast<std::size_t>(e)])];
      if (wanted == absent_entry) continue;
      const bool behind = at != last && *at <= wanted;
      at = std::lower_bound(behind ? at : first, last, wanted);
      if (at == last || *at != wanted) continue;
      places[static_cast<std::size_t>(at - to.columns.begin())] = static_cast<std::int32_t>(e);
    }
  }
  return places;
}

void require_places(const Places& places, std::int64_t rows, std::int64_t cols) {
  const auto inside = [](std::int64_t i, std::int64_t size) { return i >= 0 && i < size; };
  for (std::int64_t e = 0; e < places.count; ++e) {
    if (inside(places.rows[e], rows) && inside(places.cols[e], cols)) continue;
    fail(ExitStatus::bad_input, "a place of a product lies outside of its matrix",
         "the rows and columns of its factors are indices of their dimensions", "plan the program again");
  }
}

std::int64_t Factor::bytes() const { return bytes_of_lists(begins, along, entries); }

Factor make_factor(const Places& places, std::int64_t lines, bool turned) {
  const std::int64_t* const line = turned ? places.cols : places.rows;
  const std::int64_t* const along = turned ? places.rows : places.cols;
  Factor made;
  made.begins.assign(static_cast<std::size_t>(lines) + 1, 0);
  for (std::int64_t e = 0; e < places.count; ++e) ++made.begins[static_cast<std::size_t>(line[e]) + 1];
  for (std::size_t k = 1; k < made.begins.size(); ++k) made.begins[k] += made.begins[k - 1];
  made.along.resize(static_cast<std::size_t>(places.count));
  made.entries.resize(made.along.size());
  std::vector<std::int64_t> to(made.begins.begin(), made.begins.end() - 1);
  for (std::int64_t e = 0; e < places.count; ++e) {
    const auto at = static_cast<std::size_t>(to[static_cast<std::size_t>(line[e])]++);
    made.along[at] = static_cast<std::int32_t>(along[e]);
    made.entries[at] = e;
  }
  // Places by rows give lines that ascend; those of several workers may not.
  std::vector<std::pair<std::int32_t, std::int64_t>> some;
  for (std::size_t k = 0; k + 1 < made.begins.size(); ++k) {
    const auto begin = made.begins[k], end = made.begins[k + 1];
    if (std::is_sorted(made.along.begin() + begin, made.along.begin() + end)) continue;
    some.clear();
    for (auto e = static_cast<std::size_t>(begin); std::cmp_less(e, end); ++e)
      some.emplace_back(made.along[e], made.entries[e]);
    std::sort(some.begin(), some.end());
    for (std::size_t e = 0; e < some.size(); ++e)
      std::tie(made.along[static_cast<std::size_t>(begin) + e], made.entries[static_cast<std::size_t>(begin) + e]) =
          some[e];
  }
  return made;
}

std::vector<std::byte> ordered_values(const Factor& factor, const std::byte* values, Scalar scalar) {
  const auto bytes = static_cast<std::size_t>(scalar_bytes(scalar));
  std::vector<std::byte> made(factor.entries.size() * bytes);
  for (std::size_t e = 0; e < factor.entries.size(); ++e)
    std::memcpy(made.data() + e * bytes, values + static_cast<std::size_t>(factor.entries[e]) * bytes, bytes);
  return made;
}

namespace {

template <class T>
struct Sum {
  T value{};
  void add(T a, T b) { value = static_cast<T>(value + a * b); }
};
template <>
struct Sum<std::int64_t> {  // wraps, as everywhere
  std::int64_t value = 0;
  void add(std::int64_t a, std::int64_t b) {
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) +
                                      static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};
template <>
struct Sum<std::int32_t> {
  std::int32_t value = 0;
  void add(std::int32_t a, std::int32_t b) {
    value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) +
                                      static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
  }
};
struct Any {
  std::uint8_t value = 0;
  void add(std::uint8_t a, std::uint8_t b) { value = static_cast<std::uint8_t>(value | (a & b)); }
};

// A line of the left factor is spread out over the indices along it. It is the same one for many places in turn. A line
// that is far longer than one of the right factor's is searched, and the other way round.
template <class T, class Total>
class Meet {
 public:
  explicit Meet(const Meeting& m)
      : m_(m),
        left_(reinterpret_cast<const T*>(m.left_values)),
        right_(reinterpret_cast<const T*>(m.right_values)),
        spread_(static_cast<std::size_t>(m.length), -1) {}

  void run(std::int64_t begin, std::int64_t end) {
    T* const result = reinterpret_cast<T*>(m_.result);
    for (std::int64_t e = begin; e < end; ++e) {
      const std::int64_t i = m_.places.rows[e], j = m_.places.cols[e];
      if (i != row_) spread(i);
      result[e] = m_.right == nullptr ? own(j) : at(line(*m_.right, j));
    }
    spread(-1);
  }

 private:
  struct Line {
    std::int64_t begin = 0, end = 0;
    [[nodiscard]] std::int64_t size() const { return end - begin; }
  };
  static constexpr std::int64_t far = 64;  // times longer

  static Line line(const Factor& factor, std::int64_t i) {
    return {factor.begins[static_cast<std::size_t>(i)], factor.begins[static_cast<std::size_t>(i) + 1]};
  }

  void spread(std::int64_t row) {
    const std::int32_t* const along = m_.left->along.data();
    for (std::int64_t e = own_.begin; e < own_.end; ++e) spread_[static_cast<std::size_t>(along[e])] = -1;
    row_ = row;
    own_ = row < 0 ? Line() : line(*m_.left, row);
    for (std::int64_t e = own_.begin; e < own_.end; ++e)
      spread_[static_cast<std::size_t>(along[e])] = static_cast<std::int32_t>(e - own_.begin);
  }

  [[nodiscard]] T own(std::int64_t col) const {
    const std::int32_t at = spread_[static_cast<std::size_t>(col)];
    return at < 0 ? T{} : left_[own_.begin + at];
  }

  [[nodiscard]] T at(Line other_line) const {
    Total total;
    const std::int32_t* const along = m_.right->along.data();
    if (own_.size() * far < other_line.size()) {
      const std::int32_t* from = along + other_line.begin;
      const std::int32_t* const last = along + other_line.end;
      for (std::int64_t e = own_.begin; e < own_.end; ++e) {
        const std::int32_t k = m_.left->along[static_cast<std::size_t>(e)];
        from = std::lower_bound(from, last, k);
        if (from != last && *from == k) total.add(left_[e], right_[from - along]);
      }
      return total.value;
    }
    const T* const left = left_ + own_.begin;
    for (std::int64_t e = other_line.begin; e < other_line.end; ++e) {
      const std::int32_t own = spread_[static_cast<std::size_t>(along[e])];
      if (own >= 0) total.add(left[own], right_[e]);
    }
    return total.value;
  }

  const Meeting& m_;
  const T* left_;
  const T* right_;
  std::vector<std::int32_t> spread_;  // the number in the left line at each index along it, or -1
  std::int64_t row_ = -1;
  Line own_;
};

}  // namespace

void meet_some(const Meeting& meeting, std::int64_t begin, std::int64_t end) {
  switch (meeting.scalar) {
    case Scalar::f64:
      return Meet<double, Sum<double>>(meeting).run(begin, end);
    case Scalar::f32:
      return Meet<float, Sum<float>>(meeting).run(begin, end);
    case Scalar::i64:
      return Meet<std::int64_t, Sum<std::int64_t>>(meeting).run(begin, end);
    case Scalar::i32:
      return Meet<std::int32_t, Sum<std::int32_t>>(meeting).run(begin, end);
    case Scalar::boolean:
      return Meet<std::uint8_t, Any>(meeting).run(begin, end);
    case Scalar::null:
    case Scalar::id:
      break;
  }
  throw InternalError("a product of values that are no numbers");
}

}  // namespace kasen
