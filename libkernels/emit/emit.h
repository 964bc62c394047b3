// From scalar functions to LLVM IR: the value of an expression for `lanes` elements at once (8 in element-wise loops, 1
// in products). Every operator has the meaning of libcore's `evaluate`, without contraction or fast-math.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "libcore/scalar/scalar.h"
#include "libkernels/jit/jit.h"

namespace kasen {

// One plane of an element: a vector of `lanes` values, or one value that all lanes share (`uniform`; always so for
// one lane).
struct Plane {
  llvm::Value* value = nullptr;
  bool uniform = false;
};

class Emitter;

// The sources of a result's component at one coordinate, if results may alias operands with elements of their type.
enum class ReadsFrom : std::uint8_t {
  registers,    // or memory that no result takes
  other_types,  // arrays, but none that this result could alias
  own_place,    // of those that it could alias, just this component and coordinate
  elsewhere,    // other components or coordinates of those
};

// The source of an element's planes. `coordinate` (an i64 plane) is given for small arrays only.
class Source {
 public:
  virtual ~Source() = default;
  virtual Plane load(Emitter& emitter, int component, const Plane* coordinate) = 0;
  // Of a component at every coordinate, for a result with elements of type `result`.
  [[nodiscard]] virtual ReadsFrom reads_from(const ElementType& /*result*/, int /*component*/) const {
    return ReadsFrom::registers;
  }
};
using Sources = std::vector<Source*>;

// Emits into one function. Variables are allocas in its entry block, which Jit promotes to registers.
class Emitter {
 public:
  Emitter(Jit& jit, llvm::Function* function, int lanes);

  llvm::IRBuilder<> b;
  [[nodiscard]] Jit& jit() { return jit_; }
  [[nodiscard]] llvm::Function* function() { return function_; }
  [[nodiscard]] int lanes() const { return lanes_; }

  // Which lanes count (null: all). The other lanes are not loaded.
  llvm::Value* mask = nullptr;
  // Loops over coordinates stay loops, however few there are.
  bool compact = false;

  [[nodiscard]] llvm::Type* type(Scalar scalar);          // in registers: bool is i1, id is i64
  [[nodiscard]] llvm::Type* memory_type(Scalar scalar);   // bool is i8
  [[nodiscard]] llvm::Type* wide(llvm::Type* scalar);     // <lanes x scalar>, or the scalar itself
  [[nodiscard]] llvm::Value* spread(const Plane& plane);  // as a vector of all lanes
  [[nodiscard]] llvm::Value* word(Scalar scalar, Word value);
  [[nodiscard]] llvm::Value* integer(std::int64_t value) { return b.getInt64(static_cast<std::uint64_t>(value)); }
  [[nodiscard]] llvm::Value* lane_numbers();  // <0, 1, ...> of i64
  [[nodiscard]] llvm::AllocaInst* variable(llvm::Type* type);
  [[nodiscard]] llvm::Value* at_byte(llvm::Value* pointer, llvm::Value* offset);

  // Loads and stores of one plane; bools as bytes. `address` is that of the first lane.
  [[nodiscard]] llvm::Value* load_lanes(Scalar scalar, llvm::Value* address);
  void store_lanes(Scalar scalar, llvm::Value* address, const Plane& value);
  // Stores past the caches, if all lanes count: `address` is aligned to the vector, or to 64 bytes. fence_streams()
  // ends a function that has done so, before another thread is notified.
  void stream_lanes(Scalar scalar, llvm::Value* address, const Plane& value);
  void fence_streams();
  // Prefetches it into the caches; the address need not be valid.
  enum class Near : std::uint8_t { second_cache, first_cache };
  void ask_for(llvm::Value* address, Near near = Near::first_cache);
  [[nodiscard]] llvm::Value* load_one(Scalar scalar, llvm::Value* address);
  void store_one(Scalar scalar, llvm::Value* address, llvm::Value* value);
  [[nodiscard]] llvm::Value* gather(Scalar scalar, llvm::Value* addresses);  // one address a lane
  // The same, lane by lane, whatever the mask is: each address is valid.
  [[nodiscard]] llvm::Value* load_each(Scalar scalar, std::span<llvm::Value* const> addresses);
  // Whether lanes read at addresses of their own one by one: then callers that have these by themselves load_each.
  [[nodiscard]] bool reads_one_by_one() const { return !jit_.target().takes_first(Choice::reads); }
  void scatter(Scalar scalar, llvm::Value* addresses, const Plane& value);

  // A loop whose body runs for i = begin, begin + step ... while i < end.
  template <class Body>
  void loop(llvm::Value* begin, llvm::Value* end, std::int64_t step, const Body& body) {
    Loop l = open_loop(begin, end, step);
    body(static_cast<llvm::Value*>(l.index));
    close_loop(l);
  }

  // Code that runs if `condition`, one bit, holds.
  template <class Body>
  void when(llvm::Value* condition, const Body& body) {
    llvm::BasicBlock* then = llvm::BasicBlock::Create(b.getContext(), "when", function_);
    llvm::BasicBlock* done = llvm::BasicBlock::Create(b.getContext(), "done", function_);
    b.CreateCondBr(condition, then, done);
    b.SetInsertPoint(then);
    body();
    b.CreateBr(done);
    b.SetInsertPoint(done);
  }

