// Elements that a loop makes and keeps: temporaries and accumulators.
#include <llvm/Analysis/ValueTracking.h>

#include <algorithm>
#include <optional>

#include "libcore/base/error.h"
#include "libkernels/emit/elements.h"

namespace kasen {
namespace {

bool mentions(const Expr& e, int parameter) {
  if (e.op == ScalarOp::param) return e.index == parameter;
  return std::any_of(e.args.begin(), e.args.end(), [&](const Expr& arg) { return mentions(arg, parameter); });
}

// A component that is the accumulator's own plus something else: a(j) + more(j).
struct Addition {
  const Expr* more = nullptr;
  int number = -1;  // of the loop variable that counts the coordinates; -1: a scalar
};

// Whether `e` is component `c` of a parameter, at the coordinate that variable `number` counts.
bool is_component(const Expr& e, int parameter, int c, int number) {
  const Expr* of = &e;
  if (number >= 0) {
    if (of->op != ScalarOp::element || of->args[1].op != ScalarOp::loop_var || of->args[1].index != number)
      return false;
    of = &of->args[0];
  }
  if (of->op == ScalarOp::component && of->index == c) of = &of->args[0];
  return of->op == ScalarOp::param && of->index == parameter;
}

std::optional<Addition> as_addition(const Expr& body, int c) {
  const Expr* e = body.op == ScalarOp::make_tuple ? &body.args[static_cast<size_t>(c)] : &body;
  Addition addition;
  if (e->op == ScalarOp::build) {
    addition.number = e->index;
    e = &e->args[0];
  }
  if (e->op != ScalarOp::add) return std::nullopt;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    if (!is_component(e->args[side], 0, c, addition.number) || mentions(e->args[1 - side], 0)) continue;
    addition.more = &e->args[1 - side];
    return addition;
  }
  return std::nullopt;
}

llvm::Value* strip_address(Emitter& emitter, llvm::Value* array, Scalar scalar, llvm::Value* coordinate) {
  return emitter.at_byte(array, emitter.b.CreateMul(coordinate, emitter.integer(strip_bytes(emitter, scalar))));
}

// Loads all lanes of one coordinate, or of a coordinate of their own each.
Plane load_strip(Emitter& emitter, llvm::Value* array, Scalar scalar, const Plane& coordinate) {
  llvm::Value* saved = emitter.mask;
  emitter.mask = nullptr;  // scratch memory is always there
  llvm::Value* value = nullptr;
  if (coordinate.uniform) {
    value = emitter.load_lanes(scalar, strip_address(emitter, array, scalar, coordinate.value));
  } else {
    llvm::Value* size = emitter.spread({emitter.integer(scalar_bytes(scalar)), true});
    llvm::Value* row = emitter.spread({emitter.integer(emitter.lanes()), true});
    llvm::Value* place = emitter.b.CreateAdd(emitter.b.CreateMul(coordinate.value, row), emitter.lane_numbers());
    value = emitter.gather(scalar, emitter.at_byte(array, emitter.b.CreateMul(place, size)));
  }
  emitter.mask = saved;
  return {value, emitter.lanes() == 1};
}

void store_strip(Emitter& emitter, llvm::Value* array, Scalar scalar, llvm::Value* coordinate, const Plane& value) {
  llvm::Value* saved = emitter.mask;
  emitter.mask = nullptr;
  emitter.store_lanes(scalar, strip_address(emitter, array, scalar, coordinate), value);
  emitter.mask = saved;
}

}  // namespace

OperatorValue::OperatorValue(const ElementType& element)
    : element_(element), scalars_(element.components.size()), arrays_(element.components.size(), nullptr) {}

Plane OperatorValue::load(Emitter& emitter, int component, const Plane* coordinate) {
  if (coordinate == nullptr) return scalars_[static_cast<size_t>(component)];
  if (const auto number = known_coordinate(coordinate)) {
    const auto kept = coordinates_.find({component, *number});
    if (kept != coordinates_.end()) return kept->second;
  }
  return load_strip(emitter, arrays_[static_cast<size_t>(component)], scalar_of(element_, component), *coordinate);
}

void OperatorValue::store(Emitter& emitter, int component, llvm::Value* coordinate, const Plane& value) {
  const Plane place{coordinate, true};
  if (const auto number = known_coordinate(&place)) coordinates_[{component, *number}] = value;
  llvm::Value*& array = arrays_[static_cast<size_t>(component)];
  if (array == nullptr) array = make_array(emitter, element_.components[static_cast<size_t>(component)]);
  store_strip(emitter, array, scalar_of(element_, component), coordinate, value);
}

