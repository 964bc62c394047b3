// Small loops around a reducer: they combine partial results of blocks into a total, packed elements into an array,
// elements with all before them, and carries of what stands before into elements.
#include <algorithm>

#include "libkernels/emit/elements.h"

namespace kasen {
namespace {

// target = R(target, value), one element.
void apply_reducer(Emitter& e, const ScalarFunction& reducer, MemorySource& target, Source& value,
                   Accumulator& result) {
  result.assign(e, reducer.body, {&target, &value});
  for_each_plane(e, reducer.result(), [&](int c, const Plane* j) { target.store(e, c, j, result.load(e, c, j)); });
}

// A function of two pointers, two integers and the scratch area, with the loop that `body` emits.
template <class Body>
void emit_loop_function(Jit& jit, const std::string& name, std::int64_t& scratch_bytes, const Body& body,
                        int lanes = 1) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(jit.context());
  llvm::Type* integer = llvm::Type::getInt64Ty(jit.context());
  llvm::Function* f = jit.add_function(name, {pointer, pointer, integer, integer, pointer});
  Emitter e(jit, f, lanes);
  e.scratch_base = f->getArg(4);
  body(e, f);
  e.b.CreateRetVoid();
  scratch_bytes = std::max(scratch_bytes, e.scratch_bytes());
}

constexpr std::int64_t steps_of_a_row = 8;  // that are worth a vector

// Eight results side by side, from result `k` on. Each has an accumulator for each of its lanes.
class ReductionEmitter {
 public:
  ReductionEmitter(Emitter& e, const ScalarFunction& reducer, const std::vector<Word>& identity)
      : e_(e), reducer_(reducer), identity_(identity), total_(e, reducer.result()) {
    for (int l = 0; l < reduction_lanes; ++l) lanes_.emplace_back(e, reducer.result());
    llvm::Value* places = e.function()->getArg(1);
    for (llvm::Value** word : {&apart_, &along_, &steps_, &result_apart_}) *word = read_word(e, places, read_++);
  }

  void run(llvm::Value* begin, llvm::Value* end) {
    llvm::Value* full = e_.b.CreateAnd(e_.b.CreateSub(end, begin), e_.integer(-reduction_lanes));
    llvm::Value* middle = e_.b.CreateAdd(begin, full);
    // Neighbours in memory are loaded together: results, or the steps of one.
    llvm::Value* rows = e_.b.CreateAnd(e_.b.CreateICmpEQ(along_, e_.integer(1)),
                                       e_.b.CreateICmpSGE(steps_, e_.integer(steps_of_a_row)));
    llvm::Value* others = e_.b.CreateNot(rows);
    llvm::Value* near =
        e_.b.CreateAnd(e_.b.CreateICmpEQ(apart_, e_.integer(1)), e_.b.CreateICmpEQ(result_apart_, e_.integer(1)));
    const auto all = [&](llvm::Value* condition, llvm::Value* from, llvm::Value* to, const auto& body) {
      e_.when(condition, [&] { e_.loop(from, to, reduction_lanes, body); });
    };
    e_.when(rows, [&] {
      Arrays arrays = this->arrays(MemorySource::Access::consecutive);
      e_.loop(begin, end, 1, [&](llvm::Value* k) { row(k, arrays.from, arrays.to); });
    });
    Arrays neighbours = arrays(MemorySource::Access::consecutive);
    all(e_.b.CreateAnd(others, near), begin, middle, [&](llvm::Value* k) { eight(k, neighbours.from, neighbours.to); });
    scattered_ = true;
    Arrays apart = arrays(MemorySource::Access::scattered);
    all(e_.b.CreateAnd(others, e_.b.CreateNot(near)), begin, middle,
        [&](llvm::Value* k) { eight(k, apart.from, apart.to); });
    // The last few, wherever they are.
    all(others, middle, end, [&](llvm::Value* k) {
      e_.mask = e_.b.CreateICmpSLT(e_.lane_numbers(), e_.spread({e_.b.CreateSub(end, k), true}));
      eight(k, apart.from, apart.to);
      e_.mask = nullptr;
    });
  }

 private:
  struct Arrays {
    MemorySource from, to;
  };

  Arrays arrays(MemorySource::Access access) {
    const ElementType& element = reducer_.result();
    ArgumentLayout layout;
    const auto next = [&] {
      return MemorySource(read_array(e_, e_.function()->getArg(0), layout.add_array(element), element), access);
    };
    return {.from = next(), .to = next()};
  }

  // The index of the first of eight elements, or of each, `apart` from one another.
  llvm::Value* index(llvm::Value* first, llvm::Value* apart) {
    if (!scattered_) return first;
    llvm::Value* each = e_.b.CreateMul(e_.lane_numbers(), e_.spread({apart, true}));
    return e_.b.CreateAdd(e_.spread({first, true}), each);
  }

  void eight(llvm::Value* k, MemorySource& from, MemorySource& to) {
    to.move_to(e_, index(e_.b.CreateMul(k, result_apart_), result_apart_));
    total_.copy(e_, to);
    blocks([&](llvm::Value* first, llvm::Value*, llvm::Value* last) { block(k, first, last, from); });
    store(to);
  }

