// kernels-emit FOLDER: generates the kernels of some plans for AArch64 and for this processor, calls the latter, and
// writes into FOLDER what replay.c needs to call the former: objects, the table of their functions, and cases.bin with
// the memory before and after each call.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "libcore/lang/lang.h"
#include "libkernels/jit/code_cache.h"
#include "libkernels/jit/code_image.h"
#include "libkernels/run/plan_kernels.h"
#include "libopt/optimize/optimize.h"
#include "tests/kernels/support.h"

namespace kasen::test {
namespace {

constexpr std::int64_t elements = 1003, nonzeros = 5000;  // with a remainder of lanes, in one block

// Hands each call to both makers.
class Collected : public KernelMaker {
 public:
  Collected(KernelMaker& here, KernelMaker& there) : here_(here), there_(there) {}
  ElementwiseKernel elementwise(const Module& module, const LoopBody& body, const std::string& name) override {
    (void)there_.elementwise(module, body, name);
    loops.push_back(here_.elementwise(module, body, name));
    return loops.back();
  }
  ProductKernel product(const Module& module, const ProductBody& body, const std::string& name) override {
    (void)there_.product(module, body, name);
    ProductKernel made = here_.product(module, body, name);
    if (!body.dense && !made.several) products.push_back(made);
    return made;
  }
  EntryFoldKernel entry_fold(const Module& module, const Op& op, const std::string& name) override {
    (void)there_.entry_fold(module, op, name);
    return here_.entry_fold(module, op, name);
  }
  DenseTileKernel row_results(const TileShape& shape, const std::string& name) override {
    (void)there_.row_results(shape, name);
    return here_.row_results(shape, name);
  }
  DenseTileKernel column_results(const TileShape& shape, const std::string& name) override {
    (void)there_.column_results(shape, name);
    return here_.column_results(shape, name);
  }
  void fold(const ScalarFunction& reducer, const std::string& name) override {
    there_.fold(reducer, name);
    here_.fold(reducer, name);
  }
  void combine(const ScalarFunction& reducer, const std::string& name) override {
    there_.combine(reducer, name);
    here_.combine(reducer, name);
  }
  void scan(const ScalarFunction& fn, const std::string& name) override {
    there_.scan(fn, name);
    here_.scan(fn, name);
  }
  void reduction(const ScalarFunction& reducer, const std::vector<Word>& identity, const std::string& name) override {
    there_.reduction(reducer, identity, name);
    here_.reduction(reducer, identity, name);
    reductions.emplace_back(name, reducer.result());
  }

  std::vector<ElementwiseKernel> loops;
  std::vector<ProductKernel> products;
  std::vector<std::pair<std::string, ElementType>> reductions;

 private:
  KernelMaker &here_, &there_;
};

enum class Kind : std::int64_t { loop, rows, reduction };

struct Case {
  struct Word {
    std::int64_t value, is_place;
  };
  struct Region {
    std::int64_t place, bytes, real;  // real: bytes of a floating-point number, whose NaNs may differ; else 0
  };
  Kind kind = Kind::loop;
  std::string symbol;
  std::vector<Word> words;
  std::vector<Region> compared;
  std::int64_t end = 0, partials = -1, scratch = 0;  // of a reduction, its places lie at `partials`
  std::vector<std::byte> before, after;

  std::int64_t reserve(std::int64_t bytes) {
    const auto place = static_cast<std::int64_t>((before.size() + 63) / 64 * 64);
    before.resize(static_cast<std::size_t>(place + bytes));
    return place;
  }
  std::int64_t add(const void* bytes, std::int64_t count) {
    const std::int64_t place = reserve(count);
    std::memcpy(before.data() + place, bytes, static_cast<std::size_t>(count));
    return place;
  }
  // As append_array does.
  std::int64_t add_array(const Array& array) {
    const std::int64_t place = add(array.bytes.data(), array.bytes.size());
    std::vector<std::int64_t> pairs;
    append_array(pairs, array.element, View{nullptr, array.count});
    for (std::size_t k = 0; k < pairs.size(); ++k)
      words.push_back({pairs[k] + (k % 2 == 0 ? place : 0), k % 2 == 0 ? 1 : 0});
    return place;
  }
  void add_result(const ElementType& element) {
    const Array array(element, elements);
    const std::int64_t place = add_array(array);
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const Scalar s = element.plane_scalar(p);
      compared.push_back({place + (array.plane(p) - array.bytes.data()), elements * scalar_bytes(s),
                          is_float(s) ? scalar_bytes(s) : 0});
    }
  }
};

// The functions' own numbers beside those of every kind.
Array operand(Random& random, const ElementType& element, std::int64_t count) {
  Array array = random_array(random, element, count);
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const Scalar s = element.plane_scalar(p);
    for (std::int64_t i = 0; i < count && is_float(s); i += 2) {
      const double x =
          std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(below(random, 40)) - 20);
      store_word(s, array.plane(p) + i * scalar_bytes(s), Word::real(random() % 2 == 0 ? x : -x));
    }
  }
  return array;
}

