#include "libkernels/make/kept_kernels.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "libcore/base/built_from.h"
#include "libkernels/jit/code_digest.h"

namespace kasen {
namespace {

// ---- the fields of all kernels, which a writer and a reader visit alike. A binding that lacks a field does not
// compile.

template <class Archive>
void visit(Archive& a, Component& c) {
  auto& [scalar, id_of, count] = c;
  a(scalar, id_of, count);
}

template <class Archive>
void visit(Archive& a, ElementType& e) {
  auto& [components, tuple] = e;
  a(components, tuple);
}

template <class Archive>
void visit(Archive& a, ReducedValue& r) {
  auto& [result, reducer, element, slot] = r;
  a(result, reducer, element, slot);
}

template <class Archive>
void visit(Archive& a, ElementwiseKernel& k) {
  auto& [symbol, streamed_symbol, function, streamed, inputs, reach, counted, counted_dims, stored, stored_elements,
         reduced, local_dims, partial_bytes] = k;
  a(symbol, streamed_symbol, inputs, reach, counted, counted_dims, stored, stored_elements, reduced, local_dims,
    partial_bytes);
}

template <class Archive>
void visit(Archive& a, ProductKernel::Product& p) {
  auto& [operand, vector, result, multiplier, reducer, onto, identity, slot] = p;
  a(operand, vector, result, multiplier, reducer, onto, identity, slot);
}

template <class Archive>
void visit(Archive& a, ProductKernel& k) {
  auto& [rows_symbol, segment_symbol, window_symbol, slice_symbol, rows, segment, window, slice, products, matrix,
         several, columns, partial_bytes] = k;
  a(rows_symbol, segment_symbol, window_symbol, slice_symbol, products, matrix, several, columns, partial_bytes);
}

template <class Archive>
void visit(Archive& a, EntryFoldKernel::Operand& o) {
  auto& [element, input] = o;
  a(element, input);
}

template <class Archive>
void visit(Archive& a, EntryFoldKernel::Result& r) {
  auto& [element, outputs] = r;
  a(element, outputs);
}

template <class Archive>
void visit(Archive& a, EntryFoldKernel& k) {
  auto& [symbol, rows, matrix, operands, results, adds_values, entry_reads, entry_writes, row_reads, row_writes] = k;
  a(symbol, matrix, operands, results, adds_values, entry_reads, entry_writes, row_reads, row_writes);
}

template <class Archive>
void visit(Archive& a, DenseTileKernel& k) {
  auto& [symbol, function] = k;
  a(symbol);
}

struct NoFacts {};  // of a function that is looked up by its name
template <class Archive>
void visit(Archive& /*a*/, NoFacts& /*unused*/) {}

template <class Archive>
void visit(Archive& a, NamedFunction& f) {
  auto& [name, symbol] = f;
  a(name, symbol);
}

template <class Archive>
void visit(Archive& a, CompiledObject& o) {
  auto& [key, code, functions] = o;
  a(key, functions);
}

template <class Archive>
void visit(Archive& a, CompiledPlan& p) {
  auto& [objects, cpu, scratch_bytes, made] = p;
  a(objects, cpu, scratch_bytes);
}

template <class T>
constexpr bool is_plain = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Word> ||
                          std::is_same_v<T, DimId> || std::is_same_v<T, FnId>;

class Writer {
 public:
  explicit Writer(std::string& bytes) : bytes_(bytes) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (one(fields), ...);
  }

 private:
  template <class T>
  void one(T& value) {
    if constexpr (is_plain<T>) {
      static_assert(std::is_trivially_copyable_v<T>);
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      visit(*this, value);
    }
  }
  void one(std::string& text) {
    count(text.size());
    bytes_ += text;
  }
  template <class T>
  void one(std::vector<T>& list) {
    count(list.size());
    for (T& value : list) one(value);
  }
  void count(std::uint64_t number) { one(number); }

  std::string& bytes_;
};

// NotKept: the bytes end too early.
class Reader {
 public:
  explicit Reader(std::string_view& rest) : rest_(rest) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (one(fields), ...);
  }

 private:
  template <class T>
  void one(T& value) {
    if constexpr (is_plain<T>) {
      const std::string_view bytes = next(sizeof value);
      std::memcpy(&value, bytes.data(), sizeof value);
    } else {
      visit(*this, value);
    }
  }
  void one(std::string& text) { text = next(count()); }
  template <class T>
  void one(std::vector<T>& list) {
    const std::uint64_t size = count();
    if (size > rest_.size()) throw NotKept();
    list.resize(size);
    for (T& value : list) one(value);
  }
  std::uint64_t count() {
    std::uint64_t number = 0;
    one(number);
    return number;
  }
  std::string_view next(std::uint64_t size) {
    if (size > rest_.size()) throw NotKept();
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view& rest_;
};

}  // namespace

