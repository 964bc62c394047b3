#include "libcore/run/matrix_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <set>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/products.h"
#include "libcore/kernels/form_text.h"
#include "libcore/kernels/local_matrix.h"
#include "libcore/rows/row_region.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

constexpr const char* what = "a matrix's size";

// A matrix is an input, or a batch of one, and the input's name identifies it in the data.
const std::string& input_name(const Module& module, const Op& product) {
  const SparseSource source = sparse_source(module, product_matrix(product));
  if (source.input != nullptr) return source.input->name;
  fail(ExitStatus::bad_input, "a product's matrix is not an input", "matrices are read, never computed", "",
       product.where);
}

// The spaces of what a product reads across, and of its result. A matrix with a local dimension has nonzeros at owned
// elements alone.
std::pair<int, int> spaces_of(const Execution& run, const Op& product, bool by_rows) {
  const Type& matrix = run.module.type(product_matrix(product));
  if (has_whole_lines(run.module, matrix)) {
    const auto space = [&](bool rows) { return run.numbering.find(matrix.dims[rows ? 0 : 1], {}); };
    return {space(!by_rows), space(by_rows)};
  }
  const bool fold = is_fold(product);
  const ValueInfo& operand = run.storage.info(fold ? across_operand(run.module, product) : product.operands.at(0));
  const ValueInfo& result = run.storage.info(along_value(product));
  if (operand.cut == no_dim || result.cut == no_dim || (!fold && operand.inner != result.inner)) {
    fail(ExitStatus::bad_input, "a product of a sparse matrix with something that is not distributed as it is", "", "",
         product.where);
  }
  return {operand.space, result.space};
}

std::int64_t count_rows_alone(const LocalMatrix& matrix, std::int64_t masters) {
  if (matrix.inputs == masters) return matrix.outputs;
  const auto first = std::find_if(matrix.indices.begin(), matrix.indices.end(), [&](auto i) { return i >= masters; });
  const std::int64_t entry = first - matrix.indices.begin();
  if (entry == matrix.entries()) return matrix.outputs;
  return std::upper_bound(matrix.pointers.begin(), matrix.pointers.end(), entry) - matrix.pointers.begin() - 1;
}

// Nonzeros that a thread holds at once: some, but whole rows, and blocks of a region of rows.
std::int64_t entries_at_once(const LocalMatrix& form, std::int64_t some_bytes) {
  std::int64_t most = std::max(some_bytes / (4 + form.element.bytes()), most_block_entries(form.element.bytes()));
  for (std::int64_t o = 0; o < form.outputs; ++o) {
    const auto at = static_cast<size_t>(o);
    most = std::max(most, form.pointers[at + 1] - form.pointers[at]);
  }
  return std::min(most, std::max<std::int64_t>(1, form.entries()));
}

const PartMatrix& matrix_of(const Execution& run, const std::string& name, int part) {
  return run.parts[static_cast<size_t>(part)].matrices.at(name);
}

int input_number(const Execution& run, const std::string& name) {
  int found = -1;
  for_each_op(run.module, [&](const Op& op, int number, int) {
    if (op.code == OpCode::input && op.name == name && run.module.type(op.results.at(0)).sparse) found = number;
  });
  return found;
}

std::int64_t read_bytes(const EntriesOnDisk& entries) {
  return entries.columns->read_bytes() + (entries.values != nullptr ? entries.values->read_bytes() : 0);
}

}  // namespace

MatrixReads read_of_matrices(const std::vector<Part>& parts) {
  MatrixReads read(parts.size());
  for (size_t p = 0; p < parts.size(); ++p) {
    for (const auto& [name, matrix] : parts[p].matrices)
      if (matrix.on_disk != nullptr) read[p][name] = read_bytes(*matrix.on_disk);
  }
  return read;
}

ValueId MatrixStore::batch_index(const Execution& run, ValueId matrix) {
  const SparseSource source = sparse_source(run.module, matrix);
  return source.batch == nullptr ? no_value : range_begin(*source.batch);
}

