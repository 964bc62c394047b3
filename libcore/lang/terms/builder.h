// The module that is being made: values and their names, functions, and the operators of the current block.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/lang/terms/located.h"

namespace kasen::lang {

class Builder {
 public:
  // `start`: a module that has its name and its source.
  Builder(const SourceText& source, Module start) : source_(source), module_(std::move(start)) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  [[nodiscard]] const Module& module() const { return module_; }
  [[nodiscard]] Module take() { return std::move(module_); }

  // The name is the prefix and the hint, with a number if it is taken.
  ValueId add_value(const std::string& hint, Type type);
  // Adds an operator with one result, which it makes.
  ValueId emit(Op op, Mark mark, const std::string& hint, Type type);
  // Adds an input behind those that the program declares.
  ValueId add_input(const std::string& name, Mark mark, const std::string& hint, Type type);
  // Adds an operator whose results are made.
  void append(Op op);
  [[nodiscard]] Until<Block*> inside(Block& block) { return {block_, &block}; }
  // New values are called `prefix` and the hint.
  [[nodiscard]] Until<std::string> named(std::string prefix) { return {prefix_, std::move(prefix)}; }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  // Operators that a call of the program makes have its position: the order of lines is the order of the work.
  [[nodiscard]] Until<Mark> called_at(Mark mark) { return {call_, call_.line > 0 ? call_ : mark}; }
  // An input that is sparse as its dimensions are cut, and not by its declaration's word.
  void add_sparse_by_dims(ValueId input) { sparse_by_dims_.insert(input); }
  [[nodiscard]] bool is_sparse_by_dims(ValueId input) const { return sparse_by_dims_.contains(input); }
  // The newest operator of the block, or null.
  [[nodiscard]] const Op* last() const { return block_->ops.empty() ? nullptr : &block_->ops.back(); }

  // The input that a batch is taken of; no_value for what is none.
  [[nodiscard]] ValueId batches_of(ValueId batch) const {
    const auto known = batches_.find(batch);
    return known == batches_.end() ? no_value : known->second;
  }
  // As of the finished module, also for what a block that is still open makes.
  [[nodiscard]] const std::string& matrix_name(ValueId matrix) const;

  // The operator of the block that makes a value, or null.
  [[nodiscard]] const Op* made_by(ValueId value) const;

  FnId add_function(ScalarFunction fn) { return module_.add_function(std::move(fn)); }
  // Adds a function in the place of one that was made when there were `before` others: it takes its name.
  FnId replace_function(size_t before, ScalarFunction fn);
  DimId add_dim(Dimension dim);
  // The size of a dimension that the run finds (libcore/ir/observed.h), and the mask that it follows from.
  struct Picked {
    ValueId mask = no_value, size = no_value;
    Mark mark;
  };
  [[nodiscard]] const Picked* picked(DimId dim) const {
    const auto known = picked_.find(dim);
    return known == picked_.end() ? nullptr : &known->second;
  }
  void add_picked(DimId dim, const Picked& picked) { picked_.emplace(dim, picked); }
  [[nodiscard]] bool at_top() const { return block_ == &module_.body; }
  void add_file(const std::string& input, const std::string& file) { module_.files[input] = file; }
  void add_constant(Constant constant) { module_.constants.push_back(std::move(constant)); }
  void assume(const std::string& name, int place, const Interval& range);  // beside what is known of it
  void assume(LawUse use);

  // The user's names of all values, without numbers.
  [[nodiscard]] const std::vector<std::string>& base_names() const { return base_names_; }
  [[nodiscard]] const std::string& base_name(ValueId id) const { return base_names_[static_cast<size_t>(id)]; }
  // A number for a coordinate loop that no other one has. Finished functions number them anew.
  [[nodiscard]] int new_loop() { return loops_++; }

 private:
  const SourceText& source_;
  Module module_;
  Block* block_ = &module_.body;
  std::string prefix_;
  Mark call_;  // line 0: none
  std::vector<std::string> base_names_;
  std::unordered_set<std::string> names_;
  std::map<std::string, int> name_numbers_;
  std::map<DimId, Picked> picked_;
  std::map<ValueId, ValueId> batches_;
  std::set<ValueId> sparse_by_dims_;
  int ops_ = 0;
  int loops_ = 0;
};

[[nodiscard]] inline Location location(Mark mark) { return {"", mark.line, mark.column}; }  // in the module's source

}  // namespace kasen::lang