std::optional<Case> case_of(Random& random, const ElementwiseKernel& kernel, std::int64_t scratch_bytes) {
  Case made{.symbol = kernel.symbol};
  if (!kernel.local_dims.empty()) return std::nullopt;
  for (std::size_t k = 0; k < kernel.inputs.size(); ++k) {
    if (kernel.reach[k] != Reach::whole && kernel.reach[k] != Reach::shared) return std::nullopt;
    made.add_array(operand(random, kernel.inputs[k], kernel.reach[k] == Reach::whole ? elements : 1));
  }
  for (const ElementType& element : kernel.stored_elements) made.add_result(element);
  if (kernel.partial_bytes > 0) made.partials = made.reserve(kernel.partial_bytes);
  for (const ReducedValue& value : kernel.reduced) {
    for (std::int64_t p = 0; p < value.element.planes(); ++p) {
      const Scalar s = value.element.plane_scalar(p);
      made.compared.push_back({made.partials + value.slot + 8 * p, scalar_bytes(s), is_float(s) ? scalar_bytes(s) : 0});
    }
  }
  made.end = elements;
  made.scratch = made.reserve(scratch_bytes + 64);
  return made;
}

Case case_of(Random& random, const ProductKernel& kernel, std::int64_t scratch_bytes) {
  Case made{.kind = Kind::rows, .symbol = kernel.rows_symbol};
  std::vector<std::int64_t> pointers{0};
  for (std::int64_t r = 0; r < elements; ++r)
    pointers.push_back(std::min(nonzeros, pointers.back() + below(random, 10)));
  std::vector<std::int32_t> indices(nonzeros);
  for (std::int32_t& index : indices) index = static_cast<std::int32_t>(below(random, elements));
  made.words.push_back({made.add(pointers.data(), std::ssize(pointers) * 8), 1});
  made.words.push_back({made.add(indices.data(), std::ssize(indices) * 4), 1});
  made.add_array(random_array(random, kernel.matrix, nonzeros));
  for (const ProductKernel::Product& p : kernel.products) {
    made.add_array(random_array(random, p.vector, elements));
    made.add_result(p.result);
  }
  made.end = elements;
  made.scratch = made.reserve(scratch_bytes + 64);
  return made;
}

// Rows of steps, results that are neighbours, and results apart with few steps.
std::vector<Case> cases_of(Random& random, const std::string& symbol, const ElementType& element,
                           std::int64_t scratch_bytes) {
  std::vector<Case> cases;
  for (const auto& [apart, along, steps] : {std::array{27, 1, 27}, std::array{1, 1003, 11}, std::array{3, 1, 3}}) {
    Case& made = cases.emplace_back(Case{.kind = Kind::reduction, .symbol = symbol});
    made.add_array(random_array(random, element, elements * steps));
    made.add_result(element);
    const ReductionPlaces places{apart, along, steps, 1};
    made.partials = made.add(&places, sizeof places);
    made.end = elements;
    made.scratch = made.reserve(scratch_bytes + 64);
  }
  return cases;
}

void call(Case& c, void* function) {
  Bytes memory(static_cast<std::int64_t>(c.before.size()));
  std::memcpy(memory.data(), c.before.data(), c.before.size());
  const auto base = reinterpret_cast<std::int64_t>(memory.data());
  std::vector<std::int64_t> words;
  for (const Case::Word& w : c.words) words.push_back(w.value + w.is_place * base);
  if (c.kind == Kind::reduction) {
    const auto* places = reinterpret_cast<const ReductionPlaces*>(memory.data() + c.partials);
    reinterpret_cast<ReductionFunction>(function)(words.data(), places, 0, c.end, memory.data() + c.scratch);
  } else if (c.kind == Kind::rows) {
    reinterpret_cast<RowsFunction>(function)(words.data(), 0, c.end, memory.data() + c.scratch);
  } else {
    std::byte* const partials = c.partials < 0 ? nullptr : memory.data() + c.partials;
    reinterpret_cast<ElementwiseFunction>(function)(words.data(), 0, c.end, partials, memory.data() + c.scratch);
  }
  c.after.assign(memory.data(), memory.data() + c.before.size());
}

