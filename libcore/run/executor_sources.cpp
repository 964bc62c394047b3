// Steps that make values from outside or without operands: input, param, literal, fill, index, size; and output.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "libcore/analysis/value_ranges.h"
#include "libcore/base/error.h"
#include "libcore/data/disk_elements.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/laws/laws.h"
#include "libcore/run/executor_boxes.h"
#include "libcore/run/executor_steps.h"
#include "libcore/system/fault.h"

namespace kasen::executor {
namespace {

// The first words of many are copied behind themselves, from the first cache.
void fill_words(Scalar scalar, std::byte* at, std::int64_t count, Word word) {
  constexpr std::int64_t copied = 4096;
  if (count <= 0) return;
  const std::int64_t all = count * scalar_bytes(scalar);
  store_word(scalar, at, word);
  for (std::int64_t done = scalar_bytes(scalar); done < all;) {
    const std::int64_t more = std::min({done, copied, all - done});
    std::memcpy(at + done, at, static_cast<size_t>(more));
    done += more;
  }
}

// Sets elements [begin, end) of a view to one constant.
void fill_view(const ElementType& element, const View& view, std::int64_t begin, std::int64_t end,
               std::span<const Word> words) {
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const Scalar scalar = element.plane_scalar(p);
    const std::int64_t size = scalar_bytes(scalar);
    std::byte* at = view.data + plane_offset(element, view.capacity, p);
    fill_words(scalar, at + begin * size, end - begin, words[static_cast<size_t>(p)]);
  }
}

// A dense input with a buffer of its own is copied there. One whose owned elements do not ascend is copied to its own
// storage. All others stay in the data.
class InputStep : public Step {
 public:
  using Step::Step;
  void run(Execution& run) override {
    const ValueId value = op.results[0];
    if (run.module.type(value).sparse) return;
    if (!run.storage.copies_input(value)) return bring_whole(run, value);
    for (int p = 0; p < run.part_count(); ++p) {
      if (gives_values(run.module, op)) {
        const Array& values = run.parts[static_cast<size_t>(p)].matrices.at(op.name).values;
        const View from{const_cast<std::byte*>(values.bytes.data()), values.count};
        copy_elements(values.element, from, run.storage.view(value, p), 0, values.count);
        continue;
      }
      const auto it = run.parts[static_cast<size_t>(p)].arrays.find(op.name);
      const ValueInfo& info = run.storage.info(value);
      if (it == run.parts[static_cast<size_t>(p)].arrays.end() ||
          it->second.data.element != run.module.type(value).element ||
          it->second.data.count != run.storage.masters(value, p) * run.storage.inner(value, p)) {
        fail(ExitStatus::bad_input, fmt::format("input '{}' does not fit the data", op.name), "",
             "partition the data with this program", op.where);
      }
      const View& to = run.storage.view(value, p);
      if (it->second.on_disk != nullptr) {
        load(run, it->second, to);
        continue;
      }
      const View from{const_cast<std::byte*>(it->second.data.bytes.data()), it->second.data.count};
      if (info.cut == no_dim || run.numbering.order(info.cut, p).empty()) {
        copy_elements(it->second.data.element, from, to, 0, it->second.data.count);
        continue;
      }
      const std::vector<std::int32_t>& order = run.numbering.order(info.cut, p);
      move_rows(it->second.data.element, info.inner, order, from, to, true);
    }
  }

 private:
  // If it is on a disk, and some operator needs it whole.
  void bring_whole(Execution& run, ValueId value) const {
    for (int p = 0; p < run.part_count(); ++p) {
      stream::PassingSet& set = run.storage.passing(p);
      const int array = set.empty() ? -1 : set.find(run.storage.view(value, p).data);
      if (array < 0) continue;
      const std::int64_t before = set.read_bytes();
      set.bring_whole(array);
      run.count(number).disk_read_bytes += set.read_bytes() - before;
    }
  }

