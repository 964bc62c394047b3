#include "libcore/run/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/analysis/boxes.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/boxes/data_dims.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/observed.h"
#include "libcore/run/executor_steps.h"
#include "libcore/schedule/schedule.h"
#include "libcore/system/fault.h"

namespace kasen::executor {

Execution::Execution(const Module& bound, const std::vector<Part>& local_parts, Transport& mover, KernelSet& kernel_set,
                     const RunOptions& run_options, Execution* before)
    : plan(bound),
      forms(bound, local_parts, kernel_set, run_options.refuse_nan),
      form(forms.first()),
      module(form.module),
      parts(local_parts),
      transport(mover),
      kernels(kernel_set),
      options(run_options),
      prepared(std::async([this] { forms.prepare(); })),
      live(plan),
      read_before(read_of_matrices(local_parts)),
      numbering(forms.are_boxes() ? module : plan, local_parts, run_options.masters, run_options.forms),
      storage(plan, forms, live, numbering, local_parts) {
  check_params();
  for (const Part& part : parts) {
    PartCount count;
    count.worker = part.worker;
    count.sent_bytes = count.received_bytes = 0;
    result.parts.push_back(count);
  }
  Decoder decoder{*this, matrices_, all_, SharedBatches(plan), {}};
  for_each_op(plan, [&](const Op& op, int, int) { decoder.planned.push_back(&op); });
  for_each_line(module, [&](const Block&, const ScheduleLine& line) {
    decoder.numbers.emplace(&line, static_cast<int>(decoder.numbers.size()));
  });
  result.lines.resize(decoder.numbers.size());
  steps_ = decoder.decode(module.body);
  mark_borders();
  result.ops.resize(static_cast<size_t>(decoder.next));
  if (options.resume != nullptr) resumption_ = std::make_unique<Resumption>(*this, *options.resume);
  matrices_.number(*this, read_before);
  if (options.memory > 0 || storage.has_passing()) prepared.get();  // kernels say how many rows they hold
  allocate(before);
  if (prepared.valid()) prepared.get();
  for (Step* step : all_) step->prepare(*this);
  if (resumption_ || before != nullptr) bring_whole();  // the inputs' steps do not run
  allocated_ = storage.allocations();
  if (before != nullptr) go_on(*before);
}

Execution::~Execution() = default;

void Execution::check_params() const {
  std::vector<std::string> known;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code == OpCode::param) known.push_back(op.name);
  });
  for (const auto& [name, words] : options.params) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
    fail(ExitStatus::usage, fmt::format("the program has no parameter '{}'", name),
         known.empty() ? "it has none at all" : "it has " + list);
  }
}

// The counters, and the place: behind the operator that found the size.
void Execution::go_on(Execution& before) {
  std::vector<PartCount> sizes = std::exchange(before.result.parts, {});
  sizes.swap(result.parts);
  for (size_t p = 0; p < sizes.size(); ++p) {
    sizes[p].sent_bytes += result.parts[p].sent_bytes;
    sizes[p].received_bytes += result.parts[p].received_bytes;
  }
  result = std::move(before.result);
  result.parts = std::move(sizes);
  place = before.place;
  exchanges_ = before.exchanges_;
  nan_ = std::move(before.nan_);
  nan_iterations_ = std::move(before.nan_iterations_);
  began_ = before.began_;
  first_line_ = before.first_line_;
}

int Execution::start(const Step& step, std::span<const Message> sends, std::span<const Message> receives) {
  if (transport.compares_steps()) transport.announce(purpose_of(step));
  for (const Message& message : sends) note_sent(message.from, message.to, message.bytes);
  for (const Message& message : receives) note_received(message.from, message.to, message.bytes);
  return transport.start(exchanges_++, sends, receives);
}

void Execution::note_sent(int from, int to, std::int64_t bytes) {
  if (names_nodes_ && !are_on_one_node(plan, from, to)) node_bytes_ += bytes;
  if (from != to) part_of(from).sent_bytes += bytes;
}

void Execution::note_received(int from, int to, std::int64_t bytes) {
  if (from != to) part_of(to).received_bytes += bytes;
}

PartCount& Execution::part_of(int worker) {
  return result.parts.at(static_cast<size_t>(worker - parts.front().worker));
}

void Execution::observe(const Op& op, std::int64_t size) {
  const Dimension& dim = plan.dim(op.dim);
  require_observed_size(dim, size, plan.dim(dim.derived.sources.at(0)).size, op.where);
  if (size != dim.size) observed_ = ObservedSize{dim.name, size};
}

