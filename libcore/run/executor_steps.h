// The decoded plan, internal to the executor: a step for each operator, and lines that run them. Steps have own files.
#pragma once

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/shared_batch.h"
#include "libcore/base/error.h"
#include "libcore/run/executor.h"
#include "libcore/run/executor_storage.h"
#include "libcore/run/matrix_store.h"

namespace kasen::executor {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// How a product uses a matrix whose form is on a disk: it passes over the nonzeros from each cut to the next.
struct EntryUse {
  const PassingEntries* passing = nullptr;
  std::vector<std::int64_t> cuts;
};

// An operator of the plan. `part` counts the parts of this process.
class Step {
 public:
  Step(const Op& decoded, int at) : op(decoded), number(at) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  virtual void run(Execution& run) = 0;
  // Called once before the run, when kernels and matrices are ready.
  virtual void prepare(Execution& /*run*/) {}
  // Some of its rows. Other steps than products of a sparse matrix have no such lines.
  virtual void run_rows(Execution& run, LineRows rows);
  // Of a step with an exchange: the messages leave, and later those of others are there.
  virtual void start(Execution& run);
  virtual void wait(Execution& run);
  // The rest of the step from a border inside it: for a loop, or for a step that holds one.
  virtual void resume(Execution& run);
  // The rows of operands on a disk that it holds at once while they go by (stream::Passage). 0: it needs them whole.
  [[nodiscard]] virtual std::int64_t rows_at_once(const Execution& /*run*/, int /*part*/) const { return 0; }
  // The matrix that goes by.
  [[nodiscard]] virtual std::optional<EntryUse> entries(const Execution& /*run*/, int /*part*/) const { return {}; }
  // True if an operand on the run's own disk stays there: an output in a file's pages.
  [[nodiscard]] virtual bool hands_over(const Execution& /*run*/, int /*part*/) const { return false; }
  // Bytes of packing area that the step needs on a part.
  [[nodiscard]] virtual std::int64_t packing_bytes(int /*part*/) const { return 0; }
  // Bytes that it takes on each part from prepare on.
  [[nodiscard]] virtual std::int64_t own_bytes() const { return 0; }

  const Op& op;
  const int number;
  bool in_loop = false, control = false;             // control: it holds steps, which read and write values themselves
  std::vector<ValueId> reads_whole, makes_whole;     // stand-ins (KernelForm) in its operands and results
  std::int64_t shared_reads = 0, shared_writes = 0;  // bytes of shared arrays, on all parts
  std::vector<const Op*> slices;                     // the slices that it reads: itself, or some of its region
  ValueId progress = no_value;                       // the progress of the loop around, known after this step
  std::span<const Op> together;                      // a batch whose work it does; empty: it is in none
};

class TransitionStep : public Step {
 public:
  using Step::Step;
  void run(Execution& run) final {
    start(run);
    wait(run);
  }
};

// A line of the schedule as it runs.
enum class LineAct : std::uint8_t { run, start, wait, exchange, free };  // exchange: a start and its wait at once
struct Line {
  LineAct act = LineAct::run;
  LineRows rows = LineRows::all;
  Step* step = nullptr;            // null: free
  int form = -1;                   // free
  bool first = true, last = true;  // of the step's lines
  int number = -1, wait = -1;      // in RunResult::lines; of an exchange also its wait's. -1: no line of the schedule
  int border = -1;                 // the operator of a border behind this line (borders_behind); -1: none
};

// A block: its steps, and its schedule.
struct Sequence {
  std::vector<std::unique_ptr<Step>> steps;  // by operator
  std::vector<Line> lines;
  int move = -1, copy = -1;  // the lines of what it hands on, in RunResult::lines; -1: none
};

// Restores the values of a border, and the ghosts of consistent ones.
class Resumption {
 public:
  Resumption(Execution& run, const ResumePoint& from);
  ~Resumption();
  [[nodiscard]] const BorderPlace& place() const { return from_.place; }
  [[nodiscard]] std::vector<Bytes> packing(const Execution& run) const;  // by part
  [[nodiscard]] bool is_made_again(int number) const { return made_again_.contains(number); }
  void restore(Execution& run);

