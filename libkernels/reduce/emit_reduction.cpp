// Reductions of many results: of rows, whose steps follow one another; of columns, side by side; and of any others.
#include <algorithm>
#include <utility>

#include "libkernels/emit/elements.h"
#include "libkernels/reduce/loop_function.h"

namespace kasen {
namespace {

constexpr std::int64_t steps_of_a_row = 8;  // that are worth a vector

// Many steps of results side by side are taken so many at a time for all of a group of results: the first cache holds
// them, and memory is read in order. They are fewer than a block's, and whole vectors of them.
constexpr std::int64_t steps_of_a_chunk = 32;
constexpr std::int64_t results_of_a_group = 128;
constexpr std::int64_t few_steps = 1024;  // are in a cache already

// Lanes of two values of one element, by their places in both: 8 and more are the second one's.
class LanesOfTwo : public Source {
 public:
  LanesOfTwo(Source& first, Source& second, std::vector<int> places)
      : first_(first), second_(second), places_(std::move(places)) {}
  Plane load(Emitter& e, int component, const Plane* coordinate) override {
    llvm::Value* first = e.spread(first_.load(e, component, coordinate));
    llvm::Value* second = e.spread(second_.load(e, component, coordinate));
    return {e.b.CreateShuffleVector(first, second, places_), false};
  }

 private:
  Source &first_, &second_;
  std::vector<int> places_;
};

// Eight lanes of each scalar of an element, kept in memory.
class KeptLanes : public Source {
 public:
  KeptLanes(ElementType element, llvm::Value* address) : element_(std::move(element)), address_(address) {}
  Plane load(Emitter& e, int component, const Plane* /*coordinate*/) override {
    const Scalar scalar = scalar_of(element_, component);
    if (scalar == Scalar::null) return {e.integer(1), true};
    return {e.load_lanes(scalar, place(e, component)), false};
  }
  void keep(Emitter& e, Source& from) const {
    for (int c = 0; c < components_of(element_); ++c) {
      const Scalar scalar = scalar_of(element_, c);
      if (scalar != Scalar::null) e.store_lanes(scalar, place(e, c), from.load(e, c, nullptr));
    }
  }
  static constexpr std::int64_t plane_bytes = 8 * reduction_lanes;

 private:
  [[nodiscard]] llvm::Value* place(Emitter& e, int component) const {
    return e.at_byte(address_, e.integer(plane_bytes * component));
  }
  ElementType element_;
  llvm::Value* address_;
};

// Eight results side by side, from result `k` on. Each has an accumulator for each of its lanes.
class ReductionEmitter {
 public:
  ReductionEmitter(Emitter& e, const ScalarFunction& reducer, const std::vector<Word>& identity)
      : e_(e), reducer_(reducer), identity_(identity), total_(e, reducer.result()) {
    for (int l = 0; l < reduction_lanes; ++l) lanes_.emplace_back(e, reducer.result());
    llvm::Value* places = e.function()->getArg(1);
    for (llvm::Value** word : {&apart_, &along_, &steps_, &result_apart_, &cached_})
      *word = read_word(e, places, read_++);
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
      llvm::Value* short_rows = e_.b.CreateAnd(e_.b.CreateICmpSLE(steps_, e_.integer(reduction_block)),
                                               e_.b.CreateICmpEQ(result_apart_, e_.integer(1)));
      // Rows that come from memory are read faster one by one.
      llvm::Value* cached = e_.b.CreateICmpNE(cached_, e_.integer(0));
      llvm::Value* together = e_.b.CreateSelect(e_.b.CreateAnd(short_rows, cached), middle, begin);
      e_.loop(begin, together, reduction_lanes, [&](llvm::Value* k) { eight_rows(k, arrays.from, arrays.to); });
      e_.loop(together, end, 1, [&](llvm::Value* k) { row(k, arrays.from, arrays.to); });
    });
    // The elements of neighbours lie side by side.
    llvm::Value* columns = e_.b.CreateAnd(e_.b.CreateAnd(others, near),
                                          e_.b.CreateICmpSGE(e_.b.CreateSub(end, begin), e_.integer(reduction_lanes)));
    e_.when(columns, [&] {
      Arrays neighbours = arrays(MemorySource::Access::consecutive);
      e_.loop(begin, end, results_of_a_group, [&](llvm::Value* k) { group(k, end, neighbours.from, neighbours.to); });
    });
    others = e_.b.CreateAnd(others, e_.b.CreateNot(columns));
    scattered_ = true;
    Arrays apart = arrays(MemorySource::Access::scattered);
    all(others, begin, middle, [&](llvm::Value* k) { eight(k, apart.from, apart.to); });
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

