// Both directions of a product with a tile of a dense matrix, eight rows at a time: each element of the vector that
// runs along the columns is loaded once for them. A row's sum has a lane for each element of a 64-byte vector, a column
// takes its rows in order, and nothing is contracted: the bits depend neither on the processor nor on how rows are
// grouped.
#include <array>

#include "libkernels/emit.h"
#include "libkernels/kernel.h"

namespace kasen {
namespace {

constexpr std::int64_t group_rows = 8;

class DenseEmitter {
 public:
  DenseEmitter(Jit& jit, Scalar scalar, const std::string& name)
      : scalar_(scalar),
        lanes_(64 / scalar_bytes(scalar)),
        e_(jit, make(jit, name), static_cast<int>(lanes_)),
        a_(argument(0)),
        stride_(argument(1)),
        rows_(argument(2)),
        cols_(argument(3)),
        along_(argument(4)),
        across_(argument(5)),
        begun_(e_.b.CreateICmpNE(argument(6), e_.integer(0))) {}

  // across[r] = sum over j of a[r][j] * along[j]; onto what is there if it has begun.
  void result_a_row() {
    in_groups([&](llvm::Value* row, std::int64_t count) {
      const Pointers rows = pointers(row, count);
      std::array<llvm::AllocaInst*, group_rows> sums{};
      for (std::int64_t k = 0; k < count; ++k) {
        sums.at(static_cast<size_t>(k)) = e_.variable(wide());
        e_.b.CreateStore(llvm::Constant::getNullValue(wide()), sums.at(static_cast<size_t>(k)));
      }
      over_columns([&](llvm::Value* j) {
        llvm::Value* x = e_.load_lanes(scalar_, at(along_, j));
        for (std::int64_t k = 0; k < count; ++k) {
          llvm::AllocaInst* sum = sums.at(static_cast<size_t>(k));
          llvm::Value* term = e_.b.CreateFMul(e_.load_lanes(scalar_, at(rows.at(static_cast<size_t>(k)), j)), x);
          e_.b.CreateStore(e_.b.CreateFAdd(e_.b.CreateLoad(wide(), sum), term), sum);
        }
      });
      for (std::int64_t k = 0; k < count; ++k) {
        llvm::Value* sum = across_lanes(e_.b.CreateLoad(wide(), sums.at(static_cast<size_t>(k))));
        llvm::Value* place = at(across_, e_.b.CreateAdd(row, e_.integer(k)));
        llvm::Value* onto = e_.b.CreateFAdd(e_.load_one(scalar_, place), sum);
        e_.store_one(scalar_, place, e_.b.CreateSelect(begun_, onto, sum));
      }
    });
    e_.b.CreateRetVoid();
  }

  // along[j] = sum over r of a[r][j] * across[r], in the order of r; onto what is there if it has begun. With `ahead`,
  // the next rows below the tile, as many, are asked for meanwhile.
  void result_a_column(bool ahead) {
    llvm::Value* below = e_.b.CreateMul(rows_, stride_);
    in_groups([&](llvm::Value* row, std::int64_t count) {
      const Pointers rows = pointers(row, count);
      std::array<llvm::Value*, group_rows> factors{};
      for (std::int64_t k = 0; k < count; ++k) {
        llvm::Value* factor = e_.load_one(scalar_, at(across_, e_.b.CreateAdd(row, e_.integer(k))));
        factors.at(static_cast<size_t>(k)) = e_.spread({factor, true});
      }
      llvm::Value* there = e_.b.CreateOr(begun_, e_.b.CreateICmpSGT(row, e_.integer(0)));
      over_columns([&](llvm::Value* j) {
        llvm::Value* place = at(along_, j);
        llvm::Value* sum = e_.load_lanes(scalar_, place);
        sum = e_.b.CreateSelect(there, sum, llvm::Constant::getNullValue(wide()));
        for (std::int64_t k = 0; k < count; ++k) {
          llvm::Value* from = at(rows.at(static_cast<size_t>(k)), j);
          llvm::Value* term = e_.b.CreateFMul(e_.load_lanes(scalar_, from), factors.at(static_cast<size_t>(k)));
          sum = e_.b.CreateFAdd(sum, term);
          if (ahead) e_.ask_for(at(from, below));
        }
        e_.store_lanes(scalar_, place, {sum, false});
      });
    });
    e_.b.CreateRetVoid();
  }

 private:
  using Pointers = std::array<llvm::Value*, group_rows>;

  static llvm::Function* make(Jit& jit, const std::string& name) {
    llvm::Type* pointer = llvm::PointerType::getUnqual(jit.context());
    llvm::Type* integer = llvm::Type::getInt64Ty(jit.context());
    return jit.add_function(name, {pointer, integer, integer, integer, pointer, pointer, integer});
  }

  llvm::Value* argument(unsigned number) { return e_.function()->getArg(number); }
  llvm::Type* wide() { return e_.wide(e_.type(scalar_)); }
  llvm::Value* at(llvm::Value* array, llvm::Value* element) { return e_.b.CreateGEP(e_.type(scalar_), array, element); }

  Pointers pointers(llvm::Value* row, std::int64_t count) {
    Pointers made{};
    for (std::int64_t k = 0; k < count; ++k) {
      made.at(static_cast<size_t>(k)) = at(a_, e_.b.CreateMul(e_.b.CreateAdd(row, e_.integer(k)), stride_));
    }
    return made;
  }

  template <class Body>
  void in_groups(const Body& body) {
    llvm::Value* whole = e_.b.CreateAnd(rows_, e_.integer(-group_rows));
    e_.loop(e_.integer(0), whole, group_rows, [&](llvm::Value* row) { body(row, group_rows); });
    e_.loop(whole, rows_, 1, [&](llvm::Value* row) { body(row, 1); });
  }

  template <class Body>
  void over_columns(const Body& body) {
    llvm::Value* whole = e_.b.CreateAnd(cols_, e_.integer(-lanes_));
    e_.loop(e_.integer(0), whole, lanes_, body);
    e_.loop(whole, cols_, lanes_, [&](llvm::Value* j) {
      e_.mask = e_.b.CreateICmpSLT(e_.lane_numbers(), e_.spread({e_.b.CreateSub(cols_, j), true}));
      body(j);
      e_.mask = nullptr;
    });
  }

  // Lane l with l + half, then half of that, down to one.
  llvm::Value* across_lanes(llvm::Value* sum) {
    for (std::int64_t by = lanes_ / 2; by > 0; by /= 2) {
      std::vector<int> upper(static_cast<size_t>(lanes_), 0);
      for (std::int64_t l = 0; l < by; ++l) upper[static_cast<size_t>(l)] = static_cast<int>(l + by);
      sum = e_.b.CreateFAdd(sum, e_.b.CreateShuffleVector(sum, upper));
    }
    return e_.b.CreateExtractElement(sum, e_.integer(0));
  }

  Scalar scalar_;
  std::int64_t lanes_;
  Emitter e_;
  llvm::Value *a_, *stride_, *rows_, *cols_, *along_, *across_, *begun_;
};

}  // namespace

DenseTileKernel emit_dense_tiles(Jit& jit, Scalar scalar, const std::string& name) {
  DenseTileKernel kernel{name + "_rows", name + "_columns", name + "_ahead"};
  DenseEmitter(jit, scalar, kernel.rows_symbol).result_a_row();
  DenseEmitter(jit, scalar, kernel.columns_symbol).result_a_column(false);
  DenseEmitter(jit, scalar, kernel.ahead_symbol).result_a_column(true);
  return kernel;
}

}  // namespace kasen