  // Rows on a disk are in the plan's order.
  void load(Execution& run, const PartArray& array, const View& to) const {
    const std::int64_t before = array.on_disk->read_bytes();
    array.on_disk->begin(0, array.data.count);
    array.on_disk->load(array.data.count, {to.data, array.data.element, to.capacity});
    array.on_disk->end();
    run.count(number).disk_read_bytes += array.on_disk->read_bytes() - before;
  }
};

// Of a step that makes an array's owned rows by themselves.
std::int64_t source_rows_at_once(const Execution& run, const Op& op, int part) {
  const ValueId value = op.results[0];
  const Type& type = run.module.type(value);
  if (run.forms.are_boxes() || run.storage.info(value).cut == no_dim || !type.state.is_part()) return 0;
  const std::int64_t row = run.storage.inner(value, part) * type.element.bytes();
  return std::max<std::int64_t>(1, run.options.pass_bytes / std::max<std::int64_t>(row, 1));
}

class ConstantStep : public Step {
 public:
  ConstantStep(const Op& decoded, int at, std::vector<Word> words) : Step(decoded, at), words_(std::move(words)) {}
  void run(Execution& run) override {
    const ValueId value = op.results[0];
    const Type& type = run.module.type(value);
    const ValueInfo& info = run.storage.info(value);
    for (int p = 0; p < run.part_count(); ++p) {
      const std::int64_t count = run.storage.elements(value, p);
      const auto planes = static_cast<std::int64_t>(type.element.planes());
      if (static_cast<std::int64_t>(words_.size()) == planes) {
        run.go_by(*this, p, run.storage.indices(value, p), [&](std::int64_t begin, std::int64_t end) {
          const std::int64_t inner = run.storage.inner(value, p);
          fill_view(type.element, run.storage.view(value, p), begin * inner, end * inner, words_);
        });
      } else {
        store_each(type.element, run.storage.view(value, p), count);
      }
      if (info.cut != no_dim) run.count(number).written_bytes += count * type.element.bytes();
    }
  }

  [[nodiscard]] std::int64_t rows_at_once(const Execution& run, int part) const override {
    const auto planes = run.module.type(op.results[0]).element.planes();
    return std::cmp_equal(words_.size(), planes) ? source_rows_at_once(run, op, part) : 0;
  }

 private:
  void store_each(const ElementType& element, const View& view, std::int64_t count) const {
    const std::int64_t planes = element.planes();
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t p = 0; p < planes; ++p) {
        const Scalar scalar = element.plane_scalar(p);
        store_word(scalar, view.data + plane_offset(element, view.capacity, p) + i * scalar_bytes(scalar),
                   words_[static_cast<size_t>(i * planes + p)]);
      }
    }
  }

  std::vector<Word> words_;  // one a plane, or one a plane for each element
};

class IndexStep : public Step {
 public:
  using Step::Step;
  void run(Execution& run) override {
    const ValueId value = op.results[0];
    const ValueInfo& info = run.storage.info(value);
    for (int p = 0; p < run.part_count(); ++p) {
      auto* out = reinterpret_cast<std::int64_t*>(run.storage.view(value, p).data);
      if (run.forms.are_boxes()) {
        const int worker = run.parts[static_cast<size_t>(p)].worker;
        for (const IndexRun& indices : runs_of(run.plan, stored_box(run.plan, run.plan.type(value)).at(0), worker)) {
          for (std::int64_t i = 0; i < indices.count; ++i) *out++ = indices.first + i;
        }
        continue;
      }
      if (info.cut == no_dim) {
        for (std::int64_t i = 0; i < info.inner; ++i) out[i] = i;
        continue;
      }
      const LocalSpace& space = run.numbering.space(info.space, p);
      const std::int64_t count = run.storage.indices(value, p);
      run.go_by(*this, p, count, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) out[i] = space.global(i);
      });
      run.count(number).written_bytes += 8 * count;
    }
  }

  [[nodiscard]] std::int64_t rows_at_once(const Execution& run, int part) const override {
    return source_rows_at_once(run, op, part);
  }
};

// Makes the middle element wrong on purpose: flips the first bit of its fraction, or an integer's lowest bit.
void flip_bit(Array& array) {
  if (array.count == 0) return;
  const Scalar s = array.element.plane_scalar(0);
  const std::int64_t at = array.count / 2 * scalar_bytes(s);
  const std::int64_t bit = s == Scalar::f64 ? 51 : s == Scalar::f32 ? 22 : 0;
  array.plane(0)[at + bit / 8] ^= std::byte{1} << bit % 8;
}