 private:
  void read(Execution& run, const HeldValue& held, std::int64_t array, int slot) const;
  void restore_slaves(Execution& run, const HeldValue& held, std::int64_t array);
  void restore(Execution& run, const HeldValue& held, std::int64_t array);

  const ResumePoint& from_;
  HeldAtBorder held_;
  std::set<int> made_again_;  // operators
  struct Slaves;
  std::map<std::pair<ValueId, std::int64_t>, std::unique_ptr<Slaves>> slaves_;  // by value and array of it
};

// For Execution::on_border; valid during the call.
[[nodiscard]] std::unique_ptr<Border> make_border(Execution& run, const HeldAtBorder& held, const BorderPlace& place);

// The whole state of a run, which all steps see.
class Execution {
 public:
  // `before`: a run of the same plan that has found a size, which `module` has. This one has its memory, and goes on.
  Execution(const Module& module, const std::vector<Part>& parts, Transport& transport, KernelSet& kernels,
            const RunOptions& options, Execution* before = nullptr);
  ~Execution();
  // To the end, or until an operator finds another size than the module's.
  [[nodiscard]] std::optional<ObservedSize> run();
  [[nodiscard]] RunResult finish();
  [[nodiscard]] MemoryPlan memory_plan();  // instead of run()
  void observe(const Op& op, std::int64_t size);

  // Runs a block by its schedule.
  void run_steps(const Sequence& steps) { run_lines(steps.lines); }
  // Runs the steps from the border of RunOptions::resume on. One of them is its loop, or holds it; or it is behind one.
  void resume_steps(const Sequence& steps);
  void run_operator(int at);  // of the program's own block, by its place in it
  // Restores the loop's values, and opens it with its finished iterations.
  void resume_loop();

  // Called by while and for loops: the loop begins (a for loop with these bounds), an iteration ends, the loop is left.
  void open_loop(std::int64_t lo = 0, std::int64_t hi = 0);
  void end_iteration(int number);
  void close_loop();

  void began(RunPhase phase, int number) {
    if (options.observer != nullptr) options.observer->began(phase, number, place, count(number));
  }
  void ended(RunPhase phase, int number) {
    if (options.observer != nullptr) options.observer->ended(phase, number, count(number));
  }

  [[nodiscard]] int part_count() const { return static_cast<int>(parts.size()); }
  [[nodiscard]] Word shared_word(ValueId value) const;  // of a rank 0 shared, first plane
  [[nodiscard]] OpCount& count(int number) { return result.ops[static_cast<size_t>(number)]; }
  [[nodiscard]] std::byte* packing(int part) { return packing_[static_cast<size_t>(part)].data(); }
  // The window through which a step's operands and results on a disk go by on a part; null: they are in memory.
  [[nodiscard]] std::unique_ptr<stream::RowWindow> pass(const Step& step, int part);
  // The same for the nonzeros [first, last) of a matrix.
  [[nodiscard]] std::unique_ptr<stream::RowWindow> pass_some(const Step& step, int part, const PassingEntries& entries,
                                                             std::int64_t first, std::int64_t last);
  void end_pass(const Step& step, int part, stream::RowWindow& window);
  // Calls work(begin, end) for the owned rows of a part, some at a time if arrays of the step are on a disk.
  template <class Work>
  void go_by(const Step& step, int part, std::int64_t rows, const Work& work);
  // The elements of an array that the run made and put on its disk, as pages of a file.
  [[nodiscard]] Bytes hand_over(const Step& step, int part, const std::byte* data, std::int64_t elements);
  // RunOptions::refuse_nan in a product_epilogue region: checks rows of its product on each part before its gather.
  void look_for_nan(const Step& region, const std::vector<Range>& waiting);
  void look_for_nan(const Op& task, const View& block, std::int64_t elements, int part);  // what a task made
  // Copy the values that the step reads whole to their buffers in the order of the whole array, and copy those that it
  // makes back. Values copied back are charged as written.
  void bring_whole(const Step& step);
  void take_whole(const Step& step);
  // Starts one exchange of a step. The bytes sent are charged to their operators.
  [[nodiscard]] int start(const Step& step, std::span<const Message> sends, std::span<const Message> receives);
  // Counts what two workers of this process exchange without messages.
  void moved_here(int from, int to, std::int64_t bytes) {
    note_sent(from, to, bytes);
    note_received(from, to, bytes);
    transport.moved_here(bytes);
  }
  [[nodiscard]] Traffic traffic() const {
    Traffic all = transport.traffic();
    all.node_bytes = node_bytes_;
    return all;
  }
  void count_line(int number, double seconds);  // no line if negative
  void charge(int number, std::int64_t sent_bytes) { count(number).network_bytes += sent_bytes; }