void MatrixStore::make_keys(const Execution& run) {
  for (const ScheduleLine& line : run.plan.body.schedule) {
    if (line.kind != LineKind::form) continue;
    for (const ValueId product : line.values) forms_.emplace(product, line.form);
    keys_.resize(std::max(keys_.size(), static_cast<size_t>(line.form) + 1));
  }
}

int MatrixStore::find(const Execution& run, const Op& product) { return find(run, product, gives_rows(product)); }

int MatrixStore::find(const Execution& run, const Op& product, bool by_rows) {
  if (!run.module.type(product_matrix(product)).sparse) throw InternalError("only sparse matrices have a pull form");
  if (forms_.empty()) make_keys(run);
  const auto [operand, result] = spaces_of(run, product, by_rows);
  const int form = forms_.at(product.results[0]);
  Key& key = keys_.at(static_cast<size_t>(form));
  const bool numbered = key.numbered || numbers_entries(run.module, product);
  key = {input_name(run.module, product), by_rows, operand, result, numbered};
  return form;
}

void MatrixStore::number(Execution& run, const MatrixReads& before) {
  const MatrixReads now = read_of_matrices(run.parts);
  for (size_t p = 0; p < now.size(); ++p) {
    for (const auto& [name, bytes] : now[p]) {
      const int input = input_number(run, name);
      if (input >= 0) run.count(input).disk_read_bytes += bytes - before[p].at(name);
    }
  }
  matrices_.resize(keys_.size());
  passing_.resize(keys_.size());
  rows_alone_.resize(keys_.size());
  for (size_t k = 0; k < keys_.size(); ++k) {
    matrices_[k].resize(run.parts.size());
    passing_[k].resize(run.parts.size());
    rows_alone_[k].resize(run.parts.size());
    for (int p = 0; p < run.part_count(); ++p) {
      const PartMatrix& matrix = matrix_of(run, keys_[k].name, p);
      matrices_[k][static_cast<size_t>(p)].resize(static_cast<size_t>(matrix.batches));
      rows_alone_[k][static_cast<size_t>(p)].resize(static_cast<size_t>(matrix.batches));
      if (matrix.on_disk != nullptr) number_form(run, k, p);
    }
  }
}

void MatrixStore::number_form(Execution& run, size_t k, int part) {
  const Key& key = keys_[k];
  const PartMatrix& matrix = matrix_of(run, key.name, part);
  if (run.options.spill == nullptr) throw InternalError("a matrix on a disk, and no disk for its form");
  if (matrix.batches != 1) {
    fail(ExitStatus::bad_input, fmt::format("the batches of '{}' are on a disk", key.name),
         "a form of each of them has to be in memory", "run the plan without a limit of memory, or on more machines");
  }
  if (key.numbered) throw InternalError("a matrix on a disk whose nonzeros have values of the program");
  const auto p = static_cast<size_t>(part);
  LocalMatrix form =
      FormOnDisk(matrix, key.transposed, run.numbering.space(key.operand, part), run.numbering.space(key.result, part))
          .numbered();
  stream::PassingSet& set = run.storage.passing(part);
  PassingEntries& passing = passing_[k][p];
  const auto add = [&](const ElementType& element, std::int64_t staging) -> const ElementMemory& {
    passing.arrays.push_back(set.count());
    return set.add(element, form.entries(), 1, *run.options.spill, staging);
  };
  // What brings the nonzeros takes memory beside those that stay.
  const std::int64_t staging = stream::MatrixEntries::memory_bytes(matrix, true, run.options.pass_bytes);
  const ElementMemory& indices = add(ElementType::of(Scalar::i32), staging);
  std::shared_ptr<const void> nobody(indices.data, [](const void*) {});
  form.indices = {std::move(nobody), reinterpret_cast<const std::int32_t*>(indices.data),
                  static_cast<size_t>(form.entries())};
  if (matrix.element.bytes() > 0) form.values = stream::array_in(add(matrix.element, 0));
  form.goes_by = true;
  passing.at_once = entries_at_once(form, 2 * run.options.pass_bytes);
  matrices_[k][p].at(0) = std::move(form);
}