void OperatorValue::copy(Emitter& emitter, Source& from) {
  for_each_plane(emitter, element_, [&](int c, const Plane* j) {
    const Plane value = from.load(emitter, c, j);
    if (j == nullptr) {
      set(c, value);
    } else {
      store(emitter, c, j->value, value);
    }
  });
}

Plane Deferred::load(Emitter& emitter, int component, const Plane* coordinate) {
  if (coordinate == nullptr && scalars_ != nullptr) return scalars_->load(emitter, component, nullptr);
  return emitter.value_at(body_, arguments_, component, coordinate);
}

Accumulator::Accumulator(Emitter& emitter, const ElementType& element, Home home)
    : element_(element), home_(home), from_zero_(element.components.size(), false) {
  for (const Component& c : element.components) {
    if (home != Home::scratch) arrays_.push_back(make_array(emitter, c));
    const std::int64_t bytes = strip_bytes(emitter, c.scalar);
    const bool many = c.count > 0 && (home == Home::scratch || !Emitter::is_small(c.count));
    spare_.push_back(many ? emitter.scratch(c.count * bytes) : nullptr);
    if (home == Home::scratch) arrays_.push_back(c.count == 0 ? nullptr : emitter.scratch(c.count * bytes));
    scalars_.push_back(c.count > 0 ? nullptr : home == Home::scratch ? emitter.scratch(bytes) : emitter.local(bytes));
  }
}

Plane Accumulator::load(Emitter& emitter, int component, const Plane* coordinate) {
  const auto place = static_cast<size_t>(component);
  const Plane only{emitter.integer(0), true};
  return load_strip(emitter, coordinate == nullptr ? scalars_[place] : arrays_[place], scalar_of(element_, component),
                    coordinate == nullptr ? only : *coordinate);
}

void Accumulator::set(Emitter& emitter, int component, const Plane* coordinate, const Plane& value) {
  const auto place = static_cast<size_t>(component);
  store_strip(emitter, coordinate == nullptr ? scalars_[place] : arrays_[place], scalar_of(element_, component),
              coordinate == nullptr ? emitter.integer(0) : coordinate->value, value);
}

void Accumulator::begin_with(const std::vector<Word>& words) {
  auto word = words.begin();
  for (size_t c = 0; c < element_.components.size(); ++c) {
    const auto next = word + element_.components[c].planes();
    from_zero_[c] = std::all_of(word, next, [](const Word& w) { return w.i == 0; });
    word = next;
  }
}

Accumulator Accumulator::moved(Emitter& emitter, llvm::Value* bytes) const {
  if (home_ != Home::scratch) throw InternalError("an accumulator moved that is not in scratch memory");
  Accumulator other = *this;
  for (std::vector<llvm::Value*>* addresses : {&other.scalars_, &other.arrays_, &other.spare_}) {
    for (llvm::Value*& address : *addresses) {
      if (address != nullptr) address = emitter.at_byte(address, bytes);
    }
  }
  return other;
}

void Accumulator::fill(Emitter& emitter, const std::vector<Word>& words) {
  begin_with(words);
  size_t plane = 0;
  for (int c = 0; c < components_of(element_); ++c) {
    const Scalar scalar = scalar_of(element_, c);
    const auto place = static_cast<size_t>(c);
    const std::int64_t count = count_of(element_, c), planes = element_.components[place].planes();
    const Plane start{emitter.word(scalar, words[plane]), true};
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(plane);
    const bool alike = std::all_of(first, first + planes, [&](const Word& w) { return w.i == words[plane].i; });
    if (count == 0) {
      set(emitter, c, nullptr, start);
    } else if (alike) {
      emitter.coordinates(0, count, [&](llvm::Value* j) { store_strip(emitter, arrays_[place], scalar, j, start); });
    } else {
      for (std::int64_t j = 0; j < count; ++j) {
        store_strip(emitter, arrays_[place], scalar, emitter.integer(j), {emitter.word(scalar, first[j]), true});
      }
    }
    plane += static_cast<size_t>(planes);
  }
}