  // The identity of a reducer, which is searched once; UserError if it has none.
  [[nodiscard]] const std::vector<Word>& identity(FnId reducer);

  // Copies and charges: the source's elements as read, the target's as written. `to` has none that `from` lacks.
  void copy_value(ValueId from, const View& source, ValueId to, const View& target, int part) const;
  void copy(ValueId from, const std::vector<View>& source, ValueId to, int to_slot, int number);
  void charge_copy(ValueId from, ValueId to, int number);
  // Charges elements of a value that a step copies. Single values are free.
  void charge_moved(ValueId value, int number, std::int64_t read, std::int64_t written) {
    if (module.type(value).dims.empty()) return;
    count(number).read_bytes += read * module.type(value).element.bytes();
    count(number).written_bytes += written * module.type(value).element.bytes();
  }

  const Module& plan;      // with the data's sizes
  const LocalForms forms;  // the forms that steps and kernels run
  const KernelForm& form;  // of the first shape
  const Module& module;    // of the form
  const std::vector<Part>& parts;
  Transport& transport;
  KernelSet& kernels;  // of the first shape
  const RunOptions& options;
  // Kernels are made while data are numbered and brought into their form. The two do not depend on each other.
  std::future<void> prepared;
  const Liveness live;
  const MatrixReads read_before;
  const Numbering numbering;
  Storage storage;
  std::unique_ptr<stream::TierMover> tier_mover;  // of a plan that stores arrays
  RunResult result;
  Place place;

 private:
  void check_params() const;
  void finish_moves(), look_for_nan(const Step&step);
  [[nodiscard]] std::int64_t nan_at(ValueId value, int part) const;  // -1: nowhere
  [[nodiscard]] size_t marked(ValueId mark, int part) const;
  void note_nan(const Op& op, ValueId value, const std::string& at);
  void refuse_nan() const;
  void run_lines(std::span<const Line> lines);
  void run_line(const Line&line, bool from_border), act(const Line&line);
  [[nodiscard]] std::string purpose_of(const Step& step) const;
  [[nodiscard]] const HeldAtBorder& held_at(int op, bool behind);
  void tell_border(int loop), mark_borders(), pass_border(int op);
  void resume_behind(const Sequence& steps);
  void restore_values();
  void move_whole(ValueId stand_in, int part, bool bring);
  void move_box(ValueId stand_in, int part, int number, bool bring);
  [[nodiscard]] std::int64_t part_bytes(size_t part, std::int64_t packing, bool with_data) const;
  void check_machine_memory(std::int64_t needed) const;
  using ByPart = std::span<const std::int64_t>;
  void check_memory(ByPart packing) const, share_out_memory(ByPart packing);
  [[nodiscard]] std::vector<stream::Needs> disk_needs();
  [[nodiscard]] std::int64_t fixed_bytes(ByPart packing) const, enough_memory(ByPart packing);
  void note_passages(int part), note_forms(int part, MemoryPlan&made);
  void bring_whole();                         // for a run that begins behind the inputs
  [[nodiscard]] std::int64_t least_memory();  // what would be spilled for that is spilled
  bool spill_buffers();
  // True if rows of one of the arrays go by; else nothing is copied.
  bool copy_by_rows(ValueId from, const View& source, ValueId to, const View& target, int part, int number);
  void allocate(Execution* before);
  void check_pool() const;              // of a plan that limits or stores it
  void await_moves(const Step& step);   // what it reads has come, and what it writes over has gone
  void begin_moves(), count_moves();    // count_moves: their bytes, so far
  void watch_passing(), watch_moves();  // names arrays for RunOptions::disk_watch
  void go_on(Execution& before);
  void note_sent(int from, int to, std::int64_t bytes), note_received(int from, int to, std::int64_t bytes);
  [[nodiscard]] PartCount& part_of(int worker);

