// The work that the plain interpreter has done, and the most that it may do (InterpretOptions). Internal to the
// interpreter.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/base/checked.h"
#include "libcore/reference/interpret_options.h"

namespace kasen {

class InterpreterWork {
 public:
  InterpreterWork(const Module& module, std::int64_t most) : most_(most) {
    for (const ScalarFunction& fn : module.functions) of_call_.push_back(operators_in(fn.body));
  }

  void copies(std::int64_t elements, std::int64_t planes) { add(elements, planes); }
  void calls(std::int64_t times, FnId fn) { add(times, of_call_[fn]); }

 private:
  static std::int64_t operators_in(const Expr& e) {
    std::int64_t inside = 1;
    for (const Expr& arg : e.args) inside = checked_add(inside, operators_in(arg), "a function's work");
    return e.count > 0 ? checked_mul(inside, e.count, "a function's work") : inside;
  }

  void add(std::int64_t times, std::int64_t each) {
    if (times > 0 && each > (most_ - done_) / times) throw WorkExceeded();
    done_ += times * each;
  }

  std::int64_t most_, done_ = 0;
  IdMap<FnId, std::int64_t> of_call_;
};

}  // namespace kasen