// Results are written in ascending global order of the owned elements. Once nothing but outputs is left to do, a value
// in that order is its result: its memory is handed over.
class OutputStep : public Step {
 public:
  // `alone`: no other output gives its value.
  OutputStep(const Op& decoded, int at, std::span<const Op> later, bool alone)
      : Step(decoded, at), later_(later), alone_(alone) {}
  void run(Execution& run) override {
    const ValueId value = op.operands[0];
    const Type& type = run.plan.type(value);
    Output made{op.name, type, {}};
    for (int p = 0; p < run.part_count(); ++p) {
      OutputPart part{run.parts[static_cast<size_t>(p)].worker,
                      is_spilled(run, p) ? from_disk(run, value, p) : owned_elements(run, value, p)};
      if (pass_point(FaultPoint::output) < 0) flip_bit(part.data);
      made.parts.push_back(std::move(part));
    }
    run.result.outputs.push_back(std::move(made));
  }

  // Planes lie elsewhere in a result than on the disk. What is on a disk is handed over once.
  [[nodiscard]] bool hands_over(const Execution& run, int part) const override {
    const ValueInfo& info = run.storage.info(op.operands[0]);
    return alone_ && info.cut != no_dim && run.module.type(op.operands[0]).element.planes() == 1 &&
           run.numbering.order(info.cut, part).empty();
  }

 private:
  [[nodiscard]] bool is_spilled(const Execution& run, int part) const {
    const ValueInfo& info = run.storage.info(op.operands[0]);
    return info.slot >= 0 && run.storage.slot(info.slot).spilled && hands_over(run, part);
  }

  Array from_disk(Execution& run, ValueId value, int p) const {
    const std::int64_t count = run.storage.elements(value, p);
    return {run.module.type(value).element, count, run.hand_over(*this, p, run.storage.view(value, p).data, count)};
  }

  Array owned_elements(Execution& run, ValueId value, int p) const {
    if (run.forms.are_boxes()) return owned_of_box(run, value, p);
    const ElementType& element = run.plan.type(value).element;
    const ValueInfo& info = run.storage.info(value);
    const View& from = run.storage.view(value, p);
    const std::int64_t count = run.storage.masters(value, p) * info.inner;
    const bool in_order = info.cut == no_dim || run.numbering.order(info.cut, p).empty();
    if (in_order) {
      if (Array taken = take(run, value, p, count); taken.bytes.size() > 0) return taken;
    }
    Array copy(element, count);
    const View to{copy.bytes.data(), count};
    if (in_order) {
      copy_elements(element, from, to, 0, count);
    } else {
      move_rows(element, info.inner, run.numbering.order(info.cut, p), from, to, false);
    }
    return copy;
  }

  // The memory of all of its elements, if nothing else needs it; else nothing.
  Array take(Execution& run, ValueId value, int p, std::int64_t count) const {
    const View& from = run.storage.view(value, p);
    Array taken;
    if (from.capacity != count || !is_last(run, value, p)) return taken;
    taken.element = run.plan.type(value).element;
    taken.count = count;
    taken.bytes = run.storage.take(from.data);
    return taken.bytes.size() > 0 ? with_zeros_behind(std::move(taken)) : std::move(taken);
  }

  // A part owns nothing of a value that it has as a copy, but all of a shared.
  Array owned_of_box(Execution& run, ValueId value, int p) const {
    const Type& type = run.plan.type(value);
    const int worker = run.parts[static_cast<size_t>(p)].worker;
    const Elements stored = elements_of(run.plan, stored_box(run.plan, type), worker);
    const Elements own = Layout(run.plan, type).is_shared() ? stored : kasen::owned_elements(run.plan, type, worker);
    const std::int64_t count = own.count();
    if (count == stored.count()) {
      if (Array taken = take(run, value, p, count); taken.bytes.size() > 0) return taken;
    }
    Array copy(type.element, count);
    if (count == 0) return copy;
    const PlaceList places = places_in(own, stored);
    copy_places(run, type.element, run.storage.view(value, p), places, {copy.bytes.data(), count},
                PlaceList({{IndexList::run(0, count), count}}));
    return copy;
  }

  // Equal results are of equal bytes, also behind the planes.
  static Array with_zeros_behind(Array array) {
    for (std::int64_t p = 0; p < array.element.planes(); ++p) {
      std::byte* const end = array.plane(p) + array.count * scalar_bytes(array.element.plane_scalar(p));
      std::fill(end, array.plane(p + 1), std::byte{0});
    }
    return array;
  }