  MatrixStore matrices_;
  std::map<FnId, std::vector<Word>> identities_;
  Sequence steps_;
  std::vector<Step*> all_;                             // in preorder
  std::unique_ptr<Resumption> resumption_;             // with RunOptions::resume
  std::map<std::pair<int, bool>, HeldAtBorder> held_;  // by operator, and whether the border is behind it
  Traffic restored_;              // bytes that restoring values moved: the plan has no such operator
  std::int64_t lo_ = 0, hi_ = 0;  // of the outermost loop
  std::vector<Bytes> packing_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();  // with a limit: the memory that is enough
  std::int64_t aside_bytes_ = 0;                                   // for rows that go by, on one part at a time
  std::int64_t exchanges_ = 0;
  const bool names_nodes_ = names_nodes(plan);
  std::int64_t node_bytes_ = 0;
  std::vector<std::span<const Line>> ahead_;  // remaining lines of each open block
  std::optional<Diagnostic> nan_;             // the first NaN in program order so far, with RunOptions::refuse_nan
  std::vector<std::int64_t> nan_iterations_;  // the iterations in which it was made
  double change_ = std::numeric_limits<double>::quiet_NaN();
  std::optional<ObservedSize> observed_;  // found, and not yet the module's
  size_t first_line_ = 0;                 // of steps_: behind the operator that found a size
  std::int64_t allocated_ = 0;            // before the first step
  Clock::time_point began_;
};

template <class Work>
void Execution::go_by(const Step& step, int part, std::int64_t rows, const Work& work) {
  const auto window = pass(step, part);
  if (window == nullptr) return work(std::int64_t{0}, rows);
  const std::int64_t some = step.rows_at_once(*this, part);
  for (std::int64_t begin = 0; begin < rows; begin += some) {
    const std::int64_t end = std::min(rows, begin + some);
    window->enter(begin, end);
    work(begin, end);
    window->leave(begin, end);
  }
  end_pass(step, part, *window);
}

// `watch` is told of what is read of the parts' arrays on disks, by their names; null: nobody is.
void watch_inputs(const std::vector<Part>& parts, DiskWatch* watch);

// Makes the steps of a plan.
struct Decoder {
  Execution& run;
  MatrixStore& matrices;
  std::vector<Step*>& all;
  SharedBatches batches;                       // of the plan: in the form, boxes look like shareds
  std::vector<const Op*> planned;              // the plan's operators, in preorder
  std::map<const ScheduleLine*, int> numbers;  // of the form's lines
  int next = 0;                                // preorder number of the next operator
  int loops = 0;                               // open loops around
  size_t batched = 0;                          // how many of the next operators belong to the open batch
  Sequence decode(const Block& block);

 private:
  std::unique_ptr<Step> make(const Op& op, int number);
  std::unique_ptr<Step> make_in_batch(std::span<const Op> ahead, int number);
  void add_lines(const Block& block, Sequence& sequence) const;
};

// Simultaneous binding: the slots that exchange their memory, and the values that are copied.
class Rebinding {
 public:
  Rebinding() = default;
  Rebinding(const Execution& run, const std::vector<Binding>& bindings, int number);
  void move(int from_slot, int to_slot);
  void leave(int slot);  // its memory is free for the others
  void copy(ValueId from, int from_offset, ValueId to, int to_slot);
  void seal(const Execution& run);  // called after the last of them
  void apply(Execution& run) const;
  // The same at the end of a block, whose lines are counted.
  void apply(Execution& run, const Sequence& block) const;
  // Charges the binding as if it had been applied: for a loop whose values come from a border.
  void charge(Execution& run) const;

