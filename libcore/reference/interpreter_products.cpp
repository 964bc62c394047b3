// Products and folds: nonzero by nonzero in ascending order of the operand's index.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "libcore/ir/array_views.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/products.h"
#include "libcore/linear/linear.h"
#include "libcore/reference/interpreter_state.h"

namespace kasen::reference {

void Interpreter::run_product(const Op& op) {
  const ValueId matrix = op.operands.at(1);
  const WholeMatrix* const sparse = values_.at(matrix).matrix.get();
  const std::int64_t entries = sparse != nullptr ? static_cast<std::int64_t>(sparse->rows.size()) : count_of(matrix);
  const std::int64_t calls = checked_mul(entries, columns_of(op), "the work of a product");
  work_.calls(calls, op.fns.at(0));
  work_.calls(calls, op.fns.at(1));
  Words made = identities(op.fns.at(1), count_of(op.results.at(0)), op.where);
  if (sparse != nullptr) {
    run_sparse(op, *sparse, made);
  } else {
    run_dense(op, made);
  }
  set(op.results[0], std::move(made));
}

void Interpreter::run_batch(const Op& op) {
  const WholeMatrix& all = *values_.at(op.operands.at(0)).matrix;
  const std::int64_t batch = integer(op.operands.at(1));
  require_inside({module_.dim(op.over.at(0)).name, dim_size(op.over[0]), 1, true}, batch, op.where);
  if (all.batches.size() != all.rows.size()) throw InternalError("a matrix that is not told apart into batches");
  work_.copies(std::ssize(all.rows), 1);
  auto made = std::make_shared<WholeMatrix>();
  std::vector<std::int64_t> entries;
  for (std::size_t e = 0; e < all.rows.size(); ++e) {
    if (all.batches[e] != batch) continue;
    made->rows.push_back(all.rows[e]);
    made->cols.push_back(all.cols[e]);
    entries.push_back(static_cast<std::int64_t>(e));
  }
  if (all.values.count > 0) {
    made->values = Array(all.values.element, std::ssize(entries));
    for (std::int64_t plane = 0; plane < all.values.element.planes(); ++plane) {
      const Scalar s = all.values.element.plane_scalar(plane);
      const auto word = [&](std::int64_t e) { return load_word(s, all.values.plane(plane) + e * scalar_bytes(s)); };
      for (std::int64_t k = 0; k < std::ssize(entries); ++k)
        store_word(s, made->values.plane(plane) + k * scalar_bytes(s), word(entries[static_cast<std::size_t>(k)]));
    }
  }
  values_[op.results.at(0)] = Held{{}, std::move(made)};
}

void Interpreter::multiply_into(const Op& op, Words& made, std::int64_t from, std::int64_t to,
                                std::span<const Word> entry) const {
  Words term(planes_of(op.results[0]));
  const std::int64_t columns = columns_of(op);
  for (std::int64_t k = 0; k < columns; ++k) {
    const std::span<const Word> args[2] = {element(op.operands[0], from * columns + k), entry};
    evaluate(module_.fn(op.fns.at(0)), args, term);
    fold(op.fns.at(1), made, to * columns + k, term);
  }
}

void Interpreter::run_sparse(const Op& op, const WholeMatrix& matrix, Words& made) const {
  const bool transposed = op.code == OpCode::mxvt;
  const auto& from = transposed ? matrix.cols : matrix.rows;
  const auto& to = transposed ? matrix.rows : matrix.cols;
  const ElementType& seen = module_.fn(op.fns.at(0)).params.at(1).type;
  const bool null = module_.type(op.operands[1]).element.bytes() == 0;
  Words entry;
  if (null) {
    for (std::int64_t p = 0; p < seen.planes(); ++p) {
      entry.push_back(is_float(seen.plane_scalar(p)) ? Word::real(1) : Word::integer(1));
    }
  }
  for (const size_t e : ascending(from)) {
    if (!null) {
      entry.clear();
      append_element(matrix.values, static_cast<std::int64_t>(e), entry);
    }
    multiply_into(op, made, from[e], to[e], entry);
  }
}

void Interpreter::run_dense(const Op& op, Words& made) const {
  const bool transposed = op.code == OpCode::mxvt;
  const auto shape = shape_of(module_.type(op.operands[1]).dims);
  in_order(count_of(op.operands[1]), [&](std::int64_t k) {
    const std::int64_t i = k / shape.at(1), j = k % shape[1];
    multiply_into(op, made, transposed ? j : i, transposed ? i : j, element(op.operands[1], k));
  });
}

// Every tuple of indices, those of the result outside. Terms of one element come by ascending indices.
void Interpreter::run_contract(const Op& op) {
  const Labels labels = labels_of(module_, op);
  const std::string summed = labels.summed(), all = labels.result + summed;
  std::vector<std::int64_t> shape;
  for (const char label : all) shape.push_back(dim_size(label_dim(module_, op, labels, label)));
  const std::int64_t results = count_of(op.results.at(0));
  const std::int64_t terms = product_of({shape.begin() + std::ssize(labels.result), shape.end()});
  const std::int64_t calls = checked_mul(results, terms, "the work of a contraction");
  for (const FnId fn : op.fns) work_.calls(calls, fn);
  Words made = summed.empty() ? Words(static_cast<size_t>(results) * planes_of(op.results[0]))
                              : identities(op.fns[1], results, op.where);
  Words term(planes_of(op.results[0]));
  std::vector<std::int64_t> index(all.size());
  const auto at = [&](size_t operand) {
    std::int64_t place = 0;
    for (const char label : labels.operands[operand]) place = place * shape[all.find(label)] + index[all.find(label)];
    return element(op.operands[operand], place);
  };
  for (std::int64_t to = 0; to < results; ++to) {
    in_order(terms, [&](std::int64_t k) {
      set_index(index, shape, to * terms + k);
      const std::span<const Word> args[2] = {at(0), at(1)};
      evaluate(module_.fn(op.fns.at(0)), args, term);
      if (!summed.empty()) return fold(op.fns[1], made, to, term);
      std::copy(term.begin(), term.end(), made.begin() + to * std::ssize(term));
    });
  }
  if (is_onto(op)) {
    Words sums = words(op.operands[2]);
    work_.calls(results, op.fns[1]);
    for (std::int64_t i = 0; i < results; ++i) {
      fold(op.fns[1], sums, i, std::span(made).subspan(static_cast<size_t>(i) * term.size(), term.size()));
    }
    made = std::move(sums);
  }
  set(op.results[0], std::move(made));
}

namespace {

// Libraries round otherwise: their results are those of a matrix nearby (backward stability). Moves each number by some
// units of the largest one, the same way each time.
void move_nearby(Array& array, Scalar scalar, int order) {
  const auto place = [&](std::int64_t k) { return array.plane(0) + k * scalar_bytes(scalar); };
  double largest = 0;
  for (std::int64_t k = 0; k < array.count; ++k) largest = std::max(largest, std::fabs(load_word(scalar, place(k)).f));
  const double step = (2 + order) * largest * (scalar == Scalar::f32 ? 0x1p-24 : 0x1p-53);
  std::uint64_t bits = static_cast<std::uint64_t>(order);
  for (std::int64_t k = 0; k < array.count; ++k) {
    bits = bits * 6364136223846793005U + 1442695040888963407U;
    const double share = static_cast<double>(bits >> 40) * 0x1p-23 - 1;  // -1 to 1
    store_word(scalar, place(k), Word::real(load_word(scalar, place(k)).f + share * step));
  }
}

// A matrix may be singular or indefinite by rounding alone: then its results are no numbers.
void run_linear_nearby(const LinearCall& call, std::span<Array> results) {
  try {
    kasen::run_linear(call);
  } catch (const UserError&) {
    for (Array& array : results) {
      const Scalar s = call.scalar;
      for (std::int64_t k = 0; k < array.count; ++k)
        store_word(s, array.plane(0) + k * scalar_bytes(s), Word::real(std::numeric_limits<double>::quiet_NaN()));
    }
  }
}

}  // namespace

void Interpreter::run_linear(const Op& op) {
  std::vector<Array> arrays;
  std::vector<View> views;
  const auto add = [&](ValueId v) {
    Array& array = arrays.emplace_back(module_.type(v).element, count_of(v));
    views.push_back({array.bytes.data(), array.count});
  };
  for (const ValueId v : op.operands) add(v);
  for (const ValueId v : op.results) add(v);
  const auto scalar = [&](ValueId v) { return module_.type(v).element.scalar(); };
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const Words& from = words(op.operands[i]);
    for (std::int64_t k = 0; k < arrays[i].count; ++k) {
      store_word(scalar(op.operands[i]), arrays[i].plane(0) + k * scalar_bytes(scalar(op.operands[i])),
                 from[static_cast<size_t>(k)]);
    }
  }
  LinearCall call = linear_call(module_, op, [&](DimId dim) { return dim_size(dim); });
  call.inputs = std::span(views).first(op.operands.size());
  call.outputs = std::span(views).subspan(op.operands.size());
  if (options_.order == 0) {
    kasen::run_linear(call);
  } else {
    for (size_t i = 0; i < op.operands.size(); ++i) move_nearby(arrays[i], scalar(op.operands[i]), options_.order);
    run_linear_nearby(call, std::span(arrays).subspan(op.operands.size()));
  }
  for (size_t i = 0; i < op.results.size(); ++i) {
    Words made;
    const Array& array = arrays[op.operands.size() + i];
    for (std::int64_t k = 0; k < array.count; ++k) append_element(array, k, made);
    set(op.results[i], std::move(made));
  }
}