  llvm::Value* least(llvm::Value* x, llvm::Value* y) { return e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y); }

  // Results side by side, from result `k` on, some steps at a time for all of them. The sums of each lane of steps wait
  // in memory. The last eight results are worked on again where fewer are left.
  void group(llvm::Value* k, llvm::Value* end, MemorySource& from, MemorySource& to) {
    if (waiting_ == nullptr) waiting_ = e_.scratch(row_bytes() * (results_of_a_group + reduction_lanes));
    llvm::Value* last_result = least(e_.b.CreateAdd(k, e_.integer(results_of_a_group)), end);
    llvm::Value* last_strip = e_.b.CreateSub(end, e_.integer(reduction_lanes));
    llvm::Value* few = e_.b.CreateICmpSLE(steps_, e_.integer(few_steps));
    llvm::Value* of_a_chunk = e_.b.CreateSelect(few, e_.integer(reduction_block), e_.integer(steps_of_a_chunk));
    const auto each = [&](const auto& body) { e_.loop(k, last_result, reduction_lanes, body); };
    blocks([&](llvm::Value* first, llvm::Value*, llvm::Value* last) {
      lanes_.front().fill(e_, identity_);
      each([&](llvm::Value* strip) {
        e_.loop(e_.integer(0), e_.integer(reduction_lanes), 1,
                [&](llvm::Value* lane) { waiting(k, strip, lane).keep(e_, lanes_.front()); });
      });
      llvm::Value* chunks = e_.b.CreateSub(e_.b.CreateAdd(last, of_a_chunk), e_.b.CreateAdd(first, e_.integer(1)));
      e_.loop(e_.integer(0), e_.b.CreateUDiv(chunks, of_a_chunk), 1, [&](llvm::Value* chunk) {
        llvm::Value* step = e_.b.CreateAdd(first, e_.b.CreateMul(chunk, of_a_chunk));
        llvm::Value* next = least(e_.b.CreateAdd(step, of_a_chunk), last);
        each([&](llvm::Value* strip) {
          take_lanes(k, strip);
          llvm::Value* there = least(strip, last_strip);
          e_.loop(step, next, reduction_lanes, [&](llvm::Value* s) { some_steps(there, s, next, from, of_a_chunk); });
          for_lanes(
              [&](int l, llvm::Value* lane) { waiting(k, strip, lane).keep(e_, lanes_[static_cast<size_t>(l)]); });
        });
      });
      each([&](llvm::Value* strip) {
        take_lanes(k, strip);
        llvm::Value* there = least(strip, last_strip);
        to.move_to(e_, there);
        total_.copy(e_, to);
        fold_lanes();
        e_.mask = e_.b.CreateICmpSGE(e_.lane_numbers(), e_.spread({e_.b.CreateSub(strip, there), true}));
        store(to);
        e_.mask = nullptr;
      });
    });
  }

  template <class Body>
  void for_lanes(const Body& body) {
    for (int l = 0; l < reduction_lanes; ++l) body(l, e_.integer(l));
  }

  // Where a lane of the eight results from `strip` on waits, of a group that begins with `first`.
  KeptLanes waiting(llvm::Value* first, llvm::Value* strip, llvm::Value* lane) {
    llvm::Value* row = e_.b.CreateAdd(e_.b.CreateSub(strip, first), lane);
    return {reducer_.result(), e_.at_byte(waiting_, e_.b.CreateMul(row, e_.integer(row_bytes())))};
  }

  void take_lanes(llvm::Value* first, llvm::Value* strip) {
    e_.forget();
    for_lanes([&](int l, llvm::Value* lane) {
      KeptLanes kept = waiting(first, strip, lane);
      lanes_[static_cast<size_t>(l)].copy(e_, kept);
    });
  }

  // The element so many steps later.
  void ask_ahead(llvm::Value* k, llvm::Value* step, llvm::Value* ahead, const MemorySource& from) {
    llvm::Value* at = e_.b.CreateAdd(e_.b.CreateMul(k, apart_), e_.b.CreateMul(e_.b.CreateAdd(step, ahead), along_));
    const ArrayPlanes& planes = from.planes();
    for (int c = 0; c < components_of(planes.element); ++c) {
      llvm::Value* bytes = e_.b.CreateMul(at, e_.integer(scalar_bytes(scalar_of(planes.element, c))));
      e_.ask_for(e_.at_byte(planes.components[static_cast<size_t>(c)].base, bytes), Emitter::Near::second_cache);
    }
  }