// Each form is built by its own thread: a plan has few forms, and each takes one pass over the part.
void MatrixStore::build(const Execution& run) {
  std::vector<std::future<void>> made;
  for (size_t k = 0; k < keys_.size(); ++k) made.push_back(std::async([this, &run, k] { build_form(run, k); }));
  for (std::future<void>& form : made) form.get();
  tell_of_formed(run, false);
}

void MatrixStore::tell_of_formed(const Execution& run, bool on_disk) const {
  if (!run.options.on_formed) return;
  std::set<std::string> names;
  for (const Key& key : keys_) names.insert(key.name);
  for (int p = 0; p < run.part_count(); ++p) {
    for (const std::string& name : names) {
      if ((matrix_of(run, name, p).on_disk != nullptr) == on_disk) run.options.on_formed(static_cast<size_t>(p), name);
    }
  }
}

void MatrixStore::build_form(const Execution& run, size_t k) {
  const Key& key = keys_[k];
  for (int p = 0; p < run.part_count(); ++p) {
    const auto part = static_cast<size_t>(p);
    if (!passing_[k][part].arrays.empty()) continue;
    const LocalSpace& operand = run.numbering.space(key.operand, p);
    const LocalSpace& result = run.numbering.space(key.result, p);
    const PartMatrix& matrix = matrix_of(run, key.name, p);
    std::vector<LocalMatrix>& forms = matrices_[k][part];
    for (size_t batch = 0; batch < forms.size(); ++batch) {
      if (forms.size() > 1) {
        forms[batch] = make_local_matrix(batch_of(matrix, static_cast<std::int64_t>(batch)), key.transposed, operand,
                                         result, key.numbered);
      } else {
        forms[batch] = key.numbered ? make_local_matrix(matrix, key.transposed, operand, result, true)
                                    : local_matrix(matrix, key.transposed, operand, result, run.options.forms,
                                                   form_name(run, key, p));
      }
      rows_alone_[k][part][batch] = count_rows_alone(forms[batch], operand.masters);
    }
  }
}

FormOnDisk MatrixStore::maker(const Execution& run, size_t k, int part) const {
  const Key& key = keys_[k];
  return {matrix_of(run, key.name, part), key.transposed, run.numbering.space(key.operand, part),
          run.numbering.space(key.result, part)};
}

std::vector<stream::PassingArray*> MatrixStore::arrays(Execution& run, size_t k, int part) const {
  std::vector<stream::PassingArray*> found;
  for (const int array : passing_[k][static_cast<size_t>(part)].arrays)
    found.push_back(&run.storage.passing(part).array(array));
  return found;
}

std::int64_t MatrixStore::kept_bytes(Execution& run, size_t k, int part) const {
  std::int64_t bytes = 0;
  for (const stream::PassingArray* array : arrays(run, k, part)) bytes += array->kept * array->row_bytes();
  return bytes;
}

// Those of which least stays come first: they have the room of what comes behind them.
std::vector<size_t> MatrixStore::in_order(Execution& run, int part) const {
  std::vector<size_t> order;
  for (size_t k = 0; k < passing_.size(); ++k)
    if (!passing_[k][static_cast<size_t>(part)].arrays.empty()) order.push_back(k);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return kept_bytes(run, a, part) < kept_bytes(run, b, part); });
  return order;
}

// First what does not stay, a roomful at a time, then what does: it never leaves.
std::vector<FormPiece> MatrixStore::pieces(Execution& run, const FormOnDisk& maker, size_t k, int part) const {
  const LocalMatrix& form = matrix(static_cast<int>(k), part);
  std::int64_t kept = form.entries(), room = run.storage.passing(part).window();
  for (const stream::PassingArray* array : arrays(run, k, part)) kept = std::min(kept, array->kept);
  const std::vector<size_t> order = in_order(run, part);
  for (auto at = std::find(order.begin(), order.end(), k); at != order.end(); ++at) room += kept_bytes(run, *at, part);
  for (const stream::PassingArray* array : arrays(run, k, part)) room -= (array->kept - kept) * array->row_bytes();
  const std::int64_t most = std::max<std::int64_t>(1, room / (4 + form.element.bytes()));
  std::vector<FormPiece> found = maker.pieces(form, kept, form.entries(), most);
  for (const FormPiece& piece : maker.pieces(form, 0, kept, form.entries())) found.push_back(piece);
  return found;
}