std::optional<ObservedSize> Execution::run() {
  watch_passing();
  matrices_.bring(*this);
  begin_moves();
  watch_moves();
  if (first_line_ == 0) began_ = Clock::now();
  if (resumption_) {
    resume_steps(steps_);
  } else {
    run_lines(std::span<const Line>(steps_.lines).subspan(first_line_));
  }
  finish_moves();
  return observed_;
}

RunResult Execution::finish() {
  result.seconds = seconds_since(began_);
  result.traffic = traffic() - restored_;
  result.kernel_bytes = forms.held_bytes();
  result.late_allocations = storage.allocations() - allocated_;
  return std::move(result);
}

void Execution::restore_values() {
  const BorderPlace& from = resumption_->place();
  const Traffic before = traffic();
  const std::int64_t charged = count(from.op).network_bytes;
  const std::vector<PartCount> parts_before = result.parts;
  std::vector<Bytes> packing = resumption_->packing(*this);  // only for these scatters
  packing_.swap(packing);
  resumption_->restore(*this);
  packing_.swap(packing);
  restored_ = traffic() - before;
  count(from.op).network_bytes = charged;
  result.parts = parts_before;
  place.step = from.step;
}

void Execution::resume_loop() {
  const BorderPlace& from = resumption_->place();
  restore_values();
  open_loop(from.lo, from.hi);
  place.iterations.back() = from.iterations;
}

void Execution::open_loop(std::int64_t lo, std::int64_t hi) {
  if (place.iterations.empty()) {
    lo_ = lo;
    hi_ = hi;
  }
  place.iterations.push_back(0);
}

void Execution::end_iteration(int number) {
  ++place.iterations.back();
  ++count(number).iterations;
  if (place.iterations.size() > 1) return;
  (void)pass_point(FaultPoint::border);  // nothing can fail here
  if (options.on_iteration) options.on_iteration(Iteration{place, change_, seconds_since(began_)});
  if (options.on_border) tell_border(number);
}

void Execution::close_loop() {
  place.iterations.pop_back();
  if (place.iterations.empty()) change_ = std::numeric_limits<double>::quiet_NaN();
}

Word Execution::shared_word(ValueId value) const {
  return load_word(module.type(value).element.plane_scalar(0), storage.view(value, 0).data);
}

void Execution::copy(ValueId from, const std::vector<View>& source, ValueId to, int to_slot, int number) {
  for (int p = 0; p < part_count(); ++p) {
    const View &from_part = source[static_cast<size_t>(p)], &to_part = storage.view_of(to_slot, p);
    if (!copy_by_rows(from, from_part, to, to_part, p, number)) copy_value(from, from_part, to, to_part, p);
  }
  charge_copy(from, to, number);
}

void Execution::charge_copy(ValueId from, ValueId to, int number) {
  if (module.type(to).dims.empty()) return;
  const std::int64_t bytes = module.type(to).element.bytes();
  for (int p = 0; p < part_count(); ++p) {
    count(number).read_bytes += storage.elements(from, p) * bytes;
    count(number).written_bytes += storage.elements(to, p) * bytes;
  }
}

}  // namespace kasen::executor

namespace kasen {
namespace {

void check(const Module& module, const std::vector<Part>& parts, const Transport& transport) {
  if (module.level < 2) {
    fail(ExitStatus::bad_input, "a plan of level 1 does not say where values live", "",
         "run it through kasen fuse first");
  }
  if (static_cast<int>(parts.size()) != transport.local_workers() || parts.empty()) {
    throw InternalError("the executor needs one part for each local worker");
  }
  for (size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].workers != transport.workers() || parts[p].worker != transport.first_worker() + static_cast<int>(p)) {
      fail(ExitStatus::bad_input,
           fmt::format("part {} of {} is not that of worker {} of {}", parts[p].worker, parts[p].workers,
                       transport.first_worker() + static_cast<int>(p), transport.workers()),
           "the data was partitioned for another number of workers", "partition it again");
    }
  }
}