class Cases {
 public:
  explicit Cases(std::filesystem::path folder) : folder_(std::move(folder)), random_(1) {}

  void add(const std::string& text) {
    TrialLawChecker laws;
    const Module module = optimize(compile_program(text, "cases.ks", {}), laws, {});
    const CodeCache none("");
    const Target arm(Ways{}, {}, nullptr, Level::aarch64);
    const auto here = make_compiler(Target(), none), there = make_compiler(arm, none);
    Collected both(*here, *there);
    PlanKernels plan{.target = arm};  // so that nothing is stored past the caches
    (void)ask_for_kernels(module, plan, both);
    std::string assembly;  // asked for, it makes one object of all kernels
    const CompiledPlan compiled = here->compile(1, nullptr), foreign = there->compile(1, &assembly);
    const CodeImage image(compiled.objects);
    const std::string prefix = fmt::format("p{}_", plans_++);
    write(prefix + "kernels.o", foreign.objects.at(0).code);
    const std::int64_t scratch = std::max(compiled.scratch_bytes, foreign.scratch_bytes);
    std::vector<Case> made;
    for (const ElementwiseKernel& kernel : both.loops) {
      if (auto c = case_of(random_, kernel, scratch)) made.push_back(std::move(*c));
    }
    for (const ProductKernel& kernel : both.products) made.push_back(case_of(random_, kernel, scratch));
    for (const auto& [name, element] : both.reductions) {
      for (Case& c : cases_of(random_, name, element, scratch)) made.push_back(std::move(c));
    }
    for (Case& c : made) {
      call(c, image.find(c.symbol));
      names_ += prefix + " " + c.symbol + "\n";
      record(c);
    }
  }

  void finish() {
    write("names.txt", names_);
    write("cases.bin", bytes_);
  }

 private:
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  void number(std::int64_t n) { bytes_.append(reinterpret_cast<const char*>(&n), sizeof n); }
  template <class T>
  void list(const std::vector<T>& items) {
    number(static_cast<std::int64_t>(items.size()));
    bytes_.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T));
  }
  void record(const Case& c) {
    for (const std::int64_t n : {static_cast<std::int64_t>(c.kind), c.end, c.partials, c.scratch}) number(n);
    list(c.words);
    list(c.compared);
    list(c.before);
    list(c.after);
  }

  std::filesystem::path folder_;
  Random random_;
  std::string names_, bytes_;
  int plans_ = 0;
};

std::string functions_of(const char* scalar) {
  std::string text = fmt::format("dim N\ninput x : {0}[N], y : {0}[N]\n", scalar), outputs = "output p, q, r, s, t";
  text += "p = x ^ y\nq = fmod(x, y)\nr = x % y\ns = sum(x * y)\nt = max(x)\n";
#define ELEMENTARY(name, work, library, numeric, wide, shape, doc) \
  text += "z" #name " = " #name "(x)\n";                           \
  outputs += ", z" #name;
#include "libcore/scalar/elementary.def"
#undef ELEMENTARY
  return text + outputs + "\n";
}

}  // namespace
}  // namespace kasen::test

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  kasen::test::Cases cases(argv[1]);
  for (const char* scalar : {"f64", "f32"}) cases.add(kasen::test::functions_of(scalar));
  for (const char* scalar : {"i64", "i32"}) {
    cases.add(
        fmt::format("dim N\ninput x : {0}[N], y : {0}[N], b : bool[N]\n"
                    "p = if b then x + y else x * y\nq = x // y\nr = x % y\ns = sum(x)\nt = min(y)\nu = x < y\n"
                    "v = f64(x) / f64(y)\nw = abs(x - y)\noutput p, q, r, s, t, u, v, w\n",
                    scalar));
  }
  for (const char* text : {"y = G @ x", "y = G' @ exp(x)", "y = mxvt(+, min, G, x)", "y = tanh(G @ x)"}) {
    cases.add(fmt::format("dim N\ninput G : f64[N, N], x : f64[N]\n{}\noutput y\n", text));
  }
  for (const char* scalar : {"f64", "f32", "i64", "i32"}) {
    cases.add(fmt::format("dim N, F local = 27\ninput X : {}[N, F]\noutput y = sum(X, over F), z = max(X, over N)\n",
                          scalar));
  }
  cases.finish();
}
