// One result a row. A group of rows meets a few columns of the products at a time, with a sum in registers for each
// pair, so that an element of a row is loaded once for those columns and an element of their vectors once for those
// rows. Summing the lanes of a vector takes three operations a row and column and lane. So if a row has few elements
// and there are several columns, the rows of a group are transposed once for all columns, and a lane takes a row.
#include <algorithm>
#include <utility>

#include "libkernels/tile/tile_emitter.h"

namespace kasen {
namespace {

constexpr std::int64_t most_turned = 64;  // elements of a row that is transposed: straight-line code

class RowResults : TileEmitter {
 public:
  RowResults(Jit& jit, const TileShape& shape, const std::string& name) : TileEmitter(jit, shape, name) {}

  void run() {
    if (transposing_pays()) {
      turned_ = e_.local(shape_.width * 64);
      in_row_groups(lanes_, [&](llvm::Value* row, std::int64_t count) {
        if (count == 1) return by_elements(row, 1);
        transpose(row);
        in_column_groups(columns_of_a_group(), [&](const ColumnGroup& group) {
          const Values sums = sums_from(0, 1, group);
          for (size_t c = 0; c < sums.size(); ++c) store_results(at(group.across[c], row), sums[c]);
        });
      });
    } else {
      in_row_groups(rows_of_a_group(), [&](llvm::Value* row, std::int64_t count) { by_elements(row, count); });
    }
    e_.b.CreateRetVoid();
  }

 private:
  // Operations on vectors for as many rows as there are lanes.
  [[nodiscard]] bool transposing_pays() {
    if (shape_.width == 0 || shape_.width > most_turned) return false;
    const std::int64_t steps = (shape_.width + lanes_ - 1) / lanes_, shuffles = lanes_ == 8 ? 3 : 4;
    const std::int64_t by_elements = shape_.columns * (2 * lanes_ * steps - lanes_ + 1 + 3 * (lanes_ - 1));
    const std::int64_t by_rows = shape_.columns * (2 * shape_.width + 1) + steps * lanes_ * shuffles + shape_.width;
    return by_rows < by_elements;
  }

  // Four rows of each column, or four sums that wait for one another (sums_from), have their registers.
  [[nodiscard]] std::int64_t columns_of_a_group() {
    return std::clamp<std::int64_t>(sums_in_registers() / 4, 1, most_group);
  }

  [[nodiscard]] std::int64_t rows_of_a_group() {
    const std::int64_t columns = std::min(columns_of_a_group(), shape_.columns);
    std::int64_t rows = 8;
    while (rows > 1 && rows * columns > sums_in_registers()) rows /= 2;
    return rows;
  }

  void by_elements(llvm::Value* row, std::int64_t count) {
    const Values rows = pointers(row, count);
    in_column_groups(columns_of_a_group(), [&](const ColumnGroup& group) {
      std::vector<llvm::AllocaInst*> sums;
      for (size_t k = 0; k < rows.size() * group.along.size(); ++k) {
        sums.push_back(e_.variable(wide()));
        e_.b.CreateStore(zero(), sums.back());
      }
      over_steps([&](const Step& step, bool first) {
        Values x;
        for (llvm::Value* along : group.along) x.push_back(load(along, step));
        for (size_t k = 0; k < rows.size(); ++k) {
          llvm::Value* element = element_of(rows[k], k, step);
          for (size_t c = 0; c < x.size(); ++c) {
            llvm::AllocaInst* sum = sums[c * rows.size() + k];
            llvm::Value* term = e_.b.CreateFMul(element, x[c]);
            e_.b.CreateStore(first ? term : e_.b.CreateFAdd(e_.b.CreateLoad(wide(), sum), term), sum);
          }
        }
      });
      for (size_t c = 0; c < group.across.size(); ++c) {
        Values of_rows;
        for (size_t k = 0; k < rows.size(); ++k) {
          of_rows.push_back(e_.b.CreateLoad(wide(), sums[c * rows.size() + k]));
        }
        store_results(at(group.across[c], row), across_lanes(std::move(of_rows)));
      }
    });
  }