// A copy of the module in which every dimension has a size: those that are observed as far as they are known.
Module bind_sizes(const Module& module, const std::vector<Part>& parts, const std::vector<ObservedSize>& observed) {
  Module bound = module;
  for (const ObservedSize& known : observed) bound.dims[bound.find_dim(known.dim)].size = known.size;
  const int workers = parts.at(0).workers;
  if (names_layouts(module)) bound.mesh = mesh_of(module, workers);
  for (const DimId d : used_dims(module)) {
    Dimension& dim = bound.dims.at(d);
    if (follows_observed(module.dims, d)) continue;
    for (const Part& part : parts) {
      const auto it = part.dims.find(dim.name);
      if (it == part.dims.end()) continue;
      require_size_of_data(dim, it->second.size);
      if (dim.local != it->second.local) {
        fail(ExitStatus::bad_input,
             fmt::format("dimension '{}' is {} in the data", dim.name, it->second.local ? "local" : "cut"),
             "the plan takes it as the other kind", "partition the data with this program");
      }
      dim.size = it->second.size;
    }
    if (dim.size < 0 && dim.is_entries()) {
      fail(ExitStatus::bad_input, fmt::format("the parts do not number the nonzeros of '{}'", dim.entries_of),
           "the plan has values at them", "give the parts to number_entries first");
    }
    if (dim.size < 0 && !dim.is_workers()) {
      fail(ExitStatus::bad_input, fmt::format("the data has no dimension '{}'", dim.name), "the plan uses it",
           "partition the data with this program");
    }
  }
  derive_sizes(bound.dims, "the data", workers);
  require_inside(bound);
  return bound;
}

[[noreturn]] void refuse_borders(const Module& module) {
  const auto op = std::find_if(module.body.ops.begin(), module.body.ops.end(),
                               [](const Op& one) { return one.code == OpCode::observe; });
  fail(ExitStatus::usage, fmt::format("no checkpoint holds the size of dimension '{}'", module.dim(op->dim).name),
       "the run finds it", "run it without checkpoints", op->where);
}

// A plan of level 4 brings its schedule.
Module scheduled(Module module) {
  if (module.level < 4) write_schedule(module);
  return module;
}

}  // namespace

namespace {

// Inputs outlive the run, and those who watch it need not.
class InputWatch {
 public:
  InputWatch(const std::vector<Part>& parts, DiskWatch* watch) : parts_(parts), watches_(watch != nullptr) {
    if (watches_) executor::watch_inputs(parts, watch);
  }
  ~InputWatch() {
    if (watches_) executor::watch_inputs(parts_, nullptr);
  }
  InputWatch(const InputWatch&) = delete;
  InputWatch& operator=(const InputWatch&) = delete;

 private:
  const std::vector<Part>& parts_;
  const bool watches_;
};

}  // namespace

RunResult execute(const Module& module, const std::vector<Part>& parts, Transport& transport, KernelSet& kernels,
                  const RunOptions& options) {
  check(module, parts, transport);
  RunOptions chosen = options;
  if (observes(module)) {
    if (options.on_border || options.resume != nullptr) refuse_borders(module);
    chosen.on_formed = {};  // matrices are brought into their form for each part of the run
  }
  std::vector<ObservedSize> observed;
  std::unique_ptr<const Module> bound;
  std::unique_ptr<KernelSet> own_kernels;  // of all parts of the run but the first
  std::unique_ptr<executor::Execution> run;
  const InputWatch watched(parts, options.disk_watch);
  for (bool open = true; open;) {
    auto sized = std::make_unique<const Module>(scheduled(bind_sizes(module, parts, observed)));
    auto more = run == nullptr ? nullptr : kernels.another();
    run = std::make_unique<executor::Execution>(*sized, parts, transport, more ? *more : kernels, chosen, run.get());
    bound = std::move(sized);
    own_kernels = std::move(more);
    const std::optional<ObservedSize> found = run->run();
    if (found) observed.push_back(*found);
    open = found.has_value();
  }
  RunResult result = run->finish();
  for (const DimId d : used_dims(module)) {
    if (follows_observed(module.dims, d)) result.observed.push_back({bound->dim(d).name, bound->dim(d).size});
  }
  return result;
}

MemoryPlan plan_memory(const Module& module, const std::vector<Part>& parts, Transport& transport, KernelSet& kernels,
                       const RunOptions& options) {
  check(module, parts, transport);
  const Module bound = scheduled(bind_sizes(module, parts, {}));
  executor::Execution made(bound, parts, transport, kernels, options);
  return made.memory_plan();
}

void make_forms(const Module& module, const std::vector<Part>& parts, Transport& transport, KernelSet& kernels,
                const RunOptions& options) {
  check(module, parts, transport);
  const Module bound = scheduled(bind_sizes(module, parts, {}));
  const executor::Execution made(bound, parts, transport, kernels, options);
}

}  // namespace kasen