// old + more, for a component that began with 0 and has only been added to. Within a block, which is short:
// - a float of it is never -0, so lanes to which +0 is added keep their value;
// - integers stay far from the ends that stand for infinities if all addends are small.
llvm::Value* Accumulator::plus(Emitter& emitter, int component, const Plane& old, const Plane& more) const {
  constexpr unsigned block_bits = 13;  // more than log2(reduction_block)
  static_assert(reduction_block < (1 << block_bits));
  auto& b = emitter.b;
  llvm::Value* added = emitter.spread(more);
  llvm::Value* before = emitter.spread(old);
  if (is_float(scalar_of(element_, component))) {
    auto* choice = llvm::dyn_cast<llvm::SelectInst>(added);
    const auto zero = [](const llvm::Value* v) {
      const auto* constant = llvm::dyn_cast<llvm::Constant>(v);
      return constant != nullptr && constant->isNullValue();
    };
    if (choice == nullptr || (!zero(choice->getTrueValue()) && !zero(choice->getFalseValue()))) return nullptr;
    llvm::Value *yes = choice->getTrueValue(), *no = choice->getFalseValue(), *condition = choice->getCondition();
    if (zero(no)) return b.CreateSelect(condition, b.CreateFAdd(before, yes), before);
    return b.CreateSelect(condition, before, b.CreateFAdd(before, no));
  }
  const unsigned bits = added->getType()->getScalarSizeInBits();
  if (bits < 32) return nullptr;
  const unsigned spent = llvm::ComputeNumSignBits(added, emitter.function()->getParent()->getDataLayout());
  return spent > block_bits + 1 ? b.CreateAdd(before, added) : nullptr;
}

Plane Accumulator::next(Emitter& emitter, const Expr& body, const Sources& sources, int component,
                        const Plane* coordinate) {
  if (home_ == Home::registers || !from_zero_[static_cast<size_t>(component)]) {
    return emitter.value_at(body, sources, component, coordinate);
  }
  const std::optional<Addition> addition = as_addition(body, component);
  if (!addition || (addition->number >= 0) != (coordinate != nullptr)) {
    return emitter.value_at(body, sources, component, coordinate);
  }
  const Plane more = coordinate == nullptr
                         ? emitter.value(*addition->more, sources)
                         : emitter.value_with(*addition->more, addition->number, *coordinate, sources);
  llvm::Value* sum = plus(emitter, component, load(emitter, component, coordinate), more);
  if (sum != nullptr) return {sum, emitter.lanes() == 1};
  return emitter.value_at(body, sources, component, coordinate);
}

void Accumulator::copy(Emitter& emitter, Source& from) {
  for_each_plane(emitter, element_, [&](int c, const Plane* j) { set(emitter, c, j, from.load(emitter, c, j)); });
}

bool Accumulator::only_adds(const Expr& body) {
  for (int c = 0; c < components_of(body.type); ++c) {
    if (!as_addition(body, c)) return false;
  }
  return true;
}

bool Accumulator::only_sums(const Expr& body) {
  for (int c = 0; c < components_of(body.type); ++c) {
    const std::optional<Addition> addition = as_addition(body, c);
    if (!addition || !is_component(*addition->more, 1, c, addition->number)) return false;
  }
  return true;
}

// All of the new value is computed before any of the old one is overwritten, unless no component reads another.
void Accumulator::assign(Emitter& emitter, const Expr& body, const Sources& sources) {
  emitter.forget();
  const bool apart = only_adds(body);
  struct Made {
    int component;
    std::optional<Plane> coordinate;
    Plane value;
  };
  std::vector<Made> made;
  std::vector<bool> spared(arrays_.size(), false);
  for_each_plane(emitter, element_, [&](int c, const Plane* j) {
    const Plane old = load(emitter, c, j);
    Plane value = next(emitter, body, sources, c, j);
    if (emitter.mask != nullptr) value = emitter.select({emitter.mask, false}, value, old);
    if (j == nullptr || known_coordinate(j)) {
      made.push_back({c, j == nullptr ? std::nullopt : std::optional(*j), value});
    } else if (apart) {
      set(emitter, c, j, value);
    } else {
      spared[static_cast<size_t>(c)] = true;
      store_strip(emitter, spare_[static_cast<size_t>(c)], scalar_of(element_, c), j->value, value);
    }
  });
  for (const Made& m : made) set(emitter, m.component, m.coordinate ? &*m.coordinate : nullptr, m.value);
  for (int c = 0; c < components_of(element_); ++c) {
    if (!spared[static_cast<size_t>(c)]) continue;
    llvm::Value* spare = spare_[static_cast<size_t>(c)];
    emitter.coordinates(0, count_of(element_, c), [&](llvm::Value* j) {
      const Plane coordinate{j, true};
      set(emitter, c, &coordinate, load_strip(emitter, spare, scalar_of(element_, c), coordinate));
    });
  }
}

}  // namespace kasen
