// Numbers that name things, of a type for each kind of thing. An id of one kind is not an id of another kind.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace kasen {

// The tag names the kind: `using ValueId = Id<struct ValueTag>;`. An id becomes a number by itself, so that it can be
// compared with a number and printed. A number becomes an id only where the code says so.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;  // no thing's id
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) explicit constexpr Id(Number number) : number_(static_cast<int>(number)) {}

  constexpr operator int() const { return number_; }  // NOLINT(google-explicit-constructor): see above

  constexpr Id& operator++() {
    ++number_;
    return *this;
  }
  constexpr Id& operator--() {
    --number_;
    return *this;
  }

  friend constexpr bool operator==(Id, Id) = default;
  friend constexpr auto operator<=>(Id, Id) = default;
  friend constexpr int format_as(Id id) { return id.number_; }  // for fmt

 private:
  int number_ = -1;
};

// Without these, both would become numbers.
template <class A, class B>
requires(!std::same_as<A, B>) bool operator==(Id<A>, Id<B>) = delete;
template <class A, class B>
requires(!std::same_as<A, B>) std::strong_ordering operator<=>(Id<A>, Id<B>) = delete;

// The ids from one to before another one, for loops.
template <class Key>
class IdSequence {
 public:
  class Iterator {
   public:
    using value_type = Key;
    using difference_type = std::ptrdiff_t;
    using reference = Key;
    using pointer = void;
    using iterator_category = std::input_iterator_tag;

    constexpr Iterator() = default;
    explicit constexpr Iterator(Key id) : id_(id) {}

    constexpr Key operator*() const { return id_; }
    constexpr Iterator& operator++() {
      ++id_;
      return *this;
    }
    constexpr Iterator operator++(int) { return std::exchange(*this, Iterator(Key(id_ + 1))); }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    Key id_;
  };

  constexpr IdSequence(Key first, Key end) : first_(first), end_(end) {}

  [[nodiscard]] constexpr Iterator begin() const { return Iterator(first_); }
  [[nodiscard]] constexpr Iterator end() const { return Iterator(end_); }

 private:
  Key first_, end_;
};

// A vector that has one item for each id, and that only these ids index.
template <class Key, class T>
class IdMap {
 public:
  using Items = std::vector<T>;
  using value_type = T;
  using iterator = typename Items::iterator;
  using const_iterator = typename Items::const_iterator;

  IdMap() = default;
  explicit IdMap(std::size_t count) : items_(count) {}
  IdMap(std::size_t count, const T& item) : items_(count, item) {}
  IdMap(std::initializer_list<T> items) : items_(items) {}
  explicit IdMap(Items items) : items_(std::move(items)) {}

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] bool contains(Key id) const { return id >= 0 && static_cast<std::size_t>(id) < items_.size(); }
  [[nodiscard]] Key end_id() const { return Key(items_.size()); }  // the next item's
  [[nodiscard]] IdSequence<Key> ids() const { return {Key(0), end_id()}; }

  [[nodiscard]] typename Items::reference operator[](Key id) { return items_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] typename Items::const_reference operator[](Key id) const {
    return items_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] typename Items::reference at(Key id) { return items_.at(static_cast<std::size_t>(id)); }
  [[nodiscard]] typename Items::const_reference at(Key id) const { return items_.at(static_cast<std::size_t>(id)); }
  [[nodiscard]] typename Items::reference front() { return items_.front(); }
  [[nodiscard]] typename Items::const_reference front() const { return items_.front(); }
  [[nodiscard]] typename Items::reference back() { return items_.back(); }
  [[nodiscard]] typename Items::const_reference back() const { return items_.back(); }

  Key push_back(T item) {
    items_.push_back(std::move(item));
    return Key(items_.size() - 1);
  }
  void resize(std::size_t count) { items_.resize(count); }
  void resize(std::size_t count, const T& item) { items_.resize(count, item); }
  void assign(std::size_t count, const T& item) { items_.assign(count, item); }
  void reserve(std::size_t count) { items_.reserve(count); }
  void clear() { items_.clear(); }
  void pop_back() { items_.pop_back(); }

  [[nodiscard]] iterator begin() { return items_.begin(); }
  [[nodiscard]] iterator end() { return items_.end(); }
  [[nodiscard]] const_iterator begin() const { return items_.begin(); }
  [[nodiscard]] const_iterator end() const { return items_.end(); }

  friend bool operator==(const IdMap&, const IdMap&) = default;

 private:
  Items items_;
};

}  // namespace kasen