std::span<const Word> Interpreter::point(ValueId v, std::int64_t index) const {
  const auto& dims = module_.type(v).dims;
  const std::vector<DimId> local(dims.begin() + (dims.empty() ? 0 : 1), dims.end());
  const auto words = static_cast<size_t>(product_of(shape_of(local))) * planes_of(v);
  return std::span(this->words(v)).subspan(static_cast<size_t>(index) * words, words);
}

// The arguments of a fold's function at nonzero e. Sparse values have one element for each, in the matrix's order.
std::vector<std::span<const Word>> Interpreter::arguments_at(const Op& op, const WholeMatrix& matrix, size_t e,
                                                             Words& entry) const {
  const ScalarFunction& fn = module_.fn(op.fns.at(0));
  entry.clear();
  if (module_.type(op.operands[0]).element.bytes() > 0) {
    append_element(matrix.values, static_cast<std::int64_t>(e), entry);
  } else {
    entry.push_back(is_float(fn.params.at(0).type.scalar()) ? Word::real(1) : Word::integer(1));
  }
  std::vector<std::span<const Word>> args{entry};
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const EntrySide side = entry_side(module_, op, i);
    const std::int64_t index = side == EntrySide::rows      ? matrix.rows[e]
                               : side == EntrySide::cols    ? matrix.cols[e]
                               : side == EntrySide::entries ? static_cast<std::int64_t>(e)
                                                            : 0;
    args.push_back(point(op.operands[i], index));
  }
  return args;
}