  // One result, with its lanes side by side. Its total is on the first lane.
  void row(llvm::Value* k, MemorySource& from, MemorySource& to) {
    llvm::Value* only = e_.b.CreateICmpSLT(e_.lane_numbers(), e_.spread({e_.integer(1), true}));
    e_.mask = only;
    to.move_to(e_, e_.b.CreateMul(k, result_apart_));
    e_.mask = nullptr;
    total_.copy(e_, to);
    llvm::Value* begin = e_.b.CreateMul(k, apart_);
    blocks([&](llvm::Value* first, llvm::Value* middle, llvm::Value* last) {
      lanes_of_row(begin, first, middle, last, from);
      total_.assign(e_, reducer_.body, {&total_, lanes_.data()});
    });
    e_.mask = only;
    store(to);
    e_.mask = nullptr;
  }

  // Steps first to last - 1 of the row that begins at element `begin`, all on the first lane in the end.
  void lanes_of_row(llvm::Value* begin, llvm::Value* first, llvm::Value* middle, llvm::Value* last,
                    MemorySource& from) {
    Accumulator& lanes = lanes_.front();
    lanes.fill(e_, identity_);
    const auto take = [&](llvm::Value* step) {
      from.move_to(e_, e_.b.CreateAdd(begin, step));
      lanes.assign(e_, reducer_.body, {&lanes, &from});
    };
    e_.loop(first, middle, reduction_lanes, take);
    e_.mask = e_.b.CreateICmpSLT(e_.lane_numbers(), e_.spread({e_.b.CreateSub(last, middle), true}));
    e_.when(e_.b.CreateICmpSLT(middle, last), [&] { take(middle); });
    e_.mask = nullptr;
    for (int by = reduction_lanes / 2; by > 0; by /= 2) {
      ShiftedSource other(lanes, by);
      lanes.assign(e_, reducer_.body, {&lanes, &other});
    }
  }

  // Calls body(first, middle, last) for each block of steps; whole vectors of them end at `middle`.
  template <class Body>
  void blocks(const Body& body) {
    e_.loop(e_.integer(0), steps_, reduction_block, [&](llvm::Value* first) {
      llvm::Value* next = e_.b.CreateAdd(first, e_.integer(reduction_block));
      llvm::Value* last = e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, next, steps_);
      llvm::Value* full = e_.b.CreateAnd(e_.b.CreateSub(last, first), e_.integer(-reduction_lanes));
      body(first, e_.b.CreateAdd(first, full), last);
    });
  }

  void store(MemorySource& to) {
    for_each_plane(e_, reducer_.result(), [&](int c, const Plane* j) { to.store(e_, c, j, total_.load(e_, c, j)); });
  }

  void block(llvm::Value* k, llvm::Value* first, llvm::Value* last, MemorySource& from) {
    for (Accumulator& lane : lanes_) lane.fill(e_, identity_);
    e_.loop(first, last, reduction_lanes, [&](llvm::Value* step) {
      take(k, step, 0, from);
      for (int l = 1; l < reduction_lanes; ++l) {
        llvm::Value* next = e_.b.CreateAdd(step, e_.integer(l));
        e_.when(e_.b.CreateICmpSLT(next, last), [&] { take(k, next, l, from); });
      }
    });
    for (size_t half = reduction_lanes / 2; half > 0; half /= 2) {
      for (size_t l = 0; l < half; ++l) lanes_[l].assign(e_, reducer_.body, {&lanes_[l], &lanes_[l + half]});
    }
    total_.assign(e_, reducer_.body, {&total_, lanes_.data()});
  }

  void take(llvm::Value* k, llvm::Value* step, int lane, MemorySource& from) {
    llvm::Value* first = e_.b.CreateAdd(e_.b.CreateMul(k, apart_), e_.b.CreateMul(step, along_));
    std::vector<llvm::Value*> each;
    for (int i = 0; i < reduction_lanes && scattered_ && e_.mask == nullptr && e_.reads_one_by_one(); ++i)
      each.push_back(e_.b.CreateAdd(first, e_.b.CreateMul(apart_, e_.integer(i))));
    from.move_to(e_, index(first, apart_), each);
    Accumulator& to = lanes_[static_cast<size_t>(lane)];
    to.assign(e_, reducer_.body, {&to, &from});
  }

  Emitter& e_;
  const ScalarFunction& reducer_;
  const std::vector<Word>& identity_;
  Accumulator total_;
  std::vector<Accumulator> lanes_;
  int read_ = 0;
  llvm::Value *apart_ = nullptr, *along_ = nullptr, *steps_ = nullptr, *result_apart_ = nullptr;
  bool scattered_ = false;
};

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

void emit_reduction(Jit& jit, const ScalarFunction& reducer, const std::vector<Word>& identity, const std::string& name,
                    std::int64_t& scratch_bytes) {
  emit_loop_function(
      jit, name, scratch_bytes,
      [&](Emitter& e, llvm::Function* f) { ReductionEmitter(e, reducer, identity).run(f->getArg(2), f->getArg(3)); },
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
