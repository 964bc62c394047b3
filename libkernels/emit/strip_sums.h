// Many sums of one loop, one after another over a strip of elements, each in registers meanwhile. All of them at once
// would go to and from memory for every eight elements.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "libkernels/emit/elements.h"
#include "libkernels/emit/keyed_sums.h"

namespace kasen {

constexpr std::int64_t strip_elements = 256;            // their inputs stay in the first cache
constexpr std::int64_t accumulators_in_registers = 16;  // planes: half of AVX-512's

class StripSums {
 public:
  StripSums(Emitter& emitter, const Module& module, const LoopBody& body) : e_(emitter), module_(module), body_(body) {}

  // Takes the reductions that only add the result of one map. That reads inputs (`inputs`) and scalars that the loop
  // before leaves in a strip. Those that are keyed alike become a group.
  void find(const std::map<ValueId, Source*>& inputs);
  [[nodiscard]] bool empty() const { return behind_.empty(); }
  [[nodiscard]] bool takes(const Op& op) const;  // the maps and the reductions
  [[nodiscard]] bool has_groups() const { return !groups_.empty(); }
  [[nodiscard]] bool groups(const Op& op) const;  // the maps and the reductions of groups

  // Stores the sums' values of the elements at i in the strip that begins at `first`.
  void leave(const std::function<Source*(ValueId)>& source, llvm::Value* i, llvm::Value* first);
  // Adds the reduction's values of the elements first .. last - 1 to `total`; move_to(i) moves the inputs.
  void sum(const Op& reduction, Accumulator& total, const std::vector<Word>& identity, llvm::Value* first,
           llvm::Value* last, const std::function<void(llvm::Value* i)>& move_to);
  // The reductions in the order in which they are taken, but for those in groups.
  [[nodiscard]] std::vector<const Op*> reductions() const;

  // The groups: before the first strip; for a strip, as `sum`; for the lanes that count at i, of the strip that begins
  // at `first`.
  void clear_groups();
  void add_groups(llvm::Value* first, llvm::Value* last, const std::function<void(llvm::Value* i)>& move_to);
  void add_to_groups(llvm::Value* i, llvm::Value* first);
  // Calls take(reductions, sums) for each group behind the last strip. sums(k) is the total of reduction k.
  using SumsOfMember = std::function<std::unique_ptr<Source>(llvm::Value* k)>;
  void total_groups(
      const std::function<void(const std::vector<const Op*>& reductions, const SumsOfMember& sums)>& take);

 private:
  struct Behind {
    const Op *map, *reduce;
    std::vector<std::unique_ptr<MemorySource>> left;  // of the map's operands; null: an input
    bool grouped = false;
  };
  struct Group {
    KeyedSums sums;
    std::vector<Behind*> members;  // by number
  };
  bool leave_operands(Behind& work);
  [[nodiscard]] std::optional<KeyedBody> keyed(const Behind& work) const;
  void find_groups();
  [[nodiscard]] Sources arguments(const Behind& work, llvm::Value* i, llvm::Value* first) const;

  Emitter& e_;
  const Module& module_;
  const LoopBody& body_;
  std::map<ValueId, Source*> inputs_;
  std::vector<Behind> behind_;
  std::vector<Group> groups_;              // pointers into behind_
  std::map<ValueId, ArrayPlanes> strips_;  // the scalars that are left
};

}  // namespace kasen