void MatrixStore::bring(Execution& run) {
  for (int p = 0; p < run.part_count(); ++p) {
    for (const size_t k : in_order(run, p)) {
      const DiskBytes before = moved(run, k, p);
      bring_form(run, k, p);
      const DiskBytes after = moved(run, k, p);
      OpCount& count = run.count(input_number(run, keys_[k].name));
      count.disk_read_bytes += after.read - before.read;
      count.disk_written_bytes += after.written - before.written;
    }
  }
  tell_of_formed(run, true);
}

void MatrixStore::bring_form(Execution& run, size_t k, int part) {
  FormOnDisk made = maker(run, k, part);
  const LocalMatrix& form = matrix(static_cast<int>(k), part);
  const std::vector<stream::PassingArray*> to = arrays(run, k, part);
  Array values = to.size() > 1 ? stream::array_in(to[1]->memory) : Array();
  stream::MatrixEntries entries(matrix_of(run, keys_[k].name, part), true, run.options.pass_bytes);
  std::vector<std::int64_t> gone;
  for (const stream::PassingArray* array : to) {
    gone.push_back(array->kept);
    if (array->kept < array->rows) array->spilled->begin_store(array->kept, array->rows);
  }
  for (const FormPiece& piece : pieces(run, made, k, part)) {
    made.fill(form, piece, entries, reinterpret_cast<std::int32_t*>(to[0]->memory.data), values);
    const std::int64_t end = form.pointers[static_cast<size_t>(piece.last_output)];
    for (size_t a = 0; a < to.size(); ++a) {
      if (to[a]->kept < to[a]->rows && gone[a] < to[a]->rows) {
        const std::int64_t last = to[a]->spilled->store(end, to[a]->memory);
        stream::drop_elements(*to[a], gone[a], last);
        gone[a] = std::max(gone[a], last);
      } else {
        stream::drop_elements(*to[a], to[a]->kept, std::min(end + 1, to[a]->rows));  // an output of both kinds
      }
    }
  }
  for (stream::PassingArray* array : to) array->loaded = array->kept;
}

MatrixStore::DiskBytes MatrixStore::moved(Execution& run, size_t k, int part) const {
  DiskBytes bytes{read_bytes(*matrix_of(run, keys_[k].name, part).on_disk), 0};
  for (const stream::PassingArray* array : arrays(run, k, part)) bytes.written += array->spilled->written_bytes();
  return bytes;
}

MatrixStore::DiskBytes MatrixStore::bytes_to_bring(Execution& run, int place, int part) const {
  const auto k = static_cast<size_t>(place);
  DiskBytes bytes;
  const stream::MatrixEntries entries(matrix_of(run, keys_[k].name, part), true, run.options.pass_bytes);
  for (const FormPiece& piece : pieces(run, maker(run, k, part), k, part))
    bytes.read += entries.bytes_of(piece.first_source, piece.last_source);
  for (const stream::PassingArray* array : arrays(run, k, part)) {
    if (array->kept < array->rows) bytes.written += array->disk->bytes_of(array->kept, array->rows);
  }
  return bytes;
}

FormName MatrixStore::form_name(const Execution& run, const Key& key, int part) {
  const auto space = [&](int number) { return run.numbering.keys()[static_cast<size_t>(number)]; };
  return {matrix_text(run.plan, key.name, key.transposed, space(key.operand), space(key.result), run.options.masters),
          run.parts[static_cast<size_t>(part)].worker};
}

std::int64_t MatrixStore::bytes(const Execution& run, int part) const {
  std::int64_t total = 0;
  for (const Key& key : keys_) {
    const PartMatrix& matrix = matrix_of(run, key.name, part);
    if (matrix.on_disk == nullptr) {
      const std::int64_t entry = 4 + (key.numbered ? 4 : 0) + matrix.element.bytes();
      total = checked_add(total, checked_mul(std::ssize(matrix.columns), entry, what), what);
    }
    total += 8 * matrix.batches * (run.numbering.space(key.result, part).total + 1);
  }
  return total;
}

}  // namespace kasen::executor