 private:
  struct Copy {
    ValueId from;
    int offset;  // index of the array in a list
    ValueId to;
    int slot;
  };
  void add_name(int slot);
  using Memory = std::vector<std::vector<View>>;  // of names_
  [[nodiscard]] Memory exchange(Execution& run) const;
  void copy_from(const Memory& before, Execution& run) const;

  int number_ = 0;
  std::vector<std::pair<int, int>> moves_;  // from, to
  std::vector<Copy> copies_;
  std::vector<int> names_;
  std::vector<int> source_;  // names_[k] takes the memory of names_[source_[k]]
};

std::unique_ptr<Step> make_source_step(Execution& run, const Op& op, int number);
std::unique_ptr<Step> make_elementwise_step(Execution& run, const Op& op, int number);
std::unique_ptr<Step> make_product_step(Execution& run, MatrixStore& matrices, const Op& op, int number);
std::unique_ptr<Step> make_axis_step(const Execution& run, const Op& op, const Op& planned, int number);
// Of a sort that crosses workers; `planned`: the plan's operator.
std::unique_ptr<Step> make_sort_step(Execution& run, const Op& op, const Op& planned, int number);
std::unique_ptr<Step> make_blocks_step(const Execution& run, const Op& op, const Op& planned, int number);
std::unique_ptr<Step> make_rows_step(const Execution& run, MatrixStore& matrices, const Op& op, int number);
std::unique_ptr<Step> make_join_step(Execution& run, const Op& op, int number);
std::unique_ptr<Step> make_linear_step(const Execution& run, const Op& op, const Op& planned, int number);
std::unique_ptr<Step> make_single_step(const Op& op, int number);
std::unique_ptr<Step> make_apply_step(Execution& run, const Op& op, int number);
std::unique_ptr<Step> make_transition_step(Execution& run, const Op& op, int number);  // of an array
// For the shareds of a batch (libcore/analysis/shared_batch.h). The first step does the work of all of them. It charges
// the bytes sent to each operator, `number` and those that follow.
std::unique_ptr<Step> make_batch_step(Execution& run, std::span<const Op> batch, bool paired, int number);
void require_gathered_is_pre(const Execution& run, const Op& op);   // UserError
std::unique_ptr<Step> make_batched_step(const Op& op, int number);  // any other of a batch
std::unique_ptr<Step> make_tier_step(const Op& op, int number);
std::unique_ptr<Step> make_list_step(Execution& run, const Op& op, int number);
std::unique_ptr<Step> make_control_step(Decoder& decoder, const Op& op, int number);
std::unique_ptr<Step> make_output_step(Execution& run, const Op& op, int number);
std::unique_ptr<Step> make_epilogue_step(Execution& run, MatrixStore& matrices, const Op& region, int number);

// For each of `results`, which some of `ops` make: the reducer if it is a reduction to a shared, else no_fn.
std::vector<FnId> accumulators(const Module& module, std::span<const Op> ops, const std::vector<ValueId>& results);
// Sets accumulators to the identity; `outputs` are views of the results of `op` on a part.
void start_accumulators(Execution& run, const Op& op, std::span<const FnId> reducers, std::span<const View> outputs,
                        int part);

// Fills `view` with `elements` copies of the identity of a reducer.
void store_identity(Execution& run, FnId reducer, const View& view, std::int64_t elements);
// Moves rows of `inner` elements each from the part's order (owned elements ascending) to this numbering's, or back.
void move_rows(const ElementType& element, std::int64_t inner, const std::vector<std::int32_t>& order, const View& from,
               const View& to, bool forth);
// Copies elements [begin, end) of one array to another of the same element type.
void copy_elements(const ElementType& element, const View& from, const View& to, std::int64_t begin, std::int64_t end);

}  // namespace kasen::executor
