// Both directions of a product with a tile of a dense matrix, of one or a few columns. It takes some rows at a time. So
// each element of the vectors along the tile's columns is loaded once for them, and each of the tile once for all
// columns of the product. A row's sum has a lane for each element of a 64-byte vector, a column takes its rows in
// order, and nothing is contracted. So the bits depend neither on the processor nor on how rows and columns are
// grouped.
#include <array>
#include <utility>
#include <vector>

#include "libkernels/emit/emit.h"
#include "libkernels/emit/kernel.h"

namespace kasen {
namespace {

// Sums or factors of rows, one for each column, in registers: as many as the largest register files hold.
constexpr std::int64_t most_in_registers = 16;

std::int64_t rows_of_a_group(std::int64_t columns) {
  std::int64_t rows = 8;
  while (rows * columns > most_in_registers) rows /= 2;
  return rows;
}

class DenseEmitter {
 public:
  DenseEmitter(Jit& jit, Scalar scalar, std::int64_t columns, const std::string& name)
      : scalar_(scalar),
        lanes_(64 / scalar_bytes(scalar)),
        columns_(columns),
        group_rows_(rows_of_a_group(columns)),
        e_(jit, make(jit, name), static_cast<int>(lanes_)),
        a_(argument(0)),
        stride_(argument(1)),
        rows_(argument(2)),
        cols_(argument(3)),
        along_(vectors(argument(4))),
        across_(vectors(argument(5))),
        begun_(e_.b.CreateICmpNE(argument(6), e_.integer(0))),
        asked_{argument(7), argument(8)} {}

  // across[c][r] = sum over j of a[r][j] * along[c][j]; added to the old value if it has begun.
  void result_a_row() {
    in_groups([&](llvm::Value* row, std::int64_t count) {
      const Values rows = pointers(row, count);
      std::vector<llvm::AllocaInst*> sums;
      for (std::int64_t k = 0; k < count * columns_; ++k) {
        sums.push_back(e_.variable(wide()));
        e_.b.CreateStore(llvm::Constant::getNullValue(wide()), sums.back());
      }
      over_columns([&](llvm::Value* j) {
        Values x;
        for (llvm::Value* along : along_) x.push_back(e_.load_lanes(scalar_, at(along, j)));
        for (size_t k = 0; k < rows.size(); ++k) {
          llvm::Value* element = element_of(rows, k, j);
          for (size_t c = 0; c < x.size(); ++c) add_to(sums[c * rows.size() + k], e_.b.CreateFMul(element, x[c]));
        }
      });
      for (size_t c = 0; c < across_.size(); ++c) {
        Values of_rows;
        for (size_t k = 0; k < rows.size(); ++k) {
          of_rows.push_back(e_.b.CreateLoad(wide(), sums[c * rows.size() + k]));
        }
        store_results(at(across_[c], row), across_lanes(std::move(of_rows)));
      }
    });
    e_.b.CreateRetVoid();
  }

  // along[c][j] = sum over r of a[r][j] * across[c][r], in the order of r; added to the old value if it has begun.
  void result_a_column() {
    in_groups([&](llvm::Value* row, std::int64_t count) {
      const Values rows = pointers(row, count);
      Values factors;
      for (llvm::Value* across : across_) {
        for (std::int64_t k = 0; k < count; ++k) {
          llvm::Value* factor = e_.load_one(scalar_, at(across, e_.b.CreateAdd(row, e_.integer(k))));
          factors.push_back(e_.spread({factor, true}));
        }
      }
      llvm::Value* there = e_.b.CreateOr(begun_, e_.b.CreateICmpSGT(row, e_.integer(0)));
      over_columns([&](llvm::Value* j) {
        Values sums;
        for (llvm::Value* along : along_) {
          llvm::Value* sum = e_.load_lanes(scalar_, at(along, j));
          sums.push_back(e_.b.CreateSelect(there, sum, llvm::Constant::getNullValue(wide())));
        }
        for (size_t k = 0; k < rows.size(); ++k) {
          llvm::Value* element = element_of(rows, k, j);
          for (size_t c = 0; c < sums.size(); ++c) {
            sums[c] = e_.b.CreateFAdd(sums[c], e_.b.CreateFMul(element, factors[c * rows.size() + k]));
          }
        }
        for (size_t c = 0; c < sums.size(); ++c) e_.store_lanes(scalar_, at(along_[c], j), {sums[c], false});
      });
    });
    e_.b.CreateRetVoid();
  }

 private:
  using Values = std::vector<llvm::Value*>;

  static llvm::Function* make(Jit& jit, const std::string& name) {
    llvm::Type* pointer = llvm::PointerType::getUnqual(jit.context());
    llvm::Type* integer = llvm::Type::getInt64Ty(jit.context());
    return jit.add_function(name, {pointer, integer, integer, integer, pointer, pointer, integer, integer, integer});
  }