void Interpreter::run_entries(const Op& op, const WholeMatrix& matrix) {
  const ScalarFunction& fn = module_.fn(op.fns.at(0));
  Words made, entry, term(static_cast<size_t>(fn.result().planes()));
  work_.calls(static_cast<std::int64_t>(matrix.rows.size()), op.fns[0]);
  for (size_t e = 0; e < matrix.rows.size(); ++e) {
    evaluate(fn, arguments_at(op, matrix, e, entry), term);
    made.insert(made.end(), term.begin(), term.end());
  }
  set(op.results[0], std::move(made));
}

void Interpreter::run_fold(const Op& op) {
  const WholeMatrix& matrix = *values_.at(op.operands.at(0)).matrix;
  if (gives_entries(op)) return run_entries(op, matrix);
  const bool by_rows = result_side(op) == EntrySide::rows;
  const auto& to = by_rows ? matrix.rows : matrix.cols;
  const ScalarFunction& fn = module_.fn(op.fns.at(0));
  Words made = identities(op.fns.at(1), count_of(op.results.at(0)), op.where);
  Words term(static_cast<size_t>(fn.result().planes()));
  const size_t planes = planes_of(op.results[0]), columns = term.size() / planes;
  work_.calls(static_cast<std::int64_t>(to.size()), op.fns[0]);
  work_.calls(static_cast<std::int64_t>(to.size() * columns), op.fns[1]);
  Words entry;
  for (const size_t e : ascending(by_rows ? matrix.cols : matrix.rows)) {
    evaluate(fn, arguments_at(op, matrix, e, entry), term);
    for (size_t c = 0; c < columns; ++c) {
      fold(op.fns[1], made, to[e] * static_cast<std::int64_t>(columns) + static_cast<std::int64_t>(c),
           std::span(term).subspan(c * planes, planes));
    }
  }
  set(op.results[0], std::move(made));
}

std::vector<size_t> Interpreter::ascending(const std::vector<std::int64_t>& from) const {
  std::vector<size_t> order(from.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return from[a] < from[b]; });
  if (options_.order == 0) return order;
  std::vector<size_t> other(order.size());
  for (size_t k = 0; k < order.size(); ++k)
    other[k] = order[static_cast<size_t>(nth(static_cast<std::int64_t>(k), std::ssize(order)))];
  return other;
}

}  // namespace kasen::reference
