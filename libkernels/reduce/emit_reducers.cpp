// Small loops around a reducer: they combine partial results of blocks into a total, packed elements into an array,
// elements with all before them, and carries of what stands before into elements.
#include <algorithm>

#include "libkernels/emit/elements.h"
#include "libkernels/reduce/loop_function.h"

namespace kasen {
namespace {

// target = R(target, value), one element.
void apply_reducer(Emitter& e, const ScalarFunction& reducer, MemorySource& target, Source& value,
                   Accumulator& result) {
  result.assign(e, reducer.body, {&target, &value});
  for_each_plane(e, reducer.result(), [&](int c, const Plane* j) { target.store(e, c, j, result.load(e, c, j)); });
}

// Calls body(j) for eight numbers from j on at a time, the last ones under a mask.
template <class Body>
void eight_by_eight(Emitter& e, llvm::Value* begin, llvm::Value* end, const Body& body) {
  llvm::Value* full = e.b.CreateAnd(e.b.CreateSub(end, begin), e.integer(-reduction_lanes));
  llvm::Value* middle = e.b.CreateAdd(begin, full);
  e.loop(begin, middle, reduction_lanes, body);
  e.when(e.b.CreateICmpSLT(middle, end), [&] {
    e.mask = e.b.CreateICmpSLT(e.lane_numbers(), e.spread({e.b.CreateSub(end, middle), true}));
    body(middle);
    e.mask = nullptr;
  });
}

class ScanEmitter {
 public:
  ScanEmitter(Emitter& e, const ScalarFunction& fn, MemorySource::Access access)
      : e_(e), fn_(fn), total_(e, fn.result()), from_(next_array(access)), to_(next_array(access)) {
    llvm::Value* places = e.function()->getArg(1);
    int word = 0;
    for (llvm::Value** value : {&first_, &apart_, &step_, &length_}) *value = read_word(e, places, word++);
  }

  // One line after another, with what is before in registers.
  void lines(llvm::Value* begin, llvm::Value* end) {
    e_.loop(begin, end, 1, [&](llvm::Value* j) {
      llvm::Value* start = e_.b.CreateAdd(first_, e_.b.CreateMul(j, apart_));
      copy_first(start);
      e_.loop(e_.integer(1), length_, 1, [&](llvm::Value* k) {
        llvm::Value* at = e_.b.CreateAdd(start, e_.b.CreateMul(k, step_));
        from_.move_to(e_, at);
        total_.assign(e_, fn_.body, {&total_, &from_});
        store(at);
      });
    });
  }

  // One row of all lines after another, from the row before in memory.
  void rows(llvm::Value* begin, llvm::Value* end) {
    const auto along = [&](llvm::Value* start, const auto& body) {
      eight_by_eight(e_, begin, end, [&](llvm::Value* j) { body(e_.b.CreateAdd(start, j)); });
    };
    along(first_, [&](llvm::Value* at) { copy_first(at); });
    e_.loop(e_.integer(1), length_, 1, [&](llvm::Value* k) {
      llvm::Value* row = e_.b.CreateAdd(first_, e_.b.CreateMul(k, step_));
      along(row, [&](llvm::Value* at) {
        to_.move_to(e_, e_.b.CreateSub(at, step_));
        from_.move_to(e_, at);
        total_.assign(e_, fn_.body, {&to_, &from_});
        store(at);
      });
    });
  }

 private:
  MemorySource next_array(MemorySource::Access access) {
    const ElementType& element = fn_.result();
    return {read_array(e_, e_.function()->getArg(0), layout_.add_array(element), element), access};
  }

  void copy_first(llvm::Value* at) {
    from_.move_to(e_, at);
    total_.copy(e_, from_);
    store(at);
  }

  void store(llvm::Value* at) {
    to_.set_index(at);
    for_each_plane(e_, fn_.result(), [&](int c, const Plane* j) { to_.store(e_, c, j, total_.load(e_, c, j)); });
  }

  Emitter& e_;
  const ScalarFunction& fn_;
  Accumulator total_;
  ArgumentLayout layout_;
  MemorySource from_, to_;
  llvm::Value *first_ = nullptr, *apart_ = nullptr, *step_ = nullptr, *length_ = nullptr;
};

class CarryEmitter {
 public:
  CarryEmitter(Emitter& e, const ScalarFunction& fn, MemorySource::Access of_carries)
      : e_(e),
        fn_(fn),
        total_(e, fn.result()),
        carries_(next_array(of_carries)),
        array_(next_array(MemorySource::Access::consecutive)) {
    llvm::Value* places = e.function()->getArg(1);
    int word = 0;
    for (llvm::Value** value : {&first_, &carry_, &step_, &rows_}) *value = read_word(e, places, word++);
  }