  // Stores the results of consecutive rows. A sum that began with a product instead of 0 may be -0: 0 is added.
  void store_results(llvm::Value* place, llvm::Value* results) {
    const llvm::Align align(static_cast<std::uint64_t>(scalar_bytes(shape_.scalar)));
    llvm::Value* from_zero = e_.b.CreateFAdd(results, llvm::Constant::getNullValue(results->getType()));
    if (shape_.width == 0) {
      llvm::Value* onto = e_.b.CreateFAdd(e_.b.CreateAlignedLoad(results->getType(), place, align), from_zero);
      from_zero = e_.b.CreateSelect(begun(), onto, from_zero);
    }
    e_.b.CreateAlignedStore(from_zero, place, align);
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

  // Transposes as many rows as there are lanes: one vector of memory for each of a row's elements.
  void transpose(llvm::Value* row) {
    const Values rows = pointers(row, lanes_);
    const std::int64_t whole = shape_.width / lanes_ * lanes_;
    const auto some = [&](const Step& step) {
      Values vectors;
      for (size_t k = 0; k < rows.size(); ++k) vectors.push_back(element_of(rows[k], k, step));
      for (std::int64_t apart = lanes_ / 2; apart > 0; apart /= 2) exchange(vectors, apart);
      for (std::int64_t j = 0; j < step.count; ++j) {
        e_.store_lanes(shape_.scalar, turned_at(e_.b.CreateAdd(step.from, e_.integer(j))),
                       {vectors[static_cast<size_t>(j)], false});
      }
    };
    e_.loop(e_.integer(0), e_.integer(whole), lanes_, [&](llvm::Value* j) { some({j, lanes_}); });
    if (whole < shape_.width) some({e_.integer(whole), shape_.width - whole});
  }

  // Exchanges lane l + apart of vector k and lane l of vector k + apart, for all k and l without that bit.
  void exchange(Values& vectors, std::int64_t apart) {
    for (std::int64_t k = 0; k < lanes_; ++k) {
      if ((k & apart) != 0) continue;
      llvm::Value *&a = vectors[static_cast<size_t>(k)], *&b = vectors[static_cast<size_t>(k + apart)];
      std::vector<int> lower, upper;
      for (std::int64_t l = 0; l < lanes_; ++l) {
        const bool own = (l & apart) == 0;
        lower.push_back(static_cast<int>(own ? l : lanes_ + l - apart));
        upper.push_back(static_cast<int>(own ? l + apart : lanes_ + l));
      }
      llvm::Value* low = e_.b.CreateShuffleVector(a, b, lower);
      b = e_.b.CreateShuffleVector(a, b, upper);
      a = low;
    }
  }

  llvm::Value* turned_at(llvm::Value* element) { return at(turned_, e_.b.CreateMul(element, e_.integer(lanes_))); }

  // The sums of the lanes first, first + apart ... that a row's own vectors have, of every column in the group: added
  // as across_lanes does. Empty: the row has none of these elements.
  Values sums_from(std::int64_t first, std::int64_t apart, const ColumnGroup& group) {
    if (first >= shape_.width) return {};
    if (apart == lanes_) return lane_sums(first, group);
    Values sums = sums_from(first, 2 * apart, group);
    const Values others = sums_from(first + apart, 2 * apart, group);
    for (size_t c = 0; c < others.size(); ++c) sums[c] = e_.b.CreateFAdd(sums[c], others[c]);
    return sums;
  }

  // Of elements lane, lane + lanes_ ...
  Values lane_sums(std::int64_t lane, const ColumnGroup& group) {
    Values sums;
    for (std::int64_t j = lane; j < shape_.width; j += lanes_) {
      llvm::Value* element = e_.load_lanes(shape_.scalar, turned_at(e_.integer(j)));
      for (size_t c = 0; c < group.along.size(); ++c) {
        llvm::Value* factor = e_.spread({e_.load_one(shape_.scalar, at(group.along[c], e_.integer(j))), true});
        llvm::Value* term = e_.b.CreateFMul(element, factor);
        if (j == lane) {
          sums.push_back(term);
        } else {
          sums[c] = e_.b.CreateFAdd(sums[c], term);
        }
      }
    }
    return sums;
  }

  llvm::Value* turned_ = nullptr;
};

}  // namespace

DenseTileKernel emit_row_results(Jit& jit, const TileShape& shape, const std::string& name) {
  RowResults(jit, shape, name).run();
  return {name};
}

}  // namespace kasen