  [[nodiscard]] std::int64_t row_bytes() const { return KeptLanes::plane_bytes * components_of(reducer_.result()); }

  // Eight results, each of one block, one after another. Their lanes are then combined together: the first halves of
  // two rows with their second halves, and so on, until each lane is a row.
  void eight_rows(llvm::Value* k, MemorySource& from, MemorySource& to) {
    const std::int64_t bytes = row_bytes();
    if (kept_ == nullptr) kept_ = e_.scratch(bytes * reduction_lanes);
    llvm::Value* full = e_.b.CreateAnd(steps_, e_.integer(-reduction_lanes));
    e_.loop(e_.integer(0), e_.integer(reduction_lanes), 1, [&](llvm::Value* r) {
      llvm::Value* begin = e_.b.CreateMul(e_.b.CreateAdd(k, r), apart_);
      elements_of_row(begin, e_.integer(0), full, steps_, from);
      KeptLanes(reducer_.result(), e_.at_byte(kept_, e_.b.CreateMul(r, e_.integer(bytes)))).keep(e_, lanes_.front());
    });
    std::vector<KeptLanes> rows;
    for (int r = 0; r < reduction_lanes; ++r)
      rows.emplace_back(reducer_.result(), e_.at_byte(kept_, e_.integer(bytes * r)));
    e_.forget();
    for (size_t p = 0; p < 4; ++p) combine(lanes_[p], rows[2 * p], rows[2 * p + 1], {0, 1, 2, 3, 8, 9, 10, 11}, 4);
    for (size_t p = 0; p < 2; ++p)
      combine(lanes_[4 + p], lanes_[2 * p], lanes_[2 * p + 1], {0, 1, 4, 5, 8, 9, 12, 13}, 2);
    combine(lanes_[6], lanes_[4], lanes_[5], {0, 2, 4, 6, 8, 10, 12, 14}, 1);
    to.move_to(e_, k);
    total_.copy(e_, to);
    total_.assign(e_, reducer_.body, {&total_, &lanes_[6]});
    store(to);
  }

  // Lanes of two values with those `apart` behind them.
  void combine(Accumulator& result, Source& first, Source& second, const std::vector<int>& places, int apart) {
    std::vector<int> others;
    for (const int p : places) others.push_back(p + apart);
    LanesOfTwo one(first, second, places), other(first, second, others);
    result.assign(e_, reducer_.body, {&one, &other});
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
    elements_of_row(begin, first, middle, last, from);
    Accumulator& lanes = lanes_.front();
    for (int by = reduction_lanes / 2; by > 0; by /= 2) {
      ShiftedSource other(lanes, by);
      lanes.assign(e_, reducer_.body, {&lanes, &other});
    }
  }

  // The same, each on its lane.
  void elements_of_row(llvm::Value* begin, llvm::Value* first, llvm::Value* middle, llvm::Value* last,
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
    e_.loop(first, last, reduction_lanes, [&](llvm::Value* step) { some_steps(k, step, last, from); });
    fold_lanes();
  }

  // The step, and those of the next seven that there are. With `ahead`, memory is asked for later ones.
  void some_steps(llvm::Value* k, llvm::Value* step, llvm::Value* last, MemorySource& from,
                  llvm::Value* ahead = nullptr) {
    for (int l = 0; l < reduction_lanes; ++l) {
      llvm::Value* next = e_.b.CreateAdd(step, e_.integer(l));
      const auto one = [&] {
        take(k, next, l, from);
        if (ahead != nullptr) ask_ahead(k, next, ahead, from);
      };
      if (l == 0) {
        one();
      } else {
        e_.when(e_.b.CreateICmpSLT(next, last), one);
      }
    }
  }

  void fold_lanes() {
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
  llvm::Value *apart_ = nullptr, *along_ = nullptr, *steps_ = nullptr, *result_apart_ = nullptr, *cached_ = nullptr;
  bool scattered_ = false;
  llvm::Value* kept_ = nullptr;     // lanes of eight rows
  llvm::Value* waiting_ = nullptr;  // lanes of a group of results
};

}  // namespace

void emit_reduction(Jit& jit, const ScalarFunction& reducer, const std::vector<Word>& identity, const std::string& name,
                    std::int64_t& scratch_bytes) {
  emit_loop_function(
      jit, name, scratch_bytes,
      [&](Emitter& e, llvm::Function* f) { ReductionEmitter(e, reducer, identity).run(f->getArg(2), f->getArg(3)); },
      reduction_lanes);
}

}  // namespace kasen