  void line(llvm::Value* begin, llvm::Value* end) {
    eight_by_eight(e_, begin, end, [&](llvm::Value* j) {
      carries_.move_to(e_, carry_);
      combine(e_.b.CreateAdd(first_, j));
    });
  }

  void rows(llvm::Value* begin, llvm::Value* end) {
    e_.loop(e_.integer(0), rows_, 1, [&](llvm::Value* k) {
      llvm::Value* row = e_.b.CreateAdd(first_, e_.b.CreateMul(k, step_));
      eight_by_eight(e_, begin, end, [&](llvm::Value* j) {
        carries_.move_to(e_, e_.b.CreateAdd(carry_, j));
        combine(e_.b.CreateAdd(row, j));
      });
    });
  }

 private:
  MemorySource next_array(MemorySource::Access access) {
    const ElementType& element = fn_.result();
    return {read_array(e_, e_.function()->getArg(0), layout_.add_array(element), element), access};
  }

  void combine(llvm::Value* at) {
    array_.move_to(e_, at);
    total_.assign(e_, fn_.body, {&carries_, &array_});
    for_each_plane(e_, fn_.result(), [&](int c, const Plane* j) { array_.store(e_, c, j, total_.load(e_, c, j)); });
  }

  Emitter& e_;
  const ScalarFunction& fn_;
  Accumulator total_;
  ArgumentLayout layout_;
  MemorySource carries_, array_;
  llvm::Value *first_ = nullptr, *carry_ = nullptr, *step_ = nullptr, *rows_ = nullptr;
};

}  // namespace

void emit_scan(Jit& jit, const ScalarFunction& fn, const std::string& name, std::int64_t& scratch_bytes) {
  emit_loop_function(jit, name, scratch_bytes, [&](Emitter& e, llvm::Function* f) {
    ScanEmitter(e, fn, MemorySource::Access::shared).lines(f->getArg(2), f->getArg(3));
  });
  emit_loop_function(
      jit, scan_rows_name(name), scratch_bytes,
      [&](Emitter& e, llvm::Function* f) {
        ScanEmitter(e, fn, MemorySource::Access::consecutive).rows(f->getArg(2), f->getArg(3));
      },
      reduction_lanes);
  emit_loop_function(
      jit, carry_line_name(name), scratch_bytes,
      [&](Emitter& e, llvm::Function* f) {
        CarryEmitter(e, fn, MemorySource::Access::shared).line(f->getArg(2), f->getArg(3));
      },
      reduction_lanes);
  emit_loop_function(
      jit, carry_rows_name(name), scratch_bytes,
      [&](Emitter& e, llvm::Function* f) {
        CarryEmitter(e, fn, MemorySource::Access::consecutive).rows(f->getArg(2), f->getArg(3));
      },
      reduction_lanes);
}

void emit_fold(Jit& jit, const ScalarFunction& reducer, const std::string& name, std::int64_t& scratch_bytes) {
  emit_loop_function(jit, name, scratch_bytes, [&](Emitter& e, llvm::Function* f) {
    ArgumentLayout layout;
    const ElementType& element = reducer.result();
    MemorySource total(read_array(e, f->getArg(0), layout.add_array(element), element), MemorySource::Access::shared);
    Accumulator result(e, element);
    e.loop(e.integer(0), f->getArg(2), 1, [&](llvm::Value* k) {
      total.move_to(e, e.integer(0));
      SlotSource partial(element, e.at_byte(f->getArg(1), e.b.CreateMul(k, f->getArg(3))));
      apply_reducer(e, reducer, total, partial, result);
    });
  });
}

void emit_combine(Jit& jit, const ScalarFunction& reducer, const std::string& name, std::int64_t& scratch_bytes) {
  emit_loop_function(jit, name, scratch_bytes, [&](Emitter& e, llvm::Function* f) {
    ArgumentLayout layout;
    const ElementType& element = reducer.result();
    MemorySource target(read_array(e, f->getArg(0), layout.add_array(element), element), MemorySource::Access::shared);
    MemorySource packed(read_array(e, f->getArg(0), layout.add_array(element), element), MemorySource::Access::shared);
    Accumulator result(e, element);
    e.loop(f->getArg(2), f->getArg(3), 1, [&](llvm::Value* k) {
      llvm::Value* at = e.b.CreateGEP(e.b.getInt32Ty(), f->getArg(1), k);
      target.move_to(e, e.b.CreateZExt(e.b.CreateLoad(e.b.getInt32Ty(), at), e.b.getInt64Ty()));
      packed.move_to(e, k);
      apply_reducer(e, reducer, target, packed, result);
    });
  });
}

}  // namespace kasen
