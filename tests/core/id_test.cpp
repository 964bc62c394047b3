// Ids of one kind are not ids of another kind (base/id.h).
#include "libcore/base/id.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <type_traits>

#include "libcore/ir/module.h"

namespace kasen {
namespace {

template <class A, class B>
concept Equatable = requires(A a, B b) {
  a == b;
};
template <class A, class B>
concept Ordered = requires(A a, B b) {
  a < b;
};
template <class Map, class Index>
concept Indexed = requires(Map map, Index index) {
  map[index];
};

static_assert(sizeof(ValueId) == sizeof(int) && std::is_trivially_copyable_v<ValueId>);
static_assert(no_value == ValueId() && no_value == -1);

static_assert(std::is_convertible_v<ValueId, int> && std::is_constructible_v<ValueId, int>);
static_assert(!std::is_convertible_v<int, ValueId>);
static_assert(!std::is_convertible_v<DimId, ValueId> && !std::is_constructible_v<ValueId, DimId>);
static_assert(!std::is_assignable_v<ValueId&, DimId> && !std::is_assignable_v<ValueId&, int>);

static_assert(Equatable<ValueId, ValueId> && Equatable<ValueId, int> && Equatable<int, ValueId>);
static_assert(Ordered<ValueId, ValueId> && Ordered<ValueId, int> && Ordered<int, ValueId>);
static_assert(!Equatable<ValueId, DimId> && !Equatable<DimId, ValueId> && !Equatable<FnId, BufferId>);
static_assert(!Ordered<ValueId, DimId> && !Ordered<DimId, ValueId> && !Ordered<FnId, BufferId>);

static_assert(Indexed<IdMap<ValueId, double>, ValueId> && Indexed<const IdMap<ValueId, bool>, ValueId>);
static_assert(!Indexed<IdMap<ValueId, double>, DimId>);
static_assert(!Indexed<IdMap<ValueId, double>, int> && !Indexed<IdMap<ValueId, double>, std::size_t>);
static_assert(!std::is_convertible_v<IdMap<ValueId, double>, IdMap<DimId, double>>);

TEST(Id, IsANumberThatCounts) {
  ValueId id(3);
  EXPECT_EQ(id + 1, 4);
  EXPECT_EQ(++id, ValueId(4));
  EXPECT_EQ(--id, 3);
  EXPECT_LT(no_value, id);
  EXPECT_EQ((std::set<ValueId>{ValueId(2), no_value, ValueId(2)}).size(), 2U);
}

TEST(IdMap, HasOneItemForEachId) {
  IdMap<ValueId, std::string> names;
  EXPECT_EQ(names.push_back("a"), ValueId(0));
  EXPECT_EQ(names.push_back("b"), ValueId(1));
  EXPECT_EQ(names[ValueId(1)], "b");
  EXPECT_EQ(names.end_id(), ValueId(2));
  EXPECT_TRUE(names.contains(ValueId(0)));
  EXPECT_FALSE(names.contains(no_value) || names.contains(ValueId(2)));
  EXPECT_THROW((void)names.at(ValueId(2)), std::out_of_range);
  std::string all;
  for (const ValueId id : names.ids()) all += names[id];
  EXPECT_EQ(all, std::accumulate(names.begin(), names.end(), std::string()));
  for (const ValueId id : IdMap<ValueId, int>().ids()) ADD_FAILURE() << id;
}

TEST(IdMap, HoldsFlags) {
  IdMap<DimId, bool> met(3, false);
  met[DimId(1)] = true;
  std::vector<DimId> found;
  for (const DimId dim : met.ids()) {
    if (met[dim]) found.push_back(dim);
  }
  EXPECT_EQ(found, std::vector{DimId(1)});
  met.assign(5, true);
  EXPECT_TRUE(met[DimId(4)]);
}

}  // namespace
}  // namespace kasen
