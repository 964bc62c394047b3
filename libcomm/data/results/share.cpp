#include "libcomm/data/results/share.h"

#include <cstring>
#include <utility>

namespace kasen {
namespace {

// Bytes and texts one after the other, for the other ranks.
class Packed {
 public:
  Packed() = default;
  explicit Packed(std::string from) : bytes(std::move(from)) {}
  void put(std::int64_t number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void put(const std::string& text) {
    put(static_cast<std::int64_t>(text.size()));
    bytes += text;
  }
  [[nodiscard]] std::int64_t number() {
    std::int64_t result = 0;
    std::memcpy(&result, bytes.data() + at_, sizeof result);
    at_ += sizeof result;
    return result;
  }
  [[nodiscard]] std::string text() {
    const auto size = static_cast<std::size_t>(number());
    at_ += size;
    return bytes.substr(at_ - size, size);
  }
  [[nodiscard]] bool more() const { return at_ < bytes.size(); }
  std::string bytes;

 private:
  std::size_t at_ = 0;
};

// Sends the same to every rank; returns the bytes of each.
std::vector<std::string> share(const std::string& bytes, ResultRanks& ranks) {
  return ranks.exchange(std::vector<std::string>(static_cast<std::size_t>(ranks.ranks()), bytes));
}

}  // namespace

std::set<std::string> relabelled_dims(const std::vector<Part>& parts, ResultRanks& ranks) {
  Packed mine;
  for (const Part& part : parts)
    for (const auto& [name, dim] : part.dims)
      if (!dim.original.empty()) mine.put(name);
  std::set<std::string> all;
  for (const std::string& bytes : share(mine.bytes, ranks))
    for (Packed theirs{bytes}; theirs.more();) all.insert(theirs.text());
  return all;
}

ResultPlaces share_places(const ResultFiles* files, ResultRanks& ranks) {
  Packed mine;
  if (files != nullptr) {
    for (const std::vector<ResultPlace>& table : files->places()) {
      mine.put(static_cast<std::int64_t>(table.size()));
      for (const ResultPlace& place : table) {
        mine.put(place.file);
        mine.put(place.offset);
      }
    }
  }
  ResultPlaces places;
  for (Packed from{share(mine.bytes, ranks).at(0)}; from.more();) {
    places.emplace_back(static_cast<std::size_t>(from.number()));
    for (ResultPlace& place : places.back()) {
      place.file = from.text();
      place.offset = from.number();
    }
  }
  return places;
}

std::vector<std::int64_t> share_number(std::int64_t mine, ResultRanks& ranks) {
  Packed packed;
  packed.put(mine);
  std::vector<std::int64_t> numbers;
  for (const std::string& bytes : share(packed.bytes, ranks)) numbers.push_back(Packed{bytes}.number());
  return numbers;
}

}  // namespace kasen