  // Code that runs if `condition` holds, and code that runs if it does not. Each forgets what it has looked up.
  template <class Yes, class No>
  void either(llvm::Value* condition, const Yes& yes, const No& no) {
    llvm::BasicBlock* then = llvm::BasicBlock::Create(b.getContext(), "yes", function_);
    llvm::BasicBlock* other = llvm::BasicBlock::Create(b.getContext(), "no", function_);
    llvm::BasicBlock* done = llvm::BasicBlock::Create(b.getContext(), "done", function_);
    b.CreateCondBr(condition, then, other);
    b.SetInsertPoint(then);
    forget();
    yes();
    b.CreateBr(done);
    b.SetInsertPoint(other);
    forget();
    no();
    b.CreateBr(done);
    b.SetInsertPoint(done);
    forget();
  }

  // Coordinates begin to count - 1 of a small array, one after another: straight-line code for few of them, whose
  // numbers are constants, else a loop.
  template <class Body>
  void coordinates(std::int64_t begin, std::int64_t count, const Body& body) {
    if (!few(count)) {
      ++coordinate_loops_;
      loop(integer(begin), integer(count), 1, body);
      --coordinate_loops_;
      return;
    }
    copies_ *= count;
    for (std::int64_t j = begin; j < count; ++j) body(static_cast<llvm::Value*>(integer(j)));
    copies_ /= count;
  }
  // Whether code is now written in a loop over coordinates. Its results do not exist behind the loop.
  [[nodiscard]] bool in_coordinate_loop() const { return coordinate_loops_ > 0; }
  // Whether an array of that many coordinates can live in registers: they are straight-line code wherever they are
  // read.
  [[nodiscard]] static bool is_small(std::int64_t count) { return count <= straight; }

  // The value of a scalar expression; `sources` are the function's parameters.
  [[nodiscard]] Plane value(const Expr& expr, const Sources& sources);
  // One component (and coordinate) of any expression.
  [[nodiscard]] Plane value_at(const Expr& expr, const Sources& sources, int component, const Plane* coordinate);

  // The value of the body of a `build`, whose loop variable is `number`, at one coordinate.
  [[nodiscard]] Plane value_with(const Expr& body, int number, const Plane& coordinate, const Sources& sources);
  // The values of some expressions that are known already; null: there are none.
  const std::map<const Expr*, Plane>* given = nullptr;
  // From here on the sources are others, or have moved.
  void forget() { known_.clear(); }

  // Memory of the function's own, in registers if all accesses have known positions.
  [[nodiscard]] llvm::Value* local(std::int64_t bytes);
  // Scratch memory, which the skeleton gives to each thread: the address of `bytes` more of it.
  [[nodiscard]] llvm::Value* scratch(std::int64_t bytes);
  [[nodiscard]] std::int64_t scratch_bytes() const { return scratch_bytes_; }
  llvm::Value* scratch_base = nullptr;

  // One plain operator on operands of type `operand` (the result of `compare` rows is bool).
  [[nodiscard]] Plane plain(ScalarOp op, Scalar operand, std::span<const Plane> args);
  [[nodiscard]] Plane select(const Plane& condition, const Plane& yes, const Plane& no);

 private:
  struct Loop {
    llvm::PHINode* index;
    llvm::BasicBlock *body, *done;
    llvm::Value *end, *step;
  };
  [[nodiscard]] llvm::Value* gather_bytes(llvm::Value* addresses);  // of booleans
  // The address of each lane; for lanes that do not count, of a word of the function's own: 0 if it is only `read`.
  [[nodiscard]] std::vector<llvm::Value*> addresses_of(llvm::Value* addresses, bool read);
  [[nodiscard]] llvm::AllocaInst* spare_word(bool read);
  [[nodiscard]] bool lacks_masks(Scalar scalar);
  [[nodiscard]] llvm::Value* lane_addresses(Scalar scalar, llvm::Value* first);  // of consecutive elements
  void store_each(llvm::Value* value, std::span<llvm::Value* const> addresses);
  [[nodiscard]] Loop open_loop(llvm::Value* begin, llvm::Value* end, std::int64_t step);
  void close_loop(const Loop& loop);

  [[nodiscard]] const Plane* known(const Expr& expr) const;
  [[nodiscard]] Plane cast(Scalar from, Scalar to, const Plane& value);
  [[nodiscard]] Plane over(const Expr& expr, const Sources& sources);
  [[nodiscard]] Plane computed_over(const Expr& expr, const Sources& sources);
  [[nodiscard]] Plane clamp(const Plane& index, std::int64_t last);

  static constexpr std::int64_t straight = 16;         // coordinates, and
  static constexpr std::int64_t straight_nested = 64;  // copies of code inside of loops over coordinates
  [[nodiscard]] bool few(std::int64_t count) const {
    return !compact && count > 0 && is_small(count) && copies_ * count <= straight_nested;
  }

  Jit& jit_;
  llvm::Function* function_;
  int lanes_;
  std::int64_t scratch_bytes_ = 0;
  llvm::AllocaInst *zero_word_ = nullptr, *written_word_ = nullptr;
  std::map<int, Plane> loops_;  // variables of the coordinate loops that are open
  int coordinate_loops_ = 0;    // of them, those that are loops in the code
  std::int64_t copies_ = 1;     // of the code that is written now
  struct Known {
    const Expr* over;
    Sources sources;
    Plane value;
  };
  std::vector<Known> known_;  // sums over coordinates that have been computed since the sources were set
};

}  // namespace kasen