  llvm::Value* argument(unsigned number) { return e_.function()->getArg(number); }
  llvm::Type* wide() { return e_.wide(e_.type(scalar_)); }
  llvm::Value* at(llvm::Value* array, llvm::Value* element) { return e_.b.CreateGEP(e_.type(scalar_), array, element); }

  // The columns' vectors, from a table of them.
  Values vectors(llvm::Value* table) {
    Values made;
    llvm::Type* pointer = table->getType();
    for (std::int64_t c = 0; c < columns_; ++c) {
      made.push_back(e_.b.CreateLoad(pointer, e_.b.CreateGEP(pointer, table, e_.integer(c))));
    }
    return made;
  }

  Values pointers(llvm::Value* row, std::int64_t count) {
    Values made;
    for (std::int64_t k = 0; k < count; ++k) {
      made.push_back(at(a_, e_.b.CreateMul(e_.b.CreateAdd(row, e_.integer(k)), stride_)));
    }
    return made;
  }

  // Elements of row k of a group, from column j on; meanwhile it prefetches at the caller's distance.
  llvm::Value* element_of(const Values& rows, size_t k, llvm::Value* j) {
    llvm::Value* from = at(rows[k], j);
    if (e_.mask == nullptr) e_.ask_for(at(from, asked_.at(k % asked_.size())), Emitter::Near::second_cache);
    return e_.load_lanes(scalar_, from);
  }

  void add_to(llvm::AllocaInst* sum, llvm::Value* term) {
    e_.b.CreateStore(e_.b.CreateFAdd(e_.b.CreateLoad(wide(), sum), term), sum);
  }

  // Stores the results of consecutive rows.
  void store_results(llvm::Value* place, llvm::Value* results) {
    const llvm::Align align(static_cast<std::uint64_t>(scalar_bytes(scalar_)));
    llvm::Value* onto = e_.b.CreateFAdd(e_.b.CreateAlignedLoad(results->getType(), place, align), results);
    e_.b.CreateAlignedStore(e_.b.CreateSelect(begun_, onto, results), place, align);
  }

  template <class Body>
  void in_groups(const Body& body) {
    llvm::Value* whole = e_.b.CreateAnd(rows_, e_.integer(-group_rows_));
    e_.loop(e_.integer(0), whole, group_rows_, [&](llvm::Value* row) { body(row, group_rows_); });
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

  // Adds lane l of each row's sum and lane l + half, then half of that, down to one, and gives a vector of the rows'
  // results. Two rows share a vector as soon as their lanes fit into one.
  llvm::Value* across_lanes(Values sums) {
    for (std::int64_t lanes = lanes_; lanes > 1; lanes /= 2) {
      Values halved;
      for (size_t k = 0; k < sums.size(); k += 2)
        halved.push_back(halve(sums[k], k + 1 < sums.size() ? sums[k + 1] : nullptr, lanes));
      sums = std::move(halved);
    }
    return sums.at(0);
  }

  // Adds each row's lower and upper half, for rows of `lanes` lanes each, in one vector or in two.
  llvm::Value* halve(llvm::Value* first, llvm::Value* second, std::int64_t lanes) {
    const auto width = static_cast<std::int64_t>(llvm::cast<llvm::FixedVectorType>(first->getType())->getNumElements());
    std::vector<int> lower, upper;
    for (std::int64_t from = 0; from < (second == nullptr ? width : 2 * width); from += lanes) {
      for (std::int64_t l = from; l < from + lanes / 2; ++l) {
        lower.push_back(static_cast<int>(l));
        upper.push_back(static_cast<int>(l + lanes / 2));
      }
    }
    llvm::Value* other = second == nullptr ? llvm::PoisonValue::get(first->getType()) : second;
    return e_.b.CreateFAdd(e_.b.CreateShuffleVector(first, other, lower),
                           e_.b.CreateShuffleVector(first, other, upper));
  }

  Scalar scalar_;
  std::int64_t lanes_, columns_, group_rows_;
  Emitter e_;
  llvm::Value *a_, *stride_, *rows_, *cols_;
  Values along_, across_;
  llvm::Value* begun_;
  std::array<llvm::Value*, 2> asked_;  // from a row of even number, and of odd
};

}  // namespace

DenseTileKernel emit_dense_tiles(Jit& jit, Scalar scalar, std::int64_t columns, const std::string& name) {
  DenseTileKernel kernel{name + "_rows", name + "_columns"};
  DenseEmitter(jit, scalar, columns, kernel.rows_symbol).result_a_row();
  DenseEmitter(jit, scalar, columns, kernel.columns_symbol).result_a_column();
  return kernel;
}

}  // namespace kasen