template <class Kernel>
Kernel RecordedKernels::take(const std::string& name, Kernel kernel) {
  std::string copy = name;
  Writer writer(bytes_);
  writer(copy, kernel);
  return kernel;
}

ElementwiseKernel RecordedKernels::elementwise(const Module& module, const LoopBody& body, const std::string& name) {
  return take(name, maker_.elementwise(module, body, name));
}

ProductKernel RecordedKernels::product(const Module& module, const ProductBody& body, const std::string& name) {
  return take(name, maker_.product(module, body, name));
}

EntryFoldKernel RecordedKernels::entry_fold(const Module& module, const Op& op, const std::string& name) {
  return take(name, maker_.entry_fold(module, op, name));
}

DenseTileKernel RecordedKernels::row_results(const TileShape& shape, const std::string& name) {
  return take(name, maker_.row_results(shape, name));
}

DenseTileKernel RecordedKernels::column_results(const TileShape& shape, const std::string& name) {
  return take(name, maker_.column_results(shape, name));
}

void RecordedKernels::fold(const ScalarFunction& reducer, const std::string& name) {
  maker_.fold(reducer, name);
  take(name, NoFacts());
}

void RecordedKernels::combine(const ScalarFunction& reducer, const std::string& name) {
  maker_.combine(reducer, name);
  take(name, NoFacts());
}

void RecordedKernels::scan(const ScalarFunction& fn, const std::string& name) {
  maker_.scan(fn, name);
  take(name, NoFacts());
}

void RecordedKernels::reduction(const ScalarFunction& reducer, const std::vector<Word>& identity,
                                const std::string& name) {
  maker_.reduction(reducer, identity, name);
  take(name, NoFacts());
}

std::string RecordedKernels::bytes(const CompiledPlan& compiled) const {
  std::string all;
  CompiledPlan copy = compiled;
  Writer writer(all);
  writer(copy);
  return all + bytes_;
}

ReplayedKernels::ReplayedKernels(std::string bytes) : bytes_(std::move(bytes)), rest_(bytes_) {
  Reader reader(rest_);
  reader(compiled_);
}

template <class Kernel>
Kernel ReplayedKernels::give(const std::string& name) {
  std::string kept;
  Kernel kernel;
  Reader reader(rest_);
  reader(kept);
  if (kept != name) throw NotKept();
  reader(kernel);
  return kernel;
}

ElementwiseKernel ReplayedKernels::elementwise(const Module& /*module*/, const LoopBody& /*body*/,
                                               const std::string& name) {
  return give<ElementwiseKernel>(name);
}

ProductKernel ReplayedKernels::product(const Module& /*module*/, const ProductBody& /*body*/, const std::string& name) {
  return give<ProductKernel>(name);
}

EntryFoldKernel ReplayedKernels::entry_fold(const Module& /*module*/, const Op& /*op*/, const std::string& name) {
  return give<EntryFoldKernel>(name);
}

DenseTileKernel ReplayedKernels::row_results(const TileShape& /*shape*/, const std::string& name) {
  return give<DenseTileKernel>(name);
}

DenseTileKernel ReplayedKernels::column_results(const TileShape& /*shape*/, const std::string& name) {
  return give<DenseTileKernel>(name);
}

void ReplayedKernels::fold(const ScalarFunction& /*reducer*/, const std::string& name) { give<NoFacts>(name); }

void ReplayedKernels::combine(const ScalarFunction& /*reducer*/, const std::string& name) { give<NoFacts>(name); }

void ReplayedKernels::scan(const ScalarFunction& /*fn*/, const std::string& name) { give<NoFacts>(name); }

void ReplayedKernels::reduction(const ScalarFunction& /*reducer*/, const std::vector<Word>& /*identity*/,
                                const std::string& name) {
  give<NoFacts>(name);
}

CompiledPlan ReplayedKernels::end() const {
  if (!rest_.empty()) throw NotKept();
  return compiled_;
}

std::string kept_plan_key(const Module& module, const Target& target) {
  Module plan = module;
  for (std::string* text : {&plan.fitted_to, &plan.planned_by, &plan.source_name}) text->clear();
  plan.source.clear();
  for (Dimension& dim : plan.dims) {
    if (dim.is_observed()) dim.derived = {};  // so that its text is its size
  }
  return code_digest({"plan\n", built_from(), "\n", target.identity(), print_module(plan, false)});
}

}  // namespace kasen