  // True if only outputs of other memory follow.
  bool is_last(const Execution& run, ValueId value, int p) const {
    const View& own = run.storage.view(value, p);
    const std::byte* end = own.data + storage_bytes(run.plan.type(value).element, own.capacity);
    return std::all_of(later_.begin(), later_.end(), [&](const Op& other) {
      if (other.code != OpCode::output) return false;
      const std::byte* data = run.storage.view(other.operands[0], p).data;
      return data < own.data || data >= end;
    });
  }

  std::span<const Op> later_;  // of the program's outermost block
  const bool alone_;
};

std::vector<Word> param_words(const Execution& run, const Op& op) {
  const auto it = run.options.params.find(op.name);
  const std::vector<Word>& words = it == run.options.params.end() ? op.literal : it->second;
  const Type& type = run.module.type(op.results[0]);
  const auto planes = static_cast<size_t>(type.element.planes());
  const auto elements = static_cast<size_t>(Layout(run.module, type).elements_per_index());
  if (words.size() != planes && words.size() != planes * elements) {
    fail(ExitStatus::usage,
         fmt::format("parameter '{}' takes {} numbers, not {}", op.name, planes * elements, words.size()));
  }
  require_in_range(run.module, op, words);
  return words;
}

}  // namespace

void copy_elements(const ElementType& element, const View& from, const View& to, std::int64_t begin, std::int64_t end) {
  if (end <= begin) return;
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const std::int64_t size = scalar_bytes(element.plane_scalar(p));
    if (size == 0) continue;
    std::memmove(to.data + plane_offset(element, to.capacity, p) + begin * size,
                 from.data + plane_offset(element, from.capacity, p) + begin * size,
                 static_cast<size_t>((end - begin) * size));
  }
}

void move_rows(const ElementType& element, std::int64_t inner, const std::vector<std::int32_t>& order, const View& from,
               const View& to, bool forth) {
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const std::int64_t size = inner * scalar_bytes(element.plane_scalar(p));
    const std::byte* source = from.data + plane_offset(element, from.capacity, p);
    std::byte* target = to.data + plane_offset(element, to.capacity, p);
    for (size_t i = 0; i < order.size(); ++i) {
      const auto here = static_cast<std::int64_t>(i) * size, there = order[i] * size;
      std::copy_n(source + (forth ? there : here), size, target + (forth ? here : there));
    }
  }
}

void store_identity(Execution& run, FnId reducer, const View& view, std::int64_t elements) {
  fill_view(run.module.fn(reducer).result(), view, 0, elements, run.identity(reducer));
}

const std::vector<Word>& Execution::identity(FnId reducer) {
  if (const auto known = identities_.find(reducer); known != identities_.end()) return known->second;
  auto found = reducer_identity(module.fn(reducer));
  if (!found) {
    fail(ExitStatus::bad_input, fmt::format("the reducer {} has no identity element", module.fn(reducer).name),
         "a worker without a contribution holds it", "reduce with a function that has one");
  }
  return identities_.emplace(reducer, std::move(*found)).first->second;
}

std::unique_ptr<Step> make_source_step(Execution& run, const Op& op, int number) {
  switch (op.code) {
    case OpCode::input:
      return std::make_unique<InputStep>(op, number);
    case OpCode::param:
      return std::make_unique<ConstantStep>(op, number, param_words(run, op));
    case OpCode::index:
      return std::make_unique<IndexStep>(op, number);
    case OpCode::size:
      return std::make_unique<ConstantStep>(op, number, std::vector<Word>{Word::integer(run.module.dim(op.dim).size)});
    default:
      if (op.literal.size() != static_cast<size_t>(run.module.type(op.results[0]).element.planes())) {
        fail(ExitStatus::bad_input,
             fmt::format("{} gives another number of words than its type has", row(op.code).name), "", "", op.where);
      }
      return std::make_unique<ConstantStep>(op, number, op.literal);
  }
}

std::unique_ptr<Step> make_output_step(Execution& run, const Op& op, int number) {
  const std::span<const Op> all = run.module.body.ops;
  const auto at = static_cast<std::size_t>(&op - all.data());
  const auto gives_it = [&](const Op& other) {
    return other.code == OpCode::output && other.operands[0] == op.operands[0];
  };
  return std::make_unique<OutputStep>(op, number, all.subspan(at + 1),
                                      std::count_if(all.begin(), all.end(), gives_it) == 1);
}

}  // namespace kasen::executor
